"""``--labels``: what is wrong with a choice of columns."""

from __future__ import annotations

import difflib
import re
from contextlib import suppress
from pathlib import Path

from colabel.exceptions import DataFormatError

__all__ = ["blame_call", "without_advice"]

# How a reader's reason begins where the call lacks an option or has it wrong. Names of files and
# labels stand further on, so that nothing in them can be taken for an option.
_WRONG_CALL = re.compile(
    r"a CSV file does not say|nothing says which|(labels|xml|n_features)="
    r"|feature number \d+ does not fit n_features=|\d+ features are far more"
)
_OPTION = re.compile(r"\b(labels|xml|n_features)=")
# Advice that only Python callers can follow.
_ADVICE = re.compile(r"; (if meant, )?give (format|n_labels)=.*")


def blame_call(error: ValueError, name: str, labels: str | None) -> str | None:
    """Return the sentence of a refusal that is the call's fault, in the words of the call."""
    reason = error.reason if isinstance(error, DataFormatError) else str(error)
    if _WRONG_CALL.match(reason):
        spelled = _OPTION.sub(lambda found: f"--{found[1].replace('_', '-')} ", reason)
        return str(error).removesuffix(reason) + spelled.strip()
    if labels is None or not isinstance(error, DataFormatError) or error.line is not None:
        return None
    if Path(error.path) != Path(name) or not reason.startswith(("label ", "two label names")):
        return None
    return f"{error}{_hint(reason, name, labels)}"


def without_advice(error: DataFormatError) -> DataFormatError:
    """Return the error without the options that the command line does not have."""
    reason = _ADVICE.sub("", error.reason)
    return DataFormatError(error.path, reason, error.line, error.column)


def _hint(reason: str, name: str, labels: str) -> str:
    from colabel.datasets import load
    from colabel.datasets._label_text import parse_names

    close: list[str] = []
    with suppress(ValueError):  # a file that cannot be read has no columns to offer
        columns = load(name, labels=[], one_hot=False).feature_names
        for wanted in parse_names(labels):
            if reason.startswith(f"label {wanted!r} is no attribute"):
                close = difflib.get_close_matches(wanted, columns, n=3)
    return f"; did you mean {' or '.join(close)}?" if close else ""
