"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from colabel.exceptions import ColabelError

__all__ = ["write_whole"]


def write_whole(path: Path, content: bytes) -> None:
    """Write a file beside its place and move it there, so that no moment shows half of it.

    Raises
    ------
    ColabelError
        Where the disk is full; what was there before is left.
    """
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        if error.errno != errno.ENOSPC:
            raise
        raise ColabelError(
            f"{path}: the disk is full; make room and repeat the command: finished cells are kept"
        ) from error
    except BaseException:  # Ctrl-C
        part.unlink(missing_ok=True)
        raise
