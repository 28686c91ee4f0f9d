"""A mixture of products of Bernoullis: a density on label sets, without features."""

from __future__ import annotations

from typing import Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import expit
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import binarize
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from colabel._parameters import check_choice, check_real, check_whole
from colabel._sklearn import check_weight
from colabel._unchanged import unchanged_on_failure
from colabel.messages import warn_user
from colabel.mixture._bernoulli_em import (
    Fitted,
    LabelMatrix,
    LabelRows,
    distinct_rows,
    fit_labels,
    posterior,
)
from colabel.scores import Mixture, RandomState

__all__ = ["BernoulliMixture"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]
# What a user may give: what NumPy takes, or SciPy's sparse arrays and matrices.
Matrix: TypeAlias = ArrayLike | sparse.sparray | sparse.spmatrix

# Less, and a label that is off in every row would have odds beyond double precision.
LEAST_SMOOTHING = 1e-100


class BernoulliMixture(DensityMixin, BaseEstimator):
    """Mixture of products of Bernoullis: ``p(y) = sum_k pi_k prod_l Ber(y_l; mu_kl)``.

    Labels are independent within a component and in general dependent in the mixture (Eqs. (4) and
    (5) of Li et al. 2016). Fitted by EM in log space on the distinct label sets with their counts,
    from several random starts side by side; the start of the best objective is kept.

    Parameters
    ----------
    n_components : int, default=20
        At most so many components; those that die out are dropped.
    n_init : int, default=10
        Number of random starts.
    max_iter : int, default=200
        Steps of EM for each start.
    tol : float, default=1e-4
        A start has converged when a step gains less than this, in nats per row.
    smoothing : float, default=1e-2
        Pseudo-rows added to every component, in which labels have their base rates: a Beta prior.
        1e-100 or more, so that log-odds stay finite.
    init : {"spread", "random"}, default="spread"
        ``"spread"``: components start at label sets far apart; ``"random"``: at random
        responsibilities.
    binarize : float or None, default=None
        Entries above it count as on, as in ``sklearn.naive_bayes.BernoulliNB``. None: anything but
        0 and 1 is refused.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    weights_ : ndarray of shape (n_components_,)
        ``pi``, falling.
    means_ : ndarray of shape (n_components_, n_labels)
        ``mu``, the probability of each label in each component.
    logits_ : ndarray of shape (n_components_, n_labels)
        Its log-odds, exact where ``means_`` has rounded to 1.
    n_components_ : int
        Components left.
    lower_bound_ : float
        Best objective found: log-likelihood plus log-density of the prior (up to a constant), per
        row.
    history_ : ndarray of shape (n_iter_,)
        Objective of the best start at each step; it never falls.
    n_iter_ : int
        Steps of the best start.
    converged_ : bool
        Whether the best start converged.
    n_features_in_ : int
        Number of labels.
    feature_names_in_ : ndarray of shape (n_labels,)
        Names of the labels, where ``Y`` was a data frame.

    Notes
    -----
    A step costs O(n_init n_components (n_distinct + n_on + n_labels)), with n_distinct the number
    of distinct label sets and n_on that of the labels in them. ``sample_weight`` counts rows: an
    integer weight is as good as a repeated row. The default ``smoothing`` suits a start for
    ``ConditionalBernoulliMixture``, which wants sharp components; as a density for its own sake 1
    gave the better likelihood on held-out rows of scene, yeast, enron, medical and rcv1subset1.
    scikit-learn's own checks feed real numbers; they run, and pass, with ``binarize`` set, and are
    skipped without it.

    References
    ----------
    Li, Wang, Pavlu and Aslam, "Conditional Bernoulli mixtures for multi-label classification",
    ICML 2016. Bishop, "Pattern recognition and machine learning", Section 9.3.3, Springer 2006.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1], [0, 0, 1]])
    >>> model = BernoulliMixture(n_components=2, random_state=0).fit(Y)
    >>> model.weights_.round(2)
    array([0.6, 0.4])
    >>> np.exp(model.score_samples([[1, 1, 0], [1, 0, 0]])).round(3)
    array([0.397, 0.001])
    """

    def __init__(
        self,
        n_components: int = 20,
        *,
        n_init: int = 10,
        max_iter: int = 200,
        tol: float = 1e-4,
        smoothing: float = 1e-2,
        init: str = "spread",
        binarize: float | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.smoothing = smoothing
        self.init = init
        self.binarize = binarize
        self.random_state = random_state

    def fit(self, Y: Matrix, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to a label matrix.

        Parameters
        ----------
        Y : (n_samples, n_labels) of 0 and 1: array, sparse matrix or array, or DataFrame
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,) or None
            Weight of each row.

        Returns
        -------
        self
        """
        with unchanged_on_failure(self):
            self._check_parameters()
            Y = self._validate(Y, reset=True)
            weight = None if sample_weight is None else check_weight(sample_weight, Y)
            rows = _with_weight(distinct_rows(Y, weight)[0])
            size, rng = (self.n_init, self.n_components), check_random_state(self.random_state)
            settings = {name: getattr(self, name) for name in ("smoothing", "init", "max_iter")}
            self._keep(fit_labels(rows, size, rng, tol=self.tol, **settings))
        return self

    def score_samples(self, Y: Matrix) -> Floats:
        """Return ``log p(y)`` of each row of ``Y``: (n_samples,)."""
        return self._posterior(Y)[0]

    def score(self, Y: Matrix, y: object = None) -> float:
        """Return the mean of ``log p(y)`` over the rows of ``Y``; ``y`` is ignored."""
        return float(self.score_samples(Y).mean())

    def responsibilities(self, Y: Matrix) -> Floats:
        """Return ``p(k | y)`` of each row of ``Y``: (n_samples, n_components_)."""
        return self._posterior(Y)[1]

    def sample(self, n_samples: int = 1, random_state: RandomState = None) -> Labels:
        """Draw label sets: (n_samples, n_labels)."""
        check_whole(n_samples, "n_samples", least=1)
        return self.table().sample(n_samples, random_state)[0]

    def table(self, n_samples: int = 1) -> Mixture:
        """Return the distribution as a score table, the same for each sample: decoders apply."""
        check_is_fitted(self)
        log_weights = np.tile(np.log(self.weights_), (n_samples, 1))
        return Mixture(log_weights, np.tile(self.logits_, (n_samples, 1, 1)))

    def _check_parameters(self) -> None:
        for name in ("n_components", "n_init", "max_iter"):
            check_whole(getattr(self, name), name, least=1)
        check_real(self.tol, "tol", least=0.0)
        check_real(self.smoothing, "smoothing", above=0.0)
        check_real(self.smoothing, "smoothing", least=LEAST_SMOOTHING)
        check_choice(self.init, "init", ("spread", "random"))

    def _validate(self, Y: Matrix, *, reset: bool) -> LabelMatrix:
        """Return ``Y`` as zeros and ones, dense or CSR without stored zeros."""
        if np.ma.is_masked(Y):
            raise ValueError("Y is masked in places; fill in or leave out what is missing")
        Y = validate_data(self, Y, accept_sparse="csr", reset=reset)
        if self.binarize is not None:
            Y = binarize(Y, threshold=self.binarize)
        if sparse.issparse(Y):
            Y = sparse.csr_array(Y, copy=True)
            Y.sum_duplicates()
            Y.eliminate_zeros()
        _require_binary(Y)
        return Y

    def _keep(self, best: Fitted) -> None:
        """Set the fitted attributes."""
        if not best.converged:
            warn_user(
                f"EM did not converge in max_iter={self.max_iter} steps; raise it or tol",
                ConvergenceWarning,
            )
        self.weights_, self.logits_ = best.weights, best.logits
        self.means_ = expit(self.logits_)
        self.n_components_ = len(self.weights_)
        self.history_ = best.history
        self.lower_bound_ = float(best.history[-1])
        self.n_iter_ = len(best.history)
        self.converged_ = best.converged

    def _posterior(self, Y: Matrix) -> tuple[Floats, Floats]:
        """Return ``log p(y)`` (n_samples,) and ``p(k | y)`` (n_samples, n_components_)."""
        check_is_fitted(self)
        rows, place = distinct_rows(self._validate(Y, reset=False))
        log_p, resp = posterior(rows, self.weights_, self.logits_)
        return log_p[place], resp[place]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags._skip_test = self.binarize is None
        return tags


def _with_weight(rows: LabelRows) -> LabelRows:
    """Leave out labelings that only rows of weight zero have."""
    kept = rows.counts > 0
    return LabelRows(rows.labelings[kept], rows.counts[kept])


def _require_binary(Y: LabelMatrix) -> None:
    values = Y if isinstance(Y, np.ndarray) else Y.data
    wrong = np.argwhere((values != 0) & (values != 1))
    if not len(wrong):
        return
    place = tuple(wrong[0])
    row, column = place if isinstance(Y, np.ndarray) else (int(i[place]) for i in Y.nonzero())
    raise ValueError(
        f"Y must hold only 0 and 1, one column per label; row {row}, column {column} holds "
        f"{values[place].item()!r}. Set binarize to cut numbers at a threshold."
    )
