"""Reports of runs: a page for people, and tables for documents and other programs.

>>> from colabel.lab import compare
>>> from colabel.lab.report import write_report
>>> _ = compare(["yeast"], ["br", "rml"], run_dir="runs/two")
>>> write_report(["runs/two"], "two.html")
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from colabel.exceptions import UnknownNameError
from colabel.lab.files import write_whole
from colabel.lab.report.latex import render_latex
from colabel.lab.report.markdown import render_markdown
from colabel.lab.report.page import render_page
from colabel.lab.report.summary_csv import render_csv
from colabel.lab.runs import Run, read_runs

__all__ = [
    "FORMATS",
    "Run",
    "format_of",
    "read_runs",
    "render_csv",
    "render_latex",
    "render_markdown",
    "render_page",
    "write_report",
]

FORMATS: dict[str, Callable[[Sequence[Run]], str]] = {
    "html": render_page,
    "md": render_markdown,
    "csv": render_csv,
    "latex": render_latex,
}
ENDINGS = {".html": "html", ".htm": "html", ".md": "md", ".csv": "csv", ".tex": "latex"}


def write_report(
    folders: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    format: str | None = None,
) -> None:
    """Write a report of run folders, whole or not at all.

    Parameters
    ----------
    folders : sequence of path-like
        Run folders of ``compare`` or ``reproduce``.
    output : path-like
        The file.
    format : {"html", "md", "csv", "latex"} or None
        None goes by the ending of ``output``.
    """
    output = Path(output)
    render = FORMATS[format_of(output, format)]
    text = render(read_runs(folders))
    write_whole(output, text.encode())


def format_of(output: Path, format: str | None = None) -> str:
    """Return the format of a file, by name or by its ending.

    Parameters
    ----------
    output : Path
    format : str or None

    Raises
    ------
    UnknownNameError
        Where there is no such format.
    """
    chosen = ENDINGS.get(output.suffix.lower()) if format is None else format
    if chosen in FORMATS:
        return chosen
    if format is None:
        raise UnknownNameError(
            f"the ending of {output} does not say which format: use .html, .md, .csv or .tex"
        )
    raise UnknownNameError(f"{format!r} is no format of reports: use {', '.join(FORMATS)}")
