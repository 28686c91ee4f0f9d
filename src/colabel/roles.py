"""What the parts of a structured machine ask of one another in training, and nothing else.

*A model scores labelings; a loss says what a wrong one costs; an oracle adds the loss and finds the
labelings that violate the margin; a learner sets the parameters.* Decoders and score tables have
base classes of their own. Parts derive from the base classes in ``colabel.models``, ``losses``,
``oracles`` and ``learners``; these protocols are all that others may ask of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colabel.results import Decoded, RelaxedSolution
from colabel.scores import Modular, Pairwise

__all__ = [
    "CountsTable",
    "Features",
    "Floats",
    "Labels",
    "Loss",
    "Model",
    "ModelSpec",
    "Oracle",
    "ProductPairs",
    "Report",
    "SpinPairs",
    "Stage",
    "Stages",
]

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]
Features: TypeAlias = "NDArray[np.float64] | sparse.csr_array"
# ``counts_table(n_true, n_labels)`` is the loss at ``[hits, false]``.
CountsTable = Callable[[int, int], Floats]
# Called with the iteration, the objective and the gap.
Report = Callable[[int, float, float], None]


class Model(Protocol):
    """Scores labelings linearly: ``score(x, y) = <theta, phi(x, y)>``.

    ``theta`` holds the parameters of single labels, ``n_unary`` of them, and then those of pairs.
    All after the first ``n_free`` must be at least 0.
    """

    @property
    def n_features(self) -> int:
        """Number of features, without the constant."""

    @property
    def n_labels(self) -> int:
        """Number of labels."""

    @property
    def size(self) -> int:
        """Number of parameters."""

    @property
    def n_unary(self) -> int:
        """Number of parameters that are not of pairs."""

    @property
    def n_free(self) -> int:
        """Number of parameters of any sign."""

    @property
    def constant(self) -> float:
        """Value of the constant feature."""

    @property
    def pair_scale(self) -> Floats:
        """Size of the feature of each pair: (size - n_unary,)."""

    @property
    def emits(self) -> type[Modular] | type[Pairwise]:
        """The kind of table."""

    @property
    def attractive(self) -> bool:
        """Whether no coupling can be negative."""

    def project(self, theta: Floats) -> Floats:
        """Return the nearest parameters of the right signs."""

    def scores(self, X: Features, theta: Floats) -> Modular | Pairwise:
        """Score all labelings of some rows."""

    def feature_sum(self, X: Features, Z: Labels | Floats, weight: Floats) -> Floats:
        """Return ``sum_n weight_n phi(x_n, z_n)``: (size,)."""

    def feature_of_moments(self, X: Features, first: Floats, second: Floats) -> Floats:
        """Return the same for random labelings, from weighted moments of their labels.

        ``first`` (n_samples, n_labels) is by sample, ``second`` (n_labels, n_labels) their sum.
        """


@runtime_checkable
class ProductPairs(Model, Protocol):
    """A model whose pairs count where both labels are on, and attract: ``LinearPairwise``."""

    @property
    def edges(self) -> NDArray[np.int64]:
        """Pairs ``i < j``, in lexicographic order: (n_pairs, 2)."""

    @property
    def strength(self) -> Floats:
        """Feature of each pair that is on: (n_pairs,)."""

    def split(self, theta: Floats) -> tuple[Floats, Floats]:
        """View parameters as (n_features + 1, n_labels) unaries and (n_pairs,) pairs."""


@runtime_checkable
class SpinPairs(Model, Protocol):
    """A model whose pairs count where two labels differ, all of them: ``SpinPairwise``."""

    @property
    def edges(self) -> NDArray[np.int64]:
        """Pairs ``i < j``, in lexicographic order: (n_pairs, 2)."""

    @property
    def sign(self) -> str | None:
        """What pairs may do: ``"any"``, ``"attractive"``, ``"repulsive"``."""

    @property
    def kappa(self) -> float:
        """Size of the feature of a pair."""

    @property
    def scale(self) -> float:
        """``A`` over the parameters of pairs."""

    def split(self, theta: Floats) -> tuple[Floats, Floats]:
        """View parameters as (n_features + 1, n_labels) unaries and (n_pairs,) pairs."""

    def prior(self, theta: Floats) -> Floats:
        """Return ``A``: (n_labels, n_labels)."""


class ModelSpec(Protocol):
    """Parameters of a model that is not built for any rows yet."""

    @property
    def has_pairs(self) -> bool:
        """Whether the model may have scores of pairs."""

    @property
    def attractive(self) -> bool:
        """Whether no coupling can be negative."""

    def build(self, X: Features, Y: Labels, weight: Floats, alpha: float) -> tuple[Model, float]:
        """Return the model for some rows, and the ridge penalty in its units."""


class Loss(Protocol):
    """What a wrong labeling costs: see ``colabel.losses.BaseLoss``."""

    structure: ClassVar[Literal["modular", "counts"]]

    @property
    def depends_on_counts(self) -> bool:
        """Whether there is a ``counts_table``: always, where that is the structure."""

    def value(self, Y: Labels, Z: Labels) -> Floats:
        """Loss of each sample: (n_samples,)."""

    def counts_table(self, n_true: int, n_labels: int) -> Floats:
        """Loss at ``[hits, false]``: (n_true + 1, n_labels - n_true + 1)."""

    def as_modular(self, Y: Labels) -> tuple[Floats, Floats]:
        """Return ``offset`` (n_samples,) and ``cost`` (n_samples, n_labels)."""


class Stage(Protocol):
    """A search for what violates the margin most, with a loss added to the scores."""

    @property
    def relaxes(self) -> bool:
        """Whether it finds moments in place of labelings."""

    def find(self, scores: Modular | Pairwise, loss: Loss, Y: Labels) -> Decoded | RelaxedSolution:
        """Maximise ``score(Z) + loss(Y, Z)`` for each sample."""


@dataclass(frozen=True)
class Stages:
    """The searches that training goes through; they may be the same object.

    Parameters
    ----------
    quick : Stage
        To begin with.
    learning : Stage
        To learn with.
    proof : Stage
        The strongest there is: its bound has the last word.
    certificate : callable or None
        ``certificate(scores, Y, labels, loss)`` says which labelings it proves to be worst.
    """

    quick: Stage
    learning: Stage
    proof: Stage
    certificate: Callable[[Pairwise, Labels, Labels, Loss], NDArray[np.bool_]] | None = None


class Oracle(Protocol):
    """Finds violated labelings: says which models and losses it takes, and how it goes about it."""

    def refusal(self, model: ModelSpec, loss: Loss) -> str:
        """Say why model and loss do not fit, in one sentence; an empty string where they do."""

    def stages(self, model: Model, loss: Loss, *, rough: bool) -> Stages:
        """Return the searches; ``rough`` is for learners that do not look for the optimum."""
