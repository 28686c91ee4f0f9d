"""The real command in a process of its own: status, streams, signals, pipes and terminals."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from cli.samples import small_data
from colabel.datasets import Dataset, load, write

COMMAND = [sys.executable, "-m", "colabel"]


def start(*arguments, **options):
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen([*COMMAND, *map(str, arguments)], **options)


def finish(*arguments, **options):
    process = start(*arguments, **options)
    out, err = process.communicate(timeout=120)
    return process.returncode, out.decode(), err.decode()


def one_line(err):
    assert err.startswith("colabel: ")
    assert err.count("\n") == 1
    return err


def sklearn_measures():
    """What scikit-learn says about its own one-versus-rest regression on yeast's official split."""
    train, test = load("yeast:train"), load("yeast:test")
    model = OneVsRestClassifier(LogisticRegression(max_iter=1000)).fit(train.X, train.Y)
    Y, found, scores = test.Y, model.predict(test.X), model.decision_function(test.X)
    top = np.argmax(scores, axis=1)
    return {
        "subset_accuracy": metrics.accuracy_score(Y, found),
        "hamming_loss": metrics.hamming_loss(Y, found),
        "example_f1": metrics.f1_score(Y, found, average="samples", zero_division=1),
        "micro_f1": metrics.f1_score(Y, found, average="micro"),
        "macro_f1": metrics.f1_score(Y, found, average="macro", zero_division=0),
        "example_jaccard": metrics.jaccard_score(Y, found, average="samples", zero_division=1),
        "ndcg_at_5": metrics.ndcg_score(Y, scores, k=5),
        "ranking_loss": metrics.label_ranking_loss(Y, scores),
        "coverage": metrics.coverage_error(Y, scores),
        "lrap": metrics.label_ranking_average_precision_score(Y, scores),
        "precision_at_1": Y[np.arange(len(Y)), top].mean(),
        "one_error": 1 - Y[np.arange(len(Y)), top].mean(),
    }


def test_fit_and_evaluate_equal_scikit_learn_on_yeast():
    code, out, err = finish("fit", "yeast:train", "-m", "br", "-o", "m")
    assert (code, err) == (0, "")
    assert out.startswith("fitted br to 1500 samples of yeast:train in ")
    code, out, err = finish("evaluate", "m", "yeast:test", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert (found["data"], found["method"], found["n_samples"]) == ("yeast:test", "br", 917)
    expected = sklearn_measures()
    assert {name: found["measures"][name] for name in expected} == pytest.approx(expected, abs=0.01)


def test_a_wrong_call_is_status_2_and_one_line():
    code, out, err = finish("evaluate", "gone", "yeast:test", "--json")
    assert (code, out) == (2, "")
    assert "there is no model file gone" in one_line(err)


def test_failed_work_is_status_1_and_names_file_and_line(tmp_path):
    (tmp_path / "bad.csv").write_text("a,y\n1,0\n2,0,7\n")
    code, out, err = finish("info", "bad.csv", "--labels", "y")
    assert (code, out) == (1, "")
    assert "bad.csv, line 3" in one_line(err)


def test_debug_shows_the_traceback(tmp_path):
    (tmp_path / "m").write_bytes(b"PK\x03\x04")
    code, out, err = finish("evaluate", "m", "yeast", "--debug")
    assert (code, out) == (1, "")
    assert err.startswith("Traceback")
    assert "ModelFileError" in err


def test_nothing_but_text_comes_out_where_there_is_no_terminal(tmp_path):
    write(small_data(), tmp_path / "small.npz")
    call = ["compare", "small.npz", "-m", "br", "--split", "cv:2", "-o", "r"]
    code, out, err = finish(*call, env=os.environ | {"TERM": "xterm-256color"})
    assert (code, err) == (0, "")
    assert "\x1b" not in out
    assert f"2 cells, 0 failed; {Path('r') / 'results.csv'}" in out


@pytest.mark.parametrize("call", [["methods"], ["methods", "--json"]], ids=" ".join)
def test_a_pipe_closed_early_makes_no_noise(call):
    process = start(*call)
    process.stdout.close()  # before the command has printed anything
    err = process.stderr.read().decode()
    assert process.wait(timeout=60) == 1
    assert err == ""
    process.stderr.close()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT between processes")
def test_interrupting_ends_with_130_and_keeps_what_is_done(tmp_path):
    call = ["compare", "yeast", "-m", "br", "--split", "cv:400", "-o", "r"]

    def listen():  # a shell in the background would have us ignore the signal
        signal.signal(signal.SIGINT, signal.default_int_handler)

    process = start(*call, preexec_fn=listen)
    results = tmp_path / "r" / "results.csv"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if results.exists() and results.read_text().count("\n") > 2:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b"")
    so_far, stopped = err.decode().splitlines()
    n_done = results.read_text().count(",ok,")
    assert so_far == (
        f"colabel: {n_done} of 400 cells are done and kept; the same command goes on from there"
    )
    assert stopped == "colabel: stopped"
    assert results.read_text().count(",ok,") >= 2


def test_a_terminal_without_unicode_gets_everything_all_the_same(tmp_path):
    rng = np.random.default_rng(0)
    Y = rng.integers(0, 2, size=(20, 3)).astype(np.int8)
    names = ("søl", "日\n本", "[red]")
    write(Dataset(rng.normal(size=(20, 2)), Y, ("é", "f"), names, "x"), tmp_path / "x.npz")
    surroundings = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    code, out, err = finish("info", "x.npz", "--json", env=surroundings)
    assert (code, err) == (0, "")
    assert [label["name"] for label in json.loads(out)["labels"]] == list(names)
    code, out, err = finish("info", "x.npz", env=surroundings)
    assert (code, err) == (0, "")
    assert r"s\xf8l" in out
    assert "[red]" in out


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pseudo-terminals")
def test_a_terminal_shows_a_progress_bar_and_no_colour_where_none_is_wanted(tmp_path):
    import pty

    write(small_data(), tmp_path / "small.npz")
    ours, theirs = pty.openpty()
    surroundings = os.environ | {"TERM": "xterm-256color", "NO_COLOR": "1"}
    call = ["compare", "small.npz", "-m", "br", "--split", "cv:6", "-o", "r"]
    process = start(*call, stderr=theirs, env=surroundings)
    os.close(theirs)
    bar = b""
    while True:
        try:
            piece = os.read(ours, 1 << 16)
        except OSError:  # Linux says so when the other side has closed
            break
        if not piece:
            break
        bar += piece
    out = process.communicate(timeout=60)[0].decode()
    os.close(ours)
    assert process.returncode == 0
    assert b"br on small.npz" in bar
    assert b"/6" in bar
    assert b"\x1b[3" not in bar, "colours"
    assert "small.npz (cv:6, mean of 6 runs)" in out
    assert "\x1b" not in out
