"""A page of results that outlives the machines: new tables in, the others as they were written.

A page as ``render_markdown`` writes it has a line for each table in its overview, and a section for
each, with its own date and version. Both are found again by the name of the table.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from colabel.lab.report.words import count_cells

__all__ = ["merge_pages"]

# Columns of the overview: see ``grids.overview``.
NAME, CELLS, FAILED = 0, 4, 5


@dataclass(frozen=True)
class _Page:
    """A page in its parts: what stands before the numbers, and tables by name."""

    introduction: str
    head: str
    lines: dict[str, str]
    words: str
    sections: dict[str, str]


def merge_pages(
    old: str, new: str, replace: Sequence[str] = ()
) -> tuple[str, dict[str, tuple[int, int]]]:
    """Put the tables of a new page, of which there is one at least, in place of an old one's.

    A table of the old page that has more cells than that of the new one stays: it was run where
    cells are that the new page was not made from.

    Parameters
    ----------
    old, new : str
        Pages of ``render_markdown`` with an overview; ``old`` may be empty.
    replace : sequence of str
        Names of tables that are replaced even so.

    Returns
    -------
    page : str
    kept : dict of str to (int, int)
        Tables that stayed for having more cells, with the numbers of cells, old and new.
    """
    ours = _parse(new)
    theirs = _parse(old) if old.strip() else _Page("", "", {}, "", {})
    counts = {
        name: (_counts(theirs.lines[name])[0], _counts(ours.lines[name])[0])
        for name in theirs.lines.keys() & ours.lines.keys()
    }
    kept = {
        name: pair for name, pair in counts.items() if pair[0] > pair[1] and name not in replace
    }
    lines = {**theirs.lines, **{n: line for n, line in ours.lines.items() if n not in kept}}
    sections = {**theirs.sections, **{n: s for n, s in ours.sections.items() if n not in kept}}
    names = sorted(lines)
    sums = [sum(column) for column in zip(*map(_counts, lines.values()), strict=True)]
    table = "\n".join([ours.head, *(lines[name] for name in names)])
    counted = " ".join(count_cells(*sums).split())  # as Markdown has it, with plain spaces
    parts = [ours.introduction, counted, table, ours.words]
    page = "\n\n".join([*parts, *(sections[name] for name in names)])
    return f"{page}\n", dict(sorted(kept.items()))


def _parse(page: str) -> _Page:
    top, *sections = re.split(r"^(?=## )", page.strip(), flags=re.M)
    parts = top.strip().split("\n\n")
    [place] = [i for i, part in enumerate(parts) if part.startswith("| run |")]
    table = parts[place].split("\n")
    return _Page(
        "\n\n".join(parts[: place - 1]),  # but for the sentence that counts cells
        "\n".join(table[:2]),
        {_cells(line)[NAME]: line for line in table[2:]},
        "\n\n".join(parts[place + 1 :]),
        {text.split("\n", 1)[0].removeprefix("## ").strip(): text.strip() for text in sections},
    )


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def _counts(line: str) -> tuple[int, int, int]:
    """Return the numbers of cells that are done, failed and missing."""
    cells = _cells(line)
    done, _, planned = cells[CELLS].partition(" of ")
    return int(done), int(cells[FAILED]), int(planned or done) - int(done)
