"""The errors colabel raises on purpose, each a subclass of the built-in a caller would expect."""

__all__ = [
    "ColabelError",
    "DataFormatError",
    "DatasetNotFoundError",
    "IncompatibleError",
    "MissingExtraError",
    "ModelFileError",
    "UnknownNameError",
    "is_interrupt",
]


class ColabelError(Exception):
    """Base of the errors that the command line prints as one plain sentence."""


class DataFormatError(ColabelError, ValueError):
    """A data file is malformed: where, and what is wrong there.

    Parameters
    ----------
    path : str
        The file.
    reason : str
        What is wrong and, where it helps, what to do about it.
    line, column : int or None
        Position in the (unpacked) text, counted from 1.
    """

    def __init__(
        self, path: str, reason: str, line: int | None = None, column: int | None = None
    ) -> None:
        self.path, self.reason, self.line, self.column = str(path), reason, line, column
        where = self.path
        if line is not None:
            where += f", line {line}"
        if column is not None:
            where += f", column {column}"
        super().__init__(f"{where}: {reason}")

    def __reduce__(self) -> tuple:
        return type(self), (self.path, self.reason, self.line, self.column)


class DatasetNotFoundError(ColabelError, FileNotFoundError):
    """A dataset is neither a known name found on this machine nor a readable path."""


class UnknownNameError(ColabelError, ValueError):
    """A method, measure, decoder or plan name is not registered."""


class MissingExtraError(ColabelError, ImportError):
    """A feature needs an optional dependency that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        self.feature, self.extra = feature, extra
        super().__init__(f'{feature} needs an extra: pip install "colabel[{extra}]"')

    def __reduce__(self) -> tuple:
        return type(self), (self.feature, self.extra)


class ModelFileError(ColabelError, ValueError):
    """A model file is damaged, of another version, or holds something that is not trusted."""


class IncompatibleError(ColabelError, TypeError, ValueError):
    """Components (model, table, loss, oracle, learner, decoder) do not fit together."""


def is_interrupt(error: BaseException) -> bool:
    """Tell whether Ctrl-C is behind an error.

    Compiled code that a signal reaches as it returns raises ``SystemError``, with the
    ``KeyboardInterrupt`` as its cause.
    """
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__
    return cause is not None
