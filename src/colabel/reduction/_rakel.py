"""RAkEL: label powersets on small random sets of labels, which vote."""

from __future__ import annotations

from math import comb
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from colabel._label_scores import log_odds
from colabel._parameters import check_choice, check_whole
from colabel._sklearn import n_rows
from colabel.decoders import BaseDecoder
from colabel.numerics.seeds import seeded
from colabel.reduction._base import ReductionClassifier
from colabel.reduction._label_powerset import LabelPowerset
from colabel.reduction._logistic import BatchLogisticRegression
from colabel.scores import Modular

__all__ = ["RAkEL"]

Labels = NDArray[np.int8]
Subset = tuple[int, ...]

# Log-odds of a label that half of its models predict: it is on.
TIE = 1e-9


class RAkEL(ReductionClassifier):
    """Label powersets of random ``k``-labelsets that vote on each label.

    A label powerset of all labels has too many classes with too few rows each; one of ``k`` labels
    has at most ``2^k``. Many of them, each over other labels, know most pairs between them.

    Parameters
    ----------
    estimator : scikit-learn classifier, default=BatchLogisticRegression(tol=1e-4)
        Any multi-class classifier; cloned for each model. ``None`` is that of ``LabelPowerset``.
    labelset_size : int, default=3
        ``k``, the labels of a model; all labels, where there are fewer.
    n_models : int or None, default=None
        Models that overlap; ``None`` is twice the number of labels. Never more than there are
        different labelsets.
    overlapping : bool, default=True
        Whether labelsets are drawn at random from all, without repetition. Otherwise the labels are
        dealt at random into as many sets of ``k`` as that takes, and ``n_models`` is not used.
    vote : {"label", "probability"}, default="label"
        ``"label"``: a label is on where at least half of its models predict it (Tsoumakas et al.
        2011, as released: with few models ties are many). ``"probability"``: where the mean of its
        probabilities is above one half; needs ``predict_proba``.
    decoder : str, BaseDecoder or None, default=None
        ``None`` is ``"threshold"``: at least half of the votes.
    empty : {"allow", "forbid"}, default="allow"
        ``"forbid"`` turns the best label on where none is.
    random_state : int, RandomState or None, default=None
        Draws the labelsets, and seeds every ``random_state`` of the classifiers that is None.
    n_jobs : int or None, default=None
        Models fitted at the same time. Results do not depend on it.

    Attributes
    ----------
    labelsets_ : list of tuple of int
        The labels of each model, in rising order.
    estimators_ : list of LabelPowerset
        The models.
    classes_ : ndarray
        ``arange(n_labels)``, or the classes of a 1-D target.

    Notes
    -----
    Labels that no labelset drawn holds are put into one more set, or several, so that every label
    has a vote. ``predict_proba`` is the share of votes for each label, and ``predict_joint`` those
    shares as independent labels.

    References
    ----------
    Tsoumakas, Katakis and Vlahavas, "Random k-labelsets for multilabel classification", IEEE
    Transactions on Knowledge and Data Engineering 23, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> Y = np.array([[0, 1, 0, 1], [0, 1, 0, 1], [1, 1, 0, 0], [1, 1, 0, 0]])
    >>> model = RAkEL(labelset_size=2, n_models=4, random_state=0).fit(X, Y)
    >>> model.labelsets_
    [(0, 1), (0, 2), (0, 3), (2, 3)]
    >>> model.predict([[0.2], [2.9]])
    array([[0, 1, 0, 1],
           [1, 1, 0, 0]])
    """

    _table: ClassVar[type[Modular]] = Modular
    _decoder: ClassVar[str] = "threshold"

    def __init__(
        self,
        estimator: Any = None,
        *,
        labelset_size: int = 3,
        n_models: int | None = None,
        overlapping: bool = True,
        vote: str = "label",
        decoder: str | BaseDecoder | None = None,
        empty: str = "allow",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.labelset_size = labelset_size
        self.n_models = n_models
        self.overlapping = overlapping
        self.vote = vote
        self.decoder = decoder
        self.empty = empty
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _usual(self) -> BatchLogisticRegression:
        return LabelPowerset()._usual()

    def _fit_rows(self, X: Any, Y: Labels, weight: Any, params: dict[str, Any]) -> None:
        rng = check_random_state(self.random_state)
        self.labelsets_ = self._draw(Y.shape[1], rng)
        bases = [seeded(self._fresh(), rng) for _ in self.labelsets_]
        self.estimators_: list[LabelPowerset] = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_model)(base, X, Y[:, labels], params)
            for base, labels in zip(bases, self.labelsets_, strict=True)
        )

    def _draw(self, n_labels: int, rng: np.random.RandomState) -> list[Subset]:
        size = min(self.labelset_size, n_labels)
        if not self.overlapping:
            return _deal(rng.permutation(n_labels), size)
        wanted = 2 * n_labels if self.n_models is None else self.n_models
        wanted = min(wanted, comb(n_labels, size))
        drawn: dict[Subset, None] = {}
        while len(drawn) < wanted:
            drawn[tuple(sorted(rng.permutation(n_labels)[:size].tolist()))] = None
        missing = sorted(set(range(n_labels)).difference(*drawn))
        return [*sorted(drawn), *_deal(np.array(missing, dtype=np.intp), size)]

    def _scores(self, X: Any) -> Modular:
        total = np.zeros((n_rows(X), self._n_columns))
        n_votes = np.zeros(self._n_columns)
        for model, labels in zip(self.estimators_, self.labelsets_, strict=True):
            found = model.predict_proba(X) if self._voted == "probability" else model.predict(X)
            total[:, labels] += found
            n_votes[list(labels)] += 1.0
        share = total / n_votes
        unary = log_odds(1.0 - share, share)
        if self._voted == "label":
            unary[2.0 * total == n_votes] = TIE
        return Modular(unary, log_odds=True)

    def _probabilistic(self) -> bool:
        return True  # shares of votes are probabilities, whatever the classifiers give

    def _check_parameters(self) -> None:
        check_choice(self.vote, "vote", ("label", "probability"))
        check_choice(self.overlapping, "overlapping", (True, False))
        super()._check_parameters()
        check_whole(self.labelset_size, "labelset_size", least=1)
        if self.n_models is not None:
            check_whole(self.n_models, "n_models", least=1)
        if self.vote == "probability" and not hasattr(self._inner(), "predict_proba"):
            raise ValueError(
                f"vote='probability' needs an estimator with predict_proba; got {self._inner()!r}"
            )
        self._voted = self.vote  # fitted models vote by it, whatever the parameter becomes


def _deal(labels: NDArray[np.intp], size: int) -> list[Subset]:
    """Cut labels into sets of ``size``; the last may be smaller."""
    parts = (labels[i : i + size] for i in range(0, len(labels), size))
    return [tuple(sorted(part.tolist())) for part in parts]


def _fit_model(base: Any, X: Any, Y: Labels, params: dict[str, Any]) -> LabelPowerset:
    return LabelPowerset(base).fit(X, Y, **params)
