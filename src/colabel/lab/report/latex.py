"""Tables of reports in LaTeX."""

from __future__ import annotations

from collections.abc import Sequence

from colabel.lab.report.grids import Bold, Grid, grids
from colabel.lab.report.text import short
from colabel.lab.runs import Run
from colabel.messages import printable

__all__ = ["render_latex"]

_SIGNS = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "\u00a0": "~",
    "\u202f": r"\,",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "±": r"$\pm$",
    "−": r"$-$",
    "…": r"\ldots{}",
    "▲": r"$\blacktriangle$",
    "▼": r"$\blacktriangledown$",
    "≈": r"$\approx$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "λ": r"$\lambda$",
    **{sign: f"\\{sign}" for sign in "#$%&_{}"},
}


def render_latex(runs: Sequence[Run]) -> str:
    """Return the tables of runs in LaTeX.

    Parameters
    ----------
    runs : sequence of Run
    """
    needs = "% needs: \\usepackage[T1]{fontenc} \\usepackage{booktabs} \\usepackage{amssymb}"
    tables = [_table(grid, run) for run in runs for grid in grids(run)]
    return "\n\n".join([needs, *tables]) + "\n"


def _table(grid: Grid, run: Run) -> str:
    columns = "l" * grid.n_text + "r" * (len(grid.head) - grid.n_text)
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_text(f'{short(run.name)}: {grid.caption}')}}}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            _line(grid.head),
            r"\midrule",
            *map(_line, grid.lines),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


def _line(cells: Sequence[str]) -> str:
    return f"{' & '.join(map(_cell, cells))} \\\\"


def _cell(text: str) -> str:
    return rf"\textbf{{{_text(text)}}}" if isinstance(text, Bold) else _text(text)


def _text(text: str) -> str:
    """Keep names from being read as LaTeX."""
    return "".join(_SIGNS.get(character, character) for character in printable(text))
