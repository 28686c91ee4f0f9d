"""``import colabel`` is quick: what is heavy is imported when it is used."""

import subprocess
import sys

import pytest

import colabel


def modules_after(code):
    show = "import sys; print(*{name.split('.')[0] for name in sys.modules})"
    command = [sys.executable, "-c", f"{code}\n{show}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_import_loads_nothing_heavy():
    loaded = modules_after("import colabel")
    assert not loaded & {"numba", "sklearn", "scipy", "pandas", "typer", "rich", "skops"}


def test_estimators_do_not_load_numba_or_the_command_line():
    loaded = modules_after("from colabel import BinaryRelevance, LabelPowerset")
    assert not loaded & {"numba", "typer", "skops", "pooch"}


def test_public_names_are_there():
    assert set(colabel.__all__) < set(dir(colabel))
    for name in dir(colabel):
        assert getattr(colabel, name) is not None


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = colabel.nothing
