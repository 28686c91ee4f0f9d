"""One file over HTTP: resumed where the connection is cut, unpacked on arrival, bounded in size."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["TransferError", "transfer"]

ATTEMPTS = 5
TIMEOUT = 30.0  # seconds without a byte
_BLOCK = 1 << 12  # what a cut connection loses at most


class TransferError(Exception):
    """An address did not give the file; the next one may."""


def transfer(url: str, target: Path, size: int, report: Callable[[int, int], None]) -> None:
    """Write the unpacked content found at ``url`` to ``target``.

    Parameters
    ----------
    url : str
        Address of the file, plain or gzip-packed.
    target : Path
        Overwritten.
    size : int
        Expected size of the unpacked content; not much more than that is ever taken.
    report : callable
        Called with the bytes received so far and in all (0: not known).
    """
    from requests import RequestException

    limit = size + size // 100 + 1000  # gzip makes a file that cannot be packed a little longer
    target.write_bytes(b"")
    reason: Exception | None = None
    for _ in range(ATTEMPTS):
        try:
            _continue(url, target, limit, report)
        except RequestException as error:
            reason = error
            if not _worth_resuming(error, target):
                break
        else:
            _unpack(target, size)
            return
    raise TransferError(_plain(reason)) from reason


def _continue(url: str, target: Path, limit: int, report: Callable[[int, int], None]) -> None:
    """Ask for what is still missing and append it; start again if the server cannot do that."""
    import requests

    have = target.stat().st_size
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as response:
        if not response.ok:
            raise TransferError(f"the server answered {response.status_code} {response.reason}")
        resumed = _resumes_at(response, have)
        have = have if resumed else 0
        total = have + int(response.headers.get("Content-Length") or 0)
        with target.open("ab" if resumed else "wb") as stream:
            for block in response.iter_content(_BLOCK):
                stream.write(block)
                have += len(block)
                if have > limit:
                    raise TransferError("it sent more bytes than the file has")
                report(have, total)


def _resumes_at(response: Any, have: int) -> bool:
    expected = f"bytes {have}-"
    partial = response.status_code == 206
    return partial and response.headers.get("Content-Range", "").startswith(expected)


def _worth_resuming(error: Exception, target: Path) -> bool:
    from requests import exceptions

    if isinstance(error, exceptions.ChunkedEncodingError):  # cut while bytes were coming
        return True
    lost = isinstance(error, exceptions.ConnectionError | exceptions.Timeout)
    return lost and target.stat().st_size > 0


def _unpack(target: Path, size: int) -> None:
    """Replace a gzip archive by its content, stopping at one byte too many."""
    with target.open("rb") as stream:
        if stream.read(2) != b"\x1f\x8b":
            return
    unpacked = target.with_name(target.name + ".unpacked")
    try:
        with gzip.open(target) as source, unpacked.open("wb") as sink:
            left = size + 1
            while block := source.read(min(_BLOCK, left)):
                left -= sink.write(block)
        unpacked.replace(target)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise TransferError(f"the gzip archive is damaged ({error})") from error
    finally:
        unpacked.unlink(missing_ok=True)


def _plain(error: Exception | None) -> str:
    """Return the reason of a failure in a few words, where the network library uses many."""
    from requests import exceptions

    if isinstance(error, exceptions.Timeout):
        return "no answer in time"
    if isinstance(error, exceptions.ChunkedEncodingError):
        return f"the connection was cut {ATTEMPTS} times"
    if isinstance(error, exceptions.ConnectionError):
        return "no connection"
    if isinstance(error, ValueError):  # every complaint about the address itself is one
        return "not an address"
    return f"the request failed: {error}"
