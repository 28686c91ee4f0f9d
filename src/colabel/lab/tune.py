"""Choosing a method's parameters by cross-validation on training data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from colabel.datasets import Dataset
from colabel.exceptions import ColabelError, UnknownNameError, is_interrupt
from colabel.lab.methods import full_name, get_method, make, with_facets
from colabel.lab.processes import seconds_of_work
from colabel.lab.rows import first_sentence
from colabel.lab.search import Parameters, Search, Space, Trial, count, halve, list_settings, rungs
from colabel.lab.splits import Rows
from colabel.lab.statistics import mean_sd
from colabel.metrics import get_measure, log_likelihood, make_scorer
from colabel.model_selection import IterativeStratifiedKFold

__all__ = ["LOG_LIKELIHOOD", "SearchedMethod", "Tuning", "search_space", "tune"]

# The one criterion that is no measure: for methods with a joint distribution.
LOG_LIKELIHOOD = "log_likelihood"


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


def _check_metric(metric: str, method: str) -> None:
    """Check that a method can be tuned for a measure."""
    _criterion(metric)
    if metric == LOG_LIKELIHOOD and not hasattr(make(method), "joint_log_prob"):
        raise UnknownNameError(f"{method} gives labelings no probability: choose another metric")


def tune(
    method: str,
    data: Dataset,
    metric: str,
    *,
    strategy: str = "grid",
    fixed: Parameters | None = None,
    space: Space | None = None,
    n_folds: int = 3,
    n_trials: int = 40,
    seed: int = 0,
    on_plan: Callable[[int], None] = lambda n_trials: None,
    on_trial: Callable[[Trial], None] = lambda trial: None,
) -> Tuning:
    """Search for the parameters that do best on folds of the training data.

    All settings are tried where they are no more than ``n_trials``. Otherwise ``"grid"`` takes one
    parameter after another, the others as in the best setting so far, from the method's defaults
    on; a round that brings nothing ends it. ``"random"`` draws settings. ``"halving"`` draws them
    too, fits them to few rows, and the best third of them to three times as many, until the best
    have seen all rows. The folds are the same for all settings. A method with ``warm_start`` goes
    on from the setting before.

    Parameters
    ----------
    method : str
        A registered name.
    data : Dataset
        Training data.
    metric : str
        A measure, or ``"log_likelihood"``, which chooses best on few rows, for methods with a joint
        distribution.
    strategy : {"grid", "random", "halving"}
    fixed : dict or None
        Parameters that all settings share.
    space : mapping or None
        Parameters and their values; None is the method's registered space.
    n_folds : int
        Iteratively stratified.
    n_trials : int
        Settings tried at most.
    seed : int
        Fixes folds, draws and every ``random_state``.
    on_plan, on_trial : callable
        Called with the number of trials at most, and with each when it is done.

    Returns
    -------
    Tuning
    """
    Search(metric, strategy)  # which checks the strategy
    _check_metric(metric, method)
    score, better = _criterion(metric)
    if space is None:
        space = search_space(method, fixed)
    else:
        space = {full_name(make(method), key, method): v for key, v in space.items()}
    bench = _Bench(method, fixed or {}, data, _folds(data, n_folds, seed), score, seed, on_trial)
    start = bench.defaults(space)
    listed = list_settings(strategy, space, start, n_trials, bench.attempt, better, seed)
    if strategy == "halving":
        settings, n_rows = [*listed], bench.n_rows
        on_plan(sum(n_left for n_left, _ in rungs(len(settings), n_rows)))
        halve(settings, n_rows, bench.attempt, better)
    else:
        on_plan(min(n_trials, count(space)))
        for setting in listed:
            if len(bench.trials) >= n_trials:
                break
            bench.attempt(setting)
    ranked = sorted(bench.trials.values(), key=lambda trial: trial.rank(better), reverse=True)
    return Tuning(method, metric, n_folds, tuple(ranked))


def _criterion(metric: str) -> tuple[Callable[..., float], float]:
    """Return what scores a fitted estimator, as the measure is printed, and 1 or -1 by its sign."""
    if metric == LOG_LIKELIHOOD:
        return log_likelihood, 1.0
    sign = 1.0 if get_measure(metric).greater_is_better else -1.0
    scorer = make_scorer(metric)
    return lambda *given: sign * scorer(*given), sign


def _folds(data: Dataset, n_folds: int, seed: int) -> list[Rows]:
    if not 2 <= n_folds <= data.n_samples:
        raise UnknownNameError(
            f"{n_folds} folds of {data.n_samples} samples cannot be made; at least 2, at most one "
            "a sample"
        )
    splitter = IterativeStratifiedKFold(n_folds, random_state=seed)
    return [*splitter.split(np.zeros(data.n_samples), data.Y)]


@dataclass
class SearchedMethod:
    """What a cell fits: a search on its training data, then the method as chosen, to all of them.

    Parameters
    ----------
    method : str
        Registered name.
    search : Search
    fixed : dict
        Parameters that are not searched.
    tried : dict
        Values of parameters to search, in place of the registered ones.
    seed : int
    """

    method: str
    search: Search
    fixed: Parameters = field(default_factory=dict)
    tried: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    space: Space = field(init=False)
    start: Any = field(init=False)

    def __post_init__(self) -> None:
        # Both are part of what the key of the cell is made of.
        self.start = make(self.method, self.fixed, self.seed)
        self.space = search_space(self.method, self.fixed, self.tried)
        _check_metric(self.search.metric, self.method)

    def fit_data(self, train: Dataset) -> tuple[Any, Parameters, list[dict[str, Any]]]:
        """Return the fitted estimator, the parameters chosen, and all trials, best first."""
        given = {**asdict(self.search), "fixed": self.fixed, "space": self.space, "seed": self.seed}
        found = tune(self.method, train, **given)
        if found.best.failed is not None:
            raise ColabelError(f"no setting of {self.method} could be fitted: {found.best.failed}")
        chosen = found.best.parameters
        estimator = make(self.method, {**self.fixed, **chosen}, self.seed)
        estimator = with_facets(estimator, train).fit(train.X, train.Y)
        return estimator, chosen, [asdict(trial) for trial in found.trials]


@dataclass
class _Bench:
    """Where settings are fitted and scored; each is so once, or again on more rows."""

    method: str
    fixed: Parameters
    data: Dataset
    folds: list[Rows]
    score: Callable[..., float]
    seed: int
    on_trial: Callable[[Trial], None]
    trials: dict[str, Trial] = field(default_factory=dict)
    _warm: dict[int, Any] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Training rows of the smallest fold."""
        return min(len(kept) for kept, _ in self.folds)

    def defaults(self, space: Space) -> Parameters:
        present = make(self.method, self.fixed).get_params()
        return {key: present.get(key, space[key][0]) for key in space}

    def attempt(self, setting: Parameters, share: float = 1.0) -> Trial:
        key = repr(sorted(setting.items()))
        if key not in self.trials or self.trials[key].share < share:
            self.trials[key] = self._try(setting, share)
            self.on_trial(self.trials[key])
        return self.trials[key]

    def _try(self, setting: Parameters, share: float) -> Trial:
        """Fit and score a setting on every fold; one that raises says why."""
        values, seconds = [], []
        try:
            for number, (kept, out) in enumerate(self.folds):
                rows = self._some(kept, share)
                estimator = self._estimator(number, setting)
                started = seconds_of_work()
                estimator.fit(self.data.X[rows], self.data.Y[rows])
                seconds.append(seconds_of_work() - started)
                values.append(self.score(estimator, self.data.X[out], self.data.Y[out]))
        except Exception as error:  # the others go on, and the reason is kept
            if is_interrupt(error):
                raise KeyboardInterrupt from error
            self._warm.clear()
            reason = first_sentence(str(error)) or "no reason given"
            return Trial(setting, failed=f"{type(error).__name__}: {reason}", share=share)
        found = float(np.mean(values)), mean_sd(values).sd, float(np.mean(seconds))
        return Trial(setting, *found, share=share)

    def _estimator(self, number: int, setting: Parameters) -> Any:
        """Make the estimator of a fold, or set the one that has a warm start."""
        if number in self._warm:
            return self._warm[number].set_params(**setting)
        made = with_facets(make(self.method, {**self.fixed, **setting}, self.seed), self.data)
        if "warm_start" in made.get_params(deep=False) and "warm_start" not in self.fixed:
            self._warm[number] = made.set_params(warm_start=True)
        return made

    def _some(self, rows: np.ndarray, share: float) -> np.ndarray:
        """Return a share of rows, of which a smaller share is part."""
        if share >= 1.0:
            return rows
        order = np.random.default_rng(self.seed).permutation(len(rows))
        some: np.ndarray = rows[np.sort(order[: max(1, round(share * len(rows)))])]
        return some
