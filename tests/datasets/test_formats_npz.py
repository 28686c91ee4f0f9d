"""npz: damaged, hostile and foreign files are refused; nothing in them is ever executed."""

import io
import zipfile

import numpy as np
import pytest

from colabel.datasets.formats import _stream, read
from colabel.exceptions import DataFormatError


def npz(path, **arrays):
    np.savez(path, **arrays)
    return path


def refused_npz(path):
    with pytest.raises(DataFormatError) as caught:
        read(path)
    return caught.value.reason


class TestNpz:
    good = {"X": np.eye(2), "Y": np.array([[1], [0]])}

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({"X": None}, "X is missing"),
            ({"Y": None}, "Y is missing"),
            ({"X": np.ones(2)}, "X is not a two-dimensional"),
            ({"X": np.array([["a"], ["b"]])}, "X is not a two-dimensional"),
            ({"Y": np.array([[2], [0]])}, "other than 0 and 1"),
            ({"Y": np.array([[np.nan], [0]])}, "other than 0 and 1"),
            ({"Y": np.ones((3, 1))}, "X has 2 rows, Y has 3"),
            ({"feature_names": np.array(["a"])}, "feature_names is not an array of 2"),
            ({"label_names": np.array([1])}, "label_names is not an array of 1"),
        ],
    )
    def test_wrong_arrays_are_refused(self, tmp_path, change, reason):
        arrays = {key: value for key, value in (self.good | change).items() if value is not None}
        assert reason in refused_npz(npz(tmp_path / "x.npz", **arrays))

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("X_indices", np.array([0, 99])),
            ("X_indices", np.array([0, -1])),
            ("X_indices", np.array([0.0, 1.0])),
            ("X_indptr", np.array([0, 2, 1])),
            ("X_indptr", np.array([0, 1])),
            ("X_shape", np.array([2, 10**18])),
            ("X_shape", np.array([10**12, 2])),
            ("X_shape", np.array([-2, 2])),
            ("X_shape", np.array([2])),
            ("X_data", np.array(["a", "b"])),
            ("X_data", np.ones(1)),
        ],
    )
    def test_a_damaged_csr_matrix_is_refused(self, tmp_path, key, value):
        arrays = {
            "X_data": np.ones(2),
            "X_indices": np.array([0, 1]),
            "X_indptr": np.array([0, 1, 2]),
            "X_shape": np.array([2, 2]),
            "Y": np.array([[1], [0]]),
        }
        refused_npz(npz(tmp_path / "x.npz", **(arrays | {key: value})))

    def test_pickled_objects_are_never_loaded(self, tmp_path):
        objects = np.array([[print, print]], dtype=object)
        path = npz(tmp_path / "x.npz", X=objects, Y=np.ones((1, 1)))
        assert "Python objects" in refused_npz(path)

    @pytest.mark.parametrize(
        ("shape", "kind"),
        [("(1000000000, 1000000)", "<f8"), ("(2, -5)", "<f8"), ("(2,)", "<U9999999")],
    )
    def test_a_giant_shape_in_a_small_file_is_refused(self, tmp_path, shape, kind):
        path = tmp_path / "x.npz"
        header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n"
        raw = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("X.npy", raw)
        assert "more than the file holds" in refused_npz(path)

    def test_a_large_unpacked_size_is_refused(self, tmp_path, monkeypatch):
        monkeypatch.setattr(_stream, "MAX_UNPACKED_BYTES", 100)
        assert "unpacks to more" in refused_npz(npz(tmp_path / "x.npz", **self.good))

    def test_a_member_that_is_no_array_is_refused(self, tmp_path):
        path = tmp_path / "x.npz"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("X.npy", b"not an array")
        assert "a damaged array" in refused_npz(path)

    def test_a_bomb_is_refused(self, tmp_path, monkeypatch):
        monkeypatch.setattr(_stream, "RATIO_FREE_BYTES", 1 << 20)
        path = tmp_path / "x.npz"
        np.savez_compressed(path, X=np.zeros((1000, 1000)), Y=np.zeros((1000, 1), np.int8))
        assert "as a bomb would" in refused_npz(path)

    @pytest.mark.parametrize("raw", [b"", b"PK\x03\x04", b"not a zip at all" * 10])
    def test_what_is_no_zip_is_refused(self, tmp_path, raw):
        path = tmp_path / "x.npz"
        path.write_bytes(raw)
        assert "not a readable .npz" in refused_npz(path)

    def test_every_truncation_is_refused(self, tmp_path):
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **self.good)
        raw, path = buffer.getvalue(), tmp_path / "x.npz"
        for size in range(0, len(raw), 7):
            path.write_bytes(raw[:size])
            refused_npz(path)
