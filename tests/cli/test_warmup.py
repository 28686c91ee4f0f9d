"""Compiling ahead of the first fit."""

import os
import subprocess
import sys

import numba
import pytest

from cli.samples import LABELS
from colabel.lab.methods import METHODS
from colabel.lab.warmup import warm_up


def test_it_says_how_long_it_took_and_where_kernels_are_kept(run):
    outcome = run("warmup", "knn", "powset", "knn")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("kernels of 2 methods are ready after ")
    assert outcome.out.count("\n") == 1
    assert run("warmup", "powset+top_1").out.startswith("kernels of powset+top_1 are ready after ")


def test_an_unknown_method_is_refused_before_any_is_compiled(fails):
    assert "did you mean powset" in fails(2, "warmup", "knn", "powste")


def test_without_names_it_takes_all_methods(run, monkeypatch):
    asked = []

    def note(names, on_method):
        asked.extend(names)
        return 0.0, None

    monkeypatch.setattr("colabel.lab.warmup.warm_up", note)
    assert "kept nowhere" in run("warmup").out
    assert asked == list(METHODS)


@pytest.mark.parametrize("method", ["ovr-svm", "indep"])
def test_methods_of_label_sets_and_others_are_fitted(method):
    met = []
    seconds, _ = warm_up([method], met.append)
    assert met == [method]
    assert seconds >= 0.0


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_the_first_fit_afterwards_finds_everything_on_disk(files, tmp_path):
    folder = tmp_path / "kernels"

    def colabel(*arguments):
        subprocess.run(
            [sys.executable, "-m", "colabel", *map(str, arguments)],
            env=os.environ | {"NUMBA_CACHE_DIR": str(folder)},
            check=True,
            capture_output=True,
        )
        return {path.name for path in folder.rglob("*.nbc")}

    compiled = colabel("warmup", "knn")
    assert compiled
    colabel("fit", files / "small.csv", *LABELS, "-m", "knn", "-o", tmp_path / "model")
    assert colabel("evaluate", tmp_path / "model", files / "other.csv") == compiled
