"""Files that appear whole or not at all."""

from __future__ import annotations

import gzip
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

__all__ = ["atomic"]


@contextmanager
def atomic(path: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file beside ``path`` that takes its place only if nothing fails.

    A name that ends in ``.gz`` is packed; the packed bytes depend on the content alone.
    """
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"{path.parent}: there is no such folder")
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            if path.suffix.lower() == ".gz":
                with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
                    yield packed  # type: ignore[misc]
            else:
                yield file
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
