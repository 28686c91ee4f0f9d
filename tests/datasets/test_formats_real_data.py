"""Every data file of the collection reads with the counts its README states."""

import os
from pathlib import Path

import numpy as np
import pytest

from colabel.datasets.formats import read
from colabel.exceptions import DataFormatError


def data_folder() -> Path | None:
    beside = Path(__file__).parents[2].parent / "shared" / "data"
    listed = [Path(folder) for folder in os.environ.get("COLABEL_DATA", "").split(os.pathsep)]
    found = [folder for folder in [*listed, beside] if (folder / "yeast" / "yeast.xml").is_file()]
    return found[0] if found else None


FOLDER = data_folder()
needs_data = pytest.mark.skipif(
    FOLDER is None, reason="no data folder: set COLABEL_DATA, or put it at ../shared/data"
)

# file -> rows, features, labels, cardinality, is sparse. The README states the cardinality of each
# whole set; that of an official part was counted with an independent reader (liac-arff).
EXPECTED = {
    "20ng/20ng.arff.gz": (19300, 1006, 20, 1.0289, True),
    "20ng/20ng-train.arff.gz": (12933, 1006, 20, 1.0287, True),
    "20ng/20ng-test.arff.gz": (6367, 1006, 20, 1.0292, True),
    "CAL500/cal500.arff.gz": (502, 68, 174, 26.0438, False),
    "bibtex/bibtex.arff.gz": (7395, 1836, 159, 2.4019, True),
    "bibtex/bibtex-train.arff.gz": (4880, 1836, 159, 2.3803, True),
    "bibtex/bibtex-test.arff.gz": (2515, 1836, 159, 2.4437, True),
    "birds/birds.arff.gz": (645, 260, 19, 1.0140, False),
    "birds/birds-train.arff.gz": (322, 260, 19, 1.0590, False),
    "birds/birds-test.arff.gz": (323, 260, 19, 0.9690, False),
    "corel5k/Corel5k-sparse.arff.gz": (5000, 499, 374, 3.5220, True),
    "corel5k/Corel5k-train-sparse.arff.gz": (4500, 499, 374, 3.5216, True),
    "corel5k/Corel5k-test-sparse.arff": (500, 499, 374, 3.5260, True),
    "delicious/delicious.arff.gz": (16105, 500, 983, 19.0200, True),
    "delicious/delicious-train.arff.gz": (12920, 500, 983, 19.0471, True),
    "delicious/delicious-test.arff.gz": (3185, 500, 983, 18.9102, True),
    "emotions/emotions.arff.gz": (593, 72, 6, 1.8685, False),
    "emotions/emotions-train.arff.gz": (391, 72, 6, 1.8133, False),
    "emotions/emotions-test.arff": (202, 72, 6, 1.9752, False),
    "emotions/Music-meka.arff.gz": (592, 71, 6, 1.8699, False),
    "enron/enron.arff.gz": (1702, 1001, 53, 3.3784, True),
    "enron/enron-train.arff.gz": (1123, 1001, 53, 3.3865, True),
    "enron/enron-test.arff.gz": (579, 1001, 53, 3.3627, True),
    "enron/Enron-meka.arff.gz": (1702, 1001, 53, 3.3784, True),
    "eurlex-dc-partial/eurlex-dc-leaves-fold1-test.arff.gz": (1935, 5000, 412, 1.2749, True),
    "eurlex-dc-partial/eurlex-dc-leaves-fold1-train-discretized.arff.gz": (
        17411,
        5000,
        412,
        1.2941,
        False,
    ),
    "imdb/Imdb-meka.arff.gz": (120919, 1001, 28, 1.9997, True),
    "mediamill-partial/mediamill-train-discretized.arff.gz": (30970, 120, 101, 4.3590, False),
    "mediamill-partial/mediamill-test-discretized.arff.gz": (12881, 120, 101, 4.4083, False),
    "mediamill-partial/mediamill_reduced-train.arff.gz": (1500, 120, 101, 4.4373, False),
    "mediamill-partial/mediamill_reduced-test.arff.gz": (500, 120, 101, 4.2640, False),
    "mediamill-partial/mediamill_small.arff.gz": (2500, 120, 101, 4.3528, False),
    "medical/medical.arff": (978, 1449, 45, 1.2454, True),
    "medical/medical-train.arff": (333, 1449, 45, 1.2553, True),
    "medical/medical-test.arff": (645, 1449, 45, 1.2403, True),
    "ohsumed/ohsumed.arff.gz": (13929, 1002, 23, 1.6631, True),
    "ohsumed/ohsumed-train.arff.gz": (9301, 1002, 23, 1.6687, True),
    "ohsumed/ohsumed-test.arff.gz": (4628, 1002, 23, 1.6519, True),
    "rcv1subset1/rcv1subset1-train.svm.gz": (3000, 47236, 101, 2.9143, True),
    "rcv1subset1/rcv1subset1-test.svm.gz": (3000, 47236, 101, 2.8450, True),
    "reuters-k500/reuters-k500.arff.gz": (6000, 500, 103, 1.4622, True),
    "reuters-k500/reuters-k500-train.arff.gz": (4014, 500, 103, 1.4631, True),
    "reuters-k500/reuters-k500-test.arff.gz": (1986, 500, 103, 1.4602, True),
    "scene/Scene-meka.arff.gz": (2407, 294, 6, 1.0740, False),
    "scene/scene-train.arff.gz": (1211, 294, 6, 1.0619, False),
    "scene/scene-test.arff.gz": (1196, 294, 6, 1.0861, False),
    "tmc2007-500/tmc2007-500.arff.gz": (28596, 500, 22, 2.1579, True),
    "tmc2007-500/tmc2007-500-train.arff.gz": (21519, 500, 22, 2.2256, True),
    "tmc2007-500/tmc2007-500-test.arff.gz": (7077, 500, 22, 1.9522, True),
    "voice/voice.csv.gz": (3168, 20, 1, 0.5, False),
    "yeast/yeast.arff.gz": (2417, 103, 14, 4.2371, False),
    "yeast/yeast-train.arff.gz": (1500, 103, 14, 4.2280, False),
    "yeast/yeast-test.arff.gz": (917, 103, 14, 4.2519, False),
    "yeast/Yeast-meka.arff.gz": (2417, 103, 14, 4.2371, False),
}


def options(name: str) -> dict:
    if name.endswith(".svm.gz"):
        return {"n_features": 47236, "n_labels": 101}
    return {"labels": ["label"]} if name.endswith(".csv.gz") else {"one_hot": False}


def load(name: str, **more):
    return read(FOLDER / name, **(options(name) | more))


@needs_data
def test_the_table_names_every_data_file_of_the_folder():
    there = {
        str(path.relative_to(FOLDER).as_posix())
        for suffix in ("arff", "arff.gz", "svm.gz", "csv.gz")
        for path in FOLDER.glob(f"*/*.{suffix}")
    }
    assert there == set(EXPECTED)


@needs_data
@pytest.mark.parametrize("name", EXPECTED)
def test_counts_are_those_of_the_readme(name):
    n_samples, n_features, n_labels, cardinality, is_sparse = EXPECTED[name]
    data = load(name)
    assert (data.n_samples, data.n_features, data.n_labels) == (n_samples, n_features, n_labels)
    assert data.Y.sum(dtype=np.int64) / n_samples == pytest.approx(cardinality, abs=6e-5)
    assert data.is_sparse == is_sparse
    assert data.Y.dtype == np.int8
    assert data.X.dtype == np.float64
    if is_sparse:
        assert data.X.indices.dtype == np.int32
        assert data.X.has_canonical_format


@needs_data
@pytest.mark.parametrize(
    ("whole", "parts"),
    [
        ("yeast/yeast.arff.gz", ["yeast/yeast-test.arff.gz", "yeast/yeast-train.arff.gz"]),
        ("yeast/Yeast-meka.arff.gz", ["yeast/yeast-train.arff.gz", "yeast/yeast-test.arff.gz"]),
        ("scene/Scene-meka.arff.gz", ["scene/scene-train.arff.gz", "scene/scene-test.arff.gz"]),
    ],
)
def test_the_parts_of_a_split_are_the_rows_of_the_whole(whole, parts):
    union, split = load(whole), [load(part) for part in parts]
    assert np.array_equal(union.X, np.vstack([part.X for part in split]))
    assert np.array_equal(union.Y, np.vstack([part.Y for part in split]))


@needs_data
def test_meka_and_mulan_versions_of_enron_hold_the_same_rows():
    meka, mulan = load("enron/Enron-meka.arff.gz"), load("enron/enron.arff.gz")

    def rows(data):
        return sorted(np.hstack([data.X.toarray(), data.Y]).astype(int).tolist())

    assert meka.label_names == mulan.label_names
    assert rows(meka) == rows(mulan)


@needs_data
def test_the_xml_wins_over_a_left_over_relation_header():
    from_xml = load("medical/medical.arff")
    stale = read(FOLDER / "medical/medical.arff", format="meka")
    assert from_xml.label_names[0] == "Class-0-593_70"
    assert stale.label_names[0] == "-"


@needs_data
def test_labels_keep_the_order_of_the_columns_not_of_the_xml():
    data = load("yeast/yeast.arff.gz")
    assert data.label_names == tuple(f"Class{i}" for i in range(1, 15))
    assert load("20ng/20ng.arff.gz").label_names[0] == "comp.os_ms_windows_misc"


@needs_data
def test_unquoted_backslashes_in_names_are_literal():
    names = load("delicious/delicious-test.arff.gz").label_names
    assert {"TAG_dise\\~no", "TAG_m\\'usica", "TAG_??"} <= set(names)


@needs_data
def test_nominal_features_become_one_hot_columns_by_default():
    data = load("birds/birds-train.arff.gz", one_hot=True)
    location = [j for j, name in enumerate(data.feature_names) if name.startswith("location=")]
    assert len(location) == 12
    assert data.n_features == 260 - 1 + 12
    assert np.array_equal(data.X[:, location].sum(axis=1), np.ones(data.n_samples))
    places = load("birds/birds-train.arff.gz")
    ordinal = places.X[:, places.feature_names.index("location")]
    assert np.array_equal(data.X[:, location].argmax(axis=1), ordinal)


@needs_data
def test_a_label_column_of_two_words_is_one_label():
    data = load("voice/voice.csv.gz")
    assert data.label_names == ("label=male",)
    assert data.Y[:1584].all()
    assert not data.Y[1584:].any()


@needs_data
def test_an_r_data_file_is_refused_with_a_remedy():
    with pytest.raises(DataFormatError, match="R data file"):
        read(FOLDER / "rcv1subset1" / "rcv1sub1.rda")
