"""The figures of Petterson and Caetano (2011): what is run, what is traced, what is drawn."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier

from colabel.lab import find_tables, reproduce
from colabel.lab.papers._sml_oracles import QUANTITIES, trace_oracles
from colabel.lab.papers.sml_2011 import ENTRIES, FIGURE_1, FIGURE_2, _some_features


@pytest.fixture(scope="module")
def traces():
    """Six iterations on 60 rows, at a scale where couplings matter."""
    return trace_oracles("yeast", 1, coupling_scale=3.0, alpha=1e-3, max_iter=6, n_rows=60)


def test_both_figures_are_registered():
    assert find_tables("sml-2011") == [FIGURE_1, FIGURE_2]
    assert len(FIGURE_1.seeds) > 1
    assert {entry.method for entry in ENTRIES} == {"sml", "rml", "br", "rakel", "mlknn"}
    names = {entry.name for entry in FIGURE_1.entries}
    assert {"SML", "RML", "SML, no constant", "RML, no constant"} <= names
    assert "RAkEL" not in {entry.name for entry in FIGURE_1.small().entries}


def test_the_rivals_are_set_as_published():
    made = {e.method: e for e in FIGURE_1.entries}
    for data, half, twice in (("yeast 1%", 7, 28), ("enron 100%", 26, 106)):
        rakel = made["rakel"].build(2, data)
        assert (rakel.labelset_size, rakel.n_models) == (half, twice)
        assert (type(rakel.estimator), rakel.random_state) == (DecisionTreeClassifier, 2)
    mlknn = made["mlknn"].build(0, "yeast 10%")
    assert (mlknn.n_neighbors, mlknn.smoothing) == (10, 1.0)


def test_penalty_and_scale_are_searched_by_five_folds_as_published():
    for entry in FIGURE_1.entries:
        if entry.method not in ("sml", "rml"):
            continue
        search = entry.build(3, "yeast 10%")
        assert (search.cv, search.alphas, search.random_state) == (None, None, 3)
        assert search.fit_intercept == ("no constant" not in entry.name)
        assert search.pairs == (0.5 if entry.method == "sml" else None)
    assert FIGURE_1.entries[0].build(0, "enron 1%").pairs == 0.05
    searched = [e for e in FIGURE_1.small().entries if e.method in ("sml", "rml")]
    assert {e.build(0, "yeast 1%").cv for e in searched} == {2}


@pytest.mark.parametrize(("share", "n"), [("1%", 1), ("10%", 10), ("100%", 103)])
def test_features_are_drawn_by_the_seed_and_alike_in_both_parts(share, n):
    train, test = (_some_features(f"yeast {share}", split, seed=4) for split in ("train", "test"))
    assert train.X.shape[1] == test.X.shape[1] == len(train.feature_names) == n
    assert train.feature_names == test.feature_names
    other = _some_features(f"yeast {share}", seed=5)
    assert (other.feature_names == train.feature_names) == (n == 103)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_first_figure_runs_and_is_drawn(tmp_path):
    plan = FIGURE_1.small()
    entries = tuple(e for e in plan.entries if e.name in ("RML", "BR", "ML-kNN"))
    small = replace(plan, data=("yeast 1%", "yeast 10%"), entries=entries)
    found = reproduce(small, tmp_path)
    assert not found.failed
    assert found.picture.stat().st_size > 1000
    assert all(0.0 < found.ours[cell] < 1.0 for cell in found.cells())
    assert found.ours["yeast 10%", "RML"] > found.ours["yeast 1%", "RML"]


def test_shares_are_shares_and_what_is_certified_is_exact(traces):
    assert set(traces) == set(QUANTITIES)
    for name, values in traces.items():
        assert 1 <= len(values) <= 6
        assert np.all((np.array(values) >= 0.0) & (np.array(values) <= 1.0)), name
    assert np.all(np.array(traces["ours: exact"]) >= np.array(traces["ours: certified"]))
    assert np.all(np.array(traces["Alg. 2: exact"]) >= np.array(traces["Alg. 3: certified"]))


def test_ours_finds_what_algorithm_2_misses(traces):
    assert min(traces["ours: exact"]) >= 0.99
    assert min(traces["ours: certified"]) >= 0.93
    assert max(traces["ours: objective short"]) <= 1e-9
    assert min(traces["Alg. 2: exact"]) < 0.9
    assert max(traces["Alg. 2: objective short"]) > 1e-3


def test_the_second_figure_is_drawn(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        plan = replace(
            FIGURE_2, trace=lambda data, seed: trace_oracles(data, seed, max_iter=3, n_rows=40)
        )
        found = reproduce(plan, tmp_path)
    assert found.picture.stat().st_size > 1000
    assert found.ours["yeast", "ours: exact"] == pytest.approx(100.0)
    assert (tmp_path / "traces.csv").read_text().count("\n") == 1 + sum(
        len(values) for values in found.traces.values()
    )
