"""DATA of the commands: its options, loading it, and what is wrong with it in words of the call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from colabel.exceptions import ColabelError, DataFormatError, OptionError
from colabel.messages import did_you_mean

if TYPE_CHECKING:
    from colabel.datasets import Dataset

__all__ = [
    "Data",
    "FileOptions",
    "Labels",
    "NFeatures",
    "Xml",
    "check_for_file",
    "explain_missing",
    "is_registered",
    "load_data",
    "load_training_data",
]

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A registered name, NAME:train or NAME:test, or a file "
        "(Mulan or MEKA ARFF, LIBSVM, CSV, npz; plain or gzip).",
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        "--labels",
        metavar="NAMES",
        help="Label columns of a file that does not name them: names separated by commas "
        "(in double quotes where they have commas), or N for the first N columns, -N for the last.",
    ),
]
Xml = Annotated[
    Path | None,
    typer.Option(
        "--xml", metavar="FILE", help="Mulan's list of labels, where it is not beside DATA."
    ),
]
NFeatures = Annotated[
    int | None,
    typer.Option(
        "--n-features",
        metavar="N",
        min=1,
        help="Number of features of a LIBSVM file, which does not say it.",
    ),
]
# Faults that are the call's, and the advice of Python in words of the command line. Other advice
# names options that the commands do not have.
ADVICE = {
    "no labels": "give --labels or, for ARFF, --xml or a Mulan label file beside it",
    "feature width": "if meant, give --n-features (svmlight) or feature_names (npz)",
    "label count": "",
}
WRONG_LABELS = ("unknown label", "ambiguous label", "repeated label")


@dataclass(frozen=True)
class FileOptions:
    """The options that say how a file is read; None is left to the reader."""

    labels: str | None = None
    xml: Path | None = None
    n_features: int | None = None

    def given(self) -> dict[str, Any]:
        """Return those that are given."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def check_for_file(name: str, options: FileOptions) -> None:
    """Refuse options of files with a registered name."""
    if is_registered(name) and (options.labels is not None or options.xml is not None):
        raise typer.BadParameter(f"--labels and --xml are for files; {name} names its labels")


def load_data(name: str, options: FileOptions, **more: Any) -> Dataset:
    """Load DATA as the options say; ``more`` are other arguments of ``load``, None for usual."""
    from colabel.datasets import load, load_labelled

    check_for_file(name, options)
    given = options.given() | {key: value for key, value in more.items() if value is not None}
    labels = given.pop("labels", None)
    try:
        return load(name, **given) if labels is None else load_labelled(name, labels, **given)
    except OptionError as error:
        option = error.option.replace("_", "-")
        raise typer.BadParameter(f"--{option} {error.reason}") from error
    except DataFormatError as error:
        wrong_labels = error.kind in WRONG_LABELS and labels is not None
        if wrong_labels and Path(error.path) == Path(name):
            raise typer.BadParameter(f"{error}{_columns_like(error)}") from error
        plain = error.with_advice(ADVICE.get(error.kind, "") if error.advice else "")
        if error.kind in ADVICE:
            raise typer.BadParameter(str(plain)) from error
        raise plain from error


def _columns_like(error: DataFormatError) -> str:
    """Return the end of a sentence: columns of the file called almost as an unknown label."""
    from colabel.datasets import load

    with suppress(ValueError):  # a file that cannot be read has no columns to offer
        columns = load(error.path, labels=[], one_hot=False).feature_names
        if error.kind == "unknown label":
            return did_you_mean(error.label, columns, otherwise="")
    return ""


def load_training_data(name: str, options: FileOptions, **more: Any) -> Dataset:
    """Load DATA that a method is to learn from."""
    dataset = load_data(name, options, **more)
    if not dataset.n_labels:
        raise ColabelError(f"{name} has no labels to learn")
    return dataset


def is_registered(name: str) -> bool:
    """Return whether ``name`` is a registered dataset, its split perhaps behind it."""
    from colabel.datasets import list_datasets

    return name.lower().partition(":")[0] in {info.name for info in list_datasets()}


@contextmanager
def explain_missing(dataset: Dataset, name: str, method: str) -> Iterator[None]:
    """Name the column where a method meets missing values that it does not take."""
    from colabel._sklearn import blames_missing_values
    from colabel.lab.cell import missing_values

    try:
        yield
    except ValueError as error:
        missing = missing_values(dataset) if blames_missing_values(error) else None
        if missing is None:
            raise
        raise ColabelError(
            f"{name}: {missing}, which {method} does not take; fill them in or leave such columns "
            "out"
        ) from error
