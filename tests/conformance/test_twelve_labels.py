"""Every decoder against enumeration of eleven and twelve labels, numbers of all sizes included."""

import numpy as np
import pytest

import instances
from colabel.decoders import BranchAndBound
from colabel.losses import FBeta, Jaccard, Subset
from colabel.oracles import loss_augmented
from colabel.scores import Mixture, Modular, Pairwise, Support
from conformance.cases import CASES, all_values, augmented_values, draw, every_case, quick

# Of the tables of ``instances``, seeds 1, 3 and 7 are normal, whole numbers, and all equal.
REGIMES = {"normal": 1, "ties": 3, "equal": 7, "scales": 1}
every_regime = pytest.mark.parametrize("regime", REGIMES)
COUNTS = [(d, t) for d, t in CASES if "counts" in d.handles and t in (Modular, Pairwise)]
counts_case = pytest.mark.parametrize(
    ("decoder", "table"), COUNTS, ids=[f"{d}-{t.__name__}" for d, t in COUNTS]
)


def scaled(scores, seed):
    """Numbers of very different sizes within one table: some labels and some pairs."""
    rng = np.random.default_rng(seed)
    label = 10.0 ** (rng.integers(-8, 9, scores.n_labels) * (rng.random(scores.n_labels) < 0.3))
    if isinstance(scores, Modular):
        return Modular(scores.unary * label, scores.log_odds)
    if isinstance(scores, Mixture):
        return Mixture(scores.log_weights, scores.logits * label)
    if isinstance(scores, Pairwise):
        pair = 10.0 ** (
            rng.integers(-8, 9, len(scores.edges)) * (rng.random(len(scores.edges)) < 0.1)
        )
        return Pairwise(scores.unary * label, scores.edges, scores.couplings * pair)
    return Support(scores.labelings, scores.scores * 10.0 ** rng.integers(-8, 3))


@every_case
@every_regime
def test_twelve_labels(decoder, table, regime):
    first = REGIMES[regime]
    for n_labels, seed in ((11, first), (12, first + 21), (12, first + 42)):
        scores = draw(decoder, table, seed, n_labels)
        scores = scaled(scores, seed) if regime == "scales" else scores
        scores = scores if quick(decoder, table) else scores.take(slice(0, 2))
        values = all_values(decoder, scores)[0]
        for nonempty in (False, True):
            found = decoder.decode(scores, nonempty=nonempty)
            best = values[:, int(nonempty) :].max(axis=1)
            size = np.maximum(np.abs(best), table_size(scores))
            assert not nonempty or found.labels.any(axis=1).all()
            assert np.all(
                np.abs(found.value - decoder.objective(scores, found.labels)) <= 1e-13 * size
            )
            assert np.all(found.value <= best + 1e-13 * size)
            assert np.all(found.upper_bound >= best - 1e-13 * size)
            if decoder.exact or isinstance(decoder, BranchAndBound):
                assert np.all(found.value >= best - 1e-13 * size)
            assert not decoder.exact or found.certified.all()


def table_size(scores):
    """The sum of all numbers that a score may add, of each sample."""
    if isinstance(scores, Pairwise):
        return np.abs(scores.unary).sum(axis=1) + np.abs(scores.couplings).sum()
    if isinstance(scores, Modular):
        return 1.0 + np.abs(scores.unary).sum(axis=1)
    return np.full(scores.n_samples, 1.0)


@counts_case
@every_regime
@pytest.mark.parametrize("loss", [FBeta(), Jaccard(), Subset()], ids=str)
def test_twelve_labels_with_a_loss(decoder, table, regime, loss):
    for n_labels, seed in ((11, REGIMES[regime]), (12, REGIMES[regime] + 21)):
        scores = draw(decoder, table, seed, n_labels)
        scores = (scaled(scores, seed) if regime == "scales" else scores).take(slice(0, 4))
        Y = instances.labels(seed, 4, n_labels, density=0.3)
        best = augmented_values(decoder, scores, loss, Y).max(axis=1)
        found, size = loss_augmented(decoder, loss, scores, Y), 1.0 + table_size(scores)
        assert np.all(found.value <= best + 1e-13 * size)
        assert np.all(found.upper_bound >= best - 1e-13 * size)
        if decoder.exact:
            assert np.all((found.value >= best - 1e-13 * size) | ~found.certified)
            assert found.certified.all() or table is Pairwise
