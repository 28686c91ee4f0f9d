"""``colabel tune``: choose a method's parameters by cross-validation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from colabel.cli._app import app
from colabel.cli._common import Json, check_file, criterion, parse_params, print_json
from colabel.cli._data import Data, FileOptions, Labels, NFeatures, Xml, load_training_data
from colabel.cli.fit import Method, Params, fit_and_save
from colabel.exceptions import ColabelError

if TYPE_CHECKING:
    from colabel.lab.tune import Trial, Tuning

# Rows of the table; the others are in the JSON.
SHOWN = 12


@app.command(epilog="Example: colabel tune yeast:train -m br --metric subset_accuracy -o model")
def tune(
    data: Data,
    method: Method,
    metric: Annotated[
        str,
        typer.Option(
            "--metric",
            "--measure",
            metavar="M",
            help="The measure to do best on, or log_likelihood (for methods with a joint "
            "distribution), which chooses best on few samples.",
        ),
    ],
    param: Params = [],  # noqa: B006 - typer reads it
    values: Annotated[
        list[str],
        typer.Option(
            "--try",
            metavar="KEY=[V,...]",
            help="Values of a parameter to search, in place of the registered ones; repeat it.",
        ),
    ] = [],  # noqa: B006 - typer reads it
    folds: Annotated[int, typer.Option(min=2, metavar="K", help="Folds of the data.")] = 3,
    search: Annotated[
        str,
        typer.Option(metavar="SEARCH", help="grid, random or halving (fewer and fewer settings)."),
    ] = "grid",
    trials: Annotated[int, typer.Option(min=1, metavar="N", help="Settings tried at most.")] = 40,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="MODEL", help="Fit the best to all of DATA."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Fixes what is random.")] = 0,
    labels: Labels = None,
    xml: Xml = None,
    n_features: NFeatures = None,
    as_json: Json = False,
) -> None:
    """Search a method's registered space by cross-validation on DATA."""
    from colabel.cli._tables import trial_progress
    from colabel.lab.methods import make
    from colabel.lab.tune import search_space
    from colabel.lab.tune import tune as run

    fixed = parse_params(param)
    space = search_space(method, fixed, _lists(values))
    make(method, fixed)
    if output is not None:
        check_file(output, data, xml)
    dataset = load_training_data(data, FileOptions(labels, xml, n_features))
    with trial_progress(method) as callbacks:
        found = run(
            method,
            dataset,
            criterion(metric),
            strategy=search,
            fixed=fixed,
            space=space,
            n_folds=folds,
            n_trials=trials,
            seed=seed,
            **callbacks,
        )
    if found.best.failed:
        raise ColabelError(f"no setting of {method} could be fitted: {found.best.failed}")
    seconds = None
    if output is not None:
        chosen = {**fixed, **found.best.parameters}
        notes = {"method": method, "parameters": chosen, "seed": seed, "data": data}
        estimator = make(method, chosen, seed)
        seconds = fit_and_save(estimator, dataset, output, xml, {**notes, "labels": labels})
    if as_json:
        print_json(_as_dict(found, data, dataset.n_samples, seed, output))
        return
    _show(found, data)
    if output is not None:
        typer.echo(
            f"fitted it to {dataset.n_samples} samples in {seconds:.1f} s; model in {output}"
        )


def _lists(pairs: list[str]) -> dict[str, list[Any]]:
    """Read ``--try key=[value, ...]``."""
    found = parse_params(pairs)
    for key, values in found.items():
        if not isinstance(values, list) or not values:
            raise typer.BadParameter(
                f"--try takes KEY=[V,...], a list as in JSON, not {key}={values!r}"
            )
    return found


def _show(found: Tuning, data: str) -> None:
    from rich.console import Console

    from colabel.cli._tables import titled, tuning_table
    from colabel.cli._text import shown

    console = Console()
    table, title = tuning_table(found, SHOWN)
    console.print(titled(f"{found.method} on {data}: {title}", table))
    failed = [trial for trial in found.trials if trial.failed]
    if failed:
        reason = f"{len(failed)} of {len(found.trials)} settings failed: {failed[0].failed}"
        console.print(shown(reason, "red"), soft_wrap=True)
    best = " ".join(f"-p {key}={json.dumps(v)}" for key, v in found.best.parameters.items())
    console.print(shown(f"best: {best}"), soft_wrap=True)


def _as_dict(
    found: Tuning, data: str, n_samples: int, seed: int, output: Path | None
) -> dict[str, Any]:
    return {
        "data": data,
        "method": found.method,
        "metric": found.metric,
        "n_samples": n_samples,
        "folds": found.n_folds,
        "seed": seed,
        "best": _trial(found.best),
        "trials": [_trial(trial) for trial in found.trials],
        "model": None if output is None else str(output),
    }


def _trial(trial: Trial) -> dict[str, Any]:
    return {
        "parameters": trial.parameters,
        "value": trial.value,
        "spread": trial.spread,
        "fit_seconds": trial.fit_seconds,
        "failed": trial.failed,
        "share": trial.share,
    }
