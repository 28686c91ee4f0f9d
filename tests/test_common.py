"""Every estimator is a scikit-learn citizen, with no expected failures, and keeps our promises."""

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from colabel import (
    BPMLL,
    MLRBF,
    PLST,
    BinaryRelevance,
    CCAOutputCode,
    ChainEnsemble,
    ClassifierChain,
    ConditionalBernoulliMixture,
    ConditionalDependencyNetwork,
    LabelPowerset,
    LargeMarginKNN,
    PairwiseCRF,
    ProbabilisticClassifierChain,
    QuadraticPriorSVC,
    RAkEL,
    RankSVM,
    SubmodularSVC,
    TunedThreshold,
)
from colabel.neural import RBFNetwork
from colabel.reduction import BatchLogisticRegression, BoostedClassifier, ScaledLinearSVC

QUICK = BinaryRelevance(ScaledLinearSVC(random_state=0))
ESTIMATORS = [
    BinaryRelevance(),
    LabelPowerset(),
    ClassifierChain(),
    ProbabilisticClassifierChain(),
    ChainEnsemble(n_chains=3, random_state=0),
    ConditionalDependencyNetwork(random_state=0),
    ConditionalBernoulliMixture(3, max_iter=3, random_state=0),
    PairwiseCRF(),
    LargeMarginKNN(5),
    PLST(),
    CCAOutputCode(decoder="branch_and_bound"),
    SubmodularSVC(random_state=0),
    QuadraticPriorSVC(max_iter=10, random_state=0),
    QuadraticPriorSVC(oracle="spectral", max_iter=10, random_state=0),
    RAkEL(n_models=4, random_state=0),
    RankSVM(max_iter=200),
    RankSVM(kernel="linear", max_iter=200, tol=1e-2),
    MLRBF(random_state=0),
    BPMLL(8, patience=1, n_models=2, random_state=0),
    *(
        TunedThreshold(QUICK, rule=rule, cv=2, random_state=0)
        for rule in ("global", "per_label", "top_1", "cardinality")
    ),
]
ours = pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)


# Families with tests of their own run scikit-learn's checks there.
@parametrize_with_checks(ESTIMATORS[:2] + ESTIMATORS[-4::3])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@ours
def test_predictions_come_back_in_the_container_of_Y(estimator, toy):
    X, Y = toy
    plain = clone(estimator).fit(X, Y).predict(X)
    assert plain.dtype == Y.dtype
    names = ["rain", "wind", "sun, high", "<b>", "é"]
    for container in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        found = clone(estimator).fit(X, container(Y)).predict(X)
        assert found.format == "csr"
        assert isinstance(found, sparse.sparray) == (container is not sparse.csr_matrix)
        np.testing.assert_array_equal(found.toarray(), plain)
    frame = clone(estimator).fit(X, pd.DataFrame(Y, columns=names))
    found = frame.predict(X.tolist())
    assert list(found.columns) == names
    assert list(frame.label_names_in_) == names
    np.testing.assert_array_equal(found.to_numpy(), plain)
    found = clone(estimator).fit(X, pl.DataFrame(Y, schema=names)).predict(X)
    assert isinstance(found, pl.DataFrame)
    assert found.columns == names
    np.testing.assert_array_equal(found.to_numpy(), plain)


@ours
def test_pandas_rows_keep_their_index(estimator, toy):
    X, Y = toy
    index = [f"row {i}" for i in range(60)]
    X = pd.DataFrame(X, index=index, columns=list("abcd"))
    found = clone(estimator).fit(X, pd.DataFrame(Y, columns=list("vwxyz"))).predict(X)
    assert list(found.index) == index


@ours
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "bool"])
def test_integer_and_boolean_labels_keep_their_dtype(estimator, toy, dtype):
    X, Y = toy
    assert clone(estimator).fit(X, Y.astype(dtype)).predict(X).dtype == dtype
    assert clone(estimator).fit(X, Y.astype(float)).predict(X).dtype == np.int64


@ours
def test_dense_and_sparse_features_agree(estimator, toy):
    X, Y = toy

    def scores(features):
        model = clone(estimator).fit(features, Y)
        # Log-odds beyond 30 are those of one rounding error.
        return np.clip(model.decision_function(features), -30.0, 30.0)

    dense = scores(X)
    for container in (sparse.csr_matrix, sparse.csr_array, sparse.csc_array):
        np.testing.assert_allclose(scores(container(X)), dense, atol=1e-3)


@ours
def test_small_blocks_predict_the_same(estimator, toy, monkeypatch):
    X, Y = toy
    model = clone(estimator).fit(X, sparse.csr_array(Y))
    whole = model.predict(X).toarray()
    scores, value = model.decision_function(X), model.decode(X).value
    monkeypatch.setattr("colabel.base.BLOCK_BYTES", 2000)
    np.testing.assert_array_equal(model.predict(X).toarray(), whole)
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-9)
    np.testing.assert_allclose(model.decode(X).value, value, rtol=1e-9)


@ours
def test_fit_leaves_parameters_and_data_alone(estimator, toy):
    X, Y = toy
    X.setflags(write=False)
    Y.setflags(write=False)
    model = clone(estimator)
    before = joblib.hash(model.get_params())
    model.fit(X, Y)
    assert joblib.hash(model.get_params()) == before
    # Duplicates and explicit zeros are tidied up in a copy.
    untidy = sparse.coo_array(Y).tocsr()
    untidy.data[0] = 0
    kept = joblib.hash((untidy.data, untidy.indices, untidy.indptr))
    for part in (untidy.data, untidy.indices, untidy.indptr):
        part.setflags(write=False)
    model.fit(X, untidy)
    assert joblib.hash((untidy.data, untidy.indices, untidy.indptr)) == kept


@ours
def test_decode_certifies_what_predict_returns(estimator, toy):
    X, Y = toy
    model = clone(estimator).fit(X, Y)
    found = model.decode(X)
    np.testing.assert_array_equal(found.labels, model.predict(X))
    assert found.certified.all()
    table = model.predict_joint(X)
    assert table.n_samples == 60
    assert table.n_labels == 5


@ours
def test_search_and_pipelines_work(estimator, toy):
    X, Y = toy
    model = make_pipeline(StandardScaler(), clone(estimator))
    assert cross_val_predict(model, X, Y, cv=3).shape == Y.shape
    names = ("C", "alpha", "gate__variance", "width", "estimator")
    name = next(n for n in names if n in estimator.get_params())
    if "estimator" in estimator.get_params():
        depth = "estimator__" * (2 if isinstance(estimator, TunedThreshold) else 1)
        name = f"{depth}C"
        if estimator.get_params()[depth[:-2]] is None:
            estimator = clone(estimator).set_params(estimator=BatchLogisticRegression())
    search = GridSearchCV(estimator, {name: [0.1, 1.0]}, cv=2).fit(X, Y)
    assert search.best_params_[name] in (0.1, 1.0)


BAD = {
    "NaN in Y": (lambda X, Y: (X, np.where(Y == 9, 0, np.nan)), "holds NaN"),
    "a 2 in Y": (lambda X, Y: (X, Y * 2), "row [0-9]+, label '[0-4]' holds 2"),
    "a sparse 3": (lambda X, Y: (X, sparse.csr_array(3 * Y)), "only 0 and 1"),
    "strings": (lambda X, Y: (X, Y.astype(str)), "only 0 and 1"),
    "objects": (lambda X, Y: (X, np.full(Y.shape, {}, dtype=object)), "only 0 and 1"),
    "no labels": (lambda X, Y: (X, Y[:, :0]), "no columns"),
    "no sparse labels": (lambda X, Y: (X, sparse.csr_array((60, 0))), "no columns"),
    "three axes": (lambda X, Y: (X, Y[:, :, None]), "1 or 2 axes"),
    "a number": (lambda X, Y: (X, 1), "one row per sample"),
    "label lists": (lambda X, Y: (X, [[1, 2], [3]] * 30), "MultiLabelBinarizer"),
    "row counts": (lambda X, Y: (X, Y[:50]), "inconsistent numbers of samples"),
    "no Y": (lambda X, Y: (X, None), "requires y"),
    "infinite y": (lambda X, Y: (X, np.full(60, np.inf)), "NaN or infinity"),
    "a named frame": (
        lambda X, Y: (X, pd.DataFrame(Y * 2, columns=list("abcde"))),
        "label '[a-e]' holds 2",
    ),
    "complex": (lambda X, Y: (X, Y.astype(complex)), "only 0 and 1"),
    "1-D sparse": (lambda X, Y: (X, sparse.coo_array(Y[:, 0])), "must have 2 axes"),
    "masked": (lambda X, Y: (X, np.ma.masked_equal(Y, 1)), "missing labels"),
    "twice the same name": (lambda X, Y: (X, pd.DataFrame(Y, columns=list("abcda"))), "different"),
    "NaN in X": (lambda X, Y: (np.where(X > 2, np.nan, X), Y), "NaN"),
    "inf in X": (lambda X, Y: (np.where(X > 2, np.inf, X), Y), "infinity"),
    "1-D X": (lambda X, Y: (X[:, 0], Y), "[Rr]eshape|2D|n_features"),
}


@pytest.mark.parametrize("case", BAD)
@ours
def test_bad_input_gets_one_clear_sentence(estimator, toy, case):
    spoil, reason = BAD[case]
    X, Y = spoil(*toy)
    with pytest.raises(ValueError, match=reason):
        clone(estimator).fit(X, Y)


@pytest.mark.parametrize("case", ["objects", "row counts", "a 2 in Y"])
@ours
def test_a_fit_that_fails_loses_nothing(estimator, toy, case):
    X, Y = toy
    fresh, model = clone(estimator), clone(estimator).fit(X, Y)
    before, labels = dict(vars(model)), model.predict(X)
    for one in (fresh, model):
        with pytest.raises(ValueError):
            one.fit(*BAD[case][0](X[:, :3], Y))
    with pytest.raises(NotFittedError):
        fresh.predict(X)
    assert vars(model).keys() == before.keys()
    assert all(value is before[name] for name, value in vars(model).items())
    np.testing.assert_array_equal(model.predict(X), labels)


of_one_target = pytest.mark.parametrize(
    "estimator",
    [BatchLogisticRegression(), BoostedClassifier(3), RBFNetwork(), ScaledLinearSVC()],
    ids=str,
)


@of_one_target
def test_a_single_label_fit_that_fails_loses_nothing(estimator, toy):
    X, Y = toy
    model = clone(estimator).fit(X, Y[:, 0])
    labels = model.predict(X)
    for rows, target in ((X[:, :3], Y[:-1, 0]), (X[:, :3], np.linspace(0, 1, len(X)))):
        with pytest.raises(ValueError):
            model.fit(rows, target)
    np.testing.assert_array_equal(model.predict(X), labels)


@of_one_target
def test_a_single_label_fit_refuses_what_it_cannot_compute_with(estimator, toy):
    X, Y = toy
    y = Y[:, 0]
    bad = [
        (X, y, -np.ones(60), "Negative values"),
        (np.where(X > 1, np.inf, X), y, None, "infinity"),
    ]
    if not isinstance(estimator, BoostedClassifier):  # trees do not mind
        bad.append((X * 1e200, y, None, "beyond double precision"))
    if not isinstance(estimator, RBFNetwork):  # one class is all it says then
        bad += [(X, y, y > 0, "only one class: 1"), (X, 0 * y, None, "only one class: 0")]
    for rows, target, weight, reason in bad:
        with pytest.raises(ValueError, match=reason):
            clone(estimator).fit(rows, target, weight)


def test_a_mixture_whose_experts_fail_loses_nothing(toy):
    X, Y = toy
    model = ConditionalBernoulliMixture(2, max_iter=2, random_state=0).fit(X, Y)
    before = dict(vars(model))
    expected = model.predict_proba(X)
    with pytest.raises(ValueError):
        model.set_params(experts=LogisticRegression(C=-1.0), max_iter=3).fit(X[:, :2], Y)
    model.set_params(experts=before["experts"], max_iter=2)
    assert vars(model) == before
    np.testing.assert_array_equal(model.predict_proba(X), expected)


def test_a_fit_that_is_interrupted_loses_nothing(toy, monkeypatch):
    X, Y = toy
    model = BinaryRelevance(GaussianNB()).fit(X, Y)
    labels = model.predict(X)

    def stop(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(GaussianNB, "fit", stop)
    with pytest.raises(KeyboardInterrupt):
        model.set_params(estimator=GaussianNB()).fit(X[:, :2], Y)
    np.testing.assert_array_equal(model.predict(X), labels)


@pytest.mark.parametrize("estimator", [BinaryRelevance(), ConditionalBernoulliMixture(3)], ids=str)
def test_weights_too_large_or_small_to_compute_with_are_refused(estimator, toy):
    X, Y = toy
    for weight in (1e308, 1e200, 1e14, 1e-320):
        with pytest.raises(ValueError, match="divide it by its largest"):
            clone(estimator).fit(X, Y, sample_weight=np.full(60, weight))
    weight = np.where(Y[:, 0] > 0, 1e13, 1e-3)
    assert np.isfinite(clone(estimator).fit(X, Y, sample_weight=weight).predict_proba(X)).all()


@ours
def test_wrong_feature_count_is_refused_at_prediction(estimator, toy):
    X, Y = toy
    model = clone(estimator).fit(X, Y)
    with pytest.raises(ValueError, match="4 features"):
        model.predict(X[:, :3])


@ours
@pytest.mark.filterwarnings("ignore::colabel.reduction.NotErgodicWarning")
def test_degenerate_data_is_normal_data(estimator):
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=(12, 2)), np.ones(12)])
    X = np.column_stack([X, X[:, 0]])
    few = rng.normal(size=(12, 30))
    for features in (X, few):
        for Y in (
            np.zeros((12, 3), dtype=int),
            np.ones((12, 3), dtype=int),
            (features[:, :1] > 0).astype(int),
            np.eye(12, dtype=int),
            np.tile([0, 1], (12, 1)),
        ):
            model = clone(estimator).fit(features, Y)
            predicted = model.predict(features)
            assert predicted.shape == Y.shape
            assert np.isfinite(model.decision_function(features)).all()


def test_one_column_of_other_classes_is_taken_as_a_class_vector(toy):
    X, _ = toy
    classes = np.array(["a", "b", "c"])[np.arange(60) % 3]
    with pytest.warns(UserWarning, match="column-vector"):
        model = BinaryRelevance().fit(X, classes[:, None])
    assert set(model.predict(X)) <= {"a", "b", "c"}
    assert model.predict_proba(X).shape == (60, 3)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_one_column_frames_of_classes_and_object_booleans_are_class_vectors(toy):
    X, Y = toy
    with pytest.warns(UserWarning, match="column-vector"):
        model = BinaryRelevance().fit(X, pd.DataFrame({"kind": np.where(Y[:, 0], "a", "b")}))
    assert set(model.predict(X)) == {"a", "b"}
    model = BinaryRelevance().fit(X, Y[:, 0].astype(bool).astype(object))
    assert model.predict(X).dtype == bool


@pytest.mark.parametrize(
    "columns",
    [[0, 1, 2, 3, 4], [("a", 1), ("a", 2), ("b", 1), ("b", 2), ("b", 3)], [1.5, "x", 2, "y", 3]],
)
def test_pandas_columns_come_back_as_they_were(toy, columns):
    X, Y = toy
    frame = pd.DataFrame(Y, columns=pd.Index(columns))
    found = BinaryRelevance().fit(X, frame).predict(X)
    assert found.columns.equals(frame.columns)
    assert (found == frame).shape == Y.shape


@pytest.mark.parametrize("n_classes", [2, 3])
def test_decode_of_a_class_vector_agrees_with_predict(toy, n_classes):
    X, _ = toy
    y = np.digitize(X[:, 0], [-0.5, 0.5])[:, None].ravel() % n_classes
    model = BinaryRelevance().fit(X, y)
    labels = model.decode(X).labels
    codes = labels[:, 0] if n_classes == 2 else labels.argmax(axis=1)
    np.testing.assert_array_equal(model.classes_[codes], model.predict(X))
    if n_classes == 3:
        np.testing.assert_array_equal(labels.sum(axis=1), 1)
    with pytest.raises(ValueError, match="1-D target"):
        model.decode(X, decoder="exhaustive")


def test_empty_policy_is_checked(toy):
    with pytest.raises(ValueError, match="'allow' or 'forbid'"):
        BinaryRelevance(empty="never").fit(*toy)


def test_refitting_forgets_label_names(toy):
    X, Y = toy
    model = BinaryRelevance().fit(X, pd.DataFrame(Y, columns=list("abcde")))
    assert not hasattr(model.fit(X, Y), "label_names_in_")


def test_scaled_svc_is_a_scikit_learn_classifier():
    from sklearn.utils.estimator_checks import check_estimator

    expected = {
        "check_sample_weight_equivalence_on_dense_data": "as LinearSVC",
        "check_sample_weight_equivalence_on_sparse_data": "as LinearSVC",
    }
    check_estimator(ScaledLinearSVC(), expected_failed_checks=expected, on_skip=None)
