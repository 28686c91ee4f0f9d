"""A decoder of your own: flip the label that gains most, until none does.

``accepts`` says which tables it takes. Answers come with a bound that no labeling passes: here a
crude one, so little is certified. As an oracle it finds violated labelings in training, too.
"""

import numpy as np

from colabel import StructuredSVC
from colabel.datasets import load
from colabel.decoders import BaseDecoder
from colabel.metrics import f1_score
from colabel.results import Decoded
from colabel.scores import Pairwise


class Flips(BaseDecoder):
    """Local search: a local optimum, any couplings."""

    accepts = (Pairwise,)

    def _decode(self, scores, nonempty):
        C = np.zeros((scores.n_labels,) * 2)
        np.add.at(C, tuple(scores.edges.T), scores.couplings)
        C += C.T
        Z = (scores.unary > 0).astype(np.int8)
        for _ in range(10 * len(C)):
            gain = (1 - 2 * Z) * (scores.unary + Z @ C)
            if nonempty:  # the last label may not go
                gain[(Z.sum(axis=1) == 1)[:, None] & (Z == 1)] = -np.inf
                gain[~Z.any(axis=1)] += 1e9
            best = gain.argmax(axis=1)
            Z[np.arange(len(Z)), best] ^= gain.max(axis=1) > 0
        value = scores.value(Z)
        bound = np.maximum(scores.unary + np.maximum(C, 0).sum(axis=0) / 2, 0).sum(axis=1)
        return Decoded(Z, value, np.maximum(bound, value))


def main():
    train, test = load("yeast:train"), load("yeast:test")
    machine = StructuredSVC("quadratic", "hamming", "averaged", Flips(), Flips(), random_state=0)
    machine.fit(train.X[:300], train.Y[:300])
    found, best = machine.decode(test.X), machine.decode(test.X, "branch_and_bound")
    print(f"F1 {f1_score(test.Y, found.labels):.3f}; "
          f"{np.isclose(found.value, best.value).mean():.0%} of the answers are the best, "
          f"{found.certified.mean():.0%} certified")  # fmt: skip


if __name__ == "__main__":
    main()
