"""A method whose parameters are searched inside each cell, on its training data alone."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from colabel.datasets import Dataset
from colabel.exceptions import ColabelError, UnknownNameError
from colabel.lab.label_sets import with_label_sets
from colabel.lab.methods import make
from colabel.lab.search import STRATEGIES, Parameters, Space
from colabel.lab.tune import check_metric, search_space, tune

__all__ = ["Search", "SearchedMethod"]


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


@dataclass
class SearchedMethod:
    """What a cell fits: the search, then the method as chosen, to all training rows.

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
        # Both tell what the method is, for the key of the cell.
        self.start = make(self.method, self.fixed, self.seed)
        self.space = search_space(self.method, self.fixed, self.tried)
        check_metric(self.search.metric, self.method)

    def fit_data(self, train: Dataset) -> tuple[Any, Parameters, list[dict[str, Any]]]:
        """Return the fitted estimator, the parameters chosen, and all trials, best first."""
        found = tune(
            self.method,
            train,
            self.search.metric,
            strategy=self.search.strategy,
            fixed=self.fixed,
            space=self.space,
            n_folds=self.search.n_folds,
            n_trials=self.search.n_trials,
            seed=self.seed,
        )
        if found.best.failed is not None:
            raise ColabelError(f"no setting of {self.method} could be fitted: {found.best.failed}")
        chosen = found.best.parameters
        estimator = make(self.method, {**self.fixed, **chosen}, self.seed)
        estimator = with_label_sets(estimator, train).fit(train.X, train.Y)
        return estimator, chosen, [asdict(trial) for trial in found.trials]
