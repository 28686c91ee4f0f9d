"""Searches of parameters: all settings, some of them, or fewer and fewer on more rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import ceil, floor, log, prod
from typing import Any

import numpy as np

from colabel.exceptions import UnknownNameError

__all__ = ["Parameters", "Search", "Space", "Trial", "count", "halve", "list_settings", "rungs"]

STRATEGIES = ("grid", "random", "halving")
# Of halving: one of so many settings goes on to so many times the rows, from at least so many on.
FACTOR, FEWEST_ROWS = 3, 50

Parameters = dict[str, Any]
Space = Mapping[str, tuple[Any, ...]]


@dataclass(frozen=True)
class Search:
    """How parameters are chosen; see ``tune``.

    Parameters
    ----------
    metric : str
        The measure to do best on.
    strategy : {"grid", "random", "halving"}
    n_trials, n_folds : int
        Settings tried at most, and folds of the training data.
    """

    metric: str = "example_f1"
    strategy: str = "grid"
    n_trials: int = 40
    n_folds: int = 3

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            raise UnknownNameError(
                f"{self.strategy!r} is no search: there is {', '.join(STRATEGIES)}"
            )
        if self.n_trials < 1 or self.n_folds < 2:
            raise UnknownNameError("a search needs at least 1 trial and 2 folds")


@dataclass(frozen=True)
class Trial:
    """One setting, and what it came to on the rows held out.

    Parameters
    ----------
    parameters : dict
        Those searched, by full name.
    value, spread : float
        Mean of the criterion over the folds, and its standard deviation; NaN where it failed.
    fit_seconds : float
        For one fold, on average.
    failed : str or None
        Why there is no value.
    share : float
        Share of the training rows that it was last fitted to; below 1 where halving left it out.
    """

    parameters: Parameters
    value: float = float("nan")
    spread: float = float("nan")
    fit_seconds: float = float("nan")
    failed: str | None = None
    share: float = 1.0

    def rank(self, better: float) -> tuple[float, float]:
        """Return what is greater for better trials; ``better`` is 1 or -1 by the measure's sign."""
        value = -np.inf if np.isnan(self.value) else better * self.value
        return (self.share, value)


def count(space: Space) -> int:
    """Return the number of settings."""
    return prod(len(values) for values in space.values())


def list_settings(
    strategy: str,
    space: Space,
    start: Parameters,
    n_trials: int,
    attempt: Callable[[Parameters], Trial],
    better: float,
    seed: int,
) -> Iterator[Parameters]:
    """Yield settings to try, no more than ``n_trials`` of them for ``"random"``.

    ``"grid"`` is all settings where they are so few; otherwise one parameter after another, the
    others as in the best setting so far: what came of settings decides which are next.
    """
    if count(space) <= n_trials:
        yield from (dict(zip(space, values, strict=True)) for values in product(*space.values()))
    elif strategy == "grid":
        yield from _line_by_line(space, start, attempt, better)
    else:
        yield start
        yield from _draw(space, n_trials - 1, seed)


def rungs(n_settings: int, n_rows: int) -> list[tuple[int, float]]:
    """List how many settings are fitted to which share of the rows; all rows in the end.

    Examples
    --------
    >>> [(n, round(share, 2)) for n, share in rungs(27, 5000)]
    [(27, 0.04), (9, 0.11), (3, 0.33), (1, 1.0)]
    >>> rungs(9, 60)
    [(9, 1.0)]
    """
    by_settings = floor(log(n_settings, FACTOR) + 1e-9)
    by_rows = floor(log(max(1.0, n_rows / FEWEST_ROWS), FACTOR) + 1e-9)
    n_steps = min(by_settings, by_rows)
    return [
        (ceil(n_settings / FACTOR**step), float(FACTOR) ** (step - n_steps))
        for step in range(n_steps + 1)
    ]


def halve(
    settings: list[Parameters],
    n_rows: int,
    attempt: Callable[[Parameters, float], Trial],
    better: float,
) -> None:
    """Try all settings on few rows, and the best third of them again on three times as many."""
    for n_left, share in rungs(len(settings), n_rows):
        settings = settings[:n_left]
        trials = [attempt(setting, share) for setting in settings]
        order = sorted(trials, key=lambda trial: trial.rank(better), reverse=True)
        settings = [trial.parameters for trial in order]


def _line_by_line(
    space: Space, start: Parameters, attempt: Callable[[Parameters], Trial], better: float
) -> Iterator[Parameters]:
    best, before = start, None
    yield start
    while best != before:
        before = best
        for name, values in space.items():
            line = [{**best, name: value} for value in values]
            yield from line
            best = max([best, *line], key=lambda setting: attempt(setting).rank(better))


def _draw(space: Space, n_settings: int, seed: int) -> Iterator[Parameters]:
    """Draw settings, none twice."""
    sizes = [len(values) for values in space.values()]
    drawn = np.random.default_rng(seed).choice(count(space), n_settings, replace=False)
    for number in drawn:
        places = np.unravel_index(int(number), sizes)
        pairs = zip(space.items(), places, strict=True)
        yield {name: values[place] for (name, values), place in pairs}
