"""A first call says that it compiles, keeps what it compiled, and runs where nothing can be."""

import logging
import os
import shutil
import subprocess
import sys
import time
import types
from collections import namedtuple
from itertools import product
from pathlib import Path

import numba
import pytest
from numba.core import cpu

from colabel._kernels import _compiling
from colabel._kernels._cache import _DigestNames, _imported

compiled = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")

DECODE = """
import logging, sys
logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
import numpy as np
import colabel._kernels._compiling as compiling
compiling.PATIENCE = 0.0
from colabel.decoders.mixture_mode import MixtureMode
from colabel.scores import Mixture
found = MixtureMode().decode(Mixture(np.log([[0.4, 0.6]]), [[[3.0, 3.0], [-2.0, 0.5]]]))
print(found.labels.tolist())
"""


def decode(**environment):
    run = subprocess.run(
        [sys.executable, "-c", DECODE],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.splitlines()


@pytest.fixture(scope="module")
def first_call(tmp_path_factory):
    """Return what a process printed that found nothing on disk, and the folder that it filled."""
    folder = tmp_path_factory.mktemp("kernels")
    return decode(NUMBA_CACHE_DIR=str(folder)), folder


@compiled
def test_the_first_call_says_so_and_the_second_finds_it_on_disk(first_call):
    first, folder = first_call
    assert any(line.startswith("compiling mixture_mode for the first time") for line in first)
    assert any(line.startswith("compiled mixture_mode in") for line in first)
    assert decode(NUMBA_CACHE_DIR=str(folder)) == first[-1:] == ["[[1, 1]]"]


@compiled
def test_the_time_of_compiling_is_counted():
    began, before = time.perf_counter(), _compiling.seconds_compiling()
    function = numba.njit(lambda x: x + 1)
    assert function(2) == 3
    counted = _compiling.seconds_compiling() - before
    assert 0 < counted < time.perf_counter() - began
    assert function(3) == 4
    assert _compiling.seconds_compiling() == before + counted, "a call does not compile again"


@compiled
def test_kernels_run_where_no_folder_can_be_written(monkeypatch):
    def refuse(*args, **options):
        if options.pop("cache", False):
            raise RuntimeError("cannot cache function: no locator available")
        return numba.njit(*args, **options)

    import colabel._kernels as kernels

    monkeypatch.setattr(kernels, "numba", types.SimpleNamespace(njit=refuse))
    assert kernels.kernel(lambda x: x + 1)(2) == 3


def test_quick_compiles_are_not_reported(caplog):
    listener = _compiling._Listener()

    def one():
        pass

    one.__module__ = "colabel._kernels.one"
    event = types.SimpleNamespace(data={"dispatcher": types.SimpleNamespace(py_func=one)})
    with caplog.at_level(logging.INFO, logger="colabel"):
        listener.on_start(event)
        listener.on_end(event)
        one.__module__ = "elsewhere"  # a user's own kernel
        listener.on_start(event)
        listener.on_end(event)
    assert not caplog.records
    assert listener.depth == 0


class _Files:
    """What `_DigestNames` asks of Numba's own file."""

    _index_name = "f-1.py3.nbi"

    def __init__(self):
        self.kept = {}

    def _save_data(self, name, data):
        self.kept[name] = data

    def _load_data(self, name):
        return self.kept[name]


def test_processes_that_compile_together_do_not_mix_up_their_code():
    disk = _Files()
    files = [_DigestNames(disk, "stamp") for _ in range(2)]
    keys = [((numba.float64,), "machine"), ((numba.int64,), "machine")]
    for file, key in zip(files, keys, strict=True):
        assert file.load(key) is None
        file.save(key, f"code for {key}")
    for file, key in product(files, keys):
        assert file.load(key) == f"code for {key}"
        assert _DigestNames(disk, "another stamp").load(key) is None


def test_tuples_whose_fields_have_changed_places_are_not_taken_for_equal():
    """Numba compares the class, by its name when read from disk, and the types of the fields."""
    keys = []
    for fields in ("heads, mates", "mates, heads", "heads, mates"):
        graph = namedtuple("Graph", fields)
        types = numba.typeof((graph(1, 2), graph(1.0, 2))).types
        keys.append(((*types, numba.types.Tuple(types)), "machine"))
    file = _DigestNames(_Files(), "stamp")
    file.save(keys[0], "code")
    assert [file.load(key) for key in keys] == ["code", None, "code"]


@compiled
def test_numba_has_the_private_names_that_kernels_rest_on():
    """Where one is gone kernels run, but are compiled in every process, or for longer."""
    dispatcher = numba.njit(cache=True)(_compiling.seconds_compiling)
    cache = getattr(dispatcher, "_cache", None)
    file = getattr(cache, "_cache_file", None)
    for owner, name in [
        (dispatcher, "_cache"),
        (cache, "_cache_file"),
        (file, "_index_name"),
        (file, "_load_data"),
        (file, "_save_data"),
        (cpu.CPUTargetOptions, "_nrt"),
    ]:
        assert hasattr(owner, name), f"Numba {numba.__version__} has no {name!r}: see _kernels"


@compiled
def test_kernels_run_with_a_numba_that_has_other_private_names(monkeypatch):
    import colabel._kernels as kernels

    class Dispatcher:
        py_func = staticmethod(len)

    def njit(*args, cache=False, **options):
        assert "_nrt" not in options
        return (lambda function: Dispatcher()) if cache else numba.njit(*args, **options)

    monkeypatch.setattr(kernels, "numba", types.SimpleNamespace(njit=njit))
    monkeypatch.setattr(kernels, "cpu", types.SimpleNamespace())
    monkeypatch.setattr(Dispatcher, "py_func", kernels.kernel)
    run = kernels.bare_kernel(lambda x: x + 1)
    assert numba.njit(lambda x: run(x))(2) == 3


@compiled
def test_kernels_are_kept_in_files_named_for_what_they_were_compiled_for(first_call):
    _, folder = first_call
    names = [path.stem.rpartition(".")[2] for path in folder.rglob("mixture_mode.*.nbc")]
    assert names
    assert all(len(name) == 16 for name in names)


@compiled
def test_a_kernel_is_compiled_anew_when_what_it_calls_has_changed(tmp_path):
    folder = tmp_path / "colabel" / "_kernels"
    folder.mkdir(parents=True)
    (tmp_path / "colabel" / "__init__.py").touch()
    for name in ("__init__", "_cache", "_compiling"):
        shutil.copy(Path(_compiling.__file__).with_name(f"{name}.py"), folder)
    (folder / "layout.py").write_text("SIZE = 3\n")
    (folder / "apart.py").write_text("SIZE = 5\n")
    (folder / "fill.py").write_text(
        "from colabel._kernels import kernel\n"
        "from colabel._kernels.layout import SIZE\n"
        "@kernel\n"
        "def fill():\n"
        "    return SIZE\n"
    )
    ask = "from colabel._kernels.fill import fill; print(fill(), *fill.stats.cache_hits.values())"

    def answer():
        return subprocess.run(
            [sys.executable, "-B", "-c", ask],
            env=os.environ | {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "c")},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()

    assert answer() == ["3"]
    assert answer() == ["3", "1"], "found on disk"
    (folder / "apart.py").write_text("SIZE = 6\n")
    assert answer() == ["3", "1"], "nothing that it is made of has changed"
    (folder / "layout.py").write_text("SIZE = 4\n")
    assert answer() == ["4"]


def test_the_clock_counts_what_another_thread_is_compiling():
    clock = _compiling._Clock()
    clock.on_start(None)
    time.sleep(0.02)
    before = clock.read()
    assert before >= 0.02, "a cell that begins now is not charged for this"
    time.sleep(0.02)
    clock.on_end(None)
    assert 0.02 <= clock.read() - before < 10.0


def test_sources_of_kernels_are_found_however_they_are_imported():
    text = "import numpy\nfrom colabel._kernels import (\n    kernel,\n    lbfgs,\n)\n"
    assert {"__init__", "lbfgs"} <= _imported(text)
    assert "cut" in _imported("from colabel._kernels.cut import cut_workspace")
