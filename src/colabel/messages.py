"""Sentences for the user: names that are close, warnings at the user's line, foreign text."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterable
from difflib import get_close_matches

from colabel.exceptions import UnknownNameError

__all__ = ["did_you_mean", "printable", "unknown_name", "warn_user"]

# Spaces at which no line is broken; Python counts them among what cannot be printed.
SPACES = "\u00a0\u202f"


def unknown_name(
    what: str, name: object, known: Iterable[str], otherwise: str | None = None
) -> UnknownNameError:
    """Return the error for a name that is not known; it names the known ones close to it.

    Parameters
    ----------
    what : str
        How the sentence begins, before the name: ``"no method is called"``.
    name : object
        What was given.
    known : iterable of str
        The names that would do.
    otherwise : str or None
        Advice where nothing is close; None lists all that are known.

    Examples
    --------
    >>> unknown_name("no method is called", "knm", ["br", "knn"])
    UnknownNameError("no method is called 'knm'; did you mean knn?")
    """
    return UnknownNameError(f"{what} {name!r}{did_you_mean(name, known, otherwise)}")


def did_you_mean(name: object, known: Iterable[str], otherwise: str | None = None) -> str:
    """Return the end of a sentence: the names close to ``name``, or else ``otherwise``.

    Parameters
    ----------
    name : object
        What was given.
    known : iterable of str
        The names that would do.
    otherwise : str or None
        Advice where nothing is close; None lists all that are known.
    """
    names = {one.lower(): one for one in known}
    close = [names[one] for one in get_close_matches(str(name).lower(), names, n=3)]
    if close:
        return f"; did you mean {' or '.join(close)}?"
    if otherwise is None:
        otherwise = f"there is {', '.join(names.values())}"
    return f"; {otherwise}" if otherwise else ""


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called colabel, however deep inside colabel the reason is found."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == "colabel":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def printable(text: object) -> str:
    """Spell out control characters and all else that a terminal or a page would act upon."""
    words = str(text)
    if words.isprintable():
        return words
    return "".join(
        c if c.isprintable() or c in SPACES else c.encode("unicode_escape").decode("ascii")
        for c in words
    )
