"""The table of datasets, and where their files are looked for."""

import dataclasses
import gzip
import hashlib
import os
import pickle
import re
import sys
from importlib import resources
from pathlib import Path

import pytest

from colabel.datasets import DataFile, _find, _registry, data_home, find, list_datasets
from colabel.exceptions import DataFormatError, DatasetNotFoundError, UnknownNameError

SHARED = Path(__file__).parents[2].parent / "shared" / "data"
NAMES = [info.name for info in list_datasets()]
INFO = {info.name: info for info in list_datasets()}


def data_folders():
    given = os.environ.get("COLABEL_DATA", "").split(os.pathsep)
    return [folder for folder in (*given, str(SHARED)) if folder and Path(folder).is_dir()]


def skip_unless_present(name):
    """Skip if a file is in no data folder; this looks with nothing of colabel's own."""
    for file in INFO[name].files:
        if not any(next(Path(f).rglob(f"{file.name}*"), None) for f in data_folders()):
            pytest.skip(f"{file.name} is in no data folder")


needs_data = pytest.mark.skipif(
    not data_folders(), reason="no data folder: set COLABEL_DATA to one that holds the datasets"
)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A data folder and a cache of the test's own."""
    monkeypatch.setenv("COLABEL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("COLABEL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("COLABEL_MIRRORS", raising=False)
    (tmp_path / "data").mkdir()
    return tmp_path


def toy(content=b"content", name="toy.arff", **changes):
    file = DataFile(name, len(content), hashlib.sha256(content).hexdigest())
    base = dataclasses.replace(
        INFO["cal500"], name="toy", folder="Toy-Folder", files=(file,), all=(name,), xml=None
    )
    return dataclasses.replace(base, **changes)


def test_registry_names_every_dataset_of_the_collection():
    assert sorted(NAMES) == NAMES
    assert set(NAMES) == {
        *("20ng", "bibtex", "birds", "cal500", "corel5k", "delicious", "emotions", "enron"),
        "frequency-gender",
        *("eurlex-dc-test", "eurlex-dc-train-discretized", "imdb", "mediamill-discretized"),
        *("mediamill-reduced", "mediamill-small", "medical", "ohsumed", "rcv1subset1"),
        *("reuters-k500", "scene", "tmc2007-500", "voice", "yeast"),
    }


@pytest.mark.parametrize("name", NAMES)
def test_entry_is_consistent(name):
    info = INFO[name]
    files = {file.name for file in info.files}
    used = {*info.all, *info.train, *info.test, *((info.xml,) if info.xml else ())}
    assert files == used
    assert "all" in info.splits
    assert bool(info.train) == bool(info.test) == (info.n_train is not None)
    if info.n_train is not None and info.n_test is not None:
        assert info.n_train + info.n_test == info.n_samples
    assert 0 < info.cardinality <= info.n_labels
    assert info.density == pytest.approx(info.cardinality / info.n_labels)
    assert 1 < info.n_labelsets <= min(info.n_samples, 2**info.n_labels)
    assert re.fullmatch(r"[a-z]+(19|20)\d\d", info.citation_key)
    assert info.citation.endswith(".")
    for file in info.files:
        assert re.fullmatch(r"[0-9a-f]{64}", file.sha256)
        assert not file.name.endswith(".gz")
        assert all(url.startswith("https://") for url in file.urls)
        assert all(re.search(r"/[0-9a-f]{40}/", url) for url in file.urls), "not pinned"
    assert len({info, dataclasses.replace(info)}) == 1
    assert pickle.loads(pickle.dumps(info)) == info


def test_partial_datasets_say_so_first():
    partial = [info for info in INFO.values() if info.partial]
    assert {info.name.split("-")[0] for info in partial} == {"mediamill", "eurlex"}
    assert all(info.notes.startswith("NOT ") for info in partial)
    assert not any(info.notes.startswith("NOT ") for info in INFO.values() if not info.partial)


def test_only_sets_with_an_address_for_every_file_are_downloadable():
    downloadable = {info.name for info in INFO.values() if info.downloadable}
    assert downloadable == {"20ng", "ohsumed", "reuters-k500", "scene"}


def test_split_files_end_with_the_list_of_labels():
    names = [file.name for file in INFO["scene"].split_files("all")]
    assert names == ["scene-train.arff", "scene-test.arff", "scene.xml"]


def test_names_are_found_in_any_case_and_close_ones_are_suggested():
    assert _registry.get_info("CAL500") is INFO["cal500"]
    with pytest.raises(DatasetNotFoundError, match="did you mean medical"):
        _registry.get_info("medcal")
    with pytest.raises(DatasetNotFoundError, match="colabel datasets, names those"):
        _registry.get_info("#")


def test_missing_split_names_the_remedy():
    assert _registry.check_split(INFO["enron"], "test") == "test"
    with pytest.raises(UnknownNameError, match="--split cv:5"):
        _registry.check_split(INFO["imdb"], "train")
    with pytest.raises(UnknownNameError, match="no split called 'valid'; it has: all, train"):
        _registry.check_split(INFO["enron"], "valid")


@needs_data
@pytest.mark.parametrize("name", [name for name in NAMES if not INFO[name].shipped])
def test_registered_hashes_and_sizes_are_those_of_the_files(name, monkeypatch):
    skip_unless_present(name)
    monkeypatch.setenv("COLABEL_DATA", os.pathsep.join(data_folders()))
    paths = find(name)
    assert paths is not None
    for file in INFO[name].files:
        stored = paths[file.name].read_bytes()
        content = gzip.decompress(stored) if stored[:2] == b"\x1f\x8b" else stored
        assert len(content) == file.size
        assert hashlib.sha256(content).hexdigest() == file.sha256
        if paths[file.name].suffix == ".gz":
            assert hashlib.sha256(stored).hexdigest() == file.packed_sha256
        _find.check(paths[file.name], file)


def test_shipped_file_has_its_registered_hash():
    (file,) = INFO["yeast"].files
    content = resources.files("colabel.datasets").joinpath("data/yeast.npz").read_bytes()
    assert (len(content), hashlib.sha256(content).hexdigest()) == (file.size, file.sha256)
    assert len(content) < 900_000


@pytest.mark.parametrize("folder", ["", "toy", "TOY", "Toy-Folder", "toy-folder"])
@pytest.mark.parametrize("name", ["toy.arff", "Toy.ARFF", "toy.arff.gz", "TOY.arff.GZ"])
def test_file_is_found_in_its_folder_or_directly_plain_or_packed_in_any_case(here, folder, name):
    path = here / "data" / folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(b"content") if name.lower().endswith(".gz") else b"content")
    assert find(toy()) == {"toy.arff": path}
    info = toy()
    assert _find.require(info, info.files) == {"toy.arff": path}


def test_folders_are_searched_in_order_and_the_cache_last(here, monkeypatch):
    info = toy()
    cached = here / "cache" / "toy" / "toy.arff"
    cached.parent.mkdir(parents=True)
    cached.write_bytes(b"content")
    assert find(info) == {"toy.arff": cached}
    (here / "second").mkdir()
    (here / "second" / "toy.arff").write_bytes(b"content")
    monkeypatch.setenv(
        "COLABEL_DATA", os.pathsep.join(["", str(here / "none"), str(here / "second")])
    )
    assert find(info) == {"toy.arff": here / "second" / "toy.arff"}
    (here / "none").write_text("not a folder")
    assert find(info) == {"toy.arff": here / "second" / "toy.arff"}


def test_one_missing_file_means_not_found_and_is_named_with_the_folders(here):
    info = INFO["scene"]
    (here / "data" / "scene.xml").write_bytes(b"")
    assert find("scene") is None
    with pytest.raises(DatasetNotFoundError) as caught:
        _find.require(info, info.split_files("train"))
    sentence = str(caught.value)
    assert "scene-train.arff not found in" in sentence
    assert "scene.xml" not in sentence
    assert str(here / "data") in sentence
    assert str(here / "cache") in sentence
    assert "colabel datasets --download scene" in sentence


def test_download_is_offered_only_where_there_is_an_address(here, monkeypatch):
    info = INFO["enron"]
    with pytest.raises(DatasetNotFoundError) as caught:
        _find.require(info, info.files)
    assert "--download" not in str(caught.value)
    monkeypatch.setenv("COLABEL_MIRRORS", "http://127.0.0.1:9")
    with pytest.raises(DatasetNotFoundError, match="colabel datasets --download enron"):
        _find.require(info, info.files)


@pytest.mark.parametrize("packed", [False, True])
def test_wrong_content_is_never_used(here, packed):
    info = toy()
    path = here / "data" / ("toy.arff.gz" if packed else "toy.arff")
    path.write_bytes(gzip.compress(b"other") if packed else b"other")
    with pytest.raises(DataFormatError, match=r"this is not the registered toy\.arff"):
        _find.require(info, info.files)
    path.write_bytes(gzip.compress(b"content") if packed else b"content")
    _find.require(info, info.files)


def test_file_changed_after_a_check_is_checked_again(here):
    info = toy()
    path = here / "data" / "toy.arff"
    path.write_bytes(b"content")
    _find.require(info, info.files)
    path.write_bytes(b"Content")
    os.utime(path, ns=(1, 1))
    with pytest.raises(DataFormatError, match="not the registered"):
        _find.require(info, info.files)


def test_a_check_is_made_once_per_file(here, monkeypatch):
    info = toy()
    (here / "data" / "toy.arff").write_bytes(b"content")
    _find.require(info, info.files)
    monkeypatch.setattr(_find, "content_hash", lambda *_: pytest.fail("hashed again"))
    _find.require(info, info.files)


def test_damaged_and_bursting_archives_are_refused(here):
    info = toy()
    path = here / "data" / "toy.arff.gz"
    path.write_bytes(gzip.compress(b"content")[:-3])
    with pytest.raises(DataFormatError, match="the gzip archive is damaged"):
        _find.require(info, info.files)
    path.write_bytes(b"\x1f\x8b" + b"nonsense" * 9)
    with pytest.raises(DataFormatError, match="the gzip archive is damaged"):
        _find.require(info, info.files)
    path.write_bytes(gzip.compress(b"content" + bytes(10**8)))
    with pytest.raises(DataFormatError, match="not the registered"):
        _find.require(info, info.files)


@pytest.mark.parametrize(
    ("platform", "variable", "expected"),
    [
        ("linux", "XDG_CACHE_HOME", "colabel"),
        ("win32", "LOCALAPPDATA", "colabel"),
        ("darwin", None, "Library/Caches/colabel"),
        ("linux", None, ".cache/colabel"),
        ("win32", None, "AppData/Local/colabel"),
    ],
)
def test_cache_folder_is_the_platforms(monkeypatch, tmp_path, platform, variable, expected):
    for name in ("COLABEL_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    if variable:
        monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.setattr(sys, "platform", platform)
    assert data_home() == tmp_path / expected
    monkeypatch.setenv("COLABEL_CACHE", str(tmp_path / "mine"))
    assert data_home() == tmp_path / "mine"
    assert not (tmp_path / "mine").exists()
