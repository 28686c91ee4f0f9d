"""Stochastic subgradient descent as published (Section 6 of Lajugie et al. 2015).

    J(theta) = lambda/2 |theta|^2 + 1/N sum_n H_n(theta),    theta = (W, A), A of a given sign

Every step takes one random sample, goes against the subgradient of ``lambda/2 |theta|^2 + H_n`` and
clips ``A``. The paper does not tell its steps; these are those of the authors' released code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from colabel._parameters import check_real, check_whole
from colabel.learners.margin import MarginProblem, MarginSolution

__all__ = ["SubgradientDescent"]

Floats = NDArray[np.float64]
Report = Callable[[int, float, float], None]

CHECKPOINTS = 20  # evaluations of the whole objective
BLOW_UP = 1e15  # norm at which a descent is given up, as in the released code


class SubgradientDescent(BaseEstimator):
    """Learn by one random sample a step, for a fixed number of steps.

    Parameters
    ----------
    n_steps : int, default=100_000
        The released code takes a million.
    step_w, step_a : float, default=1.0
        ``g`` in the size of step ``t``, ``g lambda (g lambda + lambda t)^-exponent``, for the
        unaries and for the pairs.
    exponent : float, default=0.5
    average : bool, default=False
        Return the mean of the last half of the iterates; the published learner returns the last.
    random_state : int, default=0
        Seeds the choice of samples.
    tol : float, default=1e-3
        Converged is what has a gap of at most this share of the objective. Nothing stops earlier.

    Notes
    -----
    A step costs one decoding and O(number of parameters), for the ridge shrinks all of them. The
    objective and its bound are evaluated on all samples 20 times. One plane proves the gap: at a
    kink of the objective it stays open, however near the minimum is. Steps longer than
    ``2 / lambda`` make parameters grow; past a norm of 1e15 the descent ends, not converged.

    Where parameters or objective are multiples of the paper's, ``lambda`` is not the paper's
    ``lambda_p``: published steps are ``(lambda_p / lambda)^(2 - exponent)`` times as long.

    Examples
    --------
    >>> SubgradientDescent(n_steps=3, step_a=6.0).step_sizes(0.25)[-1]
    array([0.25, 1.  ])
    """

    def __init__(
        self,
        n_steps: int = 100_000,
        step_w: float = 1.0,
        step_a: float = 1.0,
        exponent: float = 0.5,
        average: bool = False,
        random_state: int = 0,
        tol: float = 1e-3,
    ) -> None:
        self.n_steps = n_steps
        self.step_w = step_w
        self.step_a = step_a
        self.exponent = exponent
        self.average = average
        self.random_state = random_state
        self.tol = tol

    def solve(
        self, problem: MarginProblem, state: Floats | None = None, report: Report | None = None
    ) -> MarginSolution:
        """Minimise the objective of ``problem``.

        Parameters
        ----------
        problem : MarginProblem
        state : ndarray of shape (n_parameters,) or None
            Where to start, zeros by default; steps begin anew.
        report : callable or None
            Called with step, objective and gap.

        Returns
        -------
        MarginSolution
            With the checkpoints' ``history``; its last, at ``coef``, need not be its least.
        """
        self._check(problem)
        start = np.zeros(problem.model.size) if state is None else state
        history, lower = [], [-np.inf]
        for n_iter, coef in self._descend(problem, problem.model.project(start)):
            value, slope, found = problem.evaluate(coef, 2)
            history.append(problem.ridge(coef) + found.upper)
            lower.append(max(lower[-1], problem.strong_bound(coef, value, slope)))
            gap = float(history[-1] - lower[-1])
            if report is not None:
                report(n_iter, history[-1], gap)
        converged = bool(gap <= self.tol * abs(history[-1]))
        bounds, values = np.array(lower[1:]), np.array(history)
        return MarginSolution(coef, values, gap, converged, n_iter, lower=bounds, state=coef)

    def step_sizes(self, penalty: float) -> Floats:
        """Return the steps for the unaries and for the pairs: (n_steps, 2)."""
        t = np.arange(1, self.n_steps + 1)[:, None]
        first = np.array([self.step_w, self.step_a]) * penalty
        return first * (first + penalty * t) ** -self.exponent  # errata 001.11

    def _check(self, problem: MarginProblem) -> None:
        check_whole(self.n_steps, "n_steps", least=1)
        check_real(self.step_w, "step_w", above=0)
        check_real(self.step_a, "step_a", above=0)
        check_real(self.exponent, "exponent", least=0)
        check_real(problem.penalty, "penalty", above=0)

    def _descend(self, problem: MarginProblem, theta: Floats) -> Iterator[tuple[int, Floats]]:
        """Yield steps taken and what would be returned then, at the checkpoints."""
        n_unary = problem.model.size - len(problem.model.edges)
        random = np.random.RandomState(self.random_state)
        checkpoints = set(-(-self.n_steps * np.arange(1, CHECKPOINTS + 1) // CHECKPOINTS))
        half = self.n_steps // 2 if self.average else self.n_steps
        mean = np.zeros_like(theta)
        for t, (gamma_w, gamma_a) in enumerate(self.step_sizes(problem.penalty), 1):
            _, slope = problem.sample_subgradient(theta, random.randint(problem.n_samples))
            step = problem.penalty * theta + slope  # Eqs. (31)-(33), of one sample
            step[:n_unary] *= gamma_w
            step[n_unary:] *= gamma_a
            theta = problem.model.project(theta - step)  # errata 001.11: signs by clipping
            if t > half:
                mean += (theta - mean) / (t - half)
            lost = not theta @ theta <= BLOW_UP**2
            if lost or t in checkpoints:
                yield t, mean.copy() if t > half else theta
            if lost:
                return
