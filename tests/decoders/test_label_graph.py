"""The graph of the last couplings is remembered, and never taken for that of others."""

import numpy as np
import pytest

from colabel.decoders import _label_graph
from colabel.decoders._label_graph import label_graph
from colabel.scores import Pairwise
from decoders import oracles_cut as oracle


def assert_equal(found, expected):
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("dense", [None, True, False])
def test_blocks_of_one_pass_share_a_graph(dense):
    scores = oracle.problem(1, "normal", max_labels=8)
    first = label_graph(scores, dense)
    assert label_graph(scores.take(slice(0, 1)), dense) is first
    assert label_graph(scores.plus_unary(np.ones(scores.unary.shape)), dense) is first


def test_other_couplings_edges_sizes_and_paths_are_other_graphs():
    edges, couplings = np.array([[0, 1], [1, 2]]), np.array([1.0, 2.0])
    tables = [
        Pairwise(np.zeros((1, 3)), edges, couplings),
        Pairwise(np.zeros((1, 3)), edges, [1.0, 3.0]),
        Pairwise(np.zeros((1, 3)), [[0, 1], [0, 2]], couplings),
        Pairwise(np.zeros((1, 4)), edges, couplings),
    ]
    for table in tables:
        for dense in (True, False):
            expected = _label_graph._build(table, dense)
            assert_equal(label_graph(table, dense), expected)
            assert_equal(label_graph(table, dense), expected)


def test_couplings_that_are_written_to_give_a_new_graph():
    couplings = np.array([1.0, 2.0])
    scores = Pairwise(np.zeros((1, 3)), [[0, 1], [1, 2]], couplings)
    before = label_graph(scores)
    scores.couplings[0] = 5.0
    after = label_graph(scores)
    assert after is not before
    assert_equal(after, _label_graph._build(scores, None))


def test_large_graphs_are_not_kept(monkeypatch):
    monkeypatch.setattr(_label_graph, "REMEMBERED", 1)
    scores = Pairwise(np.zeros((1, 3)), [[0, 1], [1, 2]], [0.25, 0.75])
    assert label_graph(scores) is not label_graph(scores)
