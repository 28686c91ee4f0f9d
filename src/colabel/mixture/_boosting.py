"""Boosted trees as experts and as the gate (Section 3.2 of Li et al. 2016).

An M-step adds a few trees to each score and keeps those of earlier steps: generalised EM. Before
them the score's intercept is brought up to date by iterative scaling, which never lowers the
likelihood, and which is all there is to learn where no feature tells rows apart.

Trees are grown in a fixed number of *lanes*, each with a grower of its own and each on one thread
at a time, so that results do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.special import expit, log_softmax, softmax
from sklearn.base import BaseEstimator

from colabel._parameters import check_real, check_whole
from colabel._rows import Span
from colabel.mixture._constants import Constants, constant_log_likelihoods, rows_that_count
from colabel.mixture._em import Component, TrainingData
from colabel.numerics.jobs import Run
from colabel.numerics.products import Rows
from colabel.trees.arrays import Trees
from colabel.trees.growers import Grower, Source, make_source
from colabel.trees.sums import ScoredRows, TreeSums

__all__ = ["BoostedExperts", "BoostedGate", "BoostedTrees"]

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Index = NDArray[np.int64]
Grown = list[tuple[Trees, Index]]

# Boosters that may grow at the same time.
LANES = 8
# Probabilities are kept from 0 where they are divided by.
TINY = 1e-300
# Shares of a component's weight: a label that fewer have off is all but certain, ...
CERTAIN = 1e-6
# ... and this is nothing.
NOTHING = 1e-30


class BoostedTrees(Component, BaseEstimator):
    """Gradient boosted trees as experts or gate of a ``ConditionalBernoulliMixture``.

    A mixture of them has no trees of its own to begin with; each M-step adds a few and keeps the
    old ones (Section 3.2 of Li et al. 2016), so that ``max_iter * n_trees`` is the number of trees
    behind each score. They are grown by LightGBM (``pip install "colabel[boost]"``) or, where that
    is missing, by scikit-learn's decision trees, which takes longer; models that LightGBM
    has grown are stored and predict without it.

    Parameters
    ----------
    n_trees : int, default=5
        Trees added to each score in an M-step.
    n_leaves : int, default=8
        Leaves of a tree, at most; the paper has 5.
    learning_rate : float, default=0.1
        Share of Newton's step that a tree takes.
    reg_lambda : float, default=5.0
        L2 penalty on the values of leaves.
    min_child_weight : float, default=1.0
        Least sum of second derivatives in a leaf, above zero; of weights, where scikit-learn grows
        the trees.
    feature_fraction : float, default=0.1
        Share of the features that a tree may look at, drawn anew for each.
    max_bin : int, default=63
        Bins of a feature, which are its possible thresholds. For LightGBM. Beyond so many values
        of a feature bins follow the rows, and a row of weight two is not quite the row twice.

    Notes
    -----
    A tree costs LightGBM ``O(feature_fraction n_features (n_rows + n_leaves max_bin))``. The
    defaults were chosen on the training rows of scene and yeast, by three folds and with 20
    components and steps: subset accuracy moves by a point or so within half and twice each of
    them. ``reg_lambda`` and ``learning_rate`` are the ones worth a search, then ``n_leaves``: 32
    were as good on scene and a little better on yeast, by 0 to .009 on folds.

    Examples
    --------
    >>> from colabel.datasets import load
    >>> from colabel.mixture import ConditionalBernoulliMixture
    >>> train, test = load("yeast:train"), load("yeast:test")
    >>> trees = BoostedTrees(learning_rate=0.2)
    >>> clf = ConditionalBernoulliMixture(5, experts=trees, max_iter=2, random_state=0)
    >>> bool(clf.fit(train.X, train.Y).score(test.X, test.Y) > 0.15)
    True
    """

    def __init__(
        self,
        n_trees: int = 5,
        *,
        n_leaves: int = 8,
        learning_rate: float = 0.1,
        reg_lambda: float = 5.0,
        min_child_weight: float = 1.0,
        feature_fraction: float = 0.1,
        max_bin: int = 63,
    ) -> None:
        self.n_trees = n_trees
        self.n_leaves = n_leaves
        self.learning_rate = learning_rate
        self.reg_lambda = reg_lambda
        self.min_child_weight = min_child_weight
        self.feature_fraction = feature_fraction
        self.max_bin = max_bin

    def check(self, role: str) -> None:
        """Refuse settings that no data could make right."""
        for name, least in (("n_trees", 1), ("n_leaves", 2), ("max_bin", 2)):
            check_whole(getattr(self, name), f"{name} of BoostedTrees", least=least)
        for name in ("learning_rate", "feature_fraction"):
            check_real(getattr(self, name), f"{name} of BoostedTrees", above=0.0, most=1.0)
        check_real(self.reg_lambda, "reg_lambda of BoostedTrees", least=0.0)
        # Leaves of rows that are fitted to the last digit have no curvature, and take no step.
        check_real(self.min_child_weight, "min_child_weight of BoostedTrees", above=0.0)

    def make_gate(self, data: TrainingData) -> Callable[[int], BoostedGate]:
        """Return what makes the untrained gate of a seed."""
        return partial(BoostedGate, self._source(data), self.n_trees)

    def make_experts(self, data: TrainingData) -> Callable[[int], BoostedExperts]:
        """Return what makes the untrained experts of a seed."""
        return partial(BoostedExperts, self._source(data), self.n_trees)

    def _source(self, data: TrainingData) -> Source:
        key = ("trees", *self.get_params().items())
        return data.once(key, partial(make_source, self, data.X, data.weight))


class BoostedExperts(BaseEstimator):
    """``b(y_l | x, beta_l^k)``: one sum of trees for each label that varies in a component.

    Parameters
    ----------
    source : Source or None
        The training rows; given up when training ends.
    n_trees : int
        Added to each score in an M-step.
    seed : int
        Of the features that trees look at.
    """

    def __init__(self, source: Source | None, n_trees: int, seed: int) -> None:
        self.source = source
        self.n_trees = n_trees
        self.seed = seed
        self.sums = TreeSums()
        self.line = np.zeros((0, 0), dtype=np.int64)
        self.growers: dict[int, Grower] = {}

    def view(self, X: Rows, dtype: DTypeLike | None = None) -> ScoredRows:
        """Rows as they are, with room for their scores."""
        return self.sums.view(X)

    def update(self, view: ScoredRows, Y: Singles, gamma: Floats, run: Run) -> None:
        """M-step, Eq. (10): a few trees more for each label that varies in a component.

        Parameters
        ----------
        view : ScoredRows
            Of the rows that the source has.
        Y : ndarray of shape (n_labels, n_samples)
        gamma : ndarray of shape (n_components, n_samples)
            Responsibilities times sample weights; a dead component's row is zero.
        run : callable
            Runs jobs, in any order.
        """
        constants = Constants.of(Y, gamma)
        self.varies = self._settle(constants, view, Y, gamma)
        self.constant = constants.log_odds
        self.constants_prior = float(constants.prior[~self.varies].sum())
        self._give_lines()
        task = _Task(Y, gamma, self.sums.scores(view), np.zeros(self.sums.n_lines))
        components = np.flatnonzero(self.varies.any(axis=1))
        jobs = [
            partial(self._boost, lane, components[lane::LANES], task)
            for lane in range(min(LANES, len(components)))
        ]
        self.sums.add([part for grown in run(jobs) for part in grown], task.shift)

    def log_likelihoods(self, view: ScoredRows, Y: Singles, rows: Span) -> Floats:
        """``log prod_l b(y_nl | x_n, beta_l^k)`` of some rows: (n_components, n_rows)."""
        from colabel._kernels.logistic import log_likelihoods

        out = constant_log_likelihoods(self.constant, self.varies, Y[:, rows])
        scores = self.sums.scores(view)[self.line[self.varies], rows]
        component, label = np.nonzero(self.varies)
        log_likelihoods(scores, Y[:, rows], component, label, out)
        return out

    def logits(self, view: ScoredRows, rows: Span) -> Floats:
        """Log-odds of each label in each component: (n_rows, n_components, n_labels)."""
        scores = self.sums.scores(view)[self.line[self.varies], rows]
        out = np.tile(self.constant, (scores.shape[1], 1, 1))
        out[:, self.varies] = scores.T
        return out

    def penalties(self) -> float:
        """Negative log of the prior on constants; trees have none."""
        return self.constants_prior

    def finish(self) -> None:
        """Forget the training rows, and the trees of labels that vary no more."""
        self.source, self.growers = None, {}
        self.sums.keep(self.line[self.varies])
        self.line = np.where(self.varies, np.cumsum(self.varies).reshape(self.varies.shape) - 1, -1)

    def _settle(
        self, constants: Constants, view: ScoredRows, Y: Singles, gamma: Floats
    ) -> NDArray[np.bool_]:
        """Return the labels that get trees; one that had some before starts from those again."""
        if not self.line.size:
            return ~constants.rare
        scores = self.sums.scores(view)

        def cost(component: Index, label: Index) -> Floats:
            lines = self.line[component, label]
            experts = zip(lines, label, component, strict=True)
            found = [_cost(scores[line], Y[y], gamma[k]) for line, y, k in experts]
            return np.array(found, dtype=np.float64)

        varies = constants.settle(self.varies, cost)
        again = varies & ~self.varies & (self.line >= 0)
        varies[again] = cost(*np.nonzero(again)) <= constants.cost[again]
        return varies

    def _give_lines(self) -> None:
        """Give each label that varies for the first time a score, which begins at zero."""
        if not self.line.size:
            self.line = np.full(self.varies.shape, -1, dtype=np.int64)
        new = self.varies & (self.line < 0)
        n_new = int(np.count_nonzero(new))
        self.line[new] = self.sums.n_lines + np.arange(n_new)
        self.sums.n_lines += n_new

    def _boost(self, lane: int, components: Index, task: _Task) -> Grown:
        """Add trees to the scores of some components."""
        return [self._boost_component(lane, int(k), task) for k in components]

    def _boost_component(self, lane: int, k: int, task: _Task) -> tuple[Trees, Index]:
        assert self.source is not None
        weight, labels = task.gamma[k], np.flatnonzero(self.varies[k])
        share = weight / self.source.weight
        rows, grower = self._grower(lane, k, share, len(labels))
        for label in labels:
            line, y = int(self.line[k, label]), task.Y[label].astype(np.float64)
            task.shift[line] = _scaling(task.scores[line], y, weight)
            score = task.scores[line, rows] + task.shift[line]
            self._add_trees(grower, line, score, y[rows], share[rows])
        return grower.harvest()

    def _grower(
        self, lane: int, k: int, share: Floats, n_labels: int
    ) -> tuple[Index | Span, Grower]:
        """Return the rows to grow on and who does it: all, or those that count if that pays."""
        assert self.source is not None
        rows = rows_that_count(share, self.source.weight)
        if self.source.parts_pay(len(share) - len(rows), n_labels * self.n_trees):
            return rows, self.source.grower(rows, _seed(self.seed, 1, len(self.sums.steps), k))
        if lane not in self.growers:
            self.growers[lane] = self.source.grower(None, _seed(self.seed, 0, lane))
        return slice(0, len(share)), self.growers[lane]

    def _add_trees(
        self, grower: Grower, line: int, score: Floats, y: Floats, share: Floats
    ) -> None:
        assert self.source is not None
        for _ in range(self.n_trees):
            p = expit(score)
            score += grower.grow(line, y - p, p * (1.0 - p), share)


class BoostedGate(BaseEstimator):
    """``pi(z^k = 1 | x, alpha)`` of Eq. (6): a sum of trees for each component.

    Parameters
    ----------
    source : Source or None
        The training rows; given up when training ends.
    n_trees : int
        Added to each score in an M-step.
    seed : int
        Of the features that trees look at.
    """

    def __init__(self, source: Source | None, n_trees: int, seed: int) -> None:
        self.source = source
        self.n_trees = n_trees
        self.seed = seed
        self.sums = TreeSums()
        self.growers: list[Grower] = []

    def view(self, X: Rows, dtype: DTypeLike | None = None) -> ScoredRows:
        """Rows as they are, with room for their scores."""
        return self.sums.view(X)

    def update(self, view: ScoredRows, gamma: Floats, weight: Floats, run: Run) -> None:
        """M-step, Eq. (9): a few trees more for each component, towards ``gamma``.

        Parameters
        ----------
        view : ScoredRows
            Of the rows that the source has.
        gamma : ndarray of shape (n_components, n_samples)
            Responsibilities; a dead component's row is zero.
        weight : ndarray of shape (n_samples,)
        run : callable
            Runs jobs, in any order.
        """
        self.alive = self.line = np.flatnonzero(gamma.any(axis=1))
        self.sums.n_lines = self.n_components = len(gamma)
        gamma, scores = gamma[self.alive], self.sums.scores(view)[self.alive]
        shift = np.zeros(self.n_components)
        shift[self.alive] = np.log(gamma @ weight) - np.log(softmax(scores, axis=0) @ weight + TINY)
        scores += shift[self.alive, None]
        self.sums.add(self._boost(scores, gamma, run), shift)

    def log_weights(self, view: ScoredRows, rows: Span) -> Floats:
        """``log pi`` of some rows: (n_components, n_rows); ``-inf`` for dead components."""
        scores = self.sums.scores(view)[self.line, rows]
        out = np.full((self.n_components, scores.shape[1]), -np.inf)
        out[self.alive] = log_softmax(scores, axis=0)
        return out

    def penalties(self) -> float:
        """Zero: trees have no prior."""
        return 0.0

    def finish(self) -> None:
        """Forget the training rows, and the trees of dead components."""
        self.source, self.growers = None, []
        self.sums.keep(self.alive)
        self.line = np.arange(len(self.alive))

    def _boost(self, scores: Floats, gamma: Floats, run: Run) -> Grown:
        """Add trees to the scores of the components alive; those of a round see the same ``pi``."""
        assert self.source is not None
        if not self.growers:
            seeds = [_seed(self.seed, 2, lane) for lane in range(min(LANES, len(self.alive)))]
            self.growers = [self.source.grower(None, seed) for seed in seeds]
        # As in Friedman's (2001) boosting of K classes, whose scores are one more than needed.
        bend, all_of_it = len(gamma) / max(len(gamma) - 1, 1), np.ones(gamma.shape[1])

        def grow(lane: int) -> None:
            for c in range(lane, len(gamma), len(self.growers)):
                curvature = bend * pi[c] * (1.0 - pi[c])
                line, residual = int(self.alive[c]), gamma[c] - pi[c]
                scores[c] += self.growers[lane].grow(line, residual, curvature, all_of_it)

        for _ in range(self.n_trees):
            pi = softmax(scores, axis=0)
            run([partial(grow, lane) for lane in range(len(self.growers))])
        return [grower.harvest() for grower in self.growers]


@dataclass(frozen=True, eq=False)
class _Task:
    """An M-step of the experts: labels, responsibilities, scores, and the shifts it finds."""

    Y: Singles
    gamma: Floats
    scores: Floats
    shift: Floats


def _cost(score: Floats, y: Singles, weight: Floats) -> float:
    """Negative log-likelihood of a label by its scores."""
    return float(weight @ (np.logaddexp(0.0, score) - y * score))


def _scaling(score: Floats, y: Floats, weight: Floats) -> float:
    """Shift that makes a label as frequent as it is: a step of generalised iterative scaling.

    Exact from scores that are all equal; from any others it raises the likelihood.
    """
    p, total = expit(score), float(weight.sum())
    expected_on, expected_off = float(weight @ p), float(weight @ (1.0 - p))
    if expected_off < CERTAIN * total:  # then 1 - p is rounding
        expected_off = float(weight @ expit(-score))
    # Bounds the shift; one nearer to zero raises the likelihood as well.
    least = NOTHING * total + TINY
    on, off = weight @ y + least, weight @ (1.0 - y) + least
    ratio = np.log(expected_on + least) - np.log(expected_off + least)
    return float(np.log(on) - np.log(off) - ratio)


def _seed(*key: int) -> int:
    return int(np.random.SeedSequence(key).generate_state(1)[0] >> 1)
