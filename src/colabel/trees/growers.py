"""Growing regression trees on functional gradients, with LightGBM or with scikit-learn.

A *source* prepares the training rows once for all models; a *grower* of it adds trees one by one,
each to gradients of its own. What comes out is plain arrays, the same for both libraries. This is
the one place that sets LightGBM up.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, logit, softmax
from sklearn.tree import DecisionTreeRegressor

from colabel.numerics.magnitude import largest_magnitude
from colabel.trees.arrays import Trees, on_grid, read_lightgbm, without_rare

__all__ = [
    "Grower",
    "Growth",
    "LightGBMSource",
    "ScikitSource",
    "Source",
    "boost_classes",
    "has_lightgbm",
    "make_source",
]

Floats = NDArray[np.float64]
Index = NDArray[np.int64]

# What LightGBM needs to set up a booster, in rows of dense features that one tree more passes over.
# Both grow with the features, the rows' part with those that are not zero: measured on scene (294
# dense features) and rcv1subset1 (47 236, of which a row has 75), where a booster takes as long as
# a hundred trees.
BOOSTER_ROWS = 2**16
# Leaves of less curvature than this take the step that they would take with it.
LEAST_CURVATURE = 1e-6


class Growth(Protocol):
    """How trees grow; see ``BoostedTrees`` for what the numbers mean."""

    n_leaves: int
    learning_rate: float
    reg_lambda: float
    min_child_weight: float
    feature_fraction: float
    max_bin: int


class Grower(Protocol):
    """Adds trees to scores that the caller keeps."""

    def grow(self, line: int, residual: Floats, curvature: Floats, share: Floats) -> Floats:
        """Grow a tree for a line of scores; return what it adds to each row.

        Parameters
        ----------
        line : int
            Whom the tree belongs to; given back by ``harvest``.
        residual : ndarray of shape (n_rows,), in [-1, 1]
            Derivative of a row's log-likelihood by its score: the functional gradient.
        curvature : ndarray of shape (n_rows,)
            Its second derivative, negated.
        share : ndarray of shape (n_rows,), in [0, 1]
            How much the score answers for each row.
        """

    def harvest(self) -> tuple[Trees, Index]:
        """Return the trees grown since the last time, and the line of each."""


class Source(Protocol):
    """Training rows with their weights, prepared once."""

    @property
    def weight(self) -> Floats:
        """Sample weights."""

    def grower(self, rows: Index | None, seed: int) -> Grower:
        """Make a grower on some rows, or on all."""

    def parts_pay(self, n_spared: int, n_trees: int) -> bool:
        """Whether a grower without ``n_spared`` rows is worth making, for so many trees."""


def make_source(settings: Growth, X: Any, weight: Floats) -> Source:
    """Prepare validated rows for LightGBM, or for scikit-learn where that is not installed.

    Parameters
    ----------
    settings : Growth
    X : ndarray or sparse array of shape (n_samples, n_features), float64
    weight : ndarray of shape (n_samples,)
        Sample weights.
    """
    X = sparse.csr_array(X) if sparse.issparse(X) else np.ascontiguousarray(X)
    if has_lightgbm():
        source = LightGBMSource(settings, X, weight)
        if source.has_splits():
            return source
    return ScikitSource(settings, X, weight)


def has_lightgbm() -> bool:
    """Whether LightGBM is installed."""
    return find_spec("lightgbm") is not None


class LightGBMSource:
    """Rows binned by LightGBM, in one dataset that all boosters share.

    Parameters
    ----------
    settings : Growth
    X : ndarray or csr_array of shape (n_samples, n_features), float64
    weight : ndarray of shape (n_samples,)
    """

    def __init__(self, settings: Growth, X: Any, weight: Floats) -> None:
        self.settings = settings
        self.weight = weight
        self.n_features = X.shape[1]
        # The second derivative of a label's log-likelihood is at most a quarter.
        X = without_rare(X, weight, 4.0 * settings.min_child_weight)
        count = X.count_nonzero() if sparse.issparse(X) else np.count_nonzero(X)
        self.density = count / (X.shape[0] * X.shape[1])  # the same however X is stored
        self.data = _binned(X, np.zeros(X.shape[0]), None, _bin_params(settings))

    def grower(self, rows: Index | None, seed: int) -> LightGBMGrower:
        """Make a grower on some rows, or on all."""
        import lightgbm

        params = _bin_params(self.settings) | _tree_params(self.settings, seed)
        data, weight = self.data, self.weight
        if rows is not None:
            data, weight = data.subset(rows.astype(np.int32)).construct(), weight[rows]
        empty = Trees.stumps(0, self.settings.n_leaves - 1, self.n_features)
        return LightGBMGrower(lightgbm.Booster(params, data), weight, empty)

    def has_splits(self) -> bool:
        """Whether any feature tells rows apart; LightGBM grows no trees without."""
        return _has_splits(self.data)

    def parts_pay(self, n_spared: int, n_trees: int) -> bool:
        """Whether a booster without ``n_spared`` rows is worth making, for so many trees."""
        return n_spared * n_trees * self.density > BOOSTER_ROWS


class LightGBMGrower:
    """One LightGBM booster, whose trees may belong to many scores.

    Parameters
    ----------
    booster : lightgbm.Booster
    weight : ndarray of shape (n_rows,)
    empty : Trees
        Without trees; others are given its numbers of splits and features.
    """

    def __init__(self, booster: Any, weight: Floats, empty: Trees) -> None:
        self.booster = booster
        self.weight = weight
        self.empty = empty
        self.total = np.zeros(len(weight))  # what all trees say together
        self.lines: list[int] = []

    def grow(self, line: int, residual: Floats, curvature: Floats, share: Floats) -> Floats:
        """Grow a tree for a line of scores; return what it adds to each row."""
        before, n_before = self.total, self.booster.num_trees()
        gradient = -self.weight * on_grid(share * residual)
        hessian = self.weight * on_grid(share * curvature)
        # LightGBM has a level of logging for each thread; this sets that of the present one.
        self.booster.reset_parameter({"verbosity": -1})
        self.booster.update(fobj=lambda *_: (gradient, hessian))
        if self.booster.num_trees() > n_before:  # LightGBM drops a tree that found no split
            self.lines.append(line)
            self.booster.eval_train(self._look)
        return self.total - before

    def _look(self, total: Floats, _: Any) -> tuple[str, float, bool]:
        """Note the scores that LightGBM keeps of its training rows; no measure."""
        self.total = total.copy()
        return "none", 0.0, False

    def harvest(self) -> tuple[Trees, Index]:
        """Return the trees grown since the last time, and the line of each."""
        lines = np.array(self.lines, dtype=np.int64)
        self.lines = []
        if not len(lines):
            return self.empty, lines
        first = self.booster.num_trees() - len(lines)
        text = self.booster.model_to_string(num_iteration=len(lines), start_iteration=first)
        n_leaves, n_features = self.empty.value.shape[1], self.empty.n_features
        return read_lightgbm(text, n_leaves, n_features), lines


class ScikitSource:
    """Rows for scikit-learn's decision trees: slower than LightGBM, with nothing to install.

    Parameters
    ----------
    settings : Growth
        ``max_bin`` is not used: every threshold is tried. ``feature_fraction`` is drawn for each
        split instead of each tree.
    X : ndarray or csr_array of shape (n_samples, n_features), float64
    weight : ndarray of shape (n_samples,)
    """

    def __init__(self, settings: Growth, X: Any, weight: Floats) -> None:
        self.settings = settings
        self.weight = weight
        _check_single(X)
        self.single = X.astype(np.float32)  # as the trees want them

    def grower(self, rows: Index | None, seed: int) -> ScikitGrower:
        """Make a grower on some rows, or on all."""
        X, weight = self.single, self.weight
        if rows is not None:
            X, weight = X[rows], weight[rows]
        return ScikitGrower(self.settings, X.tocsc() if sparse.issparse(X) else X, weight, seed)

    def parts_pay(self, n_spared: int, n_trees: int) -> bool:
        """Whether leaving out rows pays: always, since a grower costs nothing to make."""
        return n_spared > 0


class ScikitGrower:
    """Decision trees fitted to functional gradients by weighted least squares (Section 3.2).

    Parameters
    ----------
    settings : Growth
    X : ndarray or csc_array of shape (n_rows, n_features), float32
    weight : ndarray of shape (n_rows,)
    seed : int
    """

    def __init__(self, settings: Growth, X: Any, weight: Floats, seed: int) -> None:
        self.settings = settings
        self.X = X
        self.weight = weight
        self.lines: list[int] = []
        self.grown: list[tuple[Any, Floats]] = []
        self.tree = DecisionTreeRegressor(
            max_leaf_nodes=settings.n_leaves,
            max_features=settings.feature_fraction,
            random_state=np.random.RandomState(seed),
        )

    def grow(self, line: int, residual: Floats, curvature: Floats, share: Floats) -> Floats:
        """Grow a tree for a line of scores; return what it adds to each row."""
        weight = self.weight * on_grid(share)
        least = min(0.5, self.settings.min_child_weight / weight.sum())
        self.tree.set_params(min_weight_fraction_leaf=least)
        self.tree.fit(self.X, on_grid(residual), sample_weight=weight)
        leaf = self.tree.apply(self.X)
        slope = np.bincount(leaf, weight * residual, self.tree.tree_.node_count)
        bend = np.bincount(leaf, weight * curvature, len(slope)) + self.settings.reg_lambda
        value = self.settings.learning_rate * slope / np.maximum(bend, LEAST_CURVATURE)  # Newton
        self.lines.append(line)
        self.grown.append((self.tree.tree_, value))
        return value[leaf]

    def harvest(self) -> tuple[Trees, Index]:
        """Return the trees grown since the last time, and the line of each."""
        n_splits, n_features = self.settings.n_leaves - 1, self.X.shape[1]
        trees = Trees.stumps(len(self.grown), n_splits, n_features, single=True)
        for t, (tree, value) in enumerate(self.grown):
            _place(tree, value, trees, t)
        lines = np.array(self.lines, dtype=np.int64)
        self.grown, self.lines = [], []
        return trees, lines


def boost_classes(
    X: Any, code: Index, weight: Floats, n_trees: int, settings: Growth, seed: int
) -> Trees:
    """Boost the log-loss of classes with LightGBM: tree ``t`` for line ``t % n_lines`` of scores.

    Two classes share a line. The first trees are leaves alone, with the scores of a class's share.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features), float64
    code : ndarray of shape (n_samples,)
        Classes ``0 .. max(code)``, each with a row.
    weight : ndarray of shape (n_samples,)
    n_trees : int
        For each line.
    settings : Growth
    seed : int
    """
    import lightgbm

    n_lines = 1 if code.max() < 2 else int(code.max()) + 1
    target = (code[:, None] == (np.arange(n_lines) if n_lines > 1 else [1])).astype(np.float64)
    rate = (weight[:, None] * target).sum(axis=0) / weight.sum()
    start = logit(rate) if n_lines == 1 else np.log(rate)
    first = Trees.stumps(n_lines, settings.n_leaves - 1, X.shape[1])
    first.value[:] = start[:, None]
    params = _bin_params(settings) | _tree_params(settings, seed) | {"num_class": n_lines}
    X = without_rare(X, weight, 4.0 * settings.min_child_weight / _bend(n_lines))
    data = _binned(X, code, np.repeat(start, len(code)), params)  # class by class
    if not _has_splits(data):  # no feature tells rows apart, which LightGBM takes for a fault
        return first
    booster = lightgbm.Booster(params, data)
    for _ in range(n_trees):
        if booster.update(fobj=lambda scores, _: _class_derivatives(scores, target, weight)):
            break  # no class has a split left
    grown = read_lightgbm(booster.model_to_string(), settings.n_leaves, X.shape[1])
    return Trees.concatenate([first, grown])


def _bin_params(settings: Growth) -> dict[str, Any]:
    """Tell LightGBM how to see the rows."""
    return {
        "max_bin": settings.max_bin,
        "min_data_in_bin": 1,
        "feature_pre_filter": False,
        "use_missing": False,
        # One thread, and features in turn: sums are then added up in one order.
        "num_threads": 1,
        "force_col_wise": True,
        "deterministic": True,
        "verbosity": -1,
    }


def _tree_params(settings: Growth, seed: int) -> dict[str, Any]:
    """Tell LightGBM how to grow trees whose derivatives are given."""
    return {
        "objective": "none",
        "metric": "none",
        "num_leaves": settings.n_leaves,
        "learning_rate": settings.learning_rate,
        "lambda_l2": settings.reg_lambda,
        "min_data_in_leaf": 0,
        "min_sum_hessian_in_leaf": settings.min_child_weight,
        "feature_fraction": settings.feature_fraction,
        "seed": seed,
    }


def _binned(X: Any, label: NDArray[Any], start: Floats | None, params: dict[str, Any]) -> Any:
    """Make LightGBM's dataset."""
    import lightgbm

    rows = sparse.csr_matrix(X) if sparse.issparse(X) else X
    return lightgbm.Dataset(rows, label, init_score=start, params=params).construct()


def _has_splits(data: Any) -> bool:
    return any(data.feature_num_bin(f) > 1 for f in range(data.num_feature()))


def _class_derivatives(scores: Floats, target: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """First and second derivatives of the log-loss by the scores, as LightGBM has them."""
    n_lines = target.shape[1]
    scores = scores.reshape(target.shape)
    p = expit(scores) if n_lines == 1 else softmax(scores, axis=1)
    gradient = weight[:, None] * on_grid(p - target)
    hessian = weight[:, None] * on_grid(_bend(n_lines) * p * (1.0 - p))
    return (gradient[:, 0], hessian[:, 0]) if n_lines == 1 else (gradient, hessian)


def _bend(n_lines: int) -> float:
    """Factor of second derivatives in Friedman's (2001) boosting of K classes, a score each."""
    return 1.0 if n_lines == 1 else n_lines / (n_lines - 1)


def _check_single(X: Any) -> None:
    """Refuse features beyond single precision."""
    largest = largest_magnitude(X)
    if largest > float(np.finfo(np.float32).max):
        raise ValueError(
            f"X holds {largest:.3g}, too large for scikit-learn's trees; scale the features, or "
            'install LightGBM: pip install "colabel[boost]"'
        )


def _place(tree: Any, value: Floats, trees: Trees, t: int) -> None:
    """Write a tree of scikit-learn's, with values for its nodes, as number ``t`` of ``trees``."""
    inner = tree.children_left >= 0
    number = np.where(inner, np.cumsum(inner) - 1, -np.cumsum(~inner))
    n = np.count_nonzero(inner)
    trees.feature[t, :n] = tree.feature[inner]
    trees.threshold[t, :n] = tree.threshold[inner]
    trees.left[t, :n] = number[tree.children_left[inner]]
    trees.right[t, :n] = number[tree.children_right[inner]]
    trees.value[t, : n + 1] = value[~inner]
