"""Save and load models without ever running code from a file.

A pickle is a program. A model file here is data: skops writes names of types and arrays, and when
it is read, only types on a list are constructed. The list comes from the installed package and
from the caller, never from the file.
"""

from __future__ import annotations

import json
import os
import platform
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import uuid4
from zipfile import ZipFile

import colabel
from colabel._model_content import find_harm, trusted_names
from colabel._model_file import (
    FORMAT,
    HEADER,
    check_members,
    read_header,
    read_schema,
    type_names,
)
from colabel.exceptions import ModelFileError
from colabel.messages import warn_user

__all__ = ["load", "read_metadata", "save"]

RESERVED = ("format", "versions", "written")


def save(estimator: Any, path: str | os.PathLike[str], *, metadata: Any = None) -> None:
    """Write a model to a file that runs no code when loaded.

    The file appears whole or not at all: it is written beside ``path`` and then moved there.

    Parameters
    ----------
    estimator : object
        A colabel or scikit-learn estimator, fitted or not, or one of your own. Most are loaded
        again without further ado; see Warns for the others.
    path : str or path-like
        Where to write; an existing file is replaced. No suffix is added.
    metadata : dict, default=None
        What JSON can hold, such as ``{"label_names": [...]}``; see `read_metadata`.

    Raises
    ------
    ModelFileError
        If the model holds something that cannot be written, such as a lambda, or the file cannot.

    Warns
    -----
    UserWarning
        Once, if the model holds types that `load` does not trust by itself; it names them. The
        file is written all the same, and loads if they are named in ``trusted``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from sklearn.linear_model import LogisticRegression
    >>> from colabel.persistence import load, read_metadata, save
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model"
    >>> save(LogisticRegression(C=2.0), path, metadata={"label_names": ["red"]})
    >>> load(path), read_metadata(path)["label_names"]
    (LogisticRegression(C=2.0), ['red'])
    """
    header = _header(metadata)
    target = Path(os.path.realpath(path))
    _check_place(os.fspath(path), target)
    draft = target.with_name(f".{uuid4().hex}")
    try:
        with open(draft, "xb+") as file:
            in_doubt = _write(estimator, file, header, os.fspath(path))
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    except OSError as error:
        raise ModelFileError(f"{os.fspath(path)} cannot be written: {error.strerror}.") from error
    finally:
        with suppress(OSError):
            draft.unlink()
    if in_doubt:
        warn_user(
            f"{os.fspath(path)} is written, but holds what load does not trust by itself; it will "
            f"need trusted={in_doubt}.",
        )


def load(path: str | os.PathLike[str], *, trusted: Sequence[str | type] = ()) -> Any:
    """Read a model written by `save`; no code from the file is run.

    Parameters
    ----------
    path : str or path-like
        The file.
    trusted : sequence of str or type, default=()
        Types to allow besides those that were reviewed, such as your own estimators, as types or
        full names. Give only names you know.

    Returns
    -------
    estimator : object
        Predicts, bit for bit, as the saved one did.

    Raises
    ------
    ModelFileError
        If the file is damaged, of a newer format or of colabel 0.1, or holds something that is not
        trusted.

    Warns
    -----
    UserWarning
        Once, if the file was written with another version of scikit-learn.
    """
    given = _full_names(trusted)

    def read(name: str, archive: ZipFile) -> Any:
        header = read_header(name, archive)
        _refuse_older(name, header)
        schema = read_schema(name, archive)
        model = _construct(name, archive, [*trusted_names(type_names(schema)), *given])
        for _, harm in find_harm(model, frozenset(given)):
            raise ModelFileError(f"{name} holds {harm}; name its type in trusted to load it still.")
        _compare_versions(name, header)
        return model

    return _with_archive(path, read)


def read_metadata(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what was saved along with a model, without loading the model.

    Parameters
    ----------
    path : str or path-like
        A file written by `save`.

    Returns
    -------
    metadata : dict
        The metadata given to `save`, and ``"versions"`` (of colabel, scikit-learn, numpy and
        Python), ``"written"`` (date and time, UTC) and ``"format"``.
    """
    return _with_archive(path, read_header)


def _header(metadata: Any) -> str:
    import numpy
    import sklearn

    metadata = {} if metadata is None else metadata
    if not isinstance(metadata, dict) or any(key in metadata for key in RESERVED):
        raise ValueError(f"metadata must be a dict without the keys {', '.join(RESERVED)}.")
    header = {
        **metadata,
        "format": FORMAT,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {
            "colabel": colabel.__version__,
            "scikit-learn": sklearn.__version__,
            "numpy": numpy.__version__,
            "python": platform.python_version(),
        },
    }
    try:
        return json.dumps(header, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"metadata must be what JSON can hold: {error}.") from None


def _check_place(path: str, target: Path) -> None:
    if os.path.isdir(target):
        raise ModelFileError(f"{path} is a folder; give the name of a file in it.")
    if not os.path.isdir(target.parent):
        raise ModelFileError(
            f"{path} cannot be written: there is no folder {target.parent}; make it first."
        )


def _write(estimator: Any, file: Any, header: str, path: str) -> list[str]:
    """Write the model and return the names of what `load` will not trust by itself."""
    import skops.io

    try:
        skops.io.dump(estimator, file)
    except OSError:
        raise
    except RecursionError:
        raise ModelFileError(
            "The model cannot be saved: some part of it refers back to itself, as an estimator "
            "does after set_fit_request; make such requests after loading instead."
        ) from None
    except Exception as error:
        raise ModelFileError(f"The model cannot be saved: {error}") from error
    with ZipFile(file, "a") as archive:
        archive.writestr(HEADER, header)
    file.flush()
    file.seek(0)
    types = type_names(read_schema(path, check_members(path, file)))
    for module, name, _ in types:
        if not hasattr(import_module(module), name):
            raise ModelFileError(
                f"The model cannot be saved: {module}.{name} could not be found again when "
                "loading; define it at the top level of a module."
            )
    unknown = set(skops.io.get_untrusted_types(file=file)) - trusted_names(types)
    harmful = {name for name, _ in find_harm(estimator, frozenset(unknown))}
    return sorted(unknown | harmful)


def _with_archive(path: str | os.PathLike[str], read: Callable[[str, ZipFile], Any]) -> Any:
    """Return ``read(name, archive)`` of a file opened once, so that what is checked is read."""
    name = os.fspath(path)
    try:
        with open(path, "rb") as file, check_members(name, file) as archive:
            return read(name, archive)
    except OSError as error:
        raise ModelFileError(f"{name} cannot be read: {error.strerror}.") from error


def _construct(name: str, archive: ZipFile, trusted: list[str]) -> Any:
    import skops.io
    from sklearn.exceptions import InconsistentVersionWarning
    from skops.io.exceptions import UntrustedTypesFoundException

    file = archive.fp
    assert file is not None
    file.seek(0)
    try:
        with warnings.catch_warnings():
            # Said once for the file instead of once for each estimator in it.
            warnings.simplefilter("ignore", InconsistentVersionWarning)
            return skops.io.load(file, trusted=trusted)
    except UntrustedTypesFoundException as error:
        types = str(error).split("\n")[0].partition(": ")[2].rstrip(".")
        raise ModelFileError(
            f"{name} holds types that are not trusted: {types}; if you know where the file comes "
            "from, name them in trusted."
        ) from None
    except Exception as error:
        # A forged file can fail in any way while it is put together; none gets further than here.
        raise ModelFileError(f"{name} is damaged: {type(error).__name__}: {error}") from error


def _refuse_older(name: str, header: dict[str, Any]) -> None:
    """Refuse models of 0.1, whose classes have other names and parameters by now."""
    versions = header.get("versions")
    written = versions.get("colabel") if isinstance(versions, dict) else None
    if isinstance(written, str) and written.startswith("0.1."):
        raise ModelFileError(
            f"{name} was saved by colabel {written}, whose models colabel {colabel.__version__} "
            "cannot read; fit and save it again, or predict with that version"
        )


def _compare_versions(name: str, header: dict[str, Any]) -> None:
    import sklearn

    versions = header.get("versions")
    written = versions.get("scikit-learn") if isinstance(versions, dict) else None
    if written != sklearn.__version__:
        warn_user(
            f"{name} was written with scikit-learn {written}, this is {sklearn.__version__}; "
            "predictions may differ.",
        )


def _full_names(trusted: Iterable[str | type]) -> list[str]:
    if isinstance(trusted, (str, type)) or not all(isinstance(t, (str, type)) for t in trusted):
        raise TypeError("trusted must be a list of types or of their full names.")
    return [t if isinstance(t, str) else f"{t.__module__}.{t.__qualname__}" for t in trusted]
