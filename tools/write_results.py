"""Write docs/results.md from folders of ``colabel reproduce``; nothing is run.

Usage: ``python tools/write_results.py RUN_DIR...``

Finished cells are gathered from the stores, so that tables that were run in parts are whole.
"""

import sys
from pathlib import Path

from colabel.lab.report import read_runs, render_markdown
from colabel.lab.report.gathering import gather_runs

PAGE = Path(__file__).parents[1] / "docs" / "results.md"
INTRODUCTION = """\
The tables of the papers as colabel has run them, ours beside the published numbers. This page is
written by `tools/write_results.py` from the folders of the runs, never by hand. A ▲ is better than
published, a ▼ worse, and ≈ the same within the spread of our runs or the last digit printed. Times
are of fitting and predicting, on two cores that other work shared. Where a protocol differs from
the paper's, it is said below the table. [Reports](guide/reports.md) tells how such pages are
made."""


def main(folders: list[str], page: Path = PAGE) -> None:
    """Replace the page."""
    runs = [run for folder in folders for run in gather_runs(folder)]
    traced = [path.parent for folder in folders for path in Path(folder).glob("*/traces.csv")]
    runs += read_runs(traced) if traced else []
    runs.sort(key=lambda run: run.name)
    page.write_text(
        render_markdown(runs, title="Results", introduction=INTRODUCTION), encoding="utf-8"
    )


if __name__ == "__main__":
    main(sys.argv[1:] or sys.exit(__doc__))
