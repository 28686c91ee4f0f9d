"""Linear classifiers with a quadratic prior on labelings (Lajugie et al. 2015).

Labels may attract and repel one another, so the best labeling is as hard to find as a maximum cut:
it is found by a minimum cut where labels only attract, by branch and bound, or the maximum inside
the training objective is relaxed to a semidefinite program or a sphere.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from colabel._parameters import check_choice, check_real, check_whole
from colabel._progress import progress
from colabel._weighted import WeightedClassifier
from colabel.decoders import BaseDecoder
from colabel.learners.averaged import AveragedDescent
from colabel.learners.block_dual import BlockDual
from colabel.learners.cutting_plane import CuttingPlane
from colabel.learners.margin import MarginProblem, MarginSolution
from colabel.learners.quasi_newton import QuasiNewton
from colabel.learners.spin_dual import SpinDual
from colabel.learners.subgradient import SubgradientDescent
from colabel.linear.ridge import ridge_weights
from colabel.losses import BaseLoss, FBeta, make_loss
from colabel.models import LinearPairwise, SpinPairwise
from colabel.numerics.distinct_rows import distinct_rows
from colabel.numerics.magnitude import check_magnitude, mean_squared_norm
from colabel.scores import Modular, Pairwise, ScoreTable
from colabel.structured._margin_solution import keep_solution
from colabel.structured._quadratic_oracles import QuadraticOracles

__all__ = ["QuadraticPriorSVC"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]

LEARNERS = ("averaged", "optimal", "bmrm", "subgradient")
STEPPING = AveragedDescent | SubgradientDescent
MAX_ITER = {"dual": 1000, "lbfgs": 1000, "bmrm": 3000, "subgradient": 100_000}
# Rows or features beyond which no ridge regression is solved to start from.
RIDGE_SIZE = 5000


class QuadraticPriorSVC(WeightedClassifier):
    """Linear classifier with a learned prior in which labels attract and repel one another.

    Maximises ``1/2 [y'(W'x + b) - y'Ay]`` over labels ``y`` in {-1, +1}: ``A_lm > 0`` repels two
    labels, ``A_lm < 0`` attracts them. ``W``, ``b`` and ``A`` are learned together by margin
    rescaling with the loss to be small, a convex problem.

    Parameters
    ----------
    lambda_w : float, default=3e-3
        Weight of the ridge penalty on ``W`` and ``b``, in units of the mean squared norm of the
        rows. Try 1e-1 to 1e-5.
    lambda_a : float, default=0.1
        Weight of the ridge penalty on ``A``, ``lambda_a / 2 |A|^2``.
    sign : {"any", "attractive", "repulsive"} or None, default="any"
        What ``A`` may do; ``None`` is no prior, ``A = 0``.
    inference : {"exact", "mincut", "sdp", "spectral"}, default="exact"
        How the labelings that violate the margin are found in training. ``"mincut"`` is exact, for
        attraction only; ``"exact"`` takes it there, and branch and bound elsewhere. ``"sdp"`` and
        ``"spectral"`` relax the maximum, and learn with the moments of the relaxed labels.
    loss : str or BaseLoss, default="f1"
        ``"f1"``, ``"fbeta"``, ``"hamming"`` (as published), ``"jaccard"``, ``"subset"``.
    beta : float, default=1.0
        Weight of recall in ``"fbeta"``.
    bias_scale : float, default=1.0
        Value of the constant feature behind ``b``, in units of the norm of the rows; 0 is none.
    learner : {"averaged", "optimal", "bmrm", "subgradient"} or a learner, default="averaged"
        ``"averaged"``: the mean of mini-batch steps, which leaves the optimum of the objective
        aside and predicts better by it. ``"optimal"``: the optimum, proved; by block-coordinate
        dual ascent, for the relaxations by L-BFGS and cutting planes. ``"bmrm"``: by cutting
        planes alone. ``"subgradient"``: one random sample a step, as published. Or an
        ``AveragedDescent`` or ``SubgradientDescent`` of ``colabel.learners``, with steps and seed
        of its own.
    limit : int, default=1000
        Most graph cuts, or nodes of a search tree, for one sample, where such are used. Steps of
        ``"averaged"`` and ``"subgradient"`` take three nodes at most: labelings are nearly always
        the best by then, though seldom proved so.
    decoder : str, BaseDecoder or None, default=None
        ``None`` is the best labeling: a threshold, a graph cut, or branch and bound with at most
        ``limit`` nodes. Which labelings are proved the best, ``decode(X).certified`` tells.
    empty : {"allow", "forbid"}, default="allow"
        ``"forbid"`` leaves the empty label set out of prediction.
    tol : float, default=1e-3
        ``"optimal"`` and ``"bmrm"`` stop where the duality gap is this share of the objective.
    max_iter : int or None, default=None
        Most passes over the data; ``None`` is 1000, 3000 for ``"bmrm"``, 30 for ``"averaged"``
        (more for less than 1000 rows), 100,000 steps for ``"subgradient"``.
    verbose : bool, default=False
        Show the progress of a fit.
    random_state : int, RandomState instance or None, default=None
        Order in which samples are visited.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
    intercept_ : ndarray of shape (n_labels,)
    prior_ : ndarray of shape (n_labels, n_labels)
        ``A``: symmetric, zero diagonal; positive repels.
    objective_ : float
        What is minimised, at the solution: an upper bound, by the strongest oracle there is; with
        a loss of counts, repulsion and a learner that does not look for the optimum, by the one
        that it learns with.
    gap_ : float
        How far the objective may be above its optimum: proved, and loose where the learner does not
        look for the optimum.
    history_, lower_bounds_ : ndarray
        Upper bounds of the objective, and lower bounds of the optimum, as training went on.
    certified_ : ndarray
        Share of samples whose worst labeling was proved to be the worst, as training went on, and
        at last by a search of up to ``limit`` nodes; NaN for relaxations.
    n_iter_ : int
    classes_ : ndarray
        ``arange(n_labels)``, or the classes of a 1-D target.

    Notes
    -----
    The paper's score is twice ours, its rows are not scaled: its ``lambda_W`` is ``4 m2 lambda_w``
    with ``m2`` the mean squared norm of the rows, its ``lambda_A`` is ``4 lambda_a``. Losses are
    in [0, 1] there and here. A pass costs O(n_labels) an entry of ``X`` and O(n_labels^2) a
    sample, some tens of times that with ``"sdp"``. With a loss of counts, repulsion and more than
    16 labels no oracle proves its labelings worst, and ``"exact"`` means the best that flips find;
    the gap remains an honest bound.

    References
    ----------
    .. [1] Lajugie, Bojanowski, Arlot and Bach, Semidefinite and spectral relaxations for
       multi-label classification, 2015.

    Examples
    --------
    >>> from colabel.datasets import load
    >>> from colabel.metrics import f1_score
    >>> train, test = load("yeast:train"), load("yeast:test")
    >>> model = QuadraticPriorSVC(inference="spectral", random_state=0).fit(train.X, train.Y)
    >>> f"{f1_score(test.Y, model.predict(test.X)):.2f}"
    '0.65'
    >>> bool(model.decode(test.X).certified.all())
    True
    """

    _decoder: ClassVar[str] = "subset"

    def __init__(
        self,
        lambda_w: float = 3e-3,
        *,
        lambda_a: float = 0.1,
        sign: str | None = "any",
        inference: str = "exact",
        loss: str | BaseLoss = "f1",
        beta: float = 1.0,
        bias_scale: float = 1.0,
        learner: str | AveragedDescent | SubgradientDescent = "averaged",
        limit: int = 1000,
        decoder: str | BaseDecoder | None = None,
        empty: str = "allow",
        tol: float = 1e-3,
        max_iter: int | None = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.lambda_w = lambda_w
        self.lambda_a = lambda_a
        self.sign = sign
        self.inference = inference
        self.loss = loss
        self.beta = beta
        self.bias_scale = bias_scale
        self.learner = learner
        self.limit = limit
        self.decoder = decoder
        self.empty = empty
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.random_state = random_state

    @property
    def _table(self) -> type[ScoreTable]:  # type: ignore[override]
        sign = getattr(self, "_sign", self.sign)  # as fitted, if it is
        return Modular if sign is None else Pairwise

    @property
    def _attractive(self) -> bool:  # type: ignore[override]
        return self.sign == "attractive"

    def _fit(self, X: Any, Y: Labels, **given: Any) -> None:
        weight: Floats | None = given["sample_weight"]
        check_magnitude(X)
        # One label has no pairs.
        oracles = self._oracles(self.sign if Y.shape[1] > 1 else None)
        problem = self._problem(oracles, *distinct_rows(X, Y, weight))
        with progress(self.verbose, type(self).__name__) as report:
            found = self._learn(problem, oracles, report)
        self._keep(problem, found, oracles)

    def _learn(
        self, problem: MarginProblem, oracles: QuadraticOracles, report: Any
    ) -> MarginSolution:
        learner = self._learner(oracles)
        if isinstance(learner, STEPPING):
            return learner.solve(problem, _ridge_start(problem), report)
        if not (oracles.relaxes and oracles.inference == "sdp" and self.learner == "optimal"):
            return learner.solve(problem, None, report)
        # The relaxation is nearly tight: its minimum is near that of the exact objective, which
        # bounds it from below. It has the same kinks, too, at which L-BFGS alone proves little.
        exact = replace(oracles, inference="exact")
        first = self._problem(exact, problem.X, problem.Y, problem.share)
        start = self._learner(exact, 0.5 * self.tol).solve(first, None, report)
        return learner.solve(problem, start.coef, report, lower=float(start.lower.max()))

    def _problem(
        self, oracles: QuadraticOracles, X: Any, Y: Labels, weight: Floats
    ) -> MarginProblem:
        m2 = mean_squared_norm(X, weight)
        penalty = self.lambda_w * m2
        kappa = float(np.sqrt(penalty / (2.0 * self.lambda_a)))  # |A|^2 counts each pair twice
        sizes, constant = (X.shape[1], Y.shape[1]), float(self.bias_scale) * np.sqrt(m2)
        model: Any = SpinPairwise(*sizes, oracles.sign, kappa, constant)
        if oracles.sign is None:
            model = LinearPairwise(*sizes, np.zeros((0, 2), np.int64), np.zeros(0), constant)
        chosen = oracles.choose(Y.shape[1])
        return oracles.problem(model, oracles.loss, chosen, X, Y, weight, penalty)

    def _oracles(self, sign: str | None) -> QuadraticOracles:
        loss = FBeta(self.beta) if self.loss == "fbeta" else make_loss(self.loss)
        rough = self.learner not in ("optimal", "bmrm")
        return QuadraticOracles(sign, self.inference, loss, int(self.limit), rough)

    def _learner(self, oracles: QuadraticOracles, tol: float | None = None) -> Any:
        if isinstance(self.learner, STEPPING):
            return clone(self.learner)
        tol = self.tol if tol is None else tol
        kind = self._kind(oracles)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        if kind == "averaged":
            return AveragedDescent(self.max_iter, random_state=seed)
        most = self._most(kind)
        if kind == "lbfgs":
            return QuasiNewton(tol, most)
        if kind == "bmrm":
            return CuttingPlane(tol, most)
        if kind == "subgradient":
            return SubgradientDescent(most, random_state=seed, tol=tol)
        dual = BlockDual if oracles.sign is None else SpinDual
        return dual(tol, most, random_state=seed)

    def _kind(self, oracles: QuadraticOracles) -> str:
        if self.learner != "optimal":
            return self.learner
        return "lbfgs" if oracles.relaxes else "dual"

    def _most(self, kind: str) -> int:
        return MAX_ITER[kind] if self.max_iter is None else int(self.max_iter)

    def _keep(
        self, problem: MarginProblem, found: MarginSolution, oracles: QuadraticOracles
    ) -> None:
        model = problem.model
        W, _ = model.split(found.coef)
        self.coef_ = np.ascontiguousarray(W[:-1].T)
        self.intercept_ = model.constant * W[-1]
        self.prior_ = np.zeros((model.n_labels, model.n_labels))
        if oracles.sign is not None:
            self.prior_ = model.prior(found.coef)
        keep_solution(self, found, *self._advice(found, oracles))

    def _advice(self, found: MarginSolution, oracles: QuadraticOracles) -> tuple[str, str]:
        """Say what keeps the gap open: too few passes, or labelings not proved the worst."""
        if self.learner not in ("optimal", "bmrm"):
            return 'use learner="optimal", or another lambda_w', "steps"
        if found.n_iter >= self._most(self._kind(oracles)):
            return "raise max_iter, lambda_w or tol", "passes"
        if oracles.relaxes:
            return "raise lambda_w or tol", "passes"
        if oracles.searches:
            return 'raise limit, or use inference="sdp", which proves its own optimum', "passes"
        return 'use inference="sdp", which proves its own optimum, or raise tol', "passes"

    def _scores(self, X: Any) -> Modular | Pairwise:
        unary = np.asarray(X @ self.coef_.T) + self.intercept_
        if self._sign is None:
            return Modular(unary)
        i, j = np.nonzero(np.triu(self.prior_, 1))
        couplings = -4.0 * self.prior_[i, j]
        unary += 2.0 * self.prior_.sum(axis=1)
        return Pairwise(unary, np.stack([i, j], axis=1), couplings)

    def _make_decoder(self) -> BaseDecoder:
        chosen = self._oracles(self.sign).decoder() if self.decoder is None else None
        return super()._make_decoder() if chosen is None else chosen

    def _check_parameters(self) -> None:
        check_choice(self.sign, "sign", ("any", "attractive", "repulsive", None))
        self._sign = self.sign
        super()._check_parameters()
        for name in ("lambda_w", "lambda_a", "beta", "tol"):
            check_real(getattr(self, name), name, above=0.0)
        check_real(self.bias_scale, "bias_scale", least=0.0)
        check_choice(self.inference, "inference", ("exact", "mincut", "sdp", "spectral"))
        if not isinstance(self.learner, STEPPING):
            check_choice(self.learner, "learner", LEARNERS)
        check_whole(self.limit, "limit", least=0)
        if self.max_iter is not None:
            check_whole(self.max_iter, "max_iter", least=1)
        if self.inference == "mincut" and self.sign not in ("attractive", None):
            raise ValueError(
                'inference="mincut" needs sign="attractive"; "sdp", "spectral" and "exact" take any'
            )


def _ridge_start(problem: MarginProblem) -> Floats:
    """Return parameters of ridge regressions without a prior, as the released code starts.

    A label is right by a margin of one there; by one over their number in the Hamming loss.
    """
    model = problem.model
    if min(problem.X.shape) > RIDGE_SIZE:
        return np.zeros(model.size)
    W = ridge_weights(problem.X, problem.Y, problem.share, problem.penalty, model.constant)
    margin = 1.0 / model.n_labels if problem.loss.structure == "modular" else 1.0
    return np.concatenate([margin * W.ravel(), np.zeros(len(model.edges))])
