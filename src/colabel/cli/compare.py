"""``colabel compare``: methods side by side."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from colabel.cli._app import app
from colabel.cli._common import check_folder, criterion
from colabel.cli._data import FileOptions, Labels, NFeatures, Xml, is_registered, load_training_data
from colabel.exceptions import ColabelError

if TYPE_CHECKING:
    from colabel.datasets import Dataset
    from colabel.lab import Row, Search

DataList = Annotated[
    list[str] | None,
    typer.Argument(metavar="DATA", help="Registered names or files.", show_default=False),
]
RunDir = Annotated[
    Path, typer.Option("-o", "--output", metavar="RUN_DIR", help="Folder for results.")
]
Jobs = Annotated[
    int,
    typer.Option("--jobs", min=1, metavar="N", help="Cells at a time, in processes of their own."),
]
CellTimeout = Annotated[
    float | None,
    typer.Option("--cell-timeout", metavar="SECONDS", help="A cell that takes longer has failed."),
]
CellMemory = Annotated[
    float | None,
    typer.Option("--cell-memory", metavar="MB", help="A cell that needs more memory has failed."),
]
Dask = Annotated[
    str | None,
    typer.Option("--dask", metavar="ADDRESS", help="Run cells on the workers of a Dask scheduler."),
]
Keep = Annotated[
    str,
    typer.Option("--keep", metavar="KINDS", help="Keep files too: predictions, models, or both."),
]


@app.command(epilog="Example: colabel compare yeast -m br,powset --split cv:5 -o runs/first")
def compare(
    output: RunDir,
    data: DataList = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="TOML file that says what is compared, in place of DATA."
        ),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            "-m",
            "--methods",
            metavar="NAMES",
            help="Names separated by commas; default: the quick ones.",
        ),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            metavar="SPLIT",
            help="official, cv:K (K folds) or holdout:F (share F tested); "
            "default: official where there is one, else cv:5.",
        ),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Repeat with this many seeds.")
    ] = None,
    tune: Annotated[
        str | None,
        typer.Option(
            metavar="SEARCH",
            help="Choose parameters on the training data of each cell: grid, random or halving.",
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            "--metric", "--measure", metavar="M", help="The measure that --tune does best on."
        ),
    ] = None,
    trials: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Settings that --tune tries at most.")
    ] = None,
    labels: Labels = None,
    xml: Xml = None,
    n_features: NFeatures = None,
    jobs: Jobs = 1,
    cell_timeout: CellTimeout = None,
    cell_memory: CellMemory = None,
    dask: Dask = None,
    keep: Keep = "",
) -> None:
    """Fit and measure methods on the same splits; write results.csv.

    The same command again goes on where it was stopped: cells that are done are read, cells that
    failed are tried once more.
    """
    from colabel.cli._tables import progress
    from colabel.lab import compare as run
    from colabel.lab import read_plan

    options = FileOptions(labels, xml, n_features)
    search = _search(tune, metric, trials)
    how = check_limits(jobs, cell_timeout, cell_memory, dask, keep)
    check_folder(output)
    files = {"--labels": labels, "--xml": xml, "--n-features": n_features}
    measures: tuple[str, ...] = ()
    if plan is not None:
        asked = {"DATA": data, "-m": methods, "--split": split, "--seeds": seeds, "--tune": tune}
        _leave_to_plan(asked | files)
        written = read_plan(plan)
        start, measures = written.run, written.measures
    elif data:
        start = partial(
            run,
            [*dict.fromkeys(data)],
            None if methods is None else _names(methods),
            split=split,
            seeds=range(seeds or 1),
            search=search,
            load_data=partial(_load, options),
            about=_file_options(data, options),
        )
    else:
        raise typer.BadParameter("name the data to compare on, or give --plan FILE")
    with progress() as callbacks:
        rows = start(run_dir=output, **how, **callbacks)
    _show(rows, measures, output / "results.csv")


def _show(rows: list[Row], measures: tuple[str, ...], results: Path) -> None:
    """Print a table for each of the data, and the cells that failed."""
    from rich.console import Console

    from colabel.cli._tables import failures, summary_table
    from colabel.cli._text import shown

    console = Console()
    for name, way in dict.fromkeys((row.data, row.split) for row in rows):
        some = [row for row in rows if row.split == way]
        console.print(summary_table(some, name, measures))
        console.print()
    for reason in failures(rows):
        console.print(shown(reason, "red"), soft_wrap=True)
    n_failed = sum(not row.result.ok for row in rows)
    if n_failed == len(rows):
        raise ColabelError(f"all {len(rows)} cells failed; the reasons are in {results}")
    console.print(shown(f"{len(rows)} cells, {n_failed} failed; {results}"), soft_wrap=True)


def check_limits(
    jobs: int,
    cell_timeout: float | None,
    cell_memory: float | None,
    dask: str | None = None,
    keep: str = "",
) -> dict[str, Any]:
    """Return how cells are run, as the laboratory takes it; refuse limits that cannot be kept."""
    for option, value in (("--cell-timeout", cell_timeout), ("--cell-memory", cell_memory)):
        if value is not None and not value > 0:
            raise typer.BadParameter(f"{option} must be above zero, not {value:g}")
        if value is not None and dask is not None:
            raise typer.BadParameter(f"{option} is not kept on Dask: set limits on its workers")
    if jobs > 1 and dask is not None:
        raise typer.BadParameter(
            "--dask runs as many cells as its workers have threads, not --jobs"
        )
    from colabel.lab.kept import check_kinds

    kinds = check_kinds([kind.strip() for kind in keep.split(",") if kind.strip()])
    limits = {"jobs": jobs, "cell_timeout": cell_timeout, "cell_memory": cell_memory}
    return {**limits, "dask": dask, "keep": kinds}


def _search(strategy: str | None, metric: str | None, trials: int | None) -> Search | None:
    from colabel.lab import Search

    if strategy is None:
        if metric is not None or trials is not None:
            raise typer.BadParameter("--metric and --trials belong to --tune")
        return None
    full = None if metric is None else criterion(metric)
    given = {"strategy": strategy, "metric": full, "n_trials": trials}
    return Search(**{key: value for key, value in given.items() if value is not None})  # type: ignore[arg-type]


def _leave_to_plan(given: dict[str, Any]) -> None:
    for option, value in given.items():
        if value:
            raise typer.BadParameter(f"--plan says what is compared: leave out {option}")


def _load(options: FileOptions, name: str, split: str | None = None) -> Dataset:
    """Load one of DATA; the options are those of the files among them."""
    own = FileOptions() if is_registered(name) else options
    return load_training_data(name, own, split=split)


def _file_options(data: list[str], options: FileOptions) -> dict[str, Any]:
    """Return how each file is read, for the commands that run its cells again."""
    given = {key: str(value) for key, value in options.given().items()}
    files = [name for name in data if not is_registered(name)]
    return {"options": dict.fromkeys(files, given)} if given and files else {}


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise typer.BadParameter("-m takes names separated by commas; see: colabel methods")
    return list(dict.fromkeys(names))
