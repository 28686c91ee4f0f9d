"""What every learner is: it minimises the regularised risk of a model, a loss and an oracle."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from sklearn.base import BaseEstimator

from colabel._parameters import check_real, check_whole
from colabel._renamed import RenamedParameters
from colabel.learners.margin import MarginProblem, MarginSolution
from colabel.roles import Loss, Model, Report, Stages

__all__ = ["BaseLearner"]


class BaseLearner(RenamedParameters, BaseEstimator, ABC):
    """Sets the parameters of a model; subclasses define ``solve``.

    ``seeks_optimum`` says whether the minimum of the objective is looked for: oracles are as exact
    as they can be for those that do.
    """

    seeks_optimum: ClassVar[bool] = True

    def check(self) -> None:
        """Refuse parameters that no data could make right."""
        known = self.get_params(deep=False)
        if "tol" in known:
            check_real(known["tol"], "tol", above=0.0)
        for name in ("max_iter", "n_planes", "memory"):
            if known.get(name) is not None:
                check_whole(known[name], name, least=1)

    def refusal(self, model: Model, loss: Loss, oracles: Stages) -> str:
        """Say why the parts do not fit this learner, in one sentence; empty where they do."""
        return ""

    def chosen(self, model: Model, loss: Loss, oracles: Stages) -> BaseLearner:
        """Return the learner that does the work for some parts: this one."""
        return self

    def start(self, problem: MarginProblem) -> object:
        """Return the state that a machine starts from; None is the learner's own."""
        return None

    @abstractmethod
    def solve(
        self, problem: MarginProblem, state: object = None, report: Report | None = None
    ) -> MarginSolution:
        """Minimise the objective of ``problem``.

        Parameters
        ----------
        problem : MarginProblem
        state : object or None
            What a solution of a similar problem by the same learner has as its ``state``.
        report : callable or None
            Called with iteration, objective and gap.

        Returns
        -------
        MarginSolution
        """
