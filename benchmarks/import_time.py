"""How long importing takes, against ``import sklearn.linear_model`` in the same run.

Goal: ``import colabel`` takes under 1.5 times as long. As it imports next to nothing until a name
is used, what a user waits for, the first estimator, is shown too. Exits with 1 if over.
"""

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

BASE = "import sklearn.linear_model"
CASES = [
    "import colabel",
    "from colabel import BinaryRelevance",
    "from colabel import TunedThreshold",
    "from colabel.datasets import load",
    "from colabel.metrics import evaluate",
]
REPEATS, LIMIT = 9, 1.5


def seconds(code):
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - started


def main():
    # Interleaved, so that a busy moment touches all of them.
    times = {code: [] for code in [BASE, *CASES]}
    for _ in range(REPEATS):
        for code, found in times.items():
            found.append(seconds(code))
    median = {code: statistics.median(found) for code, found in times.items()}
    for code, value in median.items():
        print(f"{code:42} {value:6.2f} s  {value / median[BASE]:5.2f}x")
    folder = Path(__file__).parent / "results"
    folder.mkdir(exist_ok=True)
    (folder / "import_time.json").write_text(json.dumps(median, indent=2))
    slow = [code for code in CASES[:2] if median[code] > LIMIT * median[BASE]]
    return f"over {LIMIT}x: {', '.join(slow)}" if slow else 0


if __name__ == "__main__":
    sys.exit(main())
