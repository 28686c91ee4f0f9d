"""A first call says that it compiles, keeps what it compiled, and runs where nothing can be."""

import io
import logging
import multiprocessing
import os
import shutil
import subprocess
import sys
import time
import types
from pathlib import Path

import numba
import pytest

from colabel._kernels import _compiling
from colabel._kernels._cache import _DigestNames, _imported

compiled = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")

DECODE = """
import logging, sys
logging.basicConfig(level="INFO", format="%(message)s", stream=sys.stdout)
import numpy as np
import colabel._kernels._compiling as compiling
compiling._LISTENER.patience = 0.01
from colabel.decoders.mixture_mode import MixtureMode
from colabel.scores import Mixture
found = MixtureMode().decode(Mixture(np.log([[0.4, 0.6]]), [[[3.0, 3.0], [-2.0, 0.5]]]))
print(found.labels.tolist())
"""


def python(code, stderr=subprocess.PIPE, **environment):
    """Return what a process of its own prints."""
    run = subprocess.run(
        [sys.executable, "-B", "-c", code],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        check=True,
    )
    return run.stdout.splitlines(), run.stderr


@pytest.fixture(scope="module")
def first_call(tmp_path_factory):
    """Return what a process printed that found nothing on disk, and the folder that it filled."""
    folder = tmp_path_factory.mktemp("kernels")
    return python(DECODE, NUMBA_CACHE_DIR=str(folder)), folder


@compiled
def test_the_first_call_tells_the_logger_once_and_the_second_finds_it_on_disk(first_call):
    first, folder = first_call
    assert first == ([_compiling.NOTICE, "[[1, 1]]"], "")
    assert python(DECODE, NUMBA_CACHE_DIR=str(folder)) == (["[[1, 1]]"], "")


@pytest.fixture
def fill(tmp_path):
    """Write a package with one small kernel; return its folder, and a call of the kernel.

    The call, in a process of its own that has little patience, prints its value and, if the kernel
    was found on disk, 1.
    """
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

    def call(first="", **options):
        return python(
            "from colabel._kernels import _compiling, without_notice\n"
            f"_compiling._LISTENER.patience = 1e-9\n{first}\n"
            "from colabel._kernels.fill import fill\n"
            "print(fill(), *fill.stats.cache_hits.values())",
            PYTHONPATH=str(tmp_path),
            NUMBA_CACHE_DIR=str(tmp_path / "kept"),
            **options,
        )

    return folder, call


@compiled
@pytest.mark.skipif(os.name == "nt", reason="Windows has no pseudo-terminals")
def test_a_terminal_shows_one_line(fill):
    import pty

    ours, theirs = pty.openpty()
    out, _ = fill[1](stderr=theirs)
    os.close(theirs)
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert out == ["3"]
    assert shown == f"colabel: {_compiling.NOTICE}\r\n"


@compiled
def test_nothing_is_shown_where_nobody_looks(fill):
    assert fill[1]() == (["3"], "")


@compiled
def test_who_says_so_already_leaves_the_notice_out(fill):
    listening = "import logging; logging.basicConfig(level='INFO')"
    assert fill[1](f"{listening}; without_notice()") == (["3"], "")


def test_terminals_and_notebooks_of_the_main_process_are_watched(monkeypatch):
    class OutStream(io.StringIO):
        """The stream of a notebook."""

    OutStream.__module__ = "ipykernel.iostream"
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    assert not _compiling._is_watched(None)  # a program without a console
    assert not _compiling._is_watched(io.StringIO())
    for stream in (OutStream(), terminal):
        assert _compiling._is_watched(stream)
    monkeypatch.setattr(multiprocessing.current_process(), "name", "LokyProcess-1")
    assert not _compiling._is_watched(terminal)


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
    assert kernels.kept_in() is None


def test_quick_compiles_add_up_until_patience_is_over(caplog):
    listener = _compiling._Listener()

    def one():
        pass

    one.__module__ = "colabel._kernels.one"
    event = types.SimpleNamespace(data={"dispatcher": types.SimpleNamespace(py_func=one)})
    with caplog.at_level(logging.INFO, logger="colabel"):
        listener.on_start(event)
        listener.on_end(event)
        left = listener.patience
        assert 0.0 < left < _compiling.PATIENCE
        one.__module__ = "elsewhere"  # a user's own kernel
        listener.on_start(event)
        listener.on_end(event)
    assert not caplog.records
    assert (listener.depth, listener.patience) == (0, left)


def test_processes_that_compile_together_do_not_mix_up_their_code(tmp_path):
    files = [_DigestNames(str(tmp_path), "f-1.py3", "stamp") for _ in range(2)]
    loads = [file._load_index for file in files]
    empty = [load() for load in loads]  # both look before either writes
    for file, key, before in zip(files, ("float", "int"), empty, strict=True):
        file._load_index = lambda before=before: before
        file.save(key, f"code for {key}")
    for file, load in zip(files, loads, strict=True):
        file._load_index = load
        assert file.load("float") in (None, "code for float")  # lost, or right
        assert file.load("int") == "code for int"
    files[0].save("float", "code for float")
    assert files[1].load("float") == "code for float"
    assert files[1].load("int") == "code for int"


@compiled
def test_kernels_are_kept_in_files_named_for_what_they_were_compiled_for(first_call):
    _, folder = first_call
    names = [path.stem.rpartition(".")[2] for path in folder.rglob("mixture_mode.*.nbc")]
    assert names
    assert all(len(name) == 16 for name in names)


@compiled
def test_a_kernel_is_compiled_anew_when_what_it_calls_has_changed(fill):
    folder, call = fill
    assert call()[0] == ["3"]
    assert call()[0] == ["3 1"], "found on disk"
    (folder / "apart.py").write_text("SIZE = 6\n")
    assert call()[0] == ["3 1"], "nothing that it is made of has changed"
    (folder / "layout.py").write_text("SIZE = 4\n")
    assert call()[0] == ["4"]


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
