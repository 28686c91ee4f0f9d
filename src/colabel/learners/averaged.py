"""Mini-batch descent whose iterates are averaged.

The steps are those of Adam (Kingma and Ba 2015), falling as ``1 / sqrt(1 + 10 t / T)``; what is
returned is the mean of the last half of the iterates. It is not the minimum of the objective, and
may be better for it: with the F1 loss and penalties of each learner's own choice it predicts as
well or better on all data that we tried, by up to .03. Why, we can only guess: iterates jump
between labelings that violate the margin about as much, and their mean weighs them all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from colabel._parameters import check_real, check_whole
from colabel.learners.base import BaseLearner
from colabel.learners.margin import MarginProblem, MarginSolution, Trace, Violations
from colabel.learners.ridge_start import ridge_start
from colabel.roles import Floats, Report, Stage

__all__ = ["AveragedDescent"]

# Decay of the means of gradients and of their squares, per step.
DECAY, DECAY_SQUARES = 0.9, 0.99
# Times the objective is looked at, and passes that are worth a look.
LOOKS, WORTH = 10, 10
HALVINGS = 12
FEWEST, MOST, VISITS = 30, 100, 30_000
# Steps of this over the root of their number: what noise adds up to does not depend on the number.
REACH = 2.25


class AveragedDescent(BaseLearner):
    """Learn by mini-batches for a fixed number of passes; return the mean of the last half.

    Parameters
    ----------
    max_iter : int or None, default=None
        Passes. ``None`` is 30, and up to 100 where there are less than 1000 samples.
    learning_rate : float or None, default=None
        Length of the first steps, in units of one over the norm of the rows. ``None`` is 2.25 over
        the root of their number: about .1 for 500, the longer the fewer they are.
    coupling_rate : float or None, default=None
        That of the parameters of pairs; ``None`` is a tenth of ``learning_rate``.
    batch_size : int or None, default=None
        Samples of a step. ``None`` is 64, and up to 256 where there are more than 1500 samples:
        what a step costs besides its samples is shared by more of them.
    random_state : int or None, default=None
        Seeds the order of samples; ``None`` is 0, or drawn by the machine.

    Notes
    -----
    A step costs the decoding of its samples and O(number of parameters). The gap is that of strong
    convexity, at the point returned: a bound, and a loose one.
    """

    seeks_optimum: ClassVar[bool] = False
    _renamed: ClassVar[dict[str, str]] = {
        "n_passes": "max_iter",
        "rate": "learning_rate",
        "rate_pairs": "coupling_rate",
        "batch": "batch_size",
    }

    def __init__(
        self,
        max_iter: int | None = None,
        learning_rate: float | None = None,
        coupling_rate: float | None = None,
        batch_size: int | None = None,
        random_state: int | None = None,
    ) -> None:
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.coupling_rate = coupling_rate
        self.batch_size = batch_size
        self.random_state = random_state

    def check(self) -> None:
        super().check()
        if self.batch_size is not None:
            check_whole(self.batch_size, "batch_size", least=1)
        for name in ("learning_rate", "coupling_rate"):
            if getattr(self, name) is not None:
                check_real(getattr(self, name), name, above=0.0)

    def start(self, problem: MarginProblem) -> object:
        """Return ridge regressions of the labels, as published."""
        return ridge_start(problem)

    def solve(
        self, problem: MarginProblem, state: object = None, report: Report | None = None
    ) -> MarginSolution:
        """Descend for ``max_iter`` passes.

        Parameters
        ----------
        problem : MarginProblem
        state : ndarray of shape (size,) or None
            Parameters to start from; zeros by default.
        report : callable or None
            Called with pass, objective and gap, some times.

        Returns
        -------
        MarginSolution
            ``converged`` is true: all passes were made. Means that are worse than no parameters at
            all are shortened, which changes no prediction.
        """
        random, n = np.random.RandomState(self.random_state or 0), problem.n_samples
        n_passes, batch = self._sizes(n)
        n_steps = n_passes * -(-n // batch)
        start = state if isinstance(state, np.ndarray) else np.zeros(problem.model.size)
        run = _Adam(problem, self._rates(problem, n_steps), start)
        n_looks = min(LOOKS, max(1, n_passes // WORTH))
        looks: list[_Look] = []
        for done in range(1, n_passes + 1):
            order = random.permutation(n)
            for i in range(0, n, batch):
                run.step(order[i : i + batch], n_steps)
            if done * n_looks // n_passes > (done - 1) * n_looks // n_passes:
                looks.append(_Look.at(problem, run.mean(), problem.oracles.learning))
                if report is not None:
                    report(done, looks[-1].upper, looks[-1].upper - looks[-1].lower)
        looks[-1] = self._last(problem, looks[-1])
        return _solution(looks, n_passes)

    def _sizes(self, n: int) -> tuple[int, int]:
        """Return passes and samples of a step."""
        n_passes = min(MOST, max(FEWEST, -(-VISITS // n)))
        n_passes = n_passes if self.max_iter is None else int(self.max_iter)
        return n_passes, min(256, max(64, n // 24)) if self.batch_size is None else int(
            self.batch_size
        )

    def _last(self, problem: MarginProblem, look: _Look) -> _Look:
        """Look by the strongest oracle, at parameters that are no worse than none."""
        look = self._shortened(problem, look)
        if problem.proves(problem.oracles.learning):
            return look
        return _Look.at(problem, look.theta, problem.oracles.proof)

    def _shortened(self, problem: MarginProblem, look: _Look) -> _Look:
        """Halve parameters while they are worse than none, by the labelings found."""
        nothing = problem.evaluate(np.zeros_like(look.theta))[0]
        for _ in range(HALVINGS):
            if look.value <= nothing:
                break
            look = _Look.at(problem, 0.5 * look.theta, problem.oracles.learning)
        return look

    def _rates(self, problem: MarginProblem, n_steps: int) -> Floats:
        model = problem.model
        unit = np.sqrt(float(problem.share @ problem.norms))
        unit = unit if unit > 0.0 else 1.0
        rate = REACH / np.sqrt(n_steps) if self.learning_rate is None else self.learning_rate
        of_pairs = 0.1 * rate if self.coupling_rate is None else self.coupling_rate
        rates = np.full(model.size, rate / unit)
        rates[model.n_unary :] = of_pairs / model.pair_scale
        return rates


@dataclass(frozen=True, eq=False)
class _Look:
    """The objective at a point, by the labelings found there, and its bounds."""

    theta: Floats
    value: float
    upper: float
    lower: float
    found: Violations

    @classmethod
    def at(cls, problem: MarginProblem, theta: Floats, oracle: Stage) -> _Look:
        """Look at all samples."""
        value, slope, found = problem.evaluate(theta, oracle)
        lower = problem.strong_bound(theta, value, slope)
        return cls(theta, value, problem.ridge(theta) + found.upper, lower, found)


def _solution(looks: list[_Look], n_passes: int) -> MarginSolution:
    """Return the last look as the solution; all passes were made, so it counts as converged."""
    trace, last = Trace(), looks[-1]
    for look in looks:
        trace.add(look.upper, look.lower, look.found)
    found = trace.solution(last.theta, last.upper, 0.0, n_passes, last.theta)
    return replace(found, converged=True)


class _Adam:
    """Iterate, means of gradients and squares, and the mean of the iterates."""

    def __init__(self, problem: MarginProblem, rates: Floats, start: Floats) -> None:
        self.problem, self.rates, self.t = problem, rates, 0
        size = problem.model.size
        self.theta = problem.model.project(start)
        self.first, self.second, self.total = np.zeros(size), np.zeros(size), np.zeros(size)
        self.n_kept = 0

    def step(self, rows: NDArray[np.int64], n_steps: int) -> None:
        """Go against the gradient of some samples."""
        problem = self.problem
        slope = problem.penalty * self.theta + problem.sample_subgradient(self.theta, rows)[1]
        self.t += 1
        self.first += (1.0 - DECAY) * (slope - self.first)
        self.second += (1.0 - DECAY_SQUARES) * (slope * slope - self.second)
        # Gradients are of the order of the features, one over the rates.
        size = np.sqrt(self.second / (1.0 - DECAY_SQUARES**self.t)) + 1e-13 / self.rates
        fall = (1.0 - DECAY**self.t) * np.sqrt(1.0 + 10.0 * self.t / n_steps)
        self.theta = problem.model.project(self.theta - self.rates / fall * self.first / size)
        if 2 * self.t > n_steps:
            self.total += self.theta
            self.n_kept += 1

    def mean(self) -> Floats:
        """Return the mean of the last half, or the iterate before there is one."""
        return self.total / self.n_kept if self.n_kept else self.theta
