"""The tables of Lajugie et al. (2015): their columns, their searches, their numbers."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, ShuffleSplit

from colabel.datasets import Dataset
from colabel.lab import Entry, compare, find_tables, reproduce
from colabel.lab.papers.relaxations_2015 import DATA, F1_SDP, TABLE_2, TABLE_3, TABLE_4
from colabel.mixture import ConditionalBernoulliMixture
from colabel.structured import QuadraticPriorSVC, SubmodularSVC

# As printed, row by row.
PRINTED_3 = """
yeast   0.39 0.36 0.40 0.40 0.39 0.39 0.39 0.37 0.37
enron   0.48 0.45 0.47 0.47 0.47 0.45 0.48 0.49 0.49
medical 0.29 0.33 0.29 0.31 0.29 0.24 0.30 0.21 0.24
bibtex  0.61 N/A  0.61 N/A  N/A  N/A  0.62 0.57 0.60
"""
PRINTED_4 = """
yeast   0.39 0.37 0.43 0.43
enron   0.48 0.45 0.47 0.47
medical 0.29 0.33 0.28 0.28
bibtex  0.61 0.58 0.60 0.60
"""
SIGNS = {"A ≤ 0": "attractive", "A ≥ 0": "repulsive", "any A": "any"}


def made(name, split="train", *, seed):
    """Rows whose third label repels the first and whose fourth is never on."""
    rng = np.random.default_rng([seed, split == "test"])
    X = rng.normal(size=(50, 3))
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0.5, X[:, 0] < -0.3, np.zeros(50)])
    names = tuple("abc"), tuple("uvwx")
    return Dataset(X, Y.astype(np.int8), *names, name, split)


def narrow(entry):
    """Search one value of each parameter."""
    return replace(entry, space={key: values[:1] for key, values in entry.space.items()})


def svm_of(search):
    """Return the machine behind the step that may scale the rows."""
    rows, svm = search.estimator.named_steps.values()
    assert rows == "passthrough"
    return svm


def test_relaxations_of_the_f1_loss_have_the_same_passes_and_penalties():
    assert set(F1_SDP.data) == set(DATA) - {"bibtex"}
    for data, n_passes in {"yeast": 10, "medical": 20, "enron": 5}.items():
        searches = [entry.build(0, data) for entry in F1_SDP.entries]
        assert [svm_of(search).oracle for search in searches] == ["sdp", "spectral", "certified"]
        for search in searches:
            assert (svm_of(search).loss, svm_of(search).max_iter) == ("f1", n_passes)
            assert np.prod([*map(len, search.param_grid.values())]) == 2


def entry_of(plan, name):
    (found,) = [entry for entry in plan.entries if entry.name == name]
    return found


def test_the_tables_are_registered():
    assert find_tables("relaxations-2015") == [F1_SDP, TABLE_2, TABLE_3, TABLE_4]
    for plan in (TABLE_3, TABLE_4):
        assert (plan.data, plan.measure, plan.as_loss) == (DATA, "example_f1", True)
        assert (plan.split, plan.show_seconds) == ("official", True)


@pytest.mark.parametrize(("plan", "printed"), [(TABLE_3, PRINTED_3), (TABLE_4, PRINTED_4)])
def test_the_numbers_are_those_printed(plan, printed):
    expected = {}
    for line in printed.split("\n"):
        for entry, value in zip(plan.entries, line.split()[1:], strict=False):
            if value != "N/A":
                expected[line.split()[0], entry.name] = float(value)
    assert plan.published() == expected
    n_columns = len(printed.strip().split("\n")[0].split()) - 1
    assert not any(entry.published for entry in plan.entries[n_columns:]), "ours stand behind"


@pytest.mark.parametrize("words", SIGNS)
@pytest.mark.parametrize("kind", ["SDP", "Spectral"])
def test_relaxations_are_trained_for_hamming_under_each_sign(kind, words):
    search = entry_of(TABLE_3, f"{kind}, {words}").build(3, "enron")
    model = svm_of(search)
    assert isinstance(model, QuadraticPriorSVC)
    assert (model.oracle, model.sign) == (kind.lower(), SIGNS[words])
    assert (model.loss, model.learner, model.random_state) == ("hamming", "averaged", 3)
    assert set(search.param_grid) == {"svm__alpha", "svm__coupling_alpha", "rows"}


def test_min_cuts_are_for_attraction_and_ours_are_trained_for_f1():
    model = svm_of(entry_of(TABLE_3, "MC").build(0))
    assert (model.oracle, model.sign, model.loss) == ("mincut", "attractive", "hamming")
    ours = {"exact": "any", "MC": "attractive", "spectral": "any"}
    for name, sign in ours.items():
        model = svm_of(entry_of(TABLE_3, f"F1, {name}").build(0))
        kind = {"MC": "mincut", "exact": "certified"}.get(name, name)
        assert (model.oracle, model.sign, model.loss) == (kind, sign, "f1")


def test_without_a_prior_only_the_loss_differs():
    hamming, f1 = (entry_of(TABLE_4, f"Our {name}").build(0) for name in ("Hamming", "F1"))
    assert (svm_of(hamming).loss, svm_of(f1).loss) == ("hamming", "f1")
    for search in (hamming, f1):
        assert svm_of(search).sign is None
        assert set(search.param_grid) == {"svm__alpha", "rows"}, "there is no A to penalise"


def test_many_labels_get_fewer_settings():
    sdp = entry_of(TABLE_3, "SDP, any A")
    usual, large = sdp.build(0, "medical"), sdp.build(0, "bibtex")
    sizes = [np.prod([*map(len, search.param_grid.values())]) for search in (usual, large)]
    assert sizes == [20, 2]
    assert entry_of(TABLE_4, "Our F1").searched("bibtex").keys() == {"svm__alpha", "rows"}
    assert sdp.variant("medical").key != sdp.variant("bibtex").key


@pytest.mark.parametrize("plan", [TABLE_3, TABLE_4], ids=lambda plan: plan.name)
def test_penalties_are_chosen_on_one_fifth_of_the_training_rows(plan):
    for entry in plan.entries:
        search = entry.build(7, "medical")
        assert isinstance(search.cv, ShuffleSplit)
        assert (search.cv.get_n_splits(), search.cv.test_size) == (1, 0.2)
        assert search.cv.random_state == 7
        assert isinstance(search, GridSearchCV)
        assert search.refit is True
        assert entry.tune_for == "example_f1"


def test_the_earlier_method_has_its_couplings_in_the_table_with_a_prior_only():
    with_prior, without = (entry_of(plan, "[20]") for plan in (TABLE_3, TABLE_4))
    for data, share in {"yeast": 0.5, "bibtex": 0.05}.items():
        search = with_prior.build(0, data)
        assert isinstance(svm_of(search), SubmodularSVC)
        assert (svm_of(search).pairs, svm_of(search).couplings) == (share, "cooccurrence")
        assert svm_of(search).loss == "f1", "by F, as the others"
        assert "svm__coupling_scale" in search.param_grid
        assert svm_of(without.build(0, data)).couplings is None
        assert "svm__coupling_scale" not in without.build(0, data).param_grid


@pytest.mark.parametrize("rule", ["global", "top_1"])
def test_tuned_cuts_of_one_versus_rest_stand_beside(rule):
    name = {"global": "OvR + global cut", "top_1": "OvR + cut, top 1"}[rule]
    search = entry_of(TABLE_3, name).build(0)
    assert search.estimator.rule == rule
    plain = entry_of(TABLE_3, "OvR").build(0)
    assert list(search.param_grid.values()) == list(plain.param_grid.values())
    search.estimator.set_params(**{key: values[0] for key, values in search.param_grid.items()})
    assert search.estimator.estimator.estimator.C == 0.01


def test_mixtures_are_decoded_for_f1():
    search = entry_of(TABLE_3, "CBM, expected F1").build(0, "yeast")
    mixture = search.estimator.named_steps["cbm"]
    assert isinstance(mixture, ConditionalBernoulliMixture)
    assert (mixture.decoder, mixture.experts.prior) == ("f1", "shared")
    assert 1 in search.param_grid["cbm__n_components"], "binary relevance is one of them"


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("plan", [F1_SDP, TABLE_3, TABLE_4], ids=lambda plan: plan.name)
def test_every_column_runs(plan):
    entries = tuple(map(narrow, plan.entries))
    small = replace(plan, data=("made",), entries=entries, load_data=made)
    found = reproduce(small)
    assert not found.failed
    assert set(found.ours) == set(found.seconds) == {("made", e.name) for e in plan.entries}
    assert all(0.0 <= loss <= 1.0 for loss in found.ours.values())
    assert all(seconds > 0 for seconds in found.seconds.values())


@pytest.mark.parametrize("plan", [F1_SDP, TABLE_3, TABLE_4], ids=lambda plan: plan.name)
def test_the_small_version_is_one_dataset_and_few_settings(plan):
    small = plan.small()
    assert small.data == ("yeast",)
    names = [entry.name for entry in small.entries]
    assert names == [entry.name for entry in plan.entries if entry.name in names]
    assert 3 <= len(names) <= 4
    for entry in small.entries:
        assert np.prod([len(values) for values in entry.searched("yeast").values()]) <= 2


def test_columns_are_shared_between_tables():
    data, narrowed, done, fitted = "yeast", [], {}, []
    for plan in (TABLE_3, TABLE_4):
        narrowed.append(replace(plan, data=(data,), entries=(narrow(plan.entries[0]),)))
    for plan in narrowed:
        reproduce(plan, done=done, on_row=fitted.append)
    assert len(done) == 1
    assert fitted[0].result is fitted[1].result


def test_a_search_holds_rows_out_once_or_takes_folds_and_the_cell_knows_it():
    folds = Entry("x", "br", {}, space={"estimator__C": (1.0,)})
    once = replace(folds, holdout=0.3)
    assert folds.build(2).cv.get_n_splits() == 5
    cv = once.build(2).cv
    assert (cv.get_n_splits(), cv.test_size, cv.random_state) == (1, 0.3, 2)
    keys = [entry.variant("yeast").key for entry in (folds, once)]
    assert keys[0] != keys[1]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_f1_loss_gains_on_real_data():
    rows = np.arange(0, 1500, 3)

    def fewer(name, split="train", **_):
        from colabel.datasets import load

        data = load(f"yeast:{split}")
        return Dataset(
            data.X[rows[rows < len(data.X)]],
            data.Y[rows[rows < len(data.X)]],
            data.feature_names,
            data.label_names,
            name,
            split,
        )

    variants = []
    for name in ("Our Hamming", "Our F1"):
        entry = entry_of(TABLE_4, name)
        variants.append(replace(entry, space={"svm__alpha": (1e-2,)}).variant("yeast"))
    hamming, f1 = compare(["yeast"], variants, split="official", load_data=fewer)
    gain = f1.result.measures["example_f1"] - hamming.result.measures["example_f1"]
    assert gain > 0.02
