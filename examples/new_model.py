"""A model of your own: labels in a row, each attracting or repelling its neighbours.

A specification builds it for some rows; it says how pairs are scored and what their features are.
"""

from dataclasses import dataclass

import numpy as np

from colabel import StructuredSVC
from colabel.datasets import load
from colabel.models import BaseModelSpec, LinearModel, row_unit
from colabel.scores import Pairwise


@dataclass(frozen=True, eq=False)
class ChainModel(LinearModel):
    """Scores of labels, and of each two neighbours that are both on."""

    n_features: int
    n_labels: int
    edges: np.ndarray
    constant: float = 0.0

    def table(self, unary, theta):
        return Pairwise(unary, self.edges, self.split(theta)[1])

    def pair_features(self, count, second):
        return second[self.edges[:, 0], self.edges[:, 1]]


class Chain(BaseModelSpec):
    """Labels in the order of the columns."""

    def build(self, X, Y, weight, alpha):
        unit, n_labels = row_unit(X, weight), Y.shape[1]
        edges = np.arange(n_labels - 1)[:, None] + [0, 1]
        return ChainModel(X.shape[1], n_labels, edges, self._constant(unit)), alpha * unit**2


def main():
    train, test = load("yeast:train"), load("yeast:test")
    for model in ("independent", Chain()):
        machine = StructuredSVC(model, learner="averaged", random_state=0)
        machine.fit(train.X[:500], train.Y[:500])
        print(model, (machine.predict(test.X) == test.Y).all(axis=1).mean(), "right")


if __name__ == "__main__":
    main()
