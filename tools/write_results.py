"""Write docs/results.md from folders of ``colabel reproduce``; nothing is run.

Usage: ``python tools/write_results.py [--replace TABLE]... RUN_DIR...``
       ``python tools/write_results.py --into RUN_DIR``

Finished cells are gathered from the stores, so that tables that were run in parts are whole, and
kept in docs/results.jsonl.gz, which is to be committed: folders of runs are not. The next call
finds those cells again, on any machine. Tables that the folders have no cells of, or fewer than the
page, stay on the page as they were written; ``--replace`` takes the new one all the same.

``--into`` puts the cells of docs/results.jsonl.gz into the store of a folder, so that ``colabel
reproduce ... -o RUN_DIR`` goes on from there.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from results_cells import (
    add_to_store,
    gather_runs,
    merged,
    pack_cells,
    read_store,
    unpack_cells,
)
from results_page import merge_pages

from colabel.lab.report import read_runs, render_markdown

PAGE = Path(__file__).parents[1] / "docs" / "results.md"
INTRODUCTION = """\
The tables of the papers as colabel has run them, ours beside the published numbers. This page is
written by `tools/write_results.py` from the folders of the runs, never by hand. A ▲ is better than
published, a ▼ worse, and ≈ the same within the spread of our runs or the last digit printed. Times
are of fitting and predicting, on two cores that other work shared. Where a protocol differs from
the paper's, it is said below the table. [Reports](guide/reports.md) tells how such pages are
made."""


def main(folders: Sequence[str], page: Path = PAGE, replace: Sequence[str] = ()) -> None:
    """Bring the page, and the cells beside it, up to date."""
    cells = page.with_suffix(".jsonl.gz")
    known = unpack_cells(cells)
    for folder in folders:
        known = merged(known, read_store(folder))
    found = {run.name: run for folder in folders for run in gather_runs(folder, more=known)}
    traced = [path.parent for folder in folders for path in Path(folder).glob("*/traces.csv")]
    found |= {run.name: run for run in (read_runs(traced) if traced else [])}
    if not found:
        raise SystemExit(f"{', '.join(folders)}: no cell of a table of the papers is there")
    runs = [found[name] for name in sorted(found)]
    new = render_markdown(runs, title="Results", introduction=INTRODUCTION, with_overview=True)
    old = page.read_text(encoding="utf-8") if page.exists() else ""
    text, kept = merge_pages(old, new, replace)
    page.write_text(text, encoding="utf-8")
    pack_cells(cells, known)
    for name, (n_old, n_new) in kept.items():
        print(f"{name} stays as it is: {n_old} cells on the page, {n_new} found")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("folders", metavar="RUN_DIR", nargs="+")
    parser.add_argument("--replace", metavar="TABLE", action="append", default=[])
    parser.add_argument("--into", action="store_true", help="put cells into RUN_DIR")
    given = parser.parse_args()
    if given.into:
        for place in given.folders:
            n_new = add_to_store(place, unpack_cells(PAGE.with_suffix(".jsonl.gz")))
            print(f"{n_new} cells put into {place}")
    else:
        main(given.folders, replace=given.replace)
