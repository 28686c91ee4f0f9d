"""Stochastic subgradient descent as published (Section 6 of Lajugie et al. 2015).

    J(theta) = lambda/2 |theta|^2 + 1/N sum_n H_n(theta),    theta = (W, A), A of a given sign

Every step takes one random sample, goes against the subgradient of ``lambda/2 |theta|^2 + H_n`` and
clips ``A``. The paper does not tell its steps; these are those of the authors' released code.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from colabel._parameters import check_real
from colabel.learners.base import BaseLearner
from colabel.learners.margin import MarginProblem, MarginSolution, Trace
from colabel.learners.ridge_start import ridge_start
from colabel.roles import Floats, Report

__all__ = ["SubgradientDescent"]

CHECKPOINTS = 20  # evaluations of the whole objective
BLOW_UP = 1e15  # norm at which a descent is given up, as in the released code


class SubgradientDescent(BaseLearner):
    """Learn by one random sample a step, for a fixed number of steps.

    Parameters
    ----------
    max_iter : int, default=100_000
        The released code takes a million.
    step_w, step_a : float, default=1.0
        ``g`` in the size of step ``t``, ``g lambda (g lambda + lambda t)^-exponent``, for the
        unaries and for the pairs.
    exponent : float, default=0.5
    average : bool, default=False
        Return the mean of the last half of the iterates; the published learner returns the last.
    random_state : int or None, default=None
        Seeds the choice of samples; ``None`` is 0, or drawn by the machine.
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
    >>> SubgradientDescent(max_iter=3, step_a=6.0).step_sizes(0.25)[-1]
    array([0.25, 1.  ])
    """

    seeks_optimum: ClassVar[bool] = False
    _renamed: ClassVar[dict[str, str]] = {"n_steps": "max_iter"}

    def __init__(
        self,
        max_iter: int = 100_000,
        step_w: float = 1.0,
        step_a: float = 1.0,
        exponent: float = 0.5,
        average: bool = False,
        random_state: int | None = None,
        tol: float = 1e-3,
    ) -> None:
        self.max_iter = max_iter
        self.step_w = step_w
        self.step_a = step_a
        self.exponent = exponent
        self.average = average
        self.random_state = random_state
        self.tol = tol

    def check(self) -> None:
        super().check()
        check_real(self.step_w, "step_w", above=0)
        check_real(self.step_a, "step_a", above=0)
        check_real(self.exponent, "exponent", least=0)

    def start(self, problem: MarginProblem) -> object:
        """Return ridge regressions of the labels, as published."""
        return ridge_start(problem)

    def solve(
        self, problem: MarginProblem, state: object = None, report: Report | None = None
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
        self.check()
        check_real(problem.penalty, "penalty", above=0)
        start = state if isinstance(state, np.ndarray) else np.zeros(problem.model.size)
        trace, lower = Trace(), -np.inf
        for n_iter, coef in self._descend(problem, problem.model.project(start)):
            value, slope, found = problem.evaluate(coef, problem.oracles.proof)
            upper = problem.ridge(coef) + found.upper
            lower = max(lower, problem.strong_bound(coef, value, slope))
            trace.add(upper, lower, found)
            if report is not None:
                report(n_iter, upper, upper - lower)
        return trace.solution(coef, upper, self.tol, n_iter, coef)

    def step_sizes(self, penalty: float) -> Floats:
        """Return the steps for the unaries and for the pairs: (max_iter, 2)."""
        t = np.arange(1, self.max_iter + 1)[:, None]
        first = np.array([self.step_w, self.step_a]) * penalty
        return first * (first + penalty * t) ** -self.exponent  # errata 001.11

    def _descend(self, problem: MarginProblem, theta: Floats) -> Iterator[tuple[int, Floats]]:
        """Yield steps taken and what would be returned then, at the checkpoints."""
        n_unary = problem.model.n_unary
        random = np.random.RandomState(self.random_state or 0)
        checkpoints = set(-(-self.max_iter * np.arange(1, CHECKPOINTS + 1) // CHECKPOINTS))
        half = self.max_iter // 2 if self.average else self.max_iter
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
