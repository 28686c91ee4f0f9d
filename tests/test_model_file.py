"""Archives that `save` does not write are refused before anything in them is believed."""

import io
import zipfile

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

import colabel._model_file
from colabel.exceptions import ModelFileError
from colabel.persistence import load, save
from model_files import X, Y, edit_json, node, rewrite, saved, walk


@pytest.fixture
def path(tmp_path):
    """Return where a model is written, in a folder in which nothing else may appear."""
    yield tmp_path / "model"
    assert {p.name for p in tmp_path.iterdir()} <= {"model", "link", "folder"}


def bomb(members):
    members["1.bin"] = bytes(50_000_000)


def zeros(n):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, data=np.zeros(n))
    return buffer.getvalue()


def sparse_bomb(members):
    members["1.npz"] = zeros(5_000_000)


def many_small_bombs(members):
    """Add members none of which goes over the limit that holds for all together."""
    members.update({f"{number}.npz": zeros(100_000) for number in range(20)})


@pytest.mark.parametrize(
    ("edit", "compression", "message"),
    [
        (bomb, zipfile.ZIP_DEFLATED, "packed members"),
        (lambda m: None, zipfile.ZIP_DEFLATED, "packed members"),
        (sparse_bomb, zipfile.ZIP_STORED, "to 38 MiB, more than a model file may"),
        (many_small_bombs, zipfile.ZIP_STORED, "to 15 MiB, more than a model file may"),
        (lambda m: m.update({"1.npz": b"PK"}), zipfile.ZIP_STORED, "1.npz cannot be read"),
        (lambda m: m.update({"1.npy": b""}), zipfile.ZIP_STORED, "refers to"),
        (lambda m: m.update({"/etc/passwd": b""}), zipfile.ZIP_STORED, "/etc/passwd"),
        (lambda m: m.update({"../x.npy": b""}), zipfile.ZIP_STORED, "no place"),
        (lambda m: m.update({"evil.py": b""}), zipfile.ZIP_STORED, "no place"),
        (lambda m: m.pop("schema.json"), zipfile.ZIP_STORED, "not a model that colabel wrote"),
        (lambda m: m.pop("colabel.json"), zipfile.ZIP_STORED, "not a model that colabel wrote"),
        (lambda m: m.update({"schema.json": b"{"}), zipfile.ZIP_STORED, "schema.json cannot"),
        (lambda m: m.update({"colabel.json": b"\xff"}), zipfile.ZIP_STORED, "colabel.json cannot"),
        (lambda m: m.update({"colabel.json": b"[1]"}), zipfile.ZIP_STORED, "colabel.json is not"),
        (
            lambda m: m.update({"colabel.json": b"[" * 100_000}),
            zipfile.ZIP_STORED,
            "colabel.json cannot",
        ),
    ],
)
def test_archives_that_save_does_not_write_are_refused(
    edit, compression, message, path, monkeypatch
):
    monkeypatch.setattr(colabel._model_file, "PACKING_FLOOR", 2**20)
    rewrite(saved(path, LogisticRegression()), edit, compression)
    with pytest.raises(ModelFileError, match=message):
        load(path)


def test_a_sparse_model_that_packs_well_loads_far_above_the_floor(path, monkeypatch):
    monkeypatch.setattr(colabel._model_file, "PACKING_FLOOR", 2**10)
    model = LogisticRegression().fit(X, Y[:, 0])
    model.coef_ = sparse.random(200, 20_000, density=0.05, format="csr", random_state=0)
    model.coef_.data[:] = 1
    again = load(saved(path, model))
    assert model.coef_.data.nbytes > 2**20
    assert (again.coef_ != model.coef_).nnz == 0


def test_what_packs_too_well_to_be_loaded_is_not_written(path, monkeypatch):
    monkeypatch.setattr(colabel._model_file, "PACKING_FLOOR", 2**10)
    with pytest.raises(ModelFileError, match="more than a model file may"):
        save(LogisticRegression(C=sparse.csr_array((100_000, 5))), path)
    assert not path.exists()


@pytest.mark.parametrize("number", [None, 0, "own"])
def test_an_array_given_to_many_objects_is_refused(number, path):
    """Each would read and unpack it anew."""

    def change(schema):
        found = [n for n in walk(schema) if isinstance(n.get("file"), str)]
        copies = [{**found[0], "__id__": i + 1 if number == "own" else number} for i in range(9)]
        content = node("builtins", "list", "ListNode", content=copies)
        schema["content"]["content"]["coef_"] = content

    model = LogisticRegression().fit(X, Y[:, 0])
    rewrite(saved(path, model), edit_json("schema.json", change))
    with pytest.raises(ModelFileError, match="sound way"):
        load(path)


def test_a_member_that_occurs_twice_is_refused(path):
    save(LogisticRegression(), path)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("schema.json", "{}")
    with pytest.raises(ModelFileError, match="twice"):
        load(path)


def test_a_bomb_of_overlapping_members_is_refused(path):
    """Many entries of the directory point at the same bytes."""
    save(LogisticRegression(), path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("1.bin", bytes(100_000))
        big = archive.getinfo("1.bin")
        for number in range(2, 50):
            again = zipfile.ZipInfo(f"{number}.bin")
            again.header_offset, again.CRC = big.header_offset, big.CRC
            again.file_size = again.compress_size = big.file_size
            archive.filelist.append(again)
            archive.NameToInfo[again.filename] = again
    with pytest.raises(ModelFileError, match="more than its size allows"):
        load(path)
