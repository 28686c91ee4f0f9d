"""Conditional Bernoulli mixtures: a gate, and experts that are independent given a component."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, cast

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags, check_random_state

from colabel._parameters import check_choice, check_real, check_whole
from colabel._progress import progress
from colabel._renamed import Renamed
from colabel._weighted import WeightedClassifier
from colabel.decoders import BaseDecoder
from colabel.mixture._bernoulli_em import distinct_rows, fit_labels, posterior
from colabel.mixture._boosting import BoostedTrees
from colabel.mixture._classifiers import AnyClassifier, Classifier
from colabel.mixture._constants import unit_weight
from colabel.mixture._em import Component, GatedMixture, Maker, TrainingData, run_em
from colabel.mixture._logistic import Logistic, Regressions
from colabel.numerics.blas import one_blas_thread
from colabel.numerics.jobs import runner
from colabel.numerics.magnitude import check_magnitude
from colabel.numerics.products import Rows
from colabel.scores import Mixture, RandomState

__all__ = ["ConditionalBernoulliMixture"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]
Build = Callable[[int], GatedMixture]

# Gain per row at which the mixture of the labels stops: it is but a start, and starts nearer to its
# optimum led to no better models (scene, yeast, mediamill, tmc2007; several seeds each).
START_TOL = 1e-3
# Short words for components with their usual settings.
WORDS: Mapping[str, Callable[[], Component]] = {"logistic": Logistic, "boosting": BoostedTrees}


def _of_logistic(name: str, *roles: str) -> Renamed:
    """Return the new name of a parameter of ``Logistic``: in the first of the roles that is one."""

    def new_name(clf: ConditionalBernoulliMixture) -> str | None:
        logistic = (role for role in roles if isinstance(clf._parts()[role], Logistic))
        return next((f"{role}__{name}" for role in logistic), None)

    return Renamed(new_name)


def _share(clf: ConditionalBernoulliMixture, early_stopping: bool) -> float | None:
    """Return the share of rows to hold out."""
    return (clf.validation_fraction or 0.2) if early_stopping else None


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
    experts : Logistic, BoostedTrees, classifier or str, default="logistic"
        What predicts a label within a component. ``"logistic"`` is ``Logistic()``, ``"boosting"``
        ``BoostedTrees()``; parameters of either are set as ``experts__variance`` and so on. Any
        scikit-learn classifier with ``predict_proba`` and ``sample_weight`` may serve.
    gate : same, or None, default=None
        What weighs the components; ``None`` is of the kind and the settings of ``experts``, but for
        the variance of ``Logistic``.
    max_iter : int, default=10
        EM steps at most. Fewer regularise: likelihood keeps rising while accuracy falls, if the
        gate's variance is large. So ending here is no failure to converge, and no warning.
    tol : float, default=1e-5
        EM stops when a step gains less than this share of the objective; never, if negative.
    validation_fraction : float or None, default=None
        Choose the number of steps, up to ``max_iter``, by the likelihood of this share of the rows,
        and fit that many steps to all rows. Rows are held out whole, whatever they weigh: with it,
        a row of weight two is not quite the row twice. None: take ``max_iter``.
    n_init : int, default=3
        Random starts of the Bernoulli mixture of the labels.
    n_models : int, default=1
        Models from different seeds, averaged: one mixture of ``n_models * n_components``
        components, so that decoding stays exact.
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
        How logistic experts, or else a logistic gate, scale the features; False where neither is.
        With ``"auto"`` all rows have a say in it, those of ``validation_`` as well.
    n_steps_ : int
        EM steps allowed: ``max_iter``, or the number chosen with ``validation_fraction``.
    n_iter_ : int
        EM steps taken, by the model that took most.
    history_ : list of ndarray
        Eq. (7) with penalties after each step of each model. It falls with logistic and boosted
        experts; classifiers that are fitted anew each time promise nothing.
    validation_ : ndarray or None
        Mean log-likelihood of the rows held out after each step, if there are any.
    classes_ : ndarray
        ``arange(n_labels)``, or the classes of a 1-D target.

    Notes
    -----
    A logistic M-step costs ``4 max_iter n D K L`` flops at most: rows with a ten-thousandth of a
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
    >>> clf = ConditionalBernoulliMixture(20, max_iter=4, random_state=0).fit(train.X, train.Y)
    >>> bool(clf.score(test.X, test.Y) > 0.22)
    True
    """

    _table: ClassVar[type[Mixture]] = Mixture
    _decoder: ClassVar[str] = "mixture_mode"
    _renamed: ClassVar[Mapping[str, str | Renamed]] = {
        "n_steps": "max_iter",
        "expert_variance": _of_logistic("variance", "experts"),
        "gate_variance": _of_logistic("variance", "gate"),
        "expert_prior": _of_logistic("prior", "experts"),
        "l1_ratio": _of_logistic("l1_ratio", "experts", "gate"),
        "m_steps": _of_logistic("max_iter", "experts", "gate"),
        "scale": _of_logistic("scale", "experts", "gate"),
        "early_stopping": Renamed("validation_fraction", _share),
    }

    def __init__(
        self,
        n_components: int = 30,
        *,
        experts: Component | ClassifierMixin | str = "logistic",
        gate: Component | ClassifierMixin | str | None = None,
        max_iter: int = 10,
        tol: float = 1e-5,
        validation_fraction: float | None = None,
        n_init: int = 3,
        n_models: int = 1,
        decoder: str | BaseDecoder | None = None,
        empty: str = "auto",
        n_jobs: int | None = None,
        verbose: bool = False,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.experts = experts
        self.gate = gate
        self.max_iter = max_iter
        self.tol = tol
        self.validation_fraction = validation_fraction
        self.n_init = n_init
        self.n_models = n_models
        self.decoder = decoder
        self.empty = empty
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Return the parameters; those of components that a word names or None means, too."""
        params: dict[str, object] = super().get_params(deep)
        for role, part in self._parts().items() if deep else ():
            if isinstance(part, BaseEstimator) and not hasattr(params[role], "get_params"):
                params |= {f"{role}__{name}": value for name, value in part.get_params().items()}
        return params

    def _fit(self, X: Rows, Y: Labels, **given: Floats | None) -> None:
        experts, gate = self._checked_parts().values()
        self._squares = any(isinstance(part, Logistic) for part in (experts, gate))
        if self._squares:
            check_magnitude(X)
        weight = given["sample_weight"]
        weight = np.ones(len(Y)) if weight is None else weight
        data = TrainingData(X, Y, weight)
        if not weight.all():
            data = data.take(np.flatnonzero(weight))
        rng = check_random_state(self.random_state)
        seeds = [int(seed) for seed in rng.randint(2**31 - 1, size=self.n_models)]
        with one_blas_thread(), progress(self.verbose, type(self).__name__) as report:
            makers = self._settled(data, experts, gate)
            self._choose_steps(data, makers, seeds[0], rng)
            build = _builder(data, *makers)
            fits = [self._train(build(seed), data, seed, report) for seed in seeds]
        self.models_ = [model for model, _ in fits]
        self.history_ = [history for _, history in fits]
        self.n_iter_ = max(len(history) for history in self.history_)

    def _settled(
        self, data: TrainingData, experts: Component, gate: Component
    ) -> tuple[Maker, Maker]:
        """Let the data choose what the components leave open."""
        first = experts.settled(data)
        makers = first, gate.settled(data, first)
        self.scale_ = next((one.scale for one in makers if isinstance(one, Regressions)), False)
        return makers

    def _choose_steps(
        self, data: TrainingData, makers: tuple[Maker, Maker], seed: int, rng: np.random.RandomState
    ) -> None:
        """Take the number of steps after which the rows held out are most likely, if any are."""
        self.n_steps_, n = self.max_iter, len(data.Y)
        self.validation_: Floats | None = None
        if self.validation_fraction is None or n < 2:
            return
        order = rng.permutation(n)
        n_out = min(max(1, round(self.validation_fraction * n)), n - 1)
        out, kept = data.take(np.sort(order[:n_out])), data.take(np.sort(order[n_out:]))
        model = _builder(kept, *makers)(seed)
        views, found = model.views(out.X), []

        def look(step: int, objective: float) -> None:
            log_likelihood = model.expect(views, out.columns)[1]
            found.append(float(np.average(log_likelihood, weights=out.weight)))

        self._train(model, kept, seed, look)
        self.validation_ = np.array(found)
        self.n_steps_ = int(np.argmax(found)) + 1

    def _train(
        self,
        model: GatedMixture,
        data: TrainingData,
        seed: int,
        watch: Callable[[int, float], None] | None,
    ) -> tuple[GatedMixture, Floats]:
        """Train from a mixture of the labels alone; return the model and its objectives."""
        rows, place = distinct_rows(data.Y, data.weight / unit_weight(data.weight))
        size, rng = (self.n_init, self.n_components), np.random.RandomState(seed)
        start = fit_labels(rows, size, rng, tol=START_TOL)
        share = posterior(rows, start.weights, start.logits)[1]
        gamma = np.ascontiguousarray(share[place].T)
        run = runner(effective_n_jobs(self.n_jobs))
        return model, run_em(model, data, gamma, self.n_steps_, self.tol, run, watch)

    def _scores(self, X: Rows) -> Mixture:
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
        for name in ("n_components", "max_iter", "n_init", "n_models"):
            check_whole(getattr(self, name), name, least=1)
        check_choice(self.empty, "empty", ("auto", "allow", "forbid"))
        check_real(self.tol, "tol")
        if self.validation_fraction is not None:
            check_real(self.validation_fraction, "validation_fraction", above=0.0, below=1.0)
        self._checked_parts()

    def _forbids_empty(self, Y: Labels, **given: Floats | None) -> bool:
        weight = given["sample_weight"]
        seen = Y if weight is None else Y[weight > 0.0]
        return self.empty == "forbid" or (self.empty == "auto" and bool(seen.any(axis=1).all()))

    def _parts(self) -> dict[str, Component | None]:
        """Return the components that experts and gate mean; None is none."""
        return _parts(self.experts, self.gate)

    def _checked_parts(self) -> dict[str, Component]:
        """Return the components, or refuse what cannot serve."""
        checked = {}
        for role, part in self._parts().items():
            if part is None:
                raise ValueError(
                    f"{role} must be Logistic(), BoostedTrees(), {' or '.join(map(repr, WORDS))}, "
                    f"or a classifier with predict_proba, not {getattr(self, role)!r}"
                )
            part.check(role)
            checked[role] = part
        return checked

    def _completed(self, params: dict[str, object]) -> dict[str, object]:
        """Put components in the place of words and None, so that their parameters can be set."""
        asked = {key.partition("__")[0] for key in params if "__" in key}
        named = {role: params.get(role, getattr(self, role)) for role in ("experts", "gate")}
        for role, part in _parts(**named).items():
            known = isinstance(part, BaseEstimator) and not hasattr(named[role], "get_params")
            if role in asked and known:
                params = {**params, role: clone(part)}
        return params

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        parts = self._parts().values()
        tags.input_tags.allow_nan = all(part is not None and part.takes_nan for part in parts)
        return tags


def _parts(experts: object, gate: object) -> dict[str, Component | None]:
    """Return the components that are meant; None is none."""
    found = _component(experts)
    own = found.as_gate() if gate is None and found is not None else _component(gate)
    return {"experts": found, "gate": own}


def _component(kind: object) -> Component | None:
    if isinstance(kind, str):
        return WORDS[kind]() if kind in WORDS else None
    if isinstance(kind, type) or not (isinstance(kind, Component) or hasattr(kind, "fit")):
        return None
    return kind if isinstance(kind, Component) else AnyClassifier(cast(Classifier, kind))


def _builder(data: TrainingData, experts: Maker, gate: Maker) -> Build:
    """Return what makes the untrained model of a seed."""
    make_gate, make_experts = gate.make_gate(data), experts.make_experts(data)
    return lambda seed: GatedMixture(make_gate(seed), make_experts(seed))
