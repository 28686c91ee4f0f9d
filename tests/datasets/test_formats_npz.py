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
            ({"X": np.array([[1, np.inf], [0, 0]])}, "X has infinite values"),
            ({"Y": None, "Y_data": np.ones(1)}, "Y is missing"),
            ({"feature_names": np.array(["a", "a"])}, "columns 1 and 2 have the same name 'a'"),
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
            ("X_shape", np.array([2, np.inf])),
            ("X_shape", np.array([2, 1 << 63], np.uint64)),
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

    @pytest.mark.parametrize(
        "header",
        [
            "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), ",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (2, '",
            "{'descr': [()], 'fortran_order': False, 'shape': (2, 2)}",
            f"{{'descr': ('<f8', ({10**30},)), 'fortran_order': False, 'shape': (2, 2)}}",
            f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({10**30}, 0)}}",
            "{'descr': '<f8,,', 'fortran_order': False, 'shape': (2, 2)}",
            "\\",
            "(" * 500,
            "{[]: 1}",
        ],
    )
    @pytest.mark.parametrize("version", [b"\x01\x00", b"\x02\x00", b"\x03\x00"])
    def test_a_header_that_cannot_be_parsed_is_refused(self, tmp_path, header, version):
        size = len(header).to_bytes(2 if version == b"\x01\x00" else 4, "little")
        path = tmp_path / "x.npz"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("X.npy", b"\x93NUMPY" + version + size + header.encode() + b"\0" * 64)
        assert refused_npz(path)

    @pytest.mark.parametrize("packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
    def test_packing_that_numpy_does_not_write_is_refused(self, tmp_path, packing):
        path, array = tmp_path / "x.npz", io.BytesIO()
        np.save(array, np.eye(2))
        with zipfile.ZipFile(path, "w", packing) as archive:
            archive.writestr("X.npy", array.getvalue())
        assert "packed in a way that NumPy does not write" in refused_npz(path)

    def test_without_labels_it_is_data_without_labels(self, tmp_path):
        data = read(npz(tmp_path / "x.npz", X=np.eye(2)))
        assert data.Y.shape == (2, 0)
        assert data.Y.dtype == np.int8
        assert data.label_names == ()
        assert data.X.tolist() == [[1, 0], [0, 1]]

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
