"""The errors colabel raises on purpose, each a subclass of the built-in a caller would expect."""

from __future__ import annotations

import copyreg
import os
from typing import Literal

__all__ = [
    "ColabelError",
    "DataFault",
    "DataFormatError",
    "DatasetNotFoundError",
    "IncompatibleError",
    "MissingExtraError",
    "MissingValuesError",
    "ModelFileError",
    "OptionError",
    "UnknownNameError",
    "is_interrupt",
]

DataFault = Literal[
    "malformed",
    "format",
    "no labels",
    "unknown label",
    "ambiguous label",
    "repeated label",
    "label count",
    "feature width",
    "label width",
    "zero based",
]


class ColabelError(Exception):
    """Base of the errors that the command line prints as one plain sentence."""

    def __reduce__(self) -> tuple:
        # Made again from what it says and holds: the constructors of subclasses take other things.
        return copyreg.__newobj__, (type(self), *self.args), vars(self)  # type: ignore[attr-defined]


class DataFormatError(ColabelError, ValueError):
    """A data file is malformed, or does not fit how it was to be read: where, and what is wrong.

    Parameters
    ----------
    path : str or path-like
        The file.
    reason : str
        What is wrong.
    line, column : int or None
        Position in the (unpacked) text, counted from 1.
    kind : str
        What sort of fault: ``"malformed"``; ``"format"``, which the name does not say;
        ``"no labels"``, none are named; ``"unknown label"``, ``"ambiguous label"``,
        ``"repeated label"`` and ``"label count"``, a wrong choice of labels;
        ``"feature width"`` and ``"label width"``, a wrong or unbelievable number of columns;
        ``"zero based"``, features that count from 0 where 1 was promised.
    label : str or None
        The label that the fault is about.
    advice : str
        What a caller in Python can do about it; the message ends in it.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        reason: str,
        line: int | None = None,
        column: int | None = None,
        kind: DataFault = "malformed",
        label: str | None = None,
        advice: str = "",
    ) -> None:
        self.path, self.reason, self.line, self.column = os.fspath(path), reason, line, column
        self.kind, self.label, self.advice = kind, label, advice
        where = self.path
        if line is not None:
            where += f", line {line}"
        if column is not None:
            where += f", column {column}"
        super().__init__(f"{where}: {reason}{'; ' if advice else ''}{advice}")

    def with_advice(self, advice: str) -> DataFormatError:
        """Return the same error with other advice."""
        where = self.path, self.reason, self.line, self.column
        return DataFormatError(*where, self.kind, self.label, advice)


class OptionError(ColabelError, ValueError):
    """An option of reading data has no meaning for these data.

    Parameters
    ----------
    option : str
        Its name in Python, such as ``n_features``.
    reason : str
        Why it cannot be, the words after its name.
    """

    def __init__(self, option: str, reason: str) -> None:
        self.option, self.reason = option, reason
        super().__init__(f"{option}= {reason}")


class MissingValuesError(ColabelError, ValueError):
    """Features have missing values (NaN), which a method does not take.

    Parameters
    ----------
    method : str
        Its name.
    """

    def __init__(self, method: str) -> None:
        self.method = method
        super().__init__(
            f"X has missing values (NaN), which {method} does not take; fill them in or leave "
            "such columns out"
        )


class DatasetNotFoundError(ColabelError, FileNotFoundError):
    """A dataset is neither a known name found on this machine nor a readable path."""


class UnknownNameError(ColabelError, ValueError):
    """A method, measure, decoder or plan name is not registered."""


class MissingExtraError(ColabelError, ImportError):
    """A feature needs an optional dependency that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        self.feature, self.extra = feature, extra
        super().__init__(f'{feature} needs an extra: pip install "colabel[{extra}]"')


class ModelFileError(ColabelError, ValueError):
    """A model file is damaged, of another version, or holds something that is not trusted."""


class IncompatibleError(ColabelError, TypeError, ValueError):
    """Components (model, table, loss, oracle, learner, decoder) do not fit together."""


def is_interrupt(error: BaseException) -> bool:
    """Return whether Ctrl-C is behind an error.

    Compiled code that a signal reaches as it returns raises ``SystemError``, with the
    ``KeyboardInterrupt`` as its cause.
    """
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__
    return cause is not None
