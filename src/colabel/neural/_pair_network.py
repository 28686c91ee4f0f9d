"""A network with one hidden layer, trained so that labels that are on score higher than others.

The loss of BP-MLL (Zhang and Zhou 2006) is a sum over pairs of labels that factorises,

    sum_{k on, l off} exp(-(c_k - c_l)) = (sum_{k on} exp(-c_k)) (sum_{l off} exp(c_l)),

so that it and its gradient take O(L) a sample, and a batch of samples a few matrix products.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Network", "Schedule", "Step", "hidden_layer", "network_outputs", "pair_loss", "train"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]
Weights = tuple[Floats, Floats, Floats, Floats]

# Decay of Adam's two means, and what keeps its steps finite (Kingma and Ba 2015).
BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8


def pair_loss(outputs: Floats, on: Floats) -> tuple[Floats, Floats]:
    """Return the loss of each sample, and its gradient with respect to the outputs.

    The mean of ``exp(-(c_k - c_l))`` over labels ``k`` on and ``l`` off (Eq. 3 of Zhang and Zhou
    2006). A sample with no label on, or all of them, has no pairs; its labels are compared with an
    output of 0.

    Parameters
    ----------
    outputs : ndarray of shape (n_samples, n_labels)
    on : ndarray of shape (n_samples, n_labels), 0.0 and 1.0

    Returns
    -------
    loss : ndarray of shape (n_samples,)
    gradient : ndarray of shape (n_samples, n_labels)

    Notes
    -----
    O(L) a sample.
    """
    sign = 1.0 - 2.0 * on
    terms = np.exp(sign * outputs)
    n_on = on.sum(axis=1)
    total_on = np.einsum("nl,nl->n", terms, on)
    total_off = terms.sum(axis=1) - total_on
    # exp(0) for the output that a side without labels is given
    n_off = on.shape[1] - n_on
    total_on[n_on == 0.0] = total_off[n_off == 0.0] = 1.0
    pairs = np.maximum(n_on, 1.0) * np.maximum(n_off, 1.0)
    total_on /= pairs
    gradient = sign * terms
    gradient *= np.where(on > 0.0, total_off[:, None] / pairs[:, None], total_on[:, None])
    return total_on * total_off, gradient


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

    All weights are parts of one vector, so that a step of training is one operation.

    Parameters
    ----------
    sizes : (int, int, int)
        Features, hidden units, labels.
    rng : RandomState
        Weights start uniform, as wide as the sizes of their layers suggest (Glorot and Bengio
        2010); constants at 0.
    """

    def __init__(self, sizes: tuple[int, int, int], rng: np.random.RandomState) -> None:
        d, h, n_labels = sizes
        self.theta = np.zeros(d * h + h + h * n_labels + n_labels)
        self.W1, self.b1, self.W2, self.b2 = _parts(self.theta, sizes)
        for W in (self.W1, self.W2):
            W[:] = rng.uniform(-1.0, 1.0, W.shape) * np.sqrt(6.0 / sum(W.shape))
        self.sizes = sizes

    @property
    def weights(self) -> Weights:
        """Weights and constants of both layers."""
        return self.W1, self.b1, self.W2, self.b2


class Step:
    """Loss, gradient and one step of descent on a batch, in place.

    Parameters
    ----------
    network : Network
    solver : {"adam", "sgd"}
    learning_rate, weight_decay : float
        ``weight_decay / 2`` times the squared weights is added to the mean loss.
    """

    def __init__(
        self, network: Network, solver: str, learning_rate: float, weight_decay: float
    ) -> None:
        self.network, self.rate, self.decay = network, learning_rate, weight_decay
        self.adam = solver == "adam"
        self.gradient = np.zeros_like(network.theta)
        self.parts = _parts(self.gradient, network.sizes)
        self.mean, self.square = np.zeros((2, len(network.theta)))
        self.n_steps = 0

    def gradients(self, Z: Any, on: Floats, weight: Floats, shift: Floats) -> float:
        """Return the weighted loss of a batch; leave its gradient, by back-propagation."""
        net = self.network
        W1, b1, W2, b2 = self.parts
        hidden = hidden_layer(Z, shift, net.W1, net.b1)
        outputs = np.tanh(hidden @ net.W2 + net.b2)
        loss, delta = pair_loss(outputs, on)
        delta *= (1.0 - outputs * outputs) * weight[:, None]  # Eq. 11, with the sign of descent
        np.matmul(hidden.T, delta, out=W2)
        np.sum(delta, axis=0, out=b2)
        below = delta @ net.W2.T
        below *= 1.0 - hidden * hidden  # Eq. 14
        np.sum(below, axis=0, out=b1)
        W1[:] = Z.T @ below
        W1 -= np.outer(shift, b1)
        return float(weight @ loss)

    def __call__(self, Z: Any, on: Floats, weight: Floats, shift: Floats) -> float:
        loss = self.gradients(Z, on, weight, shift)
        theta, gradient = self.network.theta, self.gradient
        if self.decay:
            gradient += self.decay * theta
        if not self.adam:
            theta -= self.rate * gradient
            return loss
        self.n_steps += 1
        self.mean += (1.0 - BETA_1) * (gradient - self.mean)
        gradient *= gradient
        self.square += (1.0 - BETA_2) * (gradient - self.square)
        root = np.sqrt(self.square / (1.0 - BETA_2**self.n_steps))
        root += EPSILON
        theta -= (self.rate / (1.0 - BETA_1**self.n_steps)) * self.mean / root
        return loss


@dataclass(frozen=True)
class Schedule:
    """How a network is trained."""

    solver: str
    learning_rate: float
    weight_decay: float
    batch_size: int
    max_iter: int


def train(
    network: Network,
    Z: Any,
    Y: Labels,
    weight: Floats,
    shift: Floats,
    schedule: Schedule,
    rng: np.random.RandomState,
) -> Iterator[float]:
    """Train epoch by epoch; yield the mean loss of each, by the weights as they went along."""
    step = Step(network, schedule.solver, schedule.learning_rate, schedule.weight_decay)
    on, share = Y.astype(np.float64), weight / weight.mean()
    n, size = len(on), schedule.batch_size
    for _ in range(schedule.max_iter):
        order, total = rng.permutation(n), 0.0
        for i in range(0, n, size):
            rows = order[i : i + size]
            part = share[rows] / len(rows)
            total += len(rows) * step(Z[rows], on[rows], part, shift)
        yield total / n


def _parts(vector: Floats, sizes: tuple[int, int, int]) -> Weights:
    """Return the weights and constants of both layers as views of one vector."""
    d, h, n_labels = sizes
    ends = np.cumsum([d * h, h, h * n_labels])
    W1, b1, W2, b2 = np.split(vector, ends)
    return W1.reshape(d, h), b1, W2.reshape(h, n_labels), b2
