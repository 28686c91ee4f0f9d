"""Conditional dependency networks: every label given all others, joined by Gibbs sampling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.utils import check_random_state

from colabel._parameters import check_whole
from colabel._renamed import Renamed
from colabel.decoders import BaseDecoder
from colabel.messages import warn_user
from colabel.reduction._conditional_base import ConditionalClassifier
from colabel.reduction._conditional_search import distinct
from colabel.reduction._conditionals import LinearConditionals
from colabel.reduction._ergodic import why_frozen_in_model, why_frozen_in_training
from colabel.reduction._sampled_support import SampledSupport
from colabel.scores import Support

__all__ = ["ConditionalDependencyNetwork", "NotErgodicWarning"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]


class NotErgodicWarning(UserWarning):
    """Gibbs sampling may never leave the labels that it starts from."""


class ConditionalDependencyNetwork(ConditionalClassifier):
    """One classifier ``p(y_l | x, all other labels)`` a label, and Gibbs sampling to predict.

    Sampling each label in turn, given the current others, leads to a joint distribution of the
    labels whatever the classifiers are. Predictions are read off the samples: the most frequent
    labeling by default, or what another decoder makes of them.

    The method fails where labels determine one another: of two labels that exclude each other and
    leave no third way, each conditional is sure of itself given the other, features count for
    nothing, and sampling stays where it started (Li et al. 2016, Section 5). ``fit`` warns of this.

    Parameters
    ----------
    estimator : scikit-learn classifier, default=BatchLogisticRegression()
        Any classifier of two classes with ``predict_proba``; cloned for each label. The default
        solves all labels at once and samples in compiled code; others are asked ``n_burn +
        n_draws`` times for each label.
    n_chains : int, default=10
        Independent runs of the sampler, each from a start drawn with the other labels ignored.
    n_burn : int, default=50
        Sweeps over all labels left out at the beginning of each run.
    n_draws : int, default=100
        Labelings drawn in each run after that, one a sweep.
    decoder : str, BaseDecoder or None, default=None
        ``None`` is ``"support_mode"``: the most frequent labeling. ``"marginal"`` decides each
        label by itself.
    empty : {"allow", "forbid"}, default="allow"
        ``"forbid"`` leaves the empty labeling out; where nothing else was sampled, the most
        probable label is on.
    random_state : int, RandomState or None, default=None
        Draws the random numbers of the sampler, once, in ``fit``: predictions of a fitted model
        repeat themselves, and do not depend on which samples are predicted together.
    n_jobs : int or None, default=None
        Classifiers fitted at the same time (the default engine needs none). Results do not depend
        on it.

    Attributes
    ----------
    conditionals_ : LinearConditionals or FittedConditionals
        The classifiers; see `ClassifierChain`.
    cuts_ : ndarray of shape (n_chains, 1 + n_burn + n_draws, n_labels)
        A label is on where its log-odds exceed the cut: logits of uniform random numbers.
    classes_ : ndarray
        ``arange(n_labels)``, or the classes of a 1-D target.

    Warns
    -----
    NotErgodicWarning
        If labels are perfectly correlated or anti-correlated in training, if a group of labels is
        such that no two of its labelings there differ in a single label (of three, exactly one is
        always on), whatever the other labels do, or if conditionals of the default engine are
        (nearly) certain of one another whatever the features.

    Notes
    -----
    ``predict_joint`` holds each sample's distinct draws and their frequencies. Its marginals, and
    ``predict_proba``, are means of the probabilities that labels were drawn with, which vary less
    than means of the draws (Rao-Blackwell). What the network's distribution is can only be sampled:
    ``decode(X, ...).certified`` says that an answer is the best for the draws.

    The classes of a 1-D target exclude one another, so no sampling is tried: the class of highest
    pseudo-likelihood ``prod_l p(y_l | x, other labels)`` is predicted.

    References
    ----------
    Guo and Gu, "Multi-label classification using conditional dependency networks", IJCAI 2011.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    >>> Y = np.array([[0, 0], [0, 1], [0, 1], [1, 1], [1, 1]])
    >>> network = ConditionalDependencyNetwork(random_state=0).fit(X, Y)
    >>> network.predict([[1.0], [3.9]])
    array([[0, 1],
           [1, 1]])
    """

    _table: ClassVar[type[Support]] = Support
    _decoder: ClassVar[str] = "support_mode"
    _needs_probabilities: ClassVar[bool] = True
    _renamed: ClassVar[Mapping[str, str | Renamed]] = {"n_samples": "n_draws"}

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_chains: int = 10,
        n_burn: int = 50,
        n_draws: int = 100,
        decoder: str | BaseDecoder | None = None,
        empty: str = "allow",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_chains = n_chains
        self.n_burn = n_burn
        self.n_draws = n_draws
        self.decoder = decoder
        self.empty = empty
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name, least in (("n_chains", 1), ("n_burn", 0), ("n_draws", 1)):
            check_whole(getattr(self, name), name, least=least)

    def _fit_rows(self, X: Any, Y: Any, weight: Any, params: dict[str, Any]) -> None:
        n_labels = Y.shape[1]
        others = [np.delete(np.arange(n_labels), label) for label in range(n_labels)]
        (self.conditionals_,) = self._fit_conditionals(X, Y, [others], weight, params)
        rng = check_random_state(self.random_state)
        shape = (self.n_chains, 1 + self.n_burn + self.n_draws, n_labels)
        with np.errstate(divide="ignore"):
            self.cuts_ = logit(rng.random_sample(shape))
        self._n_burn = self.n_burn
        if not self._target.one_dimensional:
            self._warn(X, Y)

    def _warn(self, X: Any, Y: Labels) -> None:
        given = getattr(self, "label_names_in_", None)
        names = [str(i) if given is None else repr(given[i]) for i in range(Y.shape[1])]
        reason, fit = why_frozen_in_training(Y, names), self.conditionals_
        if not reason and isinstance(fit, LinearConditionals):
            reason = why_frozen_in_model(fit.at(X).base, fit.couplings, Y, names)
        if reason:
            warn_user(
                f"{reason}: Gibbs sampling may stay where it starts; choose another joint model, "
                "such as ProbabilisticClassifierChain",
                NotErgodicWarning,
            )

    def _scores(self, X: Any) -> Support:
        rows = self.conditionals_.at(X)
        if self._target.one_dimensional:
            classes = self._class_labelings()
            return Support(classes, rows.log_prob_all(classes))
        draws, means = rows.gibbs(self.cuts_, self._n_burn)
        labelings, counts = distinct(draws)
        if self._nonempty:
            best = np.eye(rows.n_labels, dtype=np.int8)[np.argmax(means, axis=1)]
            labelings = np.concatenate([labelings, best[:, None]], axis=1)
            counts = np.column_stack([counts, np.zeros(len(counts))])
        with np.errstate(divide="ignore"):
            return SampledSupport(labelings, np.log(counts / draws.shape[1]), means=means)

    def _row_bytes(self) -> int:
        n_draws = self.cuts_.shape[0] * (self.cuts_.shape[1] - 1 - self._n_burn)
        table = 10 * n_draws * (1 + self._n_columns)
        return table + self.conditionals_.row_bytes(len(self.cuts_), self.n_features_in_)
