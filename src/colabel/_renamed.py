"""Old names of parameters: taken for one version, with a warning that gives the new ones."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ClassVar, Self

__all__ = ["NewName", "RenamedParameters", "old_names"]

# The new name of a parameter (``alpha``, ``experts__variance``), or what gives new names and values
# for an estimator and the old value. No new name: the value has no effect, and is dropped.
NewName = str | Callable[[Any, Any], Mapping[str, Any]]


class RenamedParameters:
    """Base of estimators that take parameters under old names, in ``__init__`` and ``set_params``.

    A class lists them in ``_renamed``; its constructor has the new ones alone, and so do its
    signature, ``get_params`` and ``clone``. Comes before ``BaseEstimator`` among the bases.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> class Ridge(RenamedParameters, BaseEstimator):
    ...     _renamed = {"lambda_w": "alpha"}
    ...     def __init__(self, alpha=1.0):
    ...         self.alpha = alpha
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", FutureWarning)
    ...     Ridge(lambda_w=3.0)
    Ridge(alpha=3.0)
    """

    _renamed: ClassVar[Mapping[str, NewName]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls._renamed and "__init__" in vars(cls):
            setattr(cls, "__init__", _taking_old_names(vars(cls)["__init__"]))  # noqa: B010

    def set_params(self, **params: Any) -> Self:
        """Set parameters, which may have old names, and return the estimator."""
        new = self._completed(_translated(self, params))
        found: Self = super().set_params(**new)  # type: ignore[misc]
        return found

    def _completed(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return parameters that are to be set, all under their new names, with what else is."""
        return params


def old_names(estimator: Any) -> dict[str, str | None]:
    """Return the old names of the parameters of an estimator and its parts, with the new ones.

    Both in full (``estimator__lambda_w``); None where the value changes as well, or has no effect.
    """
    owners = {"": estimator, **{f"{key}__": part for key, part in estimator.get_params().items()}}
    found: dict[str, str | None] = {}
    for prefix, owner in owners.items():
        for old in () if isinstance(owner, type) else getattr(owner, "_renamed", ()):
            value = object()
            new = _new_names(owner, old, value)
            same = [name for name in new if new[name] is value]
            found[f"{prefix}{old}"] = f"{prefix}{same[0]}" if len(new) == len(same) == 1 else None
    return found


def _taking_old_names(init: Callable[..., None]) -> Callable[..., None]:
    """Let a constructor take old names, which its signature does not show."""

    @wraps(init)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        old = {name: kwargs.pop(name) for name in self._renamed if name in kwargs}
        init(self, *args, **kwargs)
        for name in old:
            if self._renamed[name] in kwargs:
                raise TypeError(f"{name} is an old name of {self._renamed[name]}; give one of them")
        if old:
            self.set_params(**_translated(self, old))

    return __init__


def _translated(estimator: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    """Give parameters their new names; warn of those that have others."""
    out: dict[str, Any] = {}
    for name, value in params.items():
        new = _new_names(estimator, name, value)
        if name in estimator._renamed:
            instead = f"set {' and '.join(new)} instead" if new else "it has no effect here"
            warnings.warn(
                f"{name} of {type(estimator).__name__} is an old name, which the next version "
                f"will not take; {instead}",
                FutureWarning,
                stacklevel=3,
            )
        out |= new
    return out


def _new_names(estimator: Any, name: str, value: Any) -> dict[str, Any]:
    spec = estimator._renamed.get(name, name)
    return {spec: value} if isinstance(spec, str) else dict(spec(estimator, value))
