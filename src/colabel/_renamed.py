"""Other names of parameters: old ones for one version, with a warning, and lasting aliases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from numbers import Real
from typing import Any, ClassVar, Self

from colabel.messages import warn_user

__all__ = ["UNCHANGED", "Renamed", "RenamedParameters", "inverse", "old_names"]

# What a value is turned into that has no effect any more.
UNCHANGED = object()


@dataclass(frozen=True)
class Renamed:
    """A new name that depends on the estimator, or that takes another value.

    Parameters
    ----------
    name : str or callable
        The new name (``alpha``, ``experts__variance``), or what gives it for an estimator; no name
        is for values that have no effect there.
    value : callable or None
        Gives the new value for the estimator and the old value; None if they are the same.
    warn : bool, default=True
        Whether the old name goes with the next version; False for an alias, which stays.
    """

    name: str | Callable[[Any], str | None]
    value: Callable[[Any, Any], Any] | None = None
    warn: bool = True

    def new_name(self, estimator: Any) -> str | None:
        """Return the new name for an estimator."""
        return self.name if isinstance(self.name, str) else self.name(estimator)


class RenamedParameters:
    """Base of estimators that take parameters under old names, in ``__init__`` and ``set_params``.

    A class says in ``_renamed`` what new name (or ``Renamed``) each old one has. Its constructor
    has the new ones alone, as have its signature, ``get_params`` and ``clone``. It comes before
    ``BaseEstimator`` among the bases.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> class Ridge(RenamedParameters, BaseEstimator):
    ...     def __init__(self, alpha=1.0):
    ...         self.alpha = alpha
    ...
    ...     _renamed = {"lambda_w": Renamed("alpha", warn=False)}
    >>> Ridge(lambda_w=3.0)
    Ridge(alpha=3.0)
    """

    _renamed: ClassVar[Mapping[str, str | Renamed]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls._renamed and "__init__" in vars(cls):
            setattr(cls, "__init__", _taking_old_names(vars(cls)["__init__"]))  # noqa: B010

    def set_params(self, **params: Any) -> Self:
        """Set parameters, which may have old names, and return the estimator."""
        old = {name: params.pop(name) for name in [*params] if name in self._renamed}
        for name in old:
            spec = _spec(self, name)
            if spec.name in params and spec.value is None:
                raise TypeError(_both(name, spec))
        if old and params:  # what old names mean may depend on them
            self.set_params(**params)
        new = self._completed(_translated(self, old) if old else params)
        found: Self = super().set_params(**new)  # type: ignore[misc]
        return found

    def _completed(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return parameters that are to be set, all under their new names, with what else is."""
        return params


def old_names(estimator: Any) -> dict[str, str | None]:
    """Return the old names of the parameters of an estimator and its parts, with the new ones.

    Both in full (``estimator__lambda_w``); None for an alias, and where the value changes as well
    or has no effect.
    """
    owners = {"": estimator, **{f"{key}__": part for key, part in estimator.get_params().items()}}
    found: dict[str, str | None] = {}
    for prefix, owner in owners.items():
        for old in () if isinstance(owner, type) else getattr(owner, "_renamed", ()):
            spec = _spec(owner, old)
            new = None if spec.value or not spec.warn else spec.new_name(owner)
            found[f"{prefix}{old}"] = None if new is None else f"{prefix}{new}"
    return found


def inverse(estimator: Any, C: Any) -> Any:
    """Return the ridge for a variance or weight ``C``; other values are returned unchanged."""
    return 1.0 / float(C) if isinstance(C, Real) and float(C) > 0 else C


def _taking_old_names(init: Callable[..., None]) -> Callable[..., None]:
    """Let a constructor take old names, which its signature does not show."""

    @wraps(init)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        old = {name: kwargs.pop(name) for name in self._renamed if name in kwargs}
        init(self, *args, **kwargs)
        if not old:
            return
        given = signature(init).bind_partial(self, *args, **kwargs).arguments
        for name in old:
            spec = _spec(self, name)
            if spec.name in given and (spec.value is None or not spec.warn):
                raise TypeError(_both(name, spec))
        self.set_params(**_translated(self, old))

    return __init__


def _translated(estimator: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    """Give parameters their new names; warn of those that have others."""
    out: dict[str, Any] = {}
    for name, value in params.items():
        spec = _spec(estimator, name)
        new = spec.new_name(estimator)
        given = value if spec.value is None else spec.value(estimator, value)
        new = None if given is UNCHANGED else new
        if new is not None:
            out[new] = given
        if not spec.warn:
            continue
        instead = "it has no effect here" if new is None else f"set {new} instead"
        warn_user(
            f"{name} of {type(estimator).__name__} is an old name, which the next version will not "
            f"take; {instead}",
            FutureWarning,
        )
    return out


def _both(name: str, spec: Renamed) -> str:
    kind = "an old name" if spec.warn else "another name"
    return f"{name} is {kind} of {spec.name}; give one of them"


def _spec(estimator: Any, old: str) -> Renamed:
    spec = estimator._renamed[old]
    return Renamed(spec) if isinstance(spec, str) else spec
