"""Parameters chosen by cross-validation: what is searched, how, and what is chosen."""

import itertools

import numpy as np
import pytest

from colabel.datasets import Dataset
from colabel.exceptions import UnknownNameError
from colabel.lab import METHODS, tune
from colabel.lab.methods import Method, list_methods, make
from colabel.lab.search import Trial, halve, list_settings, rungs
from colabel.lab.tune import search_space
from colabel.metrics import get_measure
from colabel.model_selection import IterativeStratifiedKFold


def problem(n=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] + X[:, 0] > 0.2]) ^ (rng.random((n, 2)) < 0.1)
    return Dataset(X, Y.astype(np.int8), ("a", "b", "c"), ("u", "v"), "made")


@pytest.mark.parametrize("name", list_methods())
def test_every_method_has_a_space_that_it_can_be_set_to(name):
    space = search_space(name)
    assert space
    for key, values in space.items():
        assert len(set(values)) == len(values) > 1
        for value in values:
            assert make(name, {key: value}).get_params()[key] == value


def test_the_grids_of_the_mixtures_paper_are_as_its_supplement_has_them():
    variances = tuple(10.0**k for k in range(-2, 7))
    components = tuple(range(5, 65, 5))
    for name in ("br", "powset", "cc", "pcc", "ecc-label", "ecc-subset", "cdn"):
        np.testing.assert_allclose(METHODS[name].space["estimator__C"], variances)
    np.testing.assert_allclose(METHODS["pair-crf"].space["alpha"], 1 / np.array(variances))
    for name in ("cbm-lr", "cbm-gb"):
        assert METHODS[name].space["n_components"] == components
    for which in ("gate__variance", "experts__variance"):
        np.testing.assert_allclose(METHODS["cbm-lr"].space[which], variances)


def test_values_are_those_of_cross_validation():
    data = problem()
    space = {"estimator__C": (1e-4, 1.0, 100.0)}
    for metric, sign in (("example_f1", 1), ("hamming_loss", -1)):
        measure = get_measure(metric).function
        found = tune("br", data, metric, space=space, n_folds=4, seed=3)
        folds = [*IterativeStratifiedKFold(4, random_state=3).split(data.X, data.Y)]
        expected = {}
        for C in space["estimator__C"]:
            models = [make("br", {"C": C}, 3).fit(data.X[kept], data.Y[kept]) for kept, _ in folds]
            values = [
                measure(data.Y[out], model.predict(data.X[out]))
                for model, (_, out) in zip(models, folds, strict=True)
            ]
            expected[C] = np.mean(values), np.std(values, ddof=1)
        for trial in found.trials:
            C = trial.parameters["estimator__C"]
            np.testing.assert_allclose((trial.value, trial.spread), expected[C])
            assert trial.failed is None
            assert trial.fit_seconds > 0
        ranked = [sign * trial.value for trial in found.trials]
        assert ranked == sorted(ranked, reverse=True)
        assert found.best is found.trials[0]
        assert ranked[0] > ranked[-1]


def test_whole_labelings_can_be_the_criterion():
    data = problem()
    found = tune("powset", data, "log_likelihood", space={"estimator__C": (1e-6, 1.0)})
    assert found.best.parameters == {"estimator__C": 1.0}
    assert found.best.value > found.trials[1].value
    with pytest.raises(UnknownNameError, match="ovr-svm gives labelings no probability"):
        tune("ovr-svm", data, "log_likelihood")
    with pytest.raises(UnknownNameError, match="unknown measure"):
        tune("br", data, "luck")


def test_all_settings_are_tried_where_they_are_few():
    seen = []
    space = {"estimator__C": (0.1, 1.0), "empty": ("allow", "forbid")}
    found = tune("br", problem(), "example_f1", space=space, n_trials=4, on_trial=seen.append)
    tried = {tuple(trial.parameters.values()) for trial in found.trials}
    assert tried == set(itertools.product(*space.values()))
    assert sorted(map(id, seen)) == sorted(map(id, found.trials))


def climb(space, start, worth, n_trials=10**6):
    """Run the search on a known function; return the settings in the order tried."""
    tried = {}

    def attempt(setting):
        return tried.setdefault(repr(setting), Trial(setting, worth(**setting)))

    for setting in list_settings("grid", space, start, n_trials, attempt, 1.0, 0):
        if len(tried) >= n_trials:
            break
        attempt(setting)
    return [trial.parameters for trial in tried.values()]


def test_large_spaces_are_searched_one_parameter_after_another():
    space = {"a": tuple(range(10)), "b": tuple(range(10)), "c": (0, 1)}
    start = {"a": 7, "b": 100, "c": 0}  # a default need not be in the grid

    def worth(a, b, c):
        return -((a - 3) ** 2) - (b - 5) ** 2 + 2 * c

    tried = climb(space, start, worth, n_trials=199)
    assert tried[0] == start
    assert {"a": 3, "b": 5, "c": 1} in tried
    assert len(tried) < 60
    # Two that help each other only together need a second round.
    ridge = climb(space, start, lambda a, b, c: -10 * abs(a - b) - a, n_trials=199)
    assert {"a": 0, "b": 0, "c": 0} not in ridge[:25]
    assert len(climb(space, start, worth, n_trials=13)) == 13


def test_random_settings_are_drawn_once_each_and_by_the_seed():
    space = {"a": tuple(range(6)), "b": tuple(range(5)), "c": (0, 1)}
    start = {"a": 9, "b": 9, "c": 0}

    def draw(n_trials, seed):
        return [*list_settings("random", space, start, n_trials, None, 1.0, seed)]

    one = draw(12, 0)
    assert one[0] == start
    assert len({tuple(setting.values()) for setting in one}) == len(one) == 12
    assert draw(12, 0) == one != draw(12, 1)
    assert all(setting[name] in space[name] for setting in one[1:] for name in space)
    assert len(draw(60, 0)) == 60, "where there are no more, all of them"
    assert start not in draw(60, 0)


def test_halving_leaves_the_best_third_to_more_rows():
    settings = [{"a": value} for value in range(27)]
    asked = []

    def attempt(setting, share):
        asked.append((setting["a"], share))
        # On few rows two others look best; with more it shows that 5 is.
        worth = {5: 2.0, 6: 3.0 * (share < 0.3), 7: 3.0 * (share < 1.0)}
        return Trial(setting, worth.get(setting["a"], -float(setting["a"])), share=share)

    halve(settings, 5000, attempt, 1.0)
    by_share = [[a for a, s in asked if s == share] for _, share in rungs(27, 5000)]
    assert [len(some) for some in by_share] == [27, 9, 3, 1]
    assert by_share[0] == list(range(27))
    assert set(by_share[1]) == {0, 1, 2, 3, 4, 5, 6, 7, 8}
    assert set(by_share[2]) == {5, 6, 7}
    assert by_share[3] == [7]


@pytest.mark.parametrize("n_settings", [1, 2, 3, 10, 100])
@pytest.mark.parametrize("n_rows", [3, 100, 10_000])
def test_every_halving_ends_with_all_rows(n_settings, n_rows):
    steps = rungs(n_settings, n_rows)
    assert steps[0][0] == n_settings
    assert steps[-1][1] == 1.0
    assert all(share * n_rows >= 50 for _, share in steps[:-1])
    assert [n for n, _ in steps] == sorted((n for n, _ in steps), reverse=True)


def test_halving_ranks_those_that_saw_all_rows_first():
    told = []
    found = tune(
        "br",
        problem(600),
        "example_f1",
        strategy="halving",
        n_folds=2,
        on_plan=told.append,
        on_trial=told.append,
    )
    shares = [trial.share for trial in found.trials]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] == 1.0 > shares[-1]
    assert len(found.trials) == 9
    assert len(told) - 1 == told[0] == 12, "9 settings, then 3 of them"
    with pytest.raises(UnknownNameError, match="'luck' is no search: there is grid, random, halv"):
        tune("br", problem(), "example_f1", strategy="luck")


def test_a_warm_start_goes_on_and_chooses_the_same():
    data = problem()
    space = {"alpha": (0.1, 0.01, 0.001)}
    fixed = {"couplings": None, "tol": 1e-5}
    warm = tune("sml", data, "example_f1", fixed=fixed, space=space)
    cold = tune("sml", data, "example_f1", fixed={**fixed, "warm_start": False}, space=space)
    values = [{t.parameters["alpha"]: t.value for t in found.trials} for found in (warm, cold)]
    assert values[0] == pytest.approx(values[1], abs=0.02)
    assert warm.best.parameters == cold.best.parameters


def test_the_defaults_are_among_what_is_tried_first():
    fixed = {"max_iter": 1, "experts__max_iter": 2}
    few = tune("cbm-lr", problem(), "example_f1", fixed=fixed, n_trials=2)
    defaults = make("cbm-lr").get_params()
    settings = [trial.parameters for trial in few.trials]
    assert len(settings) == 2
    assert {key: defaults[key] for key in settings[0]} in settings
    assert "max_iter" not in settings[0]


def test_settings_that_fail_come_last_and_say_why():
    data = problem()
    space = {"estimator__C": (-1.0, 1.0), "empty": ("allow", "never")}
    found = tune("br", data, "example_f1", space=space)
    assert found.best.parameters == {"estimator__C": 1.0, "empty": "allow"}
    assert [trial.failed is None for trial in found.trials] == [True, False, False, False]
    assert any(
        "ValueError: C must be a positive number" in trial.failed for trial in found.trials[1:]
    )


def test_an_interruption_in_compiled_code_ends_the_search(monkeypatch):
    def explode(*args):
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    monkeypatch.setattr("colabel.BinaryRelevance.fit", explode)
    with pytest.raises(KeyboardInterrupt):
        tune("br", problem(), "example_f1", space={"estimator__C": (1.0, 2.0)})


def test_what_is_fixed_is_not_searched():
    assert search_space("br+global") == {
        "estimator__estimator__C": METHODS["br"].space["estimator__C"]
    }
    assert "gate__variance" not in search_space("cbm-lr", {"gate__variance": 1.0})
    tried = search_space("br", tried={"C": [1, 2], "empty": ["allow", "forbid"]})
    assert tried == {"estimator__C": (1, 2), "empty": ("allow", "forbid")}
    with pytest.raises(UnknownNameError, match="nothing of br is left to search"):
        search_space("br", {"C": 1.0})
    with pytest.raises(UnknownNameError, match="nothing of br is left to search"):
        search_space("br", tried={"C": []})
    with pytest.raises(UnknownNameError, match="estimator__C of br is fixed and searched"):
        search_space("br", {"estimator__C": 1.0}, {"C": [1, 2]})
    with pytest.raises(UnknownNameError, match="br has no parameter 'K'"):
        search_space("br", tried={"K": [1, 2]})


def test_a_space_may_have_short_names_but_no_unknown_ones():
    found = tune("br", problem(), "example_f1", space={"C": (0.1, 1.0)})
    assert set(found.best.parameters) == {"estimator__C"}
    with pytest.raises(UnknownNameError, match="br has no parameter 'K'"):
        tune("br", problem(), "example_f1", space={"K": (1, 2)})


def test_seeds_repeat_and_folds_must_fit():
    data = problem()
    space = {"n_chains": (1, 2)}
    one, two = (tune("ecc-label", data, "example_f1", space=space, seed=5) for _ in range(2))
    assert [(t.parameters, t.value) for t in one.trials] == [
        (t.parameters, t.value) for t in two.trials
    ]
    for n_folds in (1, 61):
        with pytest.raises(UnknownNameError, match=f"{n_folds} folds of 60 samples cannot be made"):
            tune("br", data, "example_f1", n_folds=n_folds)


def test_a_method_without_a_space_says_so(monkeypatch):
    monkeypatch.setitem(METHODS, "mine", Method(METHODS["br"].build, "none", "test"))
    with pytest.raises(UnknownNameError, match="name values to try"):
        tune("mine", problem(), "example_f1")
