"""A network with one hidden layer, trained so that labels that are on score higher than others.

The loss of BP-MLL (Zhang and Zhou 2006) is a sum over pairs of labels that factorises,

    sum_{k on, l off} exp(-(c_k - c_l)) = (sum_{k on} exp(-c_k)) (sum_{l off} exp(c_l)),

so that it and its gradient take O(L) a sample, and a batch of samples a few matrix products.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colabel.metrics import ranking_loss

if TYPE_CHECKING:
    from colabel._kernels.pair_network import Descent

__all__ = ["Network", "Schedule", "hidden_layer", "misordered", "network_outputs", "train"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]
Weights = tuple[Floats, Floats, Floats, Floats]


def hidden_layer(Z: Any, shift: Floats, W1: Floats, b1: Floats) -> Floats:
    """Return the hidden layer of rows ``Z - shift``; ``Z`` may be sparse."""
    return np.tanh(np.asarray(Z @ W1) + (b1 - shift @ W1))


def network_outputs(
    Z: Any, shift: Floats, W1: Floats, b1: Floats, W2: Floats, b2: Floats
) -> Floats:
    """Return the outputs of rows ``Z - shift``, between -1 and 1: (n_samples, n_labels)."""
    return np.tanh(hidden_layer(Z, shift, W1, b1) @ W2 + b2)


class Network:
    """Weights of a network ``tanh(W2' tanh(W1' z + b1) + b2)`` of scaled features ``z``.

    Parameters
    ----------
    sizes : (int, int, int)
        Features, hidden units, labels.
    rng : RandomState
        Weights start uniform, as wide as the sizes of their layers suggest (Glorot and Bengio
        2010); constants at 0.
    dtype : {np.float64, np.float32}
        Precision of training: half as precise is nearly twice as fast.

    Attributes
    ----------
    state : ndarray of shape (4, n_weights)
        All weights one after the other, their gradient, and the two means that Adam keeps.
    """

    def __init__(
        self, sizes: tuple[int, int, int], rng: np.random.RandomState, dtype: Any = np.float64
    ) -> None:
        d, h, n_labels = sizes
        self.state = np.zeros((4, d * h + h + h * n_labels + n_labels), dtype=dtype)
        self.sizes = sizes
        W1, _, W2, _ = self._parts()
        for W in (W1, W2):
            W[:] = rng.uniform(-1.0, 1.0, W.shape) * np.sqrt(6.0 / sum(W.shape))

    @property
    def weights(self) -> Weights:
        """Weights and constants of both layers, copied."""
        W1, b1, W2, b2 = (part.astype(np.float64) for part in self._parts())
        return W1, b1, W2, b2

    def _parts(self) -> tuple[NDArray[Any], ...]:
        d, h, n_labels = self.sizes
        W1, b1, W2, b2 = np.split(self.state[0], np.cumsum([d * h, h, h * n_labels]))
        return W1.reshape(d, h), b1, W2.reshape(h, n_labels), b2


@dataclass(frozen=True)
class Schedule:
    """How a network is trained.

    Parameters
    ----------
    solver : {"adam", "sgd"}
    learning_rate, alpha : float
        ``alpha / 2`` times the squared weights is added to the mean loss.
    batch_size, max_iter : int
        Rows of a step, and passes over all rows.
    """

    solver: str
    learning_rate: float
    alpha: float
    batch_size: int
    max_iter: int

    def descent(self) -> Descent:
        """Return the schedule as the kernels take it."""
        from colabel._kernels.pair_network import Descent

        rate, decay = float(self.learning_rate), float(self.alpha)
        return Descent(int(self.batch_size), rate, decay, self.solver == "adam")


def train(
    network: Network,
    Z: Any,
    Y: Labels,
    weight: Floats,
    shift: Floats,
    schedule: Schedule,
    rng: np.random.RandomState,
) -> Iterator[float]:
    """Train on rows ``Z - shift``; yield the mean loss of each epoch, as it went along."""
    from colabel._kernels.linear_scores import SparseRows
    from colabel._kernels.pair_network import dense_epoch, sparse_epoch

    state, descent = network.state, schedule.descent()
    on, share = Y.astype(state.dtype), (weight / weight.mean()).astype(state.dtype)
    epoch: Any
    if sparse.issparse(Z):
        epoch = partial(sparse_epoch, SparseRows(Z.indptr, Z.indices, Z.data), shift)
    else:
        epoch = partial(dense_epoch, (Z - shift).astype(state.dtype, order="C"))
    n_steps = -(-len(on) // min(descent.batch_size, len(on)))
    for t in range(schedule.max_iter):
        yield epoch(on, share, rng.permutation(len(on)), state, descent, t * n_steps)


def misordered(outputs: Floats, Y: Labels, weight: Floats) -> float:
    """Return the weighted ranking loss; rows without pairs are compared with an output of 0."""
    n_on = Y.sum(axis=1)
    alone = (n_on == 0) | (n_on == Y.shape[1])
    total = 0.0
    if not alone.all():
        rows = ~alone
        part = ranking_loss(Y[rows], outputs[rows], sample_weight=weight[rows])
        total += weight[rows].sum() * part
    if alone.any():
        wrong = np.where(Y[alone] > 0, outputs[alone] <= 0.0, outputs[alone] >= 0.0)
        total += float(weight[alone] @ wrong.mean(axis=1))
    return total / float(weight.sum())
