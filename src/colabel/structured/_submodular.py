"""Submodular multi-label learning (Petterson and Caetano 2011), and without couplings (2010).

A structured support vector machine whose loss is the measure itself, 1 - F by default: linear
scores of labels, and scores of pairs of labels that cannot be negative, so that prediction is a
graph cut. What the paper leaves open, and where it errs, is settled in the Notes.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from colabel._parameters import check_choice, check_real, check_whole
from colabel._progress import progress
from colabel._weighted import WeightedClassifier
from colabel.decoders import BaseDecoder
from colabel.learners.block_dual import BlockDual
from colabel.learners.cutting_plane import CuttingPlane
from colabel.learners.margin import MarginProblem, MarginSolution
from colabel.losses import BaseLoss, FBeta, make_loss
from colabel.numerics.magnitude import check_magnitude
from colabel.scores import Modular, Pairwise, ScoreTable
from colabel.structured._margin_data import MarginData, MarginSettings
from colabel.structured._margin_solution import keep_solution

__all__ = ["SubmodularSVC"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]
Edges = NDArray[np.int64]

MAX_ITER = {"dual": 1000, "bmrm": 3000}


class SubmodularSVC(WeightedClassifier):
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
    loss : str or BaseLoss, default="fbeta"
        ``"fbeta"``, ``"f1"``, ``"hamming"``, ``"jaccard"``, ``"subset"``, or a loss object.
    beta : float, default=1.0
        Weight of recall in ``"fbeta"``.
    fit_intercept : bool, default=True
        Add a constant feature, penalised like the others. It matters much.
    intercept_scaling : float, default=1.0
        Its value, in units of the norm of the rows.
    shift : float, default=0.0
        Added to the scores of labels in prediction (not part of the method as published).
    oracle : {"certified", "algorithm2"}, default="certified"
        How violated labelings are found where pairs are coupled: until they are proved the worst,
        or as published, which finds it in less than half of the cases and costs accuracy.
    max_cuts : int, default=1000
        Most graph cuts for one sample in ``"certified"``.
    solver : {"dual", "bmrm"}, default="dual"
        Block-coordinate dual ascent, or the bundle method of the paper (with its plane corrected),
        which reaches the same optimum later.
    line_search : bool, default=False
        For ``"bmrm"``.
    decoder : str, BaseDecoder or None, default=None
        ``None`` is the best labeling: a graph cut, or a threshold without couplings.
    empty : {"allow", "forbid"}, default="allow"
        ``"forbid"`` leaves the empty label set out of prediction.
    tol : float, default=1e-3
        Training stops where the duality gap is this share of the objective.
    max_iter : int or None, default=None
        Most passes over the data; ``None`` is 1000, 3000 for ``"bmrm"``.
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
        Passes over the data; with ``line_search`` iterations, of up to ten passes each.
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

    _decoder: ClassVar[str] = "subset"
    _attractive: ClassVar[bool] = True

    def __init__(
        self,
        alpha: float = 1e-2,
        *,
        couplings: str | None = "cooccurrence",
        coupling_scale: float = 1.0,
        pairs: float | int | None = None,
        loss: str | BaseLoss = "fbeta",
        beta: float = 1.0,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        shift: float = 0.0,
        oracle: str = "certified",
        max_cuts: int = 1000,
        solver: str = "dual",
        line_search: bool = False,
        decoder: str | BaseDecoder | None = None,
        empty: str = "allow",
        tol: float = 1e-3,
        max_iter: int | None = None,
        warm_start: bool = False,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.couplings = couplings
        self.coupling_scale = coupling_scale
        self.pairs = pairs
        self.loss = loss
        self.beta = beta
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.shift = shift
        self.oracle = oracle
        self.max_cuts = max_cuts
        self.solver = solver
        self.line_search = line_search
        self.decoder = decoder
        self.empty = empty
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state

    @property
    def _table(self) -> type[ScoreTable]:  # type: ignore[override]
        coupled = getattr(self, "_coupled", self.couplings is not None)  # as fitted, if it is
        return Pairwise if coupled else Modular

    def _fit(self, X: Any, Y: Labels, **given: Any) -> None:
        weight: Floats | None = given["sample_weight"]
        check_magnitude(X)
        self._learn(MarginData(X, Y, weight, self._settings()), self.alpha, self.coupling_scale)
        self._shift = float(self.shift)

    def _learn(self, data: MarginData, alpha: float, scale: float) -> None:
        problem = data.problem(alpha, scale)
        state = self._last_state(data, scale) if self.warm_start else None
        with progress(self.verbose, type(self).__name__) as report:
            found = self._learner().solve(problem, state, report)
        if self.warm_start:
            self._warm = (self._warm_key(scale), data, found.state)
        self._keep(problem, found)

    def _last_state(self, data: MarginData, scale: float) -> Any:
        """Return what the last fit found, where it can be used."""
        key, before, state = getattr(self, "_warm", (None, None, None))
        fits = key == self._warm_key(scale) and before is not None and data.same(before)
        return state if fits else None

    def _warm_key(self, scale: float) -> str:
        """Tell apart what cannot start from one another: only planes depend on the scale."""
        return repr((self._settings(), self.solver, scale if self.solver == "bmrm" else None))

    def _learner(
        self, tol: float | None = None, most: int | None = None
    ) -> BlockDual | CuttingPlane:
        tol = self.tol if tol is None else tol
        most = self._most() if most is None else most
        if self.solver == "bmrm":
            return CuttingPlane(tol, most, self.line_search)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        return BlockDual(tol, most, random_state=seed)

    def _most(self) -> int:
        """Return the most passes."""
        return MAX_ITER[self.solver] if self.max_iter is None else int(self.max_iter)

    def _settings(self) -> MarginSettings:
        loss = FBeta(self.beta) if self.loss == "fbeta" else make_loss(self.loss)
        intercept = float(self.intercept_scaling) if self.fit_intercept else 0.0
        return MarginSettings(
            loss, self.couplings is not None, self.pairs, intercept, self.oracle, self.max_cuts
        )

    def _keep(self, problem: MarginProblem, found: MarginSolution) -> None:
        model = problem.model
        W, _ = model.split(found.coef)
        self.coef_ = np.ascontiguousarray(W[:-1].T)
        self.intercept_ = model.constant * W[-1]
        self.couplings_ = np.zeros((model.n_labels, model.n_labels))
        i, j = model.edges.T
        self.couplings_[i, j] = self.couplings_[j, i] = model.couplings(found.coef)
        self.certified_algorithm3_ = found.proved
        keep_solution(self, found, self._advice(found))

    def _advice(self, found: MarginSolution) -> str:
        """Say what keeps the gap open: too few passes, or labelings not proved the worst."""
        if found.n_iter >= self._most():
            return "raise max_iter, alpha or tol"
        if self.oracle == "algorithm2":
            return 'use oracle="certified", or raise tol'
        return "raise max_cuts, alpha or tol"

    def _scores(self, X: Any) -> Modular | Pairwise:
        unary = np.asarray(X @ self.coef_.T) + (self.intercept_ + self._shift)
        i, j = np.nonzero(np.triu(self.couplings_, 1))
        return self._make_table(unary, np.stack([i, j], axis=1), self.couplings_[i, j])

    def _make_table(self, unary: Floats, edges: Edges, couplings: Floats) -> Modular | Pairwise:
        return Pairwise(unary, edges, couplings) if self._coupled else Modular(unary)

    def _check_parameters(self) -> None:
        self._coupled = self.couplings is not None
        super()._check_parameters()
        for name in ("alpha", "coupling_scale", "beta", "intercept_scaling", "tol"):
            check_real(getattr(self, name), name, above=0.0)
        check_real(self.shift, "shift")
        check_choice(self.couplings, "couplings", ("cooccurrence", None))
        check_choice(self.oracle, "oracle", ("certified", "algorithm2"))
        check_choice(self.solver, "solver", ("dual", "bmrm"))
        if self.oracle == "algorithm2" and not isinstance(self._settings().loss, FBeta):
            raise ValueError('oracle="algorithm2" can add loss="fbeta" only; use "certified"')
        if self.max_iter is not None:
            check_whole(self.max_iter, "max_iter", least=1)
        check_whole(self.max_cuts, "max_cuts", least=0)
        if isinstance(self.pairs, Integral):
            check_whole(self.pairs, "pairs", least=0)
        elif self.pairs is not None:
            check_real(self.pairs, "pairs", least=0.0, most=1.0)
