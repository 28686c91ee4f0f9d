"""What classifiers by nearest neighbours have in common: search, votes, threshold, tuning."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colabel._label_scores import log_odds
from colabel._parameters import check_choice, check_real, check_whole
from colabel.base import MultiLabelClassifier
from colabel.decoders import BaseDecoder
from colabel.neighbors._search import Neighbors, fit_index, nearest
from colabel.neighbors._tuning import MEASURES, THRESHOLDS, Cut, best_cut
from colabel.neighbors._votes import WEIGHTS, votes
from colabel.numerics.magnitude import check_magnitude
from colabel.results import Decoded
from colabel.scores import Modular, ScoreTable

__all__ = ["NeighborClassifier"]

Floats = NDArray[np.float64]

TUNE = "tune"
# Numbers of neighbours that tuning tries.
SIZES = (5, 10, 20, 30, 50, 70, 100)


class NeighborClassifier(MultiLabelClassifier):
    """Base of the classifiers that ask the nearest training rows.

    Subclasses may search in a space of their own (``_fit_space``, ``_embed``) and read votes in
    their own way (``_fit_rule``, ``_log_odds``).
    """

    _table: ClassVar[type[Modular]] = Modular
    _decoder: ClassVar[str] = "threshold"
    _sparse_labels: ClassVar[bool] = True
    # Whether the neighbours of training rows are needed even if nothing is tuned.
    _asks_training_rows: ClassVar[bool] = False

    n_neighbors: int | str
    weights: str
    threshold: float | str
    measure: str
    index: Any

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        """Fit to features ``X`` and labels ``y``.

        Parameters
        ----------
        X : array-like, sparse matrix or array, or DataFrame of shape (n_samples, n_features)
        y : (n_samples, n_labels) of 0 and 1: array, sparse matrix or array, or DataFrame
            Or a 1-D target with one class per sample.

        Returns
        -------
        self
        """
        return super().fit(X, y)

    def _fit(self, X: Any, Y: Any, **_: Any) -> None:
        check_magnitude(X)
        self._own_cut = self.decoder is None
        self.labels_ = sparse.csr_array(Y, dtype=np.float64)
        self.points_ = self._fit_space(X)
        self.index_ = fit_index(self.index, self.points_)
        self._choose()

    def _fit_space(self, X: Any) -> Any:
        """Return the training rows in the space that is searched."""
        return X

    def _embed(self, X: Any) -> Any:
        """Return other rows in that space."""
        return X

    def _held_out(self) -> Any:
        """Return the training rows as if they had not been trained on, in that space."""
        return self.points_

    def _fit_rule(self, near: Neighbors, weights: str) -> Any:
        """Learn how to read votes from the training rows' neighbours."""
        return None

    def _log_odds(self, rule: Any, near: Neighbors, weights: str) -> Floats:
        """Read the votes of neighbours."""
        share = votes(near, self.labels_, weights).toarray()
        return log_odds(1.0 - share, share)

    def _entries(self, rule: Any, near: Neighbors, weights: str) -> Floats | sparse.csr_array:
        """Return the same, sparse where what is left out has no probability at all."""
        share = votes(near, self.labels_, weights)
        share.data = log_odds(1.0 - share.data, share.data)
        return share

    def _scores(self, X: Any) -> Modular:
        near = nearest(self._embed(X), self.points_, self.n_neighbors_, index=self.index_)
        return Modular(self._log_odds(self.rule_, near, self.weights_), log_odds=True)

    def _choose(self) -> None:
        """Fix the number of neighbours, weights and threshold, by leave-one-out where asked to."""
        sizes = SIZES if self.n_neighbors == TUNE else (int(self.n_neighbors),)
        kinds = WEIGHTS if self.weights == TUNE else (self.weights,)
        cuts = THRESHOLDS if self.threshold == TUNE else np.array([float(self.threshold)])
        n = self.labels_.shape[0]
        sizes = tuple(dict.fromkeys(min(k, max(n - 1, 1)) for k in sizes))
        tuned = self._tunes()
        near = None
        if tuned or self._asks_training_rows:
            near = nearest(
                self._held_out(), self.points_, max(sizes), index=self.index_, leave_own_out=True
            )
        settings = [(k, kind) for k in sizes for kind in kinds]
        if not tuned:
            k, self.weights_ = settings[0]
            self.threshold_, self.tuned_score_ = float(cuts[0]), float("nan")
        else:
            assert near is not None
            found = [self._best_cut(near.first(k), kind, cuts) for k, kind in settings]
            best = int(np.argmax([cut.value for cut in found]))
            k, self.weights_ = settings[best]
            self.threshold_, self.tuned_score_ = found[best].threshold, found[best].value
        # In training a row is no neighbour of itself, so there is one less.
        self.n_neighbors_ = k if tuned or near is not None else min(int(self.n_neighbors), n)
        self.rule_ = None if near is None else self._fit_rule(near.first(k), self.weights_)

    def _tunes(self) -> bool:
        return TUNE in (self.n_neighbors, self.weights, self.threshold)

    def _best_cut(self, near: Neighbors, weights: str, cuts: Floats) -> Cut:
        rule = self._fit_rule(near, weights)
        return best_cut(
            lambda rows: self._entries(rule, near.take(rows), weights),
            self.labels_,
            cuts,
            self.measure,
        )

    def _decode_table(self, table: ScoreTable, decoder: BaseDecoder | None) -> Decoded:
        own = decoder is None and self._own_cut
        return super()._decode_table(self._cut(table) if own else table, decoder)

    def _column_scores(self, table: ScoreTable) -> Floats:
        return super()._column_scores(self._cut(table) if self._own_cut else table)

    def _cut(self, table: ScoreTable) -> ScoreTable:
        """Move the zero of the scores to the threshold; classes of a 1-D target need none."""
        assert isinstance(table, Modular)
        if self._target.kind == "multiclass":
            return table
        # By the function of the scores: a share that is the threshold is not above it.
        t = np.asarray(self.threshold_)
        return Modular(table.unary - log_odds(1.0 - t, t))

    def _probabilistic(self) -> bool:
        return True

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_neighbors != TUNE:
            check_whole(self.n_neighbors, "n_neighbors", least=1)
        if self.threshold != TUNE:
            check_real(self.threshold, "threshold", above=0.0, below=1.0)
        check_choice(self.weights, "weights", (*WEIGHTS, TUNE))
        check_choice(self.measure, "measure", MEASURES)
        if self.index is not None and not hasattr(self.index, "transform"):
            raise ValueError(
                "index must be a transformer like scikit-learn's KNeighborsTransformer, "
                f"not {self.index!r}"
            )
        mode = getattr(self.index, "mode", "distance")
        if mode != "distance":
            raise ValueError(f"index must give distances: mode='distance', not {mode!r}")
