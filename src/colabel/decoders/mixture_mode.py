"""The most probable labeling of a Bernoulli mixture."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from colabel._parameters import check_whole
from colabel._rows import Span
from colabel.decoders.base import BaseDecoder, Floats, Labels
from colabel.numerics.threads import in_threads
from colabel.results import Decoded
from colabel.scores import Mixture, ScoreTable

__all__ = ["MixtureMode", "most_probable"]


class MixtureMode(BaseDecoder):
    """Choose the most probable labeling of a ``Mixture``, exactly: the answer for subset accuracy.

    Parameters
    ----------
    algorithm : {"search", "paper"}, default="search"
        ``"search"``: branch and bound over labels. A node costs O(n_components n_labels); fitted
        models need one or a few. ``"paper"``: Algorithm 2 of Li et al. (2016) with its component
        probability corrected, one ranked list of labelings per component; kept for comparison. It
        takes equally probable labelings as they come.
    max_nodes : int, default=100_000
        Nodes opened (labelings dequeued) per sample, at least 1. A sample that needs more gets
        the best labeling found and an upper bound above its value: many equally weighted
        components with logits near zero are such samples.

    Notes
    -----
    Values and bounds leave out components below 1e-18 of the labeling sought. Labelings whose
    log-probabilities differ by less than 1e-13 count as equal, and the one with the fewest labels
    is returned.

    References
    ----------
    Li, Wang, Pavlu and Aslam, "Conditional Bernoulli mixtures for multi-label classification",
    ICML 2016.

    Examples
    --------
    >>> from colabel.scores import Mixture
    >>> table = Mixture(np.log([[0.4, 0.6]]), [[[3.0, 3.0], [-2.0, 0.5]]])
    >>> found = MixtureMode().decode(table)
    >>> found.labels, found.value.round(3), found.certified
    (array([[1, 1]], dtype=int8), array([-0.898]), array([ True]))
    """

    accepts: ClassVar[tuple[type[ScoreTable], ...]] = (Mixture,)
    exact: ClassVar[bool] = True
    handles: ClassVar[tuple[str, ...]] = ()

    def __init__(self, algorithm: str = "search", max_nodes: int = 100_000) -> None:
        self.algorithm = algorithm
        self.max_nodes = max_nodes

    def _decode(self, scores: Mixture, nonempty: bool) -> Decoded:  # type: ignore[override]
        check_whole(self.max_nodes, "max_nodes", least=1)
        if self.algorithm == "search":
            labels, values, left = most_probable(scores, 1, nonempty, self.max_nodes)
            return Decoded(labels[:, 0], values[:, 0], np.maximum(values[:, 0], left))
        if self.algorithm != "paper":
            raise ValueError(f'algorithm must be "search" or "paper", not {self.algorithm!r}')
        from colabel._kernels.mixture_lists import ranked_lists

        labels = np.zeros((scores.n_samples, scores.n_labels), dtype=np.int8)
        proof = np.empty((scores.n_samples, 2))

        def block(r: Span) -> None:
            table = scores.log_weights[r], scores.logits[r]
            ranked_lists(*table, nonempty, self.max_nodes, labels[r], proof[r])

        in_threads(block, scores.n_samples)
        lost = np.flatnonzero(np.isneginf(proof[:, 0]))  # only the empty labeling came up
        if len(lost):
            some = scores.take(lost)
            labels[lost, np.argmax(some.marginals(), axis=1)] = 1
            proof[lost, 0] = some.log_prob(labels[lost])
            proof[lost, 1] = np.maximum(proof[lost, 0], proof[lost, 1])
        return Decoded(labels, proof[:, 0], proof[:, 1])


def most_probable(
    scores: Mixture, m: int, nonempty: bool, max_nodes: int
) -> tuple[Labels, Floats, Floats]:
    """Return the ``m`` best labelings, their log-probabilities, and a bound on all not searched.

    Shapes (n_samples, m, n_labels), (n_samples, m) and (n_samples,); the bound is ``-inf`` where
    the search came to its end.
    """
    from colabel._kernels.mixture_mode import top_labelings, workspace

    n_samples, n_labels = scores.n_samples, scores.n_labels
    labels = np.zeros((n_samples, m, n_labels), dtype=np.int8)
    values = np.empty((n_samples, m))
    proof = np.empty((n_samples, 2))

    def block(r: Span) -> None:
        work, found = workspace(scores.n_components, n_labels), (labels[r], values[r], proof[r])
        top_labelings(scores.log_weights[r], scores.logits[r], nonempty, max_nodes, work, *found)

    in_threads(block, n_samples)
    return labels, values, proof[:, 0]
