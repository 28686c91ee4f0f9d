"""BP-MLL: back-propagation for the order of labels (Zhang and Zhou 2006)."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from colabel._parameters import check_choice, check_real, check_whole
from colabel._renamed import Renamed
from colabel._weighted import DistinctRowsClassifier
from colabel.decoders import BaseDecoder
from colabel.messages import warn_user
from colabel.neural._pair_network import (
    Network,
    Schedule,
    Weights,
    misordered,
    network_outputs,
    train,
)
from colabel.neural._radial import spread
from colabel.numerics.blas import one_blas_thread
from colabel.numerics.label_cuts import CutRule, fit_cut_rule
from colabel.numerics.magnitude import scaled
from colabel.scores import Modular

__all__ = ["BPMLL"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]
Rows = NDArray[np.intp]

# How far beyond all outputs the cut of a sample is that has no label, or all; as released.
BEYOND = 0.1


class BPMLL(DistinctRowsClassifier):
    """Networks trained so that labels that are on score higher than labels that are off.

    A network of one hidden layer, ``tanh`` in both, is trained by back-propagation to minimise

        sum_i mean over k on and l off of exp(-(c_k(x_i) - c_l(x_i)))

    for its outputs ``c``. A threshold that is linear in the outputs, fitted by least squares to the
    best cut of each sample, decides how many labels are on.

    Parameters
    ----------
    hidden : int or float, default=64
        Hidden units; a float is a share of the number of features. Published: 0.2.
    solver : {"adam", "sgd"}, default="adam"
        How weights follow the gradient of a batch. Published: ``"sgd"`` with ``batch_size=1``.
    learning_rate : float, default=1e-3
        Published: 0.05.
    batch_size : int, default=32
    max_iter : int, default=100
        Passes over the rows (epochs). A warning tells of networks that ``patience`` had not stopped
        by then.
    alpha : float, default=0.03
        Ridge: half of it times the squared weights is added to the mean loss.
    n_models : int, default=5
        Networks, each from another start and with other rows held out; outputs are averaged.
        Published: 1.
    validation_fraction : float or None, default=0.2
        Share of the rows that a network does not see. Their ranking loss decides when it stops,
        and to their outputs the threshold is fitted. ``None``: all rows and epochs are used, and
        the threshold is fitted to what the network was trained on, as published.
    patience : int, default=20
        Epochs without a better ranking loss of the rows held out, after which a network stops.
    threshold_inputs : {"ranked", "scores"}, default="ranked"
        What the threshold is a linear function of: the outputs for the labels and the same outputs
        in falling order, or the outputs alone, as published.
    scale : bool, default=True
        Whether features are standardised first.
    decoder : str, BaseDecoder or None, default=None
        ``None`` is ``"threshold"``: outputs above the learned threshold.
    empty : {"allow", "forbid"}, default="allow"
        ``"forbid"`` turns the best label on where none is.
    random_state : int, RandomState or None, default=None
        Seeds the starts, the order of rows and which rows are held out.

    Attributes
    ----------
    weights_ : list of tuple of ndarray
        ``(W1, b1, W2, b2)`` of each network, for features divided by ``scale_``, less ``shift_``.
    threshold_coef_, threshold_intercept_ : ndarray, float
        The threshold is linear in the outputs and, for the rest of the coefficients, in the
        outputs in falling order.
    history_ : list of ndarray
        Mean loss of each epoch, of each network.
    validation_ : list of ndarray
        Ranking loss of the rows held out, after each epoch; empty where there are none.
    n_iter_ : int
        Epochs of the longest training.
    scale_, shift_ : ndarray of shape (n_features,)
    classes_ : ndarray
        ``arange(n_labels)``, or the classes of a 1-D target.

    Notes
    -----
    The loss of a row takes O(L), not O(L^2): the sum over pairs is a product of two sums. An epoch
    takes O(n h (d + L)) for ``h`` hidden units.

    A row with no label, or with all, has no pairs, and no share in the published loss. Here its
    labels are compared with an output of zero; so is the only label of a 1-D target of two classes.

    Standardised dense features are trained on in single precision, all others in double.

    Equal rows are merged first, so a weight of two is a row that comes twice, and results depend
    neither on the order of rows nor on the number of threads.

    References
    ----------
    Zhang and Zhou, "Multilabel neural networks with applications to functional genomics and text
    categorization", IEEE Transactions on Knowledge and Data Engineering 18, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> Y = np.column_stack([X[:, 0] > 0, X[:, 0] < 0, X[:, 1] > 0]).astype(int)
    >>> BPMLL(random_state=0).fit(X, Y).predict([[1.0, 1.0], [-1.0, -1.0]])
    array([[1, 0, 1],
           [0, 1, 0]])
    """

    _table: ClassVar[type[Modular]] = Modular
    _decoder: ClassVar[str] = "threshold"
    _renamed: ClassVar[Mapping[str, str | Renamed]] = {"weight_decay": "alpha"}

    def __init__(
        self,
        hidden: int | float = 64,
        *,
        solver: str = "adam",
        learning_rate: float = 1e-3,
        batch_size: int = 32,
        max_iter: int = 100,
        alpha: float = 0.03,
        n_models: int = 5,
        validation_fraction: float | None = 0.2,
        patience: int = 20,
        threshold_inputs: str = "ranked",
        scale: bool = True,
        decoder: str | BaseDecoder | None = None,
        empty: str = "allow",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.hidden = hidden
        self.solver = solver
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.alpha = alpha
        self.n_models = n_models
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.threshold_inputs = threshold_inputs
        self.scale = scale
        self.decoder = decoder
        self.empty = empty
        self.random_state = random_state

    def _fit_rows(self, X: Any, Y: Labels, weight: Floats) -> None:
        self._find_scale(X, weight)
        Z = scaled(X, self.scale_)
        rng = check_random_state(self.random_state)
        self.weights_: list[Weights] = []
        self.history_: list[Floats] = []
        self.validation_: list[Floats] = []
        seen = []
        with one_blas_thread():
            for kept, out in self._splits(len(Y), rng):
                self.weights_.append(self._train(Z, Y, weight, kept, out, rng))
                judged = out if len(out) else kept
                outputs = network_outputs(Z[judged], self.shift_, *self.weights_[-1])
                seen.append((outputs, judged))
        self.n_iter_ = max(map(len, self.history_))
        self._warn_if_unfinished()
        judged = np.concatenate([part for _, part in seen])
        outputs = np.concatenate([part for part, _ in seen])
        ranked = self.threshold_inputs == "ranked"
        rule = fit_cut_rule(outputs, Y[judged], weight[judged], beyond=BEYOND, ranked=ranked)
        self.threshold_coef_, self.threshold_intercept_ = rule

    def _find_scale(self, X: Any, weight: Floats) -> None:
        self.scale_, self.shift_ = np.ones(X.shape[1]), np.zeros(X.shape[1])
        if self.scale:
            self.scale_ = spread(X, weight)
            self.shift_ = np.asarray(weight @ X).ravel() / weight.sum() / self.scale_

    def _splits(self, n: int, rng: np.random.RandomState) -> list[tuple[Rows, Rows]]:
        """Return the rows that each network sees and holds out, each row as often as others."""
        order = rng.permutation(n)
        share = self.validation_fraction
        size = 0 if share is None or n < 2 else min(max(1, round(share * n)), n - 1)
        places = (np.arange(size) + start * size for start in range(self.n_models))
        held_out = [order[place % n] for place in places]
        return [(np.setdiff1d(order, out), out) for out in held_out]

    def _train(
        self,
        Z: Any,
        Y: Labels,
        weight: Floats,
        kept: Rows,
        out: Rows,
        rng: np.random.RandomState,
    ) -> Weights:
        """Train one network; where rows are held out, keep it as it was when they fared best."""
        d, n_labels = Z.shape[1], Y.shape[1]
        n_hidden = self.hidden if isinstance(self.hidden, Integral) else ceil(self.hidden * d)
        # Standardised features are of the order of 1; of others single precision may be short.
        # Differences of sparse ones and their means would be left to rounding.
        single = self.scale and not sparse.issparse(Z)
        network = Network((d, n_hidden, n_labels), rng, np.float32 if single else np.float64)
        schedule = Schedule(
            self.solver, self.learning_rate, self.alpha, self.batch_size, self.max_iter
        )
        best, losses, found = network.weights, [], []
        epochs = train(network, Z[kept], Y[kept], weight[kept], self.shift_, schedule, rng)
        rest, truth = Z[out], Y[out]
        for loss in epochs:
            losses.append(loss)
            if not len(out):
                continue
            outputs = network_outputs(rest, self.shift_, *network.weights)
            found.append(misordered(outputs, truth, weight[out]))
            since = len(found) - 1 - int(np.argmin(found))
            if since == 0:
                best = network.weights
            elif since >= self.patience:
                break
        self.history_.append(np.array(losses))
        self.validation_.append(np.array(found))
        return best if len(out) else network.weights

    def _warn_if_unfinished(self) -> None:
        since = [len(found) - 1 - int(np.argmin(found)) for found in self.validation_ if len(found)]
        unfinished = sum(epochs < self.patience for epochs in since)
        if unfinished:
            warn_user(
                f"{unfinished} of {self.n_models} networks of BPMLL still got better within the "
                f"last {min(self.patience, self.max_iter)} of {self.max_iter} epochs; raise "
                "max_iter or learning_rate",
                ConvergenceWarning,
            )

    def _scores(self, X: Any) -> Modular:
        Z, rule = scaled(X, self.scale_), CutRule(self.threshold_coef_, self.threshold_intercept_)
        total = np.zeros((Z.shape[0], self._n_columns))
        for weights in self.weights_:
            outputs = network_outputs(Z, self.shift_, *weights)
            total += outputs - rule.cuts(outputs)[:, None]
        return Modular(total / len(self.weights_))

    def _row_bytes(self) -> int:
        return 32 * (self._n_columns + len(self.weights_[0][1]))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if isinstance(self.hidden, float):
            check_real(self.hidden, "hidden", above=0.0)
        else:
            check_whole(self.hidden, "hidden", least=1)
        check_choice(self.solver, "solver", ("adam", "sgd"))
        check_real(self.learning_rate, "learning_rate", above=0.0)
        check_real(self.alpha, "alpha", least=0.0)
        for name in ("batch_size", "max_iter", "n_models", "patience"):
            check_whole(getattr(self, name), name, least=1)
        if self.validation_fraction is not None:
            check_real(self.validation_fraction, "validation_fraction", above=0.0, below=1.0)
        check_choice(self.threshold_inputs, "threshold_inputs", ("ranked", "scores"))
        check_choice(self.scale, "scale", (True, False))
