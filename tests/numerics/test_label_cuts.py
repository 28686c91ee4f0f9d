"""Thresholds that are learned: the best cut of each sample, and a linear rule for it."""

from itertools import pairwise

import numpy as np
import pytest

from colabel.numerics.label_cuts import CutRule, best_cuts, fit_cut_rule


def wrong_labels(scores, y, cut):
    """Count as published: on with a score of at most the cut, or off with one of at least it."""
    return sum(f <= cut if on else f >= cut for f, on in zip(scores, y, strict=True))


def cuts_by_hand(scores, beyond):
    """Return the middle of each gap between two different scores, and the cut beyond each end."""
    values = sorted(set(scores))
    middles = [(0.5 * (a + b), b - a) for a, b in pairwise(values)]
    return [(values[0] - beyond, 2 * beyond), *middles, (values[-1] + beyond, 2 * beyond)]


@pytest.mark.parametrize("seed", range(150))
def test_the_best_cut_is_that_of_a_loop_over_all_cuts(seed):
    rng = np.random.default_rng(seed)
    n_labels = 1 + seed % 7
    scores = rng.normal(size=(4, n_labels))
    if seed % 3 == 0:
        scores = np.round(scores)  # ties
    Y = (rng.random((4, n_labels)) < rng.random()).astype(np.int8)
    found = best_cuts(scores, Y, beyond=0.1)
    for f, y, cut in zip(scores, Y, found, strict=True):
        tried = [(wrong_labels(f, y, c), -width, c) for c, width in cuts_by_hand(f, 0.1)]
        fewest = min(wrong for wrong, *_ in tried)
        assert wrong_labels(f, y, cut) == fewest
        widest = min(width for wrong, width, _ in tried if wrong == fewest)
        best = [c for wrong, width, c in tried if wrong == fewest and width < widest + 1e-9]
        assert min(abs(cut - c) for c in best) < 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_the_rule_as_published_is_weighted_least_squares(seed):
    rng = np.random.default_rng(seed)
    scores, weight = rng.normal(size=(30, 4)), rng.integers(1, 4, 30).astype(float)
    Y = (scores + rng.normal(size=scores.shape) > 0.3).astype(np.int8)
    rule = fit_cut_rule(scores, Y, weight, beyond=0.5, ranked=False)
    rest = rule.cuts(scores) - best_cuts(scores, Y, 0.5)
    np.testing.assert_allclose(scores.T @ (weight * rest), 0.0, atol=1e-9)
    np.testing.assert_allclose(weight @ rest, 0.0, atol=1e-9)
    whole = np.repeat(np.arange(30), weight.astype(int))
    again = fit_cut_rule(scores[whole], Y[whole], np.ones(len(whole)), beyond=0.5, ranked=False)
    np.testing.assert_allclose(again.coef, rule.coef, atol=1e-9)


def test_ranked_scores_can_say_between_the_first_and_the_second():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(500, 5)) * rng.uniform(0.1, 3.0, (500, 1))
    Y = (scores == scores.max(axis=1, keepdims=True)).astype(np.int8)
    right = {}
    for ranked in (False, True):
        rule = fit_cut_rule(scores[:250], Y[:250], np.ones(250), beyond=0.5, ranked=ranked)
        above = scores[250:] > rule.cuts(scores[250:])[:, None]
        right[ranked] = (above == Y[250:]).all(axis=1).mean()
    assert right[True] > 0.9 > right[False]


def test_degenerate_scores_have_a_finite_rule():
    for scores in (np.zeros((3, 4)), np.ones((1, 2)), np.zeros((5, 1))):
        for Y in (np.zeros(scores.shape, np.int8), np.ones(scores.shape, np.int8)):
            for ranked in (False, True):
                rule = fit_cut_rule(scores, Y, np.ones(len(Y)), beyond=0.5, ranked=ranked)
                assert np.isfinite(rule.cuts(scores)).all()
    assert fit_cut_rule(np.ones((2, 1)), np.ones((2, 1)), np.ones(2), beyond=1.0, ranked=True) == (
        CutRule(np.zeros(1), 0.0)
    )
