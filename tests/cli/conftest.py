"""The command line, called in this process; small data in every format."""

from typing import NamedTuple

import pytest

from cli.samples import LABELS, small_data
from colabel.cli import main
from colabel.datasets import write


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch, tmp_path):
    """No colours, no data but yeast, 80 columns, an empty working folder."""
    for name in ("DATA", "DEBUG", "MIRRORS"):
        monkeypatch.delenv(f"COLABEL_{name}", raising=False)
    for name in ("FORCE_COLOR", "GITHUB_ACTIONS", "NO_COLOR", "PY_COLORS", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    # typer reads those when it is imported
    monkeypatch.setattr("typer.rich_utils.FORCE_TERMINAL", None, raising=False)
    monkeypatch.setenv("COLABEL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(capsys, monkeypatch):
    """Call the command and return its exit status and what it printed.

    What is compiled for the first time depends on what ran before: such reports are left out.
    """
    monkeypatch.setattr("colabel.cli._app._show_log", lambda: None)

    def call(*arguments):
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Outcome(stop.value.code, out, err)

    return call


@pytest.fixture
def fails(run):
    """Call the command wrongly and return the one sentence on stderr."""

    def call(code, *arguments):
        outcome = run(*arguments)
        assert (outcome.code, outcome.out) == (code, ""), outcome
        assert outcome.err.startswith("colabel: ")
        assert outcome.err.count("\n") == 1
        assert "Traceback" not in outcome.err
        return outcome.err

    return call


@pytest.fixture
def files(tmp_path):
    """The same data as CSV, Mulan ARFF, MEKA ARFF, LIBSVM, npz and gzip; ``other`` has new rows."""
    folder = tmp_path / "data"
    folder.mkdir()
    for name, seed in (("small", 0), ("other", 1)):
        data = small_data(seed)
        for ending in ("csv", "csv.gz", "svm", "npz"):
            write(data, folder / f"{name}.{ending}")
        write(data, folder / f"{name}-meka.arff", format="meka")
    (folder / "mulan").mkdir()
    write(small_data(), folder / "mulan" / "small.arff")
    return folder


@pytest.fixture
def model(run, files, tmp_path):
    """A model of the small data, fitted by the command."""
    path = tmp_path / "model"
    assert run("fit", files / "small.csv", *LABELS, "-m", "br", "-o", path).code == 0
    return path
