"""A learner of your own: plain subgradient steps on all rows, with the gap of strong convexity.

It asks a ``MarginProblem`` for objective and subgradient, and fits any model, loss and oracle.
"""

import numpy as np

from colabel import StructuredSVC
from colabel.datasets import load
from colabel.learners import BaseLearner, Trace


class SteepestDescent(BaseLearner):
    """``max_iter`` steps of length ``1 / (lambda t)``; the best point seen is returned."""

    def __init__(self, tol=1e-3, max_iter=100):
        self.tol = tol
        self.max_iter = max_iter

    def solve(self, problem, state=None, report=None):
        theta = np.zeros(problem.model.size) if state is None else state
        best, lower, trace = np.inf, 0.0, Trace()
        for t in range(1, self.max_iter + 1):
            value, slope, found = problem.evaluate(theta)
            upper = problem.ridge(theta) + found.upper
            if value < best:
                best, bound, coef = value, upper, theta
            lower = max(lower, problem.strong_bound(theta, value, slope))
            trace.add(upper, lower, found)
            if report is not None:
                report(t, best, best - lower)
            if best - lower <= self.tol * best:
                break
            theta = problem.model.project(theta - slope / (problem.penalty * (t + 1)))
        bound = problem.verified(coef, bound, problem.oracles.learning)
        return trace.solution(coef, bound, self.tol, t, coef)


def main():
    train = load("yeast:train")
    X, Y = train.X[:200], train.Y[:200]
    for model in ("independent", "submodular"):
        mine = StructuredSVC(model, "f1", SteepestDescent(tol=0.05, max_iter=1000), alpha=1.0)
        best = StructuredSVC(model, "f1", alpha=1.0, random_state=0).fit(X, Y)
        gap = mine.fit(X, Y).objective_ / best.objective_ - 1.0
        print(f"{model}: {mine.n_iter_} steps end {gap:.2%} above the optimum")


if __name__ == "__main__":
    main()
