"""A loss of your own: Tversky's index weighs false alarms and missed labels apart.

It depends on counts only, so one method is enough: every oracle and learner that takes losses of
counts can train with it, and says how far its answers are proved.
"""

import numpy as np

from colabel import StructuredSVC
from colabel.datasets import load
from colabel.losses import CountsLoss


class Tversky(CountsLoss):
    """``1 - hits / (hits + alarm * false + miss * missed)``, 0 where both are empty."""

    def __init__(self, alarm=0.3, miss=0.7):
        self.alarm = alarm
        self.miss = miss

    def of_counts(self, n_true, hits, false):
        below = hits + self.alarm * false + self.miss * (n_true - hits)
        return np.where(below > 0, 1 - hits / np.where(below > 0, below, 1), 0.0)


def main():
    train, test = load("yeast:train"), load("yeast:test")
    X, Y = train.X[:300], train.Y[:300]
    for model in ("independent", "submodular"):
        for loss in (Tversky(), "f1"):
            machine = StructuredSVC(model, loss, learner="averaged", alpha=0.1, random_state=0)
            machine.fit(X, Y)
            cost = Tversky().value(test.Y, machine.predict(test.X)).mean()
            print(f"{model}, trained for {loss}: Tversky loss {cost:.3f}, "
                  f"{machine.certified_[-1]:.0%} of the violated labelings certified")  # fmt: skip


if __name__ == "__main__":
    main()
