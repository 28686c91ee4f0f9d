"""Choosing a method's parameters by cross-validation on training data."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

import numpy as np

from colabel.datasets import Dataset
from colabel.exceptions import UnknownNameError
from colabel.lab.cell import first_sentence
from colabel.lab.methods import full_name, get_method, make
from colabel.metrics import get_measure, log_likelihood, make_scorer
from colabel.model_selection import IterativeStratifiedKFold

__all__ = ["LOG_LIKELIHOOD", "Trial", "Tuning", "search_space", "tune"]

# The one criterion that is no measure: for methods with a joint distribution.
LOG_LIKELIHOOD = "log_likelihood"

Parameters = dict[str, Any]
Space = Mapping[str, tuple[Any, ...]]


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
    """

    parameters: Parameters
    value: float = float("nan")
    spread: float = float("nan")
    fit_seconds: float = float("nan")
    failed: str | None = None


@dataclass(frozen=True)
class Tuning:
    """What a search has tried, best first; of equal settings, that tried first."""

    method: str
    metric: str
    n_folds: int
    trials: tuple[Trial, ...] = field(repr=False)

    @property
    def best(self) -> Trial:
        """The best setting."""
        return self.trials[0]


def search_space(
    method: str, fixed: Parameters | None = None, tried: Mapping[str, Any] | None = None
) -> dict[str, tuple[Any, ...]]:
    """Return the parameters to search, by full name, and their values.

    Parameters
    ----------
    method : str
        A registered name, whose registered space it is to begin with.
    fixed : dict or None
        Parameters that are not searched.
    tried : mapping of str to sequence, or None
        Values of parameters, registered or not, to search instead.
    """
    estimator = make(method)
    known = {full_name(estimator, key, method): v for key, v in get_method(method)[0].space.items()}
    asked = {full_name(estimator, key, method): tuple(v) for key, v in (tried or {}).items()}
    given = {full_name(estimator, key, method) for key in fixed or {}}
    twice = sorted(given & asked.keys())
    if twice:
        raise UnknownNameError(f"{twice[0]} of {method} is fixed and searched; it cannot be both")
    space = {key: values for key, values in {**known, **asked}.items() if key not in given}
    if not space or not all(space.values()):
        raise UnknownNameError(f"nothing of {method} is left to search; name values to try")
    return space


def tune(
    method: str,
    data: Dataset,
    metric: str,
    *,
    fixed: Parameters | None = None,
    space: Space | None = None,
    n_folds: int = 3,
    n_trials: int = 40,
    seed: int = 0,
    on_plan: Callable[[int], None] = lambda n_trials: None,
    on_trial: Callable[[Trial], None] = lambda trial: None,
) -> Tuning:
    """Search for the parameters that do best on folds of the training data.

    All settings are tried where they are no more than ``n_trials``. Otherwise one parameter after
    another is, the others as in the best setting so far, from the method's defaults on; a round
    that brings nothing ends it. The folds are the same for all settings.

    Parameters
    ----------
    method : str
        A registered name.
    data : Dataset
        Training data.
    metric : str
        A measure, or ``"log_likelihood"``, which chooses best on few rows, for methods with a joint
        distribution.
    fixed : dict or None
        Parameters that all settings share.
    space : mapping or None
        Parameters and their values; None is the method's registered space.
    n_folds : int
        Iteratively stratified.
    n_trials : int
        Settings tried at most.
    seed : int
        Fixes folds and every ``random_state``.
    on_plan, on_trial : callable
        Told how many trials there will be at most, and of each when it is done.

    Returns
    -------
    Tuning
    """
    score, better = _criterion(metric)
    if metric == LOG_LIKELIHOOD and not hasattr(make(method), "joint_log_prob"):
        raise UnknownNameError(f"{method} gives labelings no probability: choose another metric")
    if space is None:
        space = search_space(method, fixed)
    else:
        space = {full_name(make(method), key, method): v for key, v in space.items()}
    if not 2 <= n_folds <= data.n_samples:
        raise UnknownNameError(
            f"{n_folds} folds of {data.n_samples} samples cannot be made; at least 2, at most one "
            "a sample"
        )
    splitter = IterativeStratifiedKFold(n_folds, random_state=seed)
    folds = [*splitter.split(np.zeros(data.n_samples), data.Y)]
    on_plan(min(n_trials, prod(len(values) for values in space.values())))
    trials: dict[str, Trial] = {}

    def attempt(setting: Parameters) -> Trial:
        key = repr(sorted(setting.items()))
        if key not in trials:
            params = {**(fixed or {}), **setting}
            trials[key] = _try(lambda: make(method, params, seed), setting, data, folds, score)
            on_trial(trials[key])
        return trials[key]

    for setting in _settings(space, _defaults(method, fixed, space), n_trials, attempt, better):
        if len(trials) >= n_trials:
            break
        attempt(setting)
    ranked = sorted(trials.values(), key=lambda trial: -_rank(trial, better))
    return Tuning(method, metric, n_folds, tuple(ranked))


def _criterion(metric: str) -> tuple[Callable[..., float], float]:
    """Return what scores a fitted estimator, as the measure is printed, and 1 or -1 by its sign."""
    if metric == LOG_LIKELIHOOD:
        return log_likelihood, 1.0
    sign = 1.0 if get_measure(metric).greater_is_better else -1.0
    scorer = make_scorer(metric)
    return lambda *given: sign * scorer(*given), sign


def _rank(trial: Trial, better: float) -> float:
    return -np.inf if np.isnan(trial.value) else better * trial.value


def _defaults(method: str, fixed: Parameters | None, space: Space) -> Parameters:
    present = make(method, fixed).get_params()
    return {key: present[key] for key in space}


def _settings(
    space: Space,
    start: Parameters,
    n_trials: int,
    attempt: Callable[[Parameters], Trial],
    better: float,
) -> Iterator[Parameters]:
    """Yield settings to try; what came of them decides which are next."""
    if prod(len(values) for values in space.values()) <= n_trials:
        yield from (dict(zip(space, values, strict=True)) for values in product(*space.values()))
        return
    best, before = start, None
    yield start
    while best != before:
        before = best
        for name, values in space.items():
            line = [{**best, name: value} for value in values]
            yield from line
            best = max([best, *line], key=lambda setting: _rank(attempt(setting), better))


def _try(
    build: Callable[[], Any],
    setting: Parameters,
    data: Dataset,
    folds: list[tuple[Any, Any]],
    score: Callable[..., float],
) -> Trial:
    """Fit and score a setting on every fold; one that raises says why."""
    values, seconds = [], []
    try:
        for kept, out in folds:
            estimator = build()
            started = time.perf_counter()
            estimator.fit(data.X[kept], data.Y[kept])
            seconds.append(time.perf_counter() - started)
            values.append(score(estimator, data.X[out], data.Y[out]))
    except Exception as error:  # the others go on, and the reason is kept
        reason = first_sentence(str(error)) or "no reason given"
        return Trial(setting, failed=f"{type(error).__name__}: {reason}")
    return Trial(setting, float(np.mean(values)), float(np.std(values)), float(np.mean(seconds)))
