"""A structured support vector machine of any model, loss, learner, oracle and decoder.

    J(theta) = lambda/2 |theta|^2 + sum_n p_n max_z [loss(y_n, z) + score(x_n, z) - score(x_n, y_n)]

Whether the parts fit together is asked before training starts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from colabel._parameters import check_real
from colabel._part import make_part
from colabel._progress import progress
from colabel._weighted import WeightedClassifier
from colabel.decoders import BaseDecoder
from colabel.exceptions import IncompatibleError
from colabel.learners import LEARNERS, BaseLearner, MarginProblem, MarginSolution
from colabel.losses import BaseLoss, make_loss
from colabel.messages import warn_user
from colabel.models import MODELS, BaseModelSpec
from colabel.numerics.distinct_rows import distinct_rows
from colabel.numerics.magnitude import check_magnitude
from colabel.oracles import ORACLES, BaseOracle, DecoderOracle
from colabel.roles import Features, Floats, Labels, Model, Report
from colabel.scores import Modular, Pairwise

__all__ = ["Parts", "StructuredSVC"]


@dataclass(frozen=True)
class Parts:
    """The parts of a machine.

    Parameters
    ----------
    model : BaseModelSpec
    loss : BaseLoss
    oracle : BaseOracle
    learner : BaseLearner
    """

    model: BaseModelSpec
    loss: BaseLoss
    oracle: BaseOracle
    learner: BaseLearner

    @classmethod
    def of(
        cls,
        model: str | BaseModelSpec,
        loss: str | BaseLoss,
        oracle: str | BaseOracle | BaseDecoder,
        learner: str | BaseLearner,
        **settings: float | None,
    ) -> Parts:
        """Make parts of their names or take copies of them, and check that they fit together.

        ``settings`` are set on the oracle and the learner, if they are made by name and have them.
        """
        given = {name: value for name, value in settings.items() if value is not None}
        if isinstance(oracle, BaseDecoder):
            oracle = DecoderOracle(clone(oracle))
        parts = cls(
            make_part("a model", model, BaseModelSpec, MODELS),
            make_loss(loss),
            make_part("an oracle", oracle, BaseOracle, ORACLES),
            make_part("a learner", learner, BaseLearner, LEARNERS),
        )
        for part, named in ((parts.oracle, oracle), (parts.learner, learner)):
            if isinstance(named, str):
                known = part.get_params(deep=False)
                part.set_params(**{name: given[name] for name in given if name in known})
        for part in (parts.model, parts.oracle, parts.learner):
            part.check()
        _refuse(parts.oracle.refusal(parts.model, parts.loss))
        return parts

    def join(
        self, X: Features, Y: Labels, weight: Floats, alpha: float, seed: int
    ) -> tuple[MarginProblem, BaseLearner]:
        """Return the problem of some rows and the learner that solves it, or refuse the parts."""
        model, penalty = self.model.build(X, Y, weight, alpha)
        oracles = self.oracle.stages(model, self.loss, rough=not self.learner.seeks_optimum)
        learner = clone(self.learner)
        if learner.get_params().get("random_state", 0) is None:
            learner.set_params(random_state=seed)
        learner = learner.chosen(model, self.loss, oracles)
        _refuse(learner.refusal(model, self.loss, oracles))
        return MarginProblem(model, self.loss, oracles, X, Y, weight, penalty), learner


class StructuredSVC(WeightedClassifier):
    """Structured support vector machine made of parts: any that fit together.

    Minimises a ridge penalty plus, for each sample, by how much a wrong labeling may score more
    than the true one less its loss. Parts that do not fit are refused in one sentence before
    training starts. ``SubmodularSVC`` and ``QuadraticPriorSVC`` are such machines with defaults of
    their own.

    Parameters
    ----------
    model : {"independent", "submodular", "quadratic"} or BaseModelSpec, default="submodular"
        How labelings are scored; see ``colabel.models``.
    loss : str or BaseLoss, default="f1"
        What a wrong labeling costs; see ``colabel.losses``.
    learner : str or BaseLearner, default="optimal"
        ``"optimal"`` proves the optimum by the quickest learner that fits. ``"dual"``, ``"bmrm"``,
        ``"lbfgs"``, ``"averaged"``, ``"subgradient"``, or an object with settings of its own; see
        ``colabel.learners``. A ``random_state`` of ``None`` in it is drawn from that of the
        machine.
    oracle : str, BaseOracle or BaseDecoder, default="certified"
        How labelings that violate the margin are found: ``"certified"``, ``"mincut"``,
        ``"algorithm2"``, ``"sdp"``, ``"spectral"``, or any decoder; see ``colabel.oracles``.
    decoder : str, BaseDecoder or None, default=None
        What predicts; ``None`` is the best labeling.
    alpha : float, default=1e-2
        Weight of the ridge penalty, in units of the mean squared norm of the rows.
    empty : {"allow", "forbid"}, default="allow"
        ``"forbid"`` leaves the empty label set out of prediction.
    verbose : bool, default=False
        Show the progress of a fit.
    random_state : int, RandomState instance or None, default=None
        Order in which samples are visited.

    Attributes
    ----------
    model_ : Model
        Built for the training rows.
    parameters_ : ndarray of shape (n_parameters,)
        Of ``model_``.
    objective_ : float
        What is minimised, at the solution: an upper bound by the strongest search of the oracle.
    gap_ : float
        How far the objective may be above its optimum: proved.
    history_, lower_bounds_ : ndarray
        Upper bounds of the objective, and lower bounds of the optimum, as training went on.
    certified_ : ndarray
        Share of samples whose worst labeling was proved to be the worst, at the same times; NaN
        where the oracle relaxes.
    n_iter_ : int
    classes_ : ndarray
        ``arange(n_labels)``, or the classes of a 1-D target.

    Examples
    --------
    >>> from colabel.datasets import load
    >>> train = load("yeast:train")
    >>> X, Y = train.X[:200], train.Y[:200]
    >>> machine = StructuredSVC("independent", "jaccard", "bmrm", alpha=0.1).fit(X, Y)
    >>> bool(machine.gap_ <= 1e-3 * machine.objective_)
    True
    """

    _decoder: ClassVar[str] = "subset"

    def __init__(
        self,
        model: str | BaseModelSpec = "submodular",
        loss: str | BaseLoss = "f1",
        learner: str | BaseLearner = "optimal",
        oracle: str | BaseOracle | BaseDecoder = "certified",
        decoder: str | BaseDecoder | None = None,
        *,
        alpha: float = 1e-2,
        empty: str = "allow",
        verbose: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.model = model
        self.loss = loss
        self.learner = learner
        self.oracle = oracle
        self.decoder = decoder
        self.alpha = alpha
        self.empty = empty
        self.verbose = verbose
        self.random_state = random_state

    def _parts(self) -> Parts:
        """Return the parts of the machine, checked each by itself."""
        return Parts.of(self.model, self.loss, self.oracle, self.learner)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real(self.alpha, "alpha", above=0.0)
        self._parts()

    def _freeze(self) -> None:
        model = self._parts().model
        self._has_pairs, self._attracts = model.has_pairs, model.attractive

    @property
    def _table(self) -> type[Modular] | type[Pairwise]:  # type: ignore[override]
        pairs = self._has_pairs if hasattr(self, "_has_pairs") else self._parts().model.has_pairs
        return Pairwise if pairs else Modular

    @property
    def _attractive(self) -> bool:  # type: ignore[override]
        return self._attracts

    def _probabilistic(self) -> bool:
        return False

    def _has_label_scores(self) -> bool:
        return True

    def _fit(self, X: Features, Y: Labels, **given: Floats | None) -> None:
        check_magnitude(X)
        self._learn(self._parts(), *distinct_rows(X, Y, given["sample_weight"]), self.alpha)

    def _learn(self, parts: Parts, X: Features, Y: Labels, weight: Floats, alpha: float) -> None:
        problem, learner = parts.join(X, Y, weight, alpha, self._seed())
        with progress(self.verbose, type(self).__name__) as report:
            found = self._solve(problem, learner, report)
        self._keep(problem.model, found)
        self.history_, self.lower_bounds_ = found.history, found.lower
        self.certified_ = found.certified
        self.n_iter_ = found.n_iter
        self.gap_ = max(0.0, found.gap)
        self.objective_ = float(found.lower.max()) + found.gap
        if not found.converged:
            self._warn_of_gap(learner, self._advice(problem, learner, found))

    def _warn_of_gap(self, learner: BaseLearner, advice: str) -> None:
        unit = "passes" if learner.seeks_optimum else "steps"
        warn_user(
            f"{type(self).__name__} stopped after {self.n_iter_} {unit}: its objective, "
            f"{self.objective_:.4g}, is up to {self.gap_:.2g} too high; {advice}",
            ConvergenceWarning,
        )

    def _solve(
        self, problem: MarginProblem, learner: BaseLearner, report: Report | None
    ) -> MarginSolution:
        return learner.solve(problem, learner.start(problem), report)

    def _seed(self) -> int:
        """Draw the seed of a learner that has none of its own."""
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _keep(self, model: Model, found: MarginSolution) -> None:
        """Keep what prediction needs."""
        self.model_, self.parameters_ = model, found.coef

    def _advice(self, problem: MarginProblem, learner: BaseLearner, found: MarginSolution) -> str:
        """Say what may close a gap that is open."""
        return "raise alpha, or max_iter or tol of the learner"

    def _scores(self, X: Features) -> Modular | Pairwise:
        table = self.model_.scores(X, self.parameters_)
        if isinstance(table, Modular) and self._has_pairs:  # no pairs in the training rows
            return Pairwise(table.unary, np.zeros((0, 2), np.int64), np.zeros(0))
        return table


def _refuse(reason: str) -> None:
    if reason:
        raise IncompatibleError(reason)
