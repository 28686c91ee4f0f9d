"""Boosted trees as a base classifier: grown by LightGBM, or by scikit-learn where that is missing.

They serve ``BinaryRelevance`` and ``LabelPowerset`` as the second learner of Li et al. (2016).
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from colabel._one_target import ScoringClassifier, check_one_target
from colabel._parameters import check_real, check_whole
from colabel._unchanged import unchanged_on_failure
from colabel.trees.arrays import Trees
from colabel.trees.growers import boost_classes, has_lightgbm

__all__ = ["BoostedClassifier"]

Floats = NDArray[np.float64]


class BoostedClassifier(ScoringClassifier):
    """Gradient boosted trees with small leaves, for two or more classes.

    Grown by LightGBM (``pip install "colabel[boost]"``) and kept as plain arrays, so that a saved
    model loads and predicts without it. Where LightGBM is not installed, scikit-learn's
    ``HistGradientBoostingClassifier`` takes its place: about as accurate, slower, and sparse ``X``
    is made dense.

    Parameters
    ----------
    n_trees : int, default=200
        Trees for each class (for two classes, together).
    n_leaves : int, default=5
        Leaves of a tree, at most. This and the learning rate are those of Li et al. (2016).
    learning_rate : float, default=0.1
    feature_fraction : float, default=0.3
        Share of the features that a tree (scikit-learn: a split) may look at. On scene and yeast
        it is as accurate as all of them, in a third of the time.
    min_child_weight : float, default=1.0
        Least sum of second derivatives in a leaf: a row has at most a quarter of its weight.
        scikit-learn's counts rows instead, four for each unit.
    random_state : int, RandomState or None, default=None
        Draws the features.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    trees_ : Trees or None
        What LightGBM has grown, tree ``t`` for class ``t % n_classes``; the first ones are leaves
        alone, with the scores of a class's share.
    estimator_ : HistGradientBoostingClassifier or None
        Where LightGBM is not installed.

    Notes
    -----
    Growing takes one thread (LightGBM) or those that OpenMP is given (scikit-learn), and
    ``n_trees n_classes n_samples n_features feature_fraction`` steps. A row of weight two counts as
    the row twice (with LightGBM; not where a feature has more than 255 values, whose bins follow
    the rows). Features are finite numbers: use ``lightgbm.LGBMClassifier`` itself for missing
    values and categories.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.arange(100.0)[:, None], np.arange(100) >= 50
    >>> BoostedClassifier(n_trees=20, random_state=0).fit(X, y).predict([[10.0], [90.0]])
    array([False,  True])
    """

    # What else ``Growth`` asks for: LightGBM's defaults.
    reg_lambda: float = 0.0
    max_bin: int = 255

    def __init__(
        self,
        n_trees: int = 200,
        *,
        n_leaves: int = 5,
        learning_rate: float = 0.1,
        feature_fraction: float = 0.3,
        min_child_weight: float = 1.0,
        random_state: Any = None,
    ) -> None:
        self.n_trees = n_trees
        self.n_leaves = n_leaves
        self.learning_rate = learning_rate
        self.feature_fraction = feature_fraction
        self.min_child_weight = min_child_weight
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit one target of two or more classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None
        """
        self._check_parameters()
        with unchanged_on_failure(self):
            X, self.classes_, code, weight = check_one_target(self, X, y, sample_weight)
            seed = check_random_state(self.random_state).randint(2**31 - 1)
            self.trees_: Trees | None = None
            self.estimator_: Any = None
            if has_lightgbm():
                weight = np.ones(len(code)) if weight is None else weight
                self.trees_ = boost_classes(X, code, weight, self.n_trees, self, seed)
            else:
                self.estimator_ = self._grow_scikit(X, code, weight, seed)
        return self

    def decision_function(self, X: Any) -> Floats:
        """Score: (n_samples,) for two classes, (n_samples, n_classes) for more."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        if self.trees_ is None:
            return self.estimator_.decision_function(_dense(X))
        scores = self.trees_.sums(X, 1 if len(self.classes_) == 2 else len(self.classes_))
        return scores[0] if len(scores) == 1 else np.ascontiguousarray(scores.T)

    def _grow_scikit(self, X: Any, code: NDArray[Any], weight: Any, seed: int) -> Any:
        model = HistGradientBoostingClassifier(
            max_iter=self.n_trees,
            max_leaf_nodes=self.n_leaves,
            learning_rate=self.learning_rate,
            max_features=self.feature_fraction,
            min_samples_leaf=max(1, round(4.0 * self.min_child_weight)),
            early_stopping=False,
            random_state=seed,
        )
        return model.fit(_dense(X), code, weight)

    def _check_parameters(self) -> None:
        for name, least in (("n_trees", 1), ("n_leaves", 2)):
            check_whole(getattr(self, name), name, least=least)
        check_real(self.min_child_weight, "min_child_weight", above=0.0)
        for name in ("learning_rate", "feature_fraction"):
            check_real(getattr(self, name), name, above=0.0, most=1.0)


def _dense(X: Any) -> NDArray[Any]:
    return X.toarray() if sparse.issparse(X) else X
