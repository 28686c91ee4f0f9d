"""Conditional Bernoulli mixtures: a gate, and experts that are independent given a component."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import Tags, check_random_state

from colabel._parameters import check_choice, check_real, check_whole
from colabel._progress import Report, progress
from colabel._sklearn import take_rows
from colabel._weighted import WeightedClassifier
from colabel.decoders import BaseDecoder
from colabel.mixture._bernoulli import BernoulliMixture
from colabel.mixture._build import is_logistic, make_builder, takes_nan
from colabel.mixture._constants import unit_weight
from colabel.mixture._em import GatedMixture, runner
from colabel.mixture._scale import choose_scale
from colabel.numerics.blas import one_blas_thread
from colabel.numerics.magnitude import check_magnitude
from colabel.scores import Mixture, RandomState

__all__ = ["ConditionalBernoulliMixture"]

Floats = NDArray[np.float64]

# Gain per row at which the mixture of the labels stops: it is but a start, and starts nearer to its
# optimum led to no better models (scene, yeast, mediamill, tmc2007; several seeds each).
START_TOL = 1e-3


class ConditionalBernoulliMixture(WeightedClassifier):
    """Conditional Bernoulli mixture (Li et al. 2016).

    ``p(y | x) = sum_k pi_k(x) prod_l b(y_l | x, beta_l^k)``: labels are independent within a
    component, and the gate ``pi`` says which components answer for ``x``, so that in the mixture
    labels depend on one another. One component is binary relevance; one component a label set, with
    constant experts, is label powerset. Trained by EM, from a ``BernoulliMixture`` of the labels
    alone. Any measure can be decoded without fitting again: ``decode(X, "f1")``.

    Parameters
    ----------
    n_components : int, default=30
        ``K``. Accuracy is flat beyond 20 to 50 on most data; components that die out cost nothing.
    experts : {"logistic", "boosting"}, BoostedTrees or classifier, default="logistic"
        What predicts a label within a component. Any scikit-learn classifier with ``predict_proba``
        and ``sample_weight`` may serve.
    gate : same, or None, default=None
        What weighs the components; ``None`` is the kind that ``experts`` names.
    expert_variance, gate_variance : float, default=10.0 and 3.0
        Variances of the Gaussian priors on the weights of logistic experts and gate: large is
        little regularised. For features as ``scale`` leaves them. The gate's matters most.
    expert_prior : {"zero", "shared"}, default="zero"
        Mean of the experts' prior. ``"shared"`` shrinks the experts of all components towards the
        weights of binary relevance, which helps with many labels and few rows.
    l1_ratio : float, default=0.0
        Share of an L1 penalty in the experts' and the gate's, as in an elastic net.
    n_steps : int, default=10
        EM steps at most. Fewer regularise: likelihood keeps rising while accuracy falls, if the
        gate's variance is large. So ending here is no failure to converge, and no warning.
    early_stopping : bool, default=False
        Choose the number of steps, up to ``n_steps``, by the likelihood of ``validation_fraction``
        of the rows, and fit that many steps to all rows. Rows are held out whole, whatever they
        weigh: with it, a row of weight two is not quite the row twice.
    validation_fraction : float, default=0.2
    m_steps : int, default=10
        Steps of the solver in an M-step, from where the last one stopped.
    tol : float, default=1e-5
        EM stops when a step gains less than this share of the objective; never, if negative.
    n_init : int, default=3
        Random starts of the Bernoulli mixture of the labels.
    n_models : int, default=1
        Models from different seeds, averaged: one mixture of ``n_models * n_components``
        components, so that decoding stays exact.
    scale : {"auto", "columns"} or bool, default="auto"
        For logistic experts and gate. True: divide the features by one number, the root mean square
        distance of the rows from their mean, so that variances mean the same in any unit.
        ``"columns"``: divide each feature by its standard deviation before. ``"auto"``: do so where
        these are far apart (their geometric mean is below a twentieth of the root mean square),
        unless binary relevance with ``expert_variance``, over three folds, then predicts rows held
        out worse by more than two standard errors; where they are near nothing is fitted. Sparse
        data stay sparse.
    decoder : str, BaseDecoder or None, default=None
        What ``predict`` gets right: ``None`` is ``"subset"``, the exact mode; ``"hamming"``,
        ``"f1"``, ``"jaccard"``, or a decoder of mixtures. ``predict_top_m`` gives several
        labelings.
    empty : {"auto", "allow", "forbid"}, default="auto"
        ``"auto"`` predicts an empty label set only if training data have one.
    n_jobs : int or None, default=None
        Threads of a fit, which share the components, the gate's rows and the E-step's. Results do
        not depend on it. Decoding goes by ``numba.set_num_threads``.
    verbose : bool, default=False
        Show the progress of a fit.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    models_ : list of GatedMixture
        One for each of ``n_models``.
    scale_ : "columns" or bool
        How logistic experts and gate scale the features; False where neither is logistic. With
        ``"auto"`` all rows have a say in it, those of ``validation_`` as well.
    n_steps_ : int
        EM steps allowed: ``n_steps``, or the number that early stopping chose.
    n_iter_ : int
        EM steps taken, by the model that took most.
    history_ : list of ndarray
        Eq. (7) with penalties after each step of each model. It falls with logistic and boosted
        experts; classifiers that are fitted anew each time promise nothing.
    validation_ : ndarray or None
        Mean log-likelihood of the rows held out after each step, with ``early_stopping``.
    classes_ : ndarray
        ``arange(n_labels)``, or the classes of a 1-D target.

    Notes
    -----
    A logistic M-step costs ``4 m_steps n D K L`` flops at most: rows with a ten-thousandth of a
    component's weight are left out, and labels that do not vary within a component are constants.
    With fewer rows than features, and at most 6000, the features are rotated to the span of the
    rows, which changes no optimum; not with an L1 part, whose optimum it would change. Beyond
    131 072 entries of ``X`` matrix products of a fit are in single precision, sums in double. EM
    finds a local optimum. The mode is exact unless ``decode(X).certified`` says otherwise: a search
    ends at 100 000 nodes, far more than any of the field's data took.

    References
    ----------
    Li, Wang, Pavlu and Aslam, "Conditional Bernoulli mixtures for multi-label classification",
    ICML 2016.

    Examples
    --------
    >>> from colabel.datasets import load
    >>> train, test = load("yeast:train"), load("yeast:test")
    >>> clf = ConditionalBernoulliMixture(20, n_steps=4, random_state=0).fit(train.X, train.Y)
    >>> bool(clf.score(test.X, test.Y) > 0.22)
    True
    """

    _table: ClassVar[type[Mixture]] = Mixture
    _decoder: ClassVar[str] = "mixture_mode"

    def __init__(
        self,
        n_components: int = 30,
        *,
        experts: Any = "logistic",
        gate: Any = None,
        expert_variance: float = 10.0,
        gate_variance: float = 3.0,
        expert_prior: str = "zero",
        l1_ratio: float = 0.0,
        n_steps: int = 10,
        early_stopping: bool = False,
        validation_fraction: float = 0.2,
        m_steps: int = 10,
        tol: float = 1e-5,
        n_init: int = 3,
        n_models: int = 1,
        scale: bool | str = "auto",
        decoder: str | BaseDecoder | None = None,
        empty: str = "auto",
        n_jobs: int | None = None,
        verbose: bool = False,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.experts = experts
        self.gate = gate
        self.expert_variance = expert_variance
        self.gate_variance = gate_variance
        self.expert_prior = expert_prior
        self.l1_ratio = l1_ratio
        self.n_steps = n_steps
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.m_steps = m_steps
        self.tol = tol
        self.n_init = n_init
        self.n_models = n_models
        self.scale = scale
        self.decoder = decoder
        self.empty = empty
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _fit(self, X: Any, Y: NDArray[np.int8], **given: Any) -> None:
        weight: Floats | None = given["sample_weight"]
        self._squares = self._is_logistic()
        if self._squares:
            check_magnitude(X)
        weight = np.ones(len(Y)) if weight is None else weight
        rows = np.flatnonzero(weight)
        if len(rows) < len(Y):
            X, Y, weight = take_rows(X, rows), Y[rows], weight[rows]
        self._nonempty = self.empty == "forbid" or (
            self.empty == "auto" and bool(Y.any(axis=1).all())
        )
        rng = check_random_state(self.random_state)
        seeds = [int(seed) for seed in rng.randint(2**31 - 1, size=self.n_models)]
        with one_blas_thread(), progress(self.verbose, type(self).__name__) as report:
            self.scale_ = self.scale if self._squares else False
            if self.scale_ == "auto":
                self.scale_ = choose_scale(X, Y, weight, self.expert_variance)
            self.n_steps_ = self.n_steps
            self.validation_: Floats | None = None
            if self.early_stopping and len(Y) > 1:
                self._choose_steps(X, Y, weight, seeds[0], rng)
            build = make_builder(self, X, Y, weight, self.scale_)
            fits = [self._run(build(seed), X, Y, weight, seed, report=report) for seed in seeds]
        self.models_ = [model for model, _ in fits]
        self.history_ = [history for _, history in fits]
        self.n_iter_ = max(len(history) for history in self.history_)

    def _choose_steps(self, X: Any, Y: Any, weight: Floats, seed: int, rng: Any) -> None:
        """Take the number of steps after which the rows held out are most likely."""
        order = rng.permutation(len(Y))
        n_out = min(max(1, round(self.validation_fraction * len(Y))), len(Y) - 1)
        out, kept = np.sort(order[:n_out]), np.sort(order[n_out:])
        model = make_builder(self, X[kept], Y[kept], weight[kept], self.scale_)(seed)
        views, columns, found = model.views(X[out]), _columns(Y[out]), []

        def look(_: GatedMixture) -> None:
            found.append(float(np.average(model.expect(views, columns)[1], weights=weight[out])))

        self._run(model, X[kept], Y[kept], weight[kept], seed, look)
        self.validation_ = np.array(found)
        self.n_steps_ = int(np.argmax(found)) + 1

    def _run(
        self,
        model: GatedMixture,
        X: Any,
        Y: Any,
        weight: Floats,
        seed: int,
        look: Callable[[GatedMixture], None] | None = None,
        report: Report | None = None,
    ) -> tuple[GatedMixture, Floats]:
        """Train by EM (Algorithm 1); return the model and its objective after each step."""
        labels = BernoulliMixture(
            self.n_components, n_init=self.n_init, tol=START_TOL, random_state=seed
        )
        labels.fit(Y, sample_weight=weight / unit_weight(weight))
        gamma = np.ascontiguousarray(labels.responsibilities(Y).T)
        views, columns = model.views(X), _columns(Y)
        run = runner(effective_n_jobs(self.n_jobs))
        history: list[float] = []
        for _ in range(self.n_steps_):
            model.maximise(views, columns, gamma, weight, run)
            gamma, log_likelihood = model.expect(views, columns, run)
            history.append(model.objective(log_likelihood, weight))
            if look is not None:
                look(model)
            if report is not None:
                report(len(history), history[-1])
            if len(history) > 1 and history[-2] - history[-1] < self.tol * abs(history[-1]):
                break
        model.finish()
        return model, np.array(history)

    def _scores(self, X: Any) -> Mixture:
        if self._squares:  # as it was fitted, whatever the parameters have become
            check_magnitude(X)
        with one_blas_thread():
            parts = [model.table(X) for model in self.models_]
        # Seeds are averaged by the table itself, which normalises the weights.
        return Mixture(
            np.concatenate([weights for weights, _ in parts], axis=1),
            np.concatenate([logits for _, logits in parts], axis=1),
        )

    def _row_bytes(self) -> int:
        n_components = sum(len(model.alive) for model in self.models_)
        return 32 * n_components * (self._n_columns + 1) + 24 * self.n_features_in_

    def _check_parameters(self) -> None:
        for name in ("n_components", "n_steps", "m_steps", "n_init", "n_models"):
            check_whole(getattr(self, name), name, least=1)
        for name in ("expert_variance", "gate_variance"):
            check_real(getattr(self, name), name, above=0.0)
        check_choice(self.expert_prior, "expert_prior", ("zero", "shared"))
        check_choice(self.empty, "empty", ("auto", "allow", "forbid"))
        check_choice(self.early_stopping, "early_stopping", (True, False))
        check_choice(self.scale, "scale", ("auto", "columns", True, False))
        check_real(self.l1_ratio, "l1_ratio", least=0.0, below=1.0)
        self._check_priors()
        check_real(self.tol, "tol")
        check_real(self.validation_fraction, "validation_fraction", above=0.0, below=1.0)

    def _check_priors(self) -> None:
        """Refuse priors where there are no weights that they could be of."""
        if self.expert_prior == "shared" and not is_logistic(self.experts):
            raise ValueError("expert_prior='shared' needs experts='logistic': others have no prior")
        if self.l1_ratio and not self._is_logistic():
            raise ValueError("l1_ratio needs logistic experts or a logistic gate")

    def _is_logistic(self) -> bool:
        """Whether the experts or the gate are."""
        return is_logistic(self.experts) or is_logistic(self.gate)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        kinds = (self.experts, self.experts if self.gate is None else self.gate)
        tags.input_tags.allow_nan = all(takes_nan(kind) for kind in kinds)
        return tags


def _columns(Y: NDArray[np.int8]) -> NDArray[np.float32]:
    """Labels as the E-step wants them: (n_labels, n_samples)."""
    return np.ascontiguousarray(Y.T, dtype=np.float32)
