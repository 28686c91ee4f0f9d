"""Downloads of registered datasets: several addresses, checked content, one cache folder."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from colabel.datasets._find import check, data_home, locate
from colabel.datasets._http import TransferError, transfer
from colabel.datasets._registry import DataFile, DatasetInfo, get_info
from colabel.exceptions import DataFormatError, DatasetNotFoundError, MissingExtraError

__all__ = ["fetch"]

_one_at_a_time = threading.Lock()  # threads that want the same file must not fetch it twice


def fetch(
    name: str, *, mirrors: Sequence[str] | None = None, progress: bool = False
) -> dict[str, Path]:
    """Download the files of a registered dataset that are not on this machine.

    Parameters
    ----------
    name : str
        A registered name.
    mirrors : sequence of str or None
        Base addresses to try first; a mirror keeps ``BASE/NAME/FILE``, plain or with ``.gz``. Then
        come those of ``$COLABEL_MIRRORS`` (separated by blanks), then the registered addresses.
    progress : bool
        Whether to show a bar.

    Returns
    -------
    dict of str to Path
        Where each file lies, by name. Downloads are kept unpacked in ``data_home()``.

    Notes
    -----
    Content with a wrong SHA-256 is thrown away and the next address tried. A cut connection is
    resumed where the server allows it. A file appears in the cache whole or not at all, so that
    several processes may fetch the same dataset.

    Examples
    --------
    >>> from colabel.datasets import fetch
    >>> sorted(fetch("yeast"))  # ships with colabel: nothing to download
    ['yeast.npz']
    """
    info = get_info(name)
    with _one_at_a_time:
        return {
            file.name: _here(info, file) or _get(info, file, mirrors, progress)
            for file in info.files
        }


def _here(info: DatasetInfo, file: DataFile) -> Path | None:
    """Return where a good copy lies; a bad one is an error, unless it is in the cache."""
    path = locate(info, file)
    if path is None:
        return None
    try:
        check(path, file)
    except DataFormatError:
        if data_home() not in path.parents:
            raise
        return None
    return path


def _get(info: DatasetInfo, file: DataFile, mirrors: Sequence[str] | None, progress: bool) -> Path:
    pooch = _import_pooch()
    failures = []
    for url in _addresses(info, file, mirrors):
        try:
            with _bar(file.name, progress) as report, _quiet(pooch):
                return _retrieve(pooch, url, info, file, report)
        except TransferError as error:
            failures.append(f"{url} ({error})")
    raise DatasetNotFoundError(_failure_sentence(info, file, failures))


def _retrieve(
    pooch: Any, url: str, info: DatasetInfo, file: DataFile, report: Callable[[int, int], None]
) -> Path:
    """Let pooch place the file: into a temporary, then checked, then moved."""

    def download(url: str, target: str, _: Any) -> None:
        transfer(url, Path(target), file.size, report)

    folder = data_home() / info.name
    try:
        return Path(pooch.retrieve(url, f"sha256:{file.sha256}", file.name, folder, None, download))
    except ValueError as error:
        raise TransferError("the content has a wrong SHA-256") from error
    except OSError as error:
        raise DatasetNotFoundError(
            f"cannot write to the cache folder {folder} ({error}); set COLABEL_CACHE to another one"
        ) from error


def _import_pooch() -> Any:
    try:
        import pooch
    except ImportError as error:
        raise MissingExtraError("downloading a dataset", "data") from error
    return pooch


def _addresses(info: DatasetInfo, file: DataFile, mirrors: Sequence[str] | None) -> Iterator[str]:
    bases = [*(mirrors or ()), *os.environ.get("COLABEL_MIRRORS", "").split()]
    for base in bases:
        for folder in dict.fromkeys((info.name, info.folder)):
            yield f"{base.rstrip('/')}/{folder}/{file.name}"
            yield f"{base.rstrip('/')}/{folder}/{file.name}.gz"
    yield from file.urls


def _failure_sentence(info: DatasetInfo, file: DataFile, failures: list[str]) -> str:
    remedy = "put it, plain or gzip-packed, into a folder named in COLABEL_DATA"
    if not failures:
        return (
            f"no address is known for {file.name} of {info.name}: {remedy}, or give a mirror "
            "(COLABEL_MIRRORS)"
        )
    return (
        f"{file.name} of {info.name} could not be downloaded from {', '.join(failures)}: check the "
        f"network, or {remedy}"
    )


@contextmanager
def _quiet(pooch: Any) -> Iterator[None]:
    """Keep pooch from announcing every download on stderr."""
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


@contextmanager
def _bar(name: str, progress: bool) -> Iterator[Callable[[int, int], None]]:
    if not progress:
        yield lambda have, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress

    with Progress(
        "{task.description}", BarColumn(), DownloadColumn(), console=Console(stderr=True)
    ) as bar:
        task = bar.add_task(name, total=None)
        yield lambda have, total: bar.update(task, completed=have, total=total or None)
