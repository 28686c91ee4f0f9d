"""Mini-batch descent whose iterates are averaged.

The steps are those of Adam (Kingma and Ba 2015), falling as ``1 / sqrt(1 + 10 t / T)``; what is
returned is the mean of the last half of the iterates. It is not the minimum of the objective, and
may be better for it: with the F1 loss and penalties of each learner's own choice it predicts as
well or better on all data that we tried, by up to .03. Why, we can only guess: iterates jump
between labelings that violate the margin about as much, and their mean weighs them all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from colabel.learners.margin import MarginProblem, MarginSolution

__all__ = ["AveragedDescent"]

Floats = NDArray[np.float64]

# Decay of the means of gradients and of their squares, per step.
DECAY, DECAY_SQUARES = 0.9, 0.99
# Times the objective is looked at, and passes that are worth a look.
LOOKS, WORTH = 10, 10
HALVINGS = 12
FEWEST, MOST, VISITS = 30, 100, 30_000
# Steps of this over the root of their number: what noise adds up to does not depend on the number.
REACH = 2.25


class AveragedDescent(BaseEstimator):
    """Learn by mini-batches for a fixed number of passes; return the mean of the last half.

    Parameters
    ----------
    n_passes : int or None, default=None
        ``None`` is 30, and up to 100 where there are less than 1000 samples.
    rate : float or None, default=None
        Length of the first steps, in units of one over the norm of the rows. ``None`` is 2.25 over
        the root of their number: about .1 for 500, the longer the fewer they are.
    rate_pairs : float or None, default=None
        That of the prior; ``None`` is a tenth of ``rate``.
    batch : int or None, default=None
        Samples of a step. ``None`` is 64, and up to 256 where there are more than 1500 samples:
        what a step costs besides its samples is shared by more of them.
    random_state : int, default=0
        Seeds the order of samples.

    Notes
    -----
    A step costs the decoding of its samples and O(number of parameters). The gap is that of strong
    convexity, at the point returned: a bound, and a loose one.
    """

    def __init__(
        self,
        n_passes: int | None = None,
        rate: float | None = None,
        rate_pairs: float | None = None,
        batch: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.n_passes = n_passes
        self.rate = rate
        self.rate_pairs = rate_pairs
        self.batch = batch
        self.random_state = random_state

    def solve(
        self,
        problem: MarginProblem,
        state: Floats | None = None,
        report: Callable[[int, float, float], None] | None = None,
    ) -> MarginSolution:
        """Descend for ``n_passes`` passes.

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
        random, n = np.random.RandomState(self.random_state), problem.n_samples
        n_passes = min(MOST, max(FEWEST, -(-VISITS // n)))
        n_passes = n_passes if self.n_passes is None else int(self.n_passes)
        batch = min(256, max(64, n // 24)) if self.batch is None else int(self.batch)
        n_steps = n_passes * -(-n // batch)
        run = _Adam(problem, self._rates(problem, n_steps), state)
        n_looks = min(LOOKS, max(1, n_passes // WORTH))
        trace: list[_Look] = []
        for done in range(1, n_passes + 1):
            order = random.permutation(n)
            for i in range(0, n, batch):
                run.step(order[i : i + batch], n_steps)
            if done * n_looks // n_passes > (done - 1) * n_looks // n_passes:
                trace.append(_Look.at(problem, run.mean()))
                if report is not None:
                    report(done, trace[-1].upper, trace[-1].upper - trace[-1].lower)
        last = trace[-1] = self._last(problem, trace[-1])
        history, lower, certified, proved = problem.trace([look.row for look in trace])
        lower, coef = np.maximum.accumulate(lower), last.theta
        gap = last.upper - float(lower[-1])
        return MarginSolution(coef, history, gap, True, n_passes, lower, certified, proved, coef)

    def _last(self, problem: MarginProblem, look: _Look) -> _Look:
        """Look by the strongest oracle, at parameters that are no worse than none."""
        look = self._shortened(problem, look)
        return look if problem.proves(1) else _Look.at(problem, look.theta, 2)

    def _shortened(self, problem: MarginProblem, look: _Look) -> _Look:
        """Halve parameters while they are worse than none, by the labelings found."""
        nothing = problem.evaluate(np.zeros_like(look.theta))[0]
        for _ in range(HALVINGS):
            if look.value <= nothing:
                break
            look = _Look.at(problem, 0.5 * look.theta)
        return look

    def _rates(self, problem: MarginProblem, n_steps: int) -> Floats:
        model = problem.model
        unit = np.sqrt(float(problem.share @ problem.norms))
        unit = unit if unit > 0.0 else 1.0
        rate = REACH / np.sqrt(n_steps) if self.rate is None else self.rate
        rates = np.full(model.size, rate / unit)
        n_pairs = len(model.edges)
        if n_pairs:
            of_pairs = 0.1 * rate if self.rate_pairs is None else self.rate_pairs
            rates[model.size - n_pairs :] = of_pairs / model.kappa
        return rates


@dataclass(frozen=True, eq=False)
class _Look:
    """The objective at a point, by the labelings found there, and its bounds."""

    theta: Floats
    value: float
    upper: float
    lower: float
    shares: tuple[float, float]

    @classmethod
    def at(cls, problem: MarginProblem, theta: Floats, oracle: int = 1) -> _Look:
        """Look at all samples."""
        value, slope, found = problem.evaluate(theta, oracle)
        lower = problem.strong_bound(theta, value, slope)
        shares = found.certified, found.proved
        return cls(theta, value, problem.ridge(theta) + found.upper, lower, shares)

    @property
    def row(self) -> tuple[float, ...]:
        """As a problem's ``trace`` takes it."""
        return self.upper, self.lower, *self.shares


class _Adam:
    """Iterate, means of gradients and squares, and the mean of the iterates."""

    def __init__(self, problem: MarginProblem, rates: Floats, start: Floats | None) -> None:
        self.problem, self.rates, self.t = problem, rates, 0
        size = problem.model.size
        self.theta = problem.model.project(np.zeros(size) if start is None else start)
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
