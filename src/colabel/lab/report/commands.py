"""The commands that run a run, or one cell of it, again."""

from __future__ import annotations

import shlex

from colabel.lab.report.reading import Run
from colabel.lab.rows import Row
from colabel.lab.splits import default_split

__all__ = ["redo_command", "run_command"]


def run_command(run: Run) -> str:
    """Return the command that does all of a run, elsewhere."""
    if run.plan is not None:
        quick = ["--quick"] if run.is_quick else []
        return shlex.join(["colabel", "reproduce", run.plan.name, *quick, "-o", "runs/again"])
    if run.about.get("plan_file"):
        plan = str(run.about["plan_file"])
        return shlex.join(["colabel", "compare", "--plan", plan, "-o", "runs/again"])
    splits = {row.data: row.split for row in run.rows}
    same = {*splits.values()} if any(default_split(d) != s for d, s in splits.items()) else set()
    split = ["--split", *same] if len(same) == 1 else []
    seeds = run.about.get("seeds") or sorted({row.seed for row in run.rows})
    repeats = ["--seeds", str(len(seeds))] if len(seeds) > 1 else []
    methods = ["-m", ",".join(run.methods)]
    data = [*dict.fromkeys(row.data for row in run.rows)]
    how = [*split, *repeats, *_tuned(run), *_loaded(run, *data)]
    return shlex.join(["colabel", "compare", *data, *methods, *how, "-o", "runs/again"])


def redo_command(run: Run, row: Row) -> str:
    """Return the command that runs one cell again and sets it beside what it gave."""
    which = ["--data", row.data, "--method", row.method]
    which += ["--split", row.split] if run.where(row) != row.data else []
    which += ["--seed", str(row.seed), "--fold", str(row.fold), *_loaded(run, row.data)]
    return shlex.join(["colabel", "redo", str(run.folder), *which])


def _tuned(run: Run) -> list[str]:
    """Return the options of the search inside cells, if there was one."""
    search = run.about.get("search") or {}
    names = {"strategy": "--tune", "metric": "--metric", "n_trials": "--trials"}
    return [
        word for key, name in names.items() if key in search for word in (name, f"{search[key]}")
    ]


def _loaded(run: Run, *data: str) -> list[str]:
    """Return the options that say how files are read."""
    given = {key: f"{value}" for name in data for key, value in run.options(name).items()}
    return [f"--{key.replace('_', '-')}={value}" for key, value in given.items()]
