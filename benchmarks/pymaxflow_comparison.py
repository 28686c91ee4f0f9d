"""Time PyMaxflow on the graph cuts that ``decoders_cut.py`` times ours on.

PyMaxflow is under the GPL: nothing of colabel imports it, and this script imports nothing of
colabel. It is run by hand, in an environment of its own with NumPy and PyMaxflow:

    python benchmarks/decoders_cut.py --export problems.npz     (in colabel's environment)
    python benchmarks/pymaxflow_comparison.py problems.npz      (in PyMaxflow's)

The file holds, for problem ``k``, ``unary_k`` (n, V), ``edges_k`` (E, 2), ``couplings_k`` (E,),
the scores that our cuts reached ``value_k`` (n,) and our microseconds an instance ``us_k``, and
the problems' ``names``. Maximised is ``sum_i u_i y_i + sum_{ij} c_ij y_i y_j``; twice that is a cut
with ``2 u_i + sum_j c_ij`` at the terminals and ``c_ij`` either way between labels. Building the
graph is part of the time, as it is for us. Times are CPU time of one core, the least of several
repeats; every value is compared with ours. Results go to ``pymaxflow.json`` beside the problems.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np


def solve(unary, edges, couplings):
    """Cut one row; return its labeling."""
    import maxflow

    V, (i, j) = len(unary), edges.T
    total = 2.0 * unary
    np.add.at(total, i, couplings)
    np.add.at(total, j, couplings)
    graph = maxflow.Graph[float](V, len(edges))
    nodes = graph.add_grid_nodes(V)
    if hasattr(graph, "add_edges"):
        graph.add_edges(nodes[i], nodes[j], couplings, couplings)
    else:
        for a, b, c in zip(i.tolist(), j.tolist(), couplings.tolist(), strict=True):
            graph.add_edge(a, b, c, c)
    graph.add_grid_tedges(nodes, np.maximum(total, 0.0), np.maximum(-total, 0.0))
    graph.maxflow()
    return ~graph.get_grid_segments(nodes)


def score(unary, edges, couplings, labels):
    i, j = edges.T
    return unary @ labels + couplings @ (labels[i] & labels[j])


def measure(unary, edges, couplings, value, repeats=5):
    """Return the least CPU time of all rows, and the largest difference of scores."""
    best, difference = np.inf, 0.0
    for _ in range(repeats):
        started = time.process_time()
        labels = [solve(row, edges, couplings) for row in unary]
        best = min(best, time.process_time() - started)
    for row, y, ours in zip(unary, labels, value, strict=True):
        found = score(row, edges, couplings, y)
        difference = max(difference, abs(found - ours) / max(1.0, abs(ours)))
    return best, difference


def main():
    path = Path(sys.argv[1])
    problems, rows = np.load(path), []
    print(f"{'problem':26}{'ours us':>10}{'PyMaxflow us':>14}{'ratio':>8}{'difference':>12}")
    for k, name in enumerate(problems["names"]):
        unary, edges = problems[f"unary_{k}"], problems[f"edges_{k}"]
        seconds, difference = measure(
            unary, edges, problems[f"couplings_{k}"], problems[f"value_{k}"]
        )
        theirs, ours = 1e6 * seconds / len(unary), float(problems[f"us_{k}"])
        row = {"problem": str(name), "ours_us": ours, "pymaxflow_us": theirs}
        rows.append(row | {"ratio": theirs / ours, "largest_difference": difference})
        print(f"{name:26}{ours:10.2f}{theirs:14.1f}{theirs / ours:8.1f}{difference:12.1e}")
    path.with_name("pymaxflow.json").write_text(json.dumps(rows, indent=1) + "\n")
    return int(max(row["largest_difference"] for row in rows) > 1e-6)


if __name__ == "__main__":
    sys.exit(main())
