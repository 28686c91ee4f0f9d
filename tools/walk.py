"""Print which files and functions of colabel a fit and a prediction pass through, in order.

    python tools/walk.py METHOD [--counts]
    python tools/walk.py compare [--counts]

The method of that name, with its defaults, is fitted twice to 60 rows of 5 features and 3 labels (4
labels in two exclusive sets, if it needs such), and the second fit and the prediction are followed:
what a reader has to open who wants to know what they do. Of compiled kernels those that Python
calls are seen, not what they call; another thread is not followed. ``compare`` follows the second
of two calls of ``colabel compare yeast -m br``, in ``lab`` and ``cli`` alone.
"""

import argparse
import contextlib
import io
import os
import sys
import tempfile
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import colabel

ROOT = Path(colabel.__file__).parent

# Functions by file, both in order of first entry.
Walk = dict[str, list[str]]


def follow(call: Callable[[], Any]) -> Walk:
    """Return the files of the package that a call passes through, and the functions in each."""
    walk: Walk = {}
    inside = f"{ROOT}{os.sep}"

    def note(frame: Any, event: str, _: object) -> None:
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(inside):
            functions = walk.setdefault(Path(path).relative_to(ROOT).as_posix(), [])
            # a comprehension or a lambda is read with the function around it
            name = frame.f_code.co_qualname.partition(".<locals>.<")[0]
            if name not in functions:
                functions.append(name)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return walk


def joined(first: Walk, second: Walk) -> Walk:
    """Return one walk after the other, as one."""
    files = dict.fromkeys([*first, *second])
    return {f: list(dict.fromkeys([*first.get(f, []), *second.get(f, [])])) for f in files}


def walk_method(name: str) -> dict[str, Walk]:
    """Follow the second fit of a registered method, and its prediction."""
    X, Y, facets = problem(name)
    first, second = estimator_of(name, facets), estimator_of(name, facets)
    first.fit(X, Y).predict(X)
    fit = follow(lambda: second.fit(X, Y))
    predict = follow(lambda: second.predict(X))
    return {"fit": fit, "predict": predict, "both": joined(fit, predict)}


def problem(name: str) -> tuple[np.ndarray, np.ndarray, list[list[int]] | None]:
    """Return a small problem that the method can be fitted to."""
    from colabel.lab.methods import get_method

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    Y = (X[:, :3] + rng.normal(size=(60, 3)) > 0).astype(int)
    if not get_method(name)[0].facets:
        return X, Y, None
    return X, np.column_stack([Y[:, 0], 1 - Y[:, 0], Y[:, 1], 1 - Y[:, 1]]), [[0, 1], [2, 3]]


def estimator_of(name: str, facets: list[list[int]] | None) -> Any:
    """Make the estimator of a registered method as ``colabel fit`` does."""
    from colabel.lab.methods import make

    return make(name, None if facets is None else {"facets": facets}, seed=0)


def walk_compare() -> dict[str, Walk]:
    """Follow ``lab`` and ``cli`` through the second of two comparisons."""
    with tempfile.TemporaryDirectory() as folder:
        compare(f"{folder}/first")
        walk = follow(lambda: compare(f"{folder}/second"))
    return {room: {f: walk[f] for f in walk if f.startswith(room)} for room in ("lab/", "cli/")}


def compare(folder: str) -> None:
    """Run the command, its table thrown away."""
    from colabel.cli import main

    quiet = io.StringIO()
    with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
        try:
            main(["compare", "yeast", "-m", "br", "-o", folder])
        except SystemExit as stop:
            if stop.code:
                raise SystemExit(quiet.getvalue()) from stop


def counts(walk: Walk) -> str:
    """Say how long a walk is."""
    return f"{len(walk)} files, {sum(map(len, walk.values()))} functions"


def show(walk: Walk) -> None:
    """Print a walk: a file a line, its functions under it."""
    wrapped = textwrap.TextWrapper(100, initial_indent=" " * 9, subsequent_indent=" " * 9)
    for number, (path, functions) in enumerate(walk.items(), start=1):
        print(f"{number:4} {path}")
        print(wrapped.fill(", ".join(functions)))


def main(arguments: Sequence[str] | None = None) -> None:
    """Follow what is asked for and print the way."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("what", metavar="METHOD", help="a registered name, or compare")
    parser.add_argument("--counts", action="store_true", help="print how many, not which")
    given = parser.parse_args(arguments)
    walks = walk_compare() if given.what == "compare" else walk_method(given.what)
    for part, walk in walks.items():
        print(f"{given.what}, {part}: {counts(walk)}")
        if not given.counts and part != "both":
            show(walk)


if __name__ == "__main__":
    main()
