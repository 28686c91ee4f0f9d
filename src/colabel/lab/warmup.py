"""Kernels compiled ahead of time: methods are fitted to small problems."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy import sparse

from colabel.datasets import Dataset
from colabel.lab.methods import get_method, make, with_facets

__all__ = ["warm_up"]

N_ROWS, N_CLASSES = 160, 3


def warm_up(
    methods: Iterable[str], on_method: Callable[[str], None] | None = None
) -> tuple[float, str | None]:
    """Compile what a fit and a prediction of each method needs, and keep it on disk.

    Parameters
    ----------
    methods : iterable of str
        Registered names, with or without a suffix.
    on_method : callable or None
        Called with the name of each method before it is fitted.

    Returns
    -------
    seconds : float
        Spent compiling, or loading what was compiled before.
    folder : str or None
        Where it is kept; None if no folder for it can be written.
    """
    from colabel._kernels import kept_in, seconds_compiling, without_notice  # imports Numba

    without_notice()
    before = seconds_compiling()
    for name in methods:
        if on_method is not None:
            on_method(name)
        for data in _problems(get_method(name)[0].facets):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that so few rows do not suffice
                estimator = with_facets(make(name, seed=0), data)
                estimator.fit(data.X, data.Y).predict(data.X)
    return seconds_compiling() - before, kept_in()


def _problems(exclusive: bool) -> list[Dataset]:
    """Return data that take the ways of large and of sparse data.

    All labelings are listed while labels are few, and searched when they are more; a mixture takes
    a large table of features in single precision; where few labels are on, those that are count.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 820))
    words = sparse.csr_array(X[:, :500] * (rng.random((N_ROWS, 500)) < 0.1))
    return [_problem(rng, X, 9, 0.5, exclusive), _problem(rng, words, 15, 0.1, exclusive)]


def _problem(
    rng: np.random.Generator, X: Any, n_labels: int, share: float, exclusive: bool
) -> Dataset:
    """Return data with this share of labels on; if exclusive, with one on of every three."""
    scores = X @ rng.normal(size=(X.shape[1], n_labels))
    names = tuple(f"label {k}" for k in range(n_labels))
    Y, sets = scores > np.quantile(scores, 1.0 - share), None
    if exclusive:
        of_set = scores.reshape(N_ROWS, -1, N_CLASSES)
        Y = (of_set == of_set.max(axis=2, keepdims=True)).reshape(N_ROWS, n_labels)
        sets = {names[k]: names[k : k + N_CLASSES] for k in range(0, n_labels, N_CLASSES)}
    features = tuple(f"feature {k}" for k in range(X.shape[1]))
    return Dataset(X, Y.astype(np.int8), features, names, facets=sets)
