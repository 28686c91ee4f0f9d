"""Submodular multi-label learning (Petterson and Caetano 2011), and without couplings (2010).

A structured support vector machine whose loss is the measure itself, 1 - F by default: linear
scores of labels, and scores of pairs of labels that cannot be negative, so that prediction is a
graph cut. What the paper leaves open, and where it errs, is settled in the Notes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colabel._parameters import check_choice, check_real, check_whole
from colabel._renamed import UNCHANGED, Renamed
from colabel.decoders import BaseDecoder
from colabel.learners import BaseLearner, CuttingPlane, MarginProblem, MarginSolution
from colabel.losses import BaseLoss, FBeta
from colabel.models import IndependentLabels, LinearPairwise, SubmodularPairs
from colabel.oracles import BaseOracle
from colabel.roles import Features, Floats, Labels, Model, Report
from colabel.scores import Modular, Pairwise
from colabel.structured._structured import Parts, StructuredSVC

__all__ = ["SubmodularSVC"]


def _loss_of_beta(machine: StructuredSVC) -> str | None:
    return "loss" if machine.loss in ("f1", "fbeta") else None


def _line_search(machine: StructuredSVC, wanted: bool) -> object:
    """Return BMRM with a line search; without one nothing changes."""
    params = machine.get_params(deep=False)
    most = {} if params["max_iter"] is None else {"max_iter": params["max_iter"]}
    return CuttingPlane(params["tol"], line_search=True, **most) if wanted else UNCHANGED


class SubmodularSVC(StructuredSVC):
    """Linear classifier with attracting pairs of labels, trained for F, predicted by graph cut.

    Maximises ``sum_l y_l (w_l . x + b_l) + sum_{l<m} c C_lm t_lm y_l y_m`` with ``t >= 0``, where
    ``C_lm`` tells how often two labels went together in training. Trained by margin rescaling with
    the loss to be small: convex, and solved to a duality gap that is proved.

    Parameters
    ----------
    alpha : float, default=1e-2
        Weight ``lambda`` of the ridge penalty, in units of the mean squared norm of the rows.
        Text wants less: try 1e-1 to 1e-5 in half decades (``SubmodularSVCCV`` does).
    couplings : {"cooccurrence"} or None, default="cooccurrence"
        ``None`` has no pairs: reverse multi-label learning [2]_, for which finding the labeling
        that violates the margin most is exact, by sorting.
    coupling_scale : float, default=1.0
        The ``c`` above, in units of the norm of the rows; the larger, the less couplings are
        penalised.
    pairs : float, int or None, default=None
        How many pairs are coupled, those that go together most often: a share (float), a number
        (int), or twice as many as labels (``None``).
    loss : str or BaseLoss, default="f1"
        ``"f1"``, ``"f2"`` and so on, ``"hamming"``, ``"jaccard"``, ``"subset"``, or a loss object.
    fit_intercept : bool, default=True
        Add a constant feature, penalised like the others. It matters much.
    intercept_scaling : float, default=1.0
        Its value, in units of the norm of the rows; 0 is none.
    shift : float, default=0.0
        Added to the scores of labels in prediction (not part of the method as published).
    oracle : str, BaseOracle or BaseDecoder, default="certified"
        How violated labelings are found where pairs are coupled: ``"certified"`` until they are
        proved the worst, ``"algorithm2"`` as published, which finds them in less than half of the
        cases and costs accuracy; or another of ``colabel.oracles``.
    limit : int, default=1000
        Most graph cuts for one sample.
    learner : str or BaseLearner, default="optimal"
        ``"optimal"`` is block-coordinate dual ascent; ``"bmrm"`` the bundle method of the paper
        (with its plane corrected), which reaches the same optimum later. Or another of
        ``colabel.learners``.
    decoder : str, BaseDecoder or None, default=None
        ``None`` is the best labeling: a graph cut, or a threshold without couplings.
    empty : {"allow", "forbid"}, default="allow"
        ``"forbid"`` leaves the empty label set out of prediction.
    tol : float, default=1e-3
        Training stops where the duality gap is this share of the objective.
    max_iter : int or None, default=None
        Most passes over the data; ``None`` is 1000, 3000 for ``"bmrm"``. A learner that is an
        object has ``tol`` and ``max_iter`` of its own.
    warm_start : bool, default=False
        Begin with what the last ``fit`` found, if it was given the same data. Quick for falling
        ``alpha``.
    verbose : bool, default=False
        Show the progress of a fit.
    random_state : int, RandomState instance or None, default=None
        Order in which samples are visited. It changes the result within the duality gap only.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
    intercept_ : ndarray of shape (n_labels,)
    couplings_ : ndarray of shape (n_labels, n_labels)
        Symmetric, at least 0, zero diagonal.
    objective_ : float
        What is minimised, at the solution: an upper bound by the strongest oracle.
    gap_ : float
        How far the objective may be above its optimum: proved.
    history_ : ndarray
        Upper bounds of the objective as training went on.
    lower_bounds_ : ndarray
        Lower bounds of the optimum at the same times.
    certified_ : ndarray
        Share of samples whose worst labeling was proved to be the worst, at the same times, by the
        oracle's own bound.
    certified_algorithm3_ : ndarray
        The same by Algorithm 3 of the paper, with ``oracle="algorithm2"`` only (empty otherwise).
        It takes longer than finding the labelings.
    n_iter_ : int
        Passes over the data; with the line search of ``CuttingPlane`` iterations, of up to ten
        passes each.
    classes_ : ndarray
        ``arange(n_labels)``, or the classes of a 1-D target.

    Notes
    -----
    The constant feature and units relative to the data are ours, as is the correction of the
    cutting plane. Rows that are equal count as one with their weights added. A pass costs
    O(n_labels) an entry of ``X`` and a sort of the labels a sample; 10 to 100 are needed, some of
    them with some tens of small cuts a sample where labels are coupled. Memory: a sparse copy of
    ``X``, a number for each sample and label, and 0.5 GB for remembered labelings, or 8 a sample
    where that is more (1 GB for the planes of ``"bmrm"``, 2 while one is added). Scale
    rows to norm 1 for text; do not standardise sparse data.

    References
    ----------
    .. [1] Petterson and Caetano, Submodular multi-label learning, NIPS 2011.
    .. [2] Petterson and Caetano, Reverse multi-label learning, NIPS 2010.

    Examples
    --------
    >>> from colabel.datasets import load
    >>> from colabel.metrics import f1_score
    >>> train, test = load("yeast:train"), load("yeast:test")
    >>> model = SubmodularSVC(random_state=0).fit(train.X, train.Y)
    >>> f"{f1_score(test.Y, model.predict(test.X)):.2f}"
    '0.65'
    >>> bool(model.gap_ <= 1e-3 * model.objective_)
    True
    """

    _renamed: ClassVar[Mapping[str, str | Renamed]] = {
        "beta": Renamed(_loss_of_beta, lambda _, beta: FBeta(beta)),
        "max_cuts": "limit",
        "solver": Renamed("learner", lambda _, name: "optimal" if name == "dual" else name),
        "line_search": Renamed("learner", _line_search),
    }

    def __init__(
        self,
        alpha: float = 1e-2,
        *,
        couplings: str | None = "cooccurrence",
        coupling_scale: float = 1.0,
        pairs: float | int | None = None,
        loss: str | BaseLoss = "f1",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        shift: float = 0.0,
        oracle: str | BaseOracle | BaseDecoder = "certified",
        limit: int = 1000,
        learner: str | BaseLearner = "optimal",
        decoder: str | BaseDecoder | None = None,
        empty: str = "allow",
        tol: float = 1e-3,
        max_iter: int | None = None,
        warm_start: bool = False,
        verbose: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.alpha = alpha
        self.couplings = couplings
        self.coupling_scale = coupling_scale
        self.pairs = pairs
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.shift = shift
        self.oracle = oracle
        self.limit = limit
        self.learner = learner
        self.decoder = decoder
        self.empty = empty
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state

    def _parts(self) -> Parts:
        model = IndependentLabels()
        if self.couplings is not None:
            model = SubmodularPairs(pairs=self.pairs, coupling_scale=self.coupling_scale)
        model.set_params(fit_intercept=self.fit_intercept, intercept_scaling=self.intercept_scaling)
        settings = {"tol": self.tol, "max_iter": self.max_iter, "limit": self.limit}
        return Parts.of(model, self.loss, self.oracle, self.learner, **settings)

    def _check_parameters(self) -> None:
        check_choice(self.couplings, "couplings", ("cooccurrence", None))
        check_real(self.shift, "shift")
        check_real(self.tol, "tol", above=0.0)
        check_whole(self.limit, "limit", least=0)
        if self.max_iter is not None:
            check_whole(self.max_iter, "max_iter", least=1)
        super()._check_parameters()

    def _fit(self, X: Features, Y: Labels, **given: Floats | None) -> None:
        super()._fit(X, Y, **given)
        self._shift = float(self.shift)

    def _solve(
        self, problem: MarginProblem, learner: BaseLearner, report: Report | None
    ) -> MarginSolution:
        if not self.warm_start:
            return super()._solve(problem, learner, report)
        key = self._warm_key(learner)
        last, rows, state = getattr(self, "_warm", (None, None, None))
        fits = key == last and rows is not None and rows.same(problem)
        found = learner.solve(problem, state if fits else learner.start(problem), report)
        self._warm = key, _Rows(problem.X, problem.Y, problem.share), found.state
        return found

    def _warm_key(self, learner: BaseLearner) -> str:
        """Tell apart what cannot start from one another: only planes depend on the scale."""
        parts = self._parts()
        if not isinstance(learner, CuttingPlane) and parts.model.has_pairs:
            parts.model.set_params(coupling_scale=1.0)
        kinds = (learner, parts.model, parts.loss, parts.oracle)
        params = [part.get_params() for part in kinds[1:]]
        return str(joblib.hash([[type(part).__qualname__ for part in kinds], params]))

    def __getstate__(self) -> dict[str, object]:
        """Leave out what a next fit could start from: it holds the training rows."""
        return {name: value for name, value in super().__getstate__().items() if name != "_warm"}

    def _keep(self, model: Model, found: MarginSolution) -> None:
        assert isinstance(model, LinearPairwise)
        W, _ = model.split(found.coef)
        self.coef_ = np.ascontiguousarray(W[:-1].T)
        self.intercept_ = model.constant * W[-1]
        self.couplings_ = np.zeros((model.n_labels, model.n_labels))
        i, j = model.edges.T
        self.couplings_[i, j] = self.couplings_[j, i] = model.couplings(found.coef)
        self.certified_algorithm3_ = found.proved

    def _advice(self, problem: MarginProblem, learner: BaseLearner, found: MarginSolution) -> str:
        """Say what keeps the gap open: too few passes, or labelings not proved the worst."""
        if found.n_iter >= (learner.get_params().get("max_iter") or np.inf):
            return "raise max_iter, alpha or tol"
        if problem.oracles.certificate is not None:
            return 'use oracle="certified", or raise tol'
        return "raise limit, alpha or tol"

    def _scores(self, X: Features) -> Modular | Pairwise:
        unary = np.asarray(X @ self.coef_.T) + (self.intercept_ + self._shift)
        i, j = np.nonzero(np.triu(self.couplings_, 1))
        return self._make_table(unary, np.stack([i, j], axis=1), self.couplings_[i, j])

    def _make_table(
        self, unary: Floats, edges: NDArray[np.int64], couplings: Floats
    ) -> Modular | Pairwise:
        return Pairwise(unary, edges, couplings) if self._has_pairs else Modular(unary)


class _Rows(NamedTuple):
    """The rows that a fit was given."""

    X: sparse.csr_array
    Y: Labels
    share: Floats

    def same(self, problem: MarginProblem) -> bool:
        """Whether the rows are those of ``problem``."""
        return (
            self.Y.shape == problem.Y.shape
            and self.X.shape == problem.X.shape
            and self.X.nnz == problem.X.nnz
            and np.array_equal(self.X.data, problem.X.data)
            and np.array_equal(self.X.indptr, problem.X.indptr)
            and np.array_equal(self.X.indices, problem.X.indices)
            and np.array_equal(self.Y, problem.Y)
            and np.array_equal(self.share, problem.share)
        )
