"""Linear classifiers with a quadratic prior on labelings (Lajugie et al. 2015).

Labels may attract and repel one another, so the best labeling is as hard to find as a maximum cut:
it is found by a minimum cut where labels only attract, by branch and bound, or the maximum inside
the training objective is relaxed to a semidefinite program or a sphere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from colabel._parameters import check_real, check_whole
from colabel._renamed import Renamed
from colabel.decoders import BaseDecoder, BranchAndBound
from colabel.learners import BaseLearner, MarginProblem, MarginSolution, Optimal
from colabel.learners.quasi_newton import Start
from colabel.losses import BaseLoss, FBeta
from colabel.models import LinearPairwise, QuadraticPrior, SpinPairwise
from colabel.oracles import BaseOracle, Certified, Semidefinite
from colabel.roles import Features, Floats, Model, Report
from colabel.scores import Modular, Pairwise
from colabel.structured._structured import Parts, StructuredSVC

__all__ = ["QuadraticPriorSVC"]


class QuadraticPriorSVC(StructuredSVC):
    """Linear classifier with a learned prior in which labels attract and repel one another.

    Maximises ``1/2 [y'(W'x + b) - y'Ay]`` over labels ``y`` in {-1, +1}: ``A_lm > 0`` repels two
    labels, ``A_lm < 0`` attracts them. ``W``, ``b`` and ``A`` are learned together by margin
    rescaling with the loss to be small, a convex problem.

    Parameters
    ----------
    alpha : float, default=3e-3
        Weight of the ridge penalty on ``W`` and ``b``, in units of the mean squared norm of the
        rows. Try 1e-1 to 1e-5.
    coupling_alpha : float, default=0.1
        Weight of the ridge penalty on ``A``, ``coupling_alpha / 2 |A|^2``.
    sign : {"any", "attractive", "repulsive"} or None, default="any"
        What ``A`` may do; ``None`` is no prior, ``A = 0``.
    oracle : str, BaseOracle or BaseDecoder, default="certified"
        How the labelings that violate the margin are found in training. ``"mincut"`` is exact, for
        attraction only; ``"certified"`` takes it there, and branch and bound elsewhere. ``"sdp"``
        and ``"spectral"`` relax the maximum, and learn with the moments of the relaxed labels. Or
        another of ``colabel.oracles``.
    loss : str or BaseLoss, default="f1"
        ``"f1"``, ``"f2"`` and so on, ``"hamming"`` (as published), ``"jaccard"``, ``"subset"``.
    fit_intercept : bool, default=True
        Add the constant feature behind ``b``, penalised like the others.
    intercept_scaling : float, default=1.0
        Its value, in units of the norm of the rows; 0 is none.
    learner : str or BaseLearner, default="averaged"
        ``"averaged"``: the mean of mini-batch steps, which does not minimise the objective
        exactly, and often predicts better. ``"optimal"``: the optimum, proved; by block-coordinate
        dual ascent, for the relaxations by L-BFGS and cutting planes. ``"bmrm"``: by cutting
        planes alone. ``"subgradient"``: one random sample a step, as published. Or another of
        ``colabel.learners``.
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
        (more for less than 1000 rows), 100,000 steps for ``"subgradient"``. A learner that is an
        object has ``tol`` and ``max_iter`` of its own.
    verbose : bool, default=False
        Show the progress of a fit.
    random_state : int, RandomState instance or None, default=None
        Order in which samples are visited.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
    intercept_ : ndarray of shape (n_labels,)
    couplings_ : ndarray of shape (n_labels, n_labels)
        ``-4 A``: symmetric, zero diagonal; positive attracts. What two labels add that are both on.
    prior_ : ndarray of shape (n_labels, n_labels)
        ``A`` itself; positive repels.
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
    The paper's score is twice ours, its rows are not scaled: its ``lambda_W`` is ``4 m2 alpha``
    with ``m2`` the mean squared norm of the rows, its ``lambda_A`` is ``4 coupling_alpha``. Losses
    are in [0, 1] there and here. A pass costs O(n_labels) an entry of ``X`` and O(n_labels^2) a
    sample, some tens of times that with ``"sdp"``. With a loss of counts, repulsion and more than
    16 labels no oracle proves its labelings worst, and labelings are the best that flips find;
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
    >>> model = QuadraticPriorSVC(oracle="spectral", random_state=0).fit(train.X, train.Y)
    >>> f"{f1_score(test.Y, model.predict(test.X)):.2f}"
    '0.65'
    >>> bool(model.decode(test.X).certified.all())
    True
    """

    _renamed: ClassVar[Mapping[str, str | Renamed]] = {
        "lambda_w": "alpha",
        "lambda_a": "coupling_alpha",
        "inference": Renamed("oracle", lambda _, name: "certified" if name == "exact" else name),
        "bias_scale": "intercept_scaling",
        "beta": Renamed(
            lambda machine: "loss" if machine.loss == "fbeta" else None,
            lambda machine, beta: FBeta(beta),
        ),
    }

    def __init__(
        self,
        alpha: float = 3e-3,
        *,
        coupling_alpha: float = 0.1,
        sign: str | None = "any",
        oracle: str | BaseOracle | BaseDecoder = "certified",
        loss: str | BaseLoss = "f1",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        learner: str | BaseLearner = "averaged",
        limit: int = 1000,
        decoder: str | BaseDecoder | None = None,
        empty: str = "allow",
        tol: float = 1e-3,
        max_iter: int | None = None,
        verbose: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.alpha = alpha
        self.coupling_alpha = coupling_alpha
        self.sign = sign
        self.oracle = oracle
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.learner = learner
        self.limit = limit
        self.decoder = decoder
        self.empty = empty
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.random_state = random_state

    @property
    def prior_(self) -> Floats:
        """``A``: (n_labels, n_labels); positive repels."""
        return self.couplings_ / -4.0

    def _parts(self) -> Parts:
        model = QuadraticPrior(
            sign=self.sign,
            coupling_alpha=self.coupling_alpha,
            fit_intercept=self.fit_intercept,
            intercept_scaling=self.intercept_scaling,
        )
        settings = {"tol": self.tol, "max_iter": self.max_iter, "limit": self.limit}
        return Parts.of(model, self.loss, self.oracle, self.learner, **settings)

    def _check_parameters(self) -> None:
        check_real(self.tol, "tol", above=0.0)
        check_whole(self.limit, "limit", least=0)
        if self.max_iter is not None:
            check_whole(self.max_iter, "max_iter", least=1)
        super()._check_parameters()

    def _make_decoder(self) -> BaseDecoder:
        if self.decoder is None and self.sign not in (None, "attractive"):
            return BranchAndBound(int(self.limit))
        return super()._make_decoder()

    def _solve(
        self, problem: MarginProblem, learner: BaseLearner, report: Report | None
    ) -> MarginSolution:
        parts = self._parts()
        tight = isinstance(parts.oracle, Semidefinite) and isinstance(parts.learner, Optimal)
        if not (tight and problem.oracles.learning.relaxes):
            return super()._solve(problem, learner, report)
        # The relaxation is nearly tight: its minimum is near that of the exact objective, which
        # bounds it from below. It has the same kinks, too, at which L-BFGS alone proves little.
        start = self._exact_minimum(problem, parts.learner, report)
        return learner.solve(problem, Start(start.coef, float(start.lower.max())), report)

    def _exact_minimum(
        self, problem: MarginProblem, wanted: Optimal, report: Report | None
    ) -> MarginSolution:
        """Minimise the objective of labelings, which that of the relaxation is never below."""
        oracles = Certified(self.limit).stages(problem.model, problem.loss)
        exact = MarginProblem(
            problem.model,
            problem.loss,
            oracles,
            problem.X,
            problem.Y,
            problem.share,
            problem.penalty,
        )
        learner = Optimal(0.5 * wanted.tol, wanted.max_iter, self._seed())
        return learner.solve(exact, None, report)

    def _keep(self, model: Model, found: MarginSolution) -> None:
        assert isinstance(model, LinearPairwise | SpinPairwise)
        W, _ = model.split(found.coef)
        self.coef_ = np.ascontiguousarray(W[:-1].T)
        self.intercept_ = model.constant * W[-1]
        self.couplings_ = np.zeros((model.n_labels, model.n_labels))
        if isinstance(model, SpinPairwise):
            self.couplings_ = -4.0 * model.prior(found.coef)

    def _advice(self, problem: MarginProblem, learner: BaseLearner, found: MarginSolution) -> str:
        """Say what keeps the gap open: too few passes, or labelings not proved the worst."""
        if not learner.seeks_optimum:
            return 'use learner="optimal", or another alpha'
        if found.n_iter >= (learner.get_params().get("max_iter") or np.inf):
            return "raise max_iter, alpha or tol"
        if problem.oracles.learning.relaxes:
            return "raise alpha or tol"
        if self.sign == "attractive" or problem.loss.structure == "modular":
            return 'raise limit, or use oracle="sdp", which proves its own optimum'
        return 'use oracle="sdp", which proves its own optimum, or raise tol'

    def _scores(self, X: Features) -> Modular | Pairwise:
        unary = np.asarray(X @ self.coef_.T) + self.intercept_
        if not self._has_pairs:
            return Modular(unary)
        i, j = np.nonzero(np.triu(self.couplings_, 1))
        unary -= 0.5 * self.couplings_.sum(axis=1)
        return Pairwise(unary, np.stack([i, j], axis=1), self.couplings_[i, j])
