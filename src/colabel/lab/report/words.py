"""The outcome of a comparison in a few sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from colabel.lab.report.reproduced import PaperRow
from colabel.lab.report.standings import Standing
from colabel.lab.report.text import listed, measure_name, number, plural, short
from colabel.lab.runs import Run
from colabel.lab.statistics import CorrectedTTest, bayesian_signed_rank, corrected_t_test
from colabel.plot import pareto_front

__all__ = ["about_cells", "count_cells", "describe_paper", "describe_standing", "title_of"]

ROPE = 0.01
LEAST_WILCOXON = 6  # datasets below which Wilcoxon's test cannot reach 5 %
N_SAMPLES = 10_000  # which leaves an error of half a per cent


def title_of(runs: Sequence[Run]) -> str:
    """Return what was run, as a heading."""
    if len(runs) > 1:
        return f"{plural(len(runs), 'table')} of results"
    [run] = runs
    if run.table is not None:
        return f"{run.table.name}: {run.table.title}"
    many = plural(len(run.methods), "method")
    if len(run.data) == 1:
        return f"{many} on {short(run.data[0])}"
    return f"{many} on {plural(len(run.data), 'dataset')}"


def about_cells(runs: Sequence[Run]) -> str:
    """Count the cells that are done, failed and missing, in a sentence."""
    n_cells = sum(len(run.rows) for run in runs)
    n_failed = sum(not row.result.ok for run in runs for row in run.rows)
    return count_cells(n_cells, n_failed, sum(run.n_missing for run in runs))


def count_cells(n_cells: int, n_failed: int, n_missing: int) -> str:
    """Put numbers of cells in a sentence: all, those that failed, those that are missing."""
    if not n_failed and not n_missing:
        return f"All {plural(n_cells, 'cell')} finished." if n_cells else ""
    parts = [f"{plural(n_cells - n_failed, 'cell')} finished"]
    parts += [f"{n_failed} failed, with the reasons below"] if n_failed else []
    parts += [f"{plural(n_missing, 'cell')} had not been run when this was written"] * (
        n_missing > 0
    )
    return f"{'; '.join(parts)}."


def describe_standing(standing: Standing, run: Run) -> list[str]:
    """Return sentences about one measure: who is best, how surely, and at what cost."""
    data, methods = standing.compared
    if not methods or not data or (len(data) > 1 and len(methods) < 2):
        return [f"No two methods can be compared by {measure_name(standing.measure)}."]
    if len(data) == 1:
        return [_on_one(standing, data[0]), *_test_on_one(standing, run, data[0])]
    words = [_on_many(standing), *_left_out(standing), *_tests(standing)]
    words += _tests_of_two(standing, run) if len(methods) == 2 else []
    return [*words, _worth_their_time(standing)]


def describe_paper(rows: Sequence[PaperRow]) -> str:
    """Count how our numbers compare with the paper's."""
    counts = Counter(row.verdict for row in rows if row.verdict)
    n = counts.total()
    if not n:
        return "There is no published number on the same data to compare with."
    words = {
        "better": "better than published",
        "same": "the same within our spread or the last digit printed",
        "worse": "worse",
    }
    parts = [f"{counts[kind]} {text}" for kind, text in words.items() if counts[kind]]
    return f"Of {plural(n, 'number')} that can be compared, {listed(parts)}."


def _on_one(standing: Standing, data: str) -> str:
    order = _order(standing, data)
    best = standing.places[data, order[0]].mean
    text = (
        f"By {measure_name(standing.measure)}, {short(order[0])} is best on {short(data)}: "
        f"{number(best)}"
    )
    if len(order) == 1:
        return f"{text}."
    gap = abs(best - standing.places[data, order[1]].mean)
    how = "level with" if number(gap) == number(0.0) else f"{number(gap)} ahead of"
    return f"{text}, {how} {short(order[1])}."


def _test_on_one(standing: Standing, run: Run, data: str) -> list[str]:
    """Test whether the two best differ by more than folds do, where there are folds."""
    test = _t_test(run, data, _order(standing, data)[:2], standing.measure)
    if test is None:
        return []
    words = "is more than" if test.p_value < 0.05 else "may be"
    n_folds = plural(test.degrees_of_freedom + 1, "fold")
    return [f"The lead {words} chance (corrected t-test over {n_folds}, {_p(test.p_value)})."]


def _t_test(run: Run, data: str, methods: Sequence[str], measure: str) -> CorrectedTTest | None:
    """Compare two methods over the folds of a dataset; None where it has no folds of both."""
    share = _test_share(run, data)
    values = [_by_fold(run, data, method, measure) for method in methods]
    if share is None or len(values) < 2 or len(values[0]) < 2:
        return None
    if values[0].keys() != values[1].keys():
        return None
    first, second = ([some[key] for key in sorted(some)] for some in values)
    return corrected_t_test(first, second, share)


def _on_many(standing: Standing) -> str:
    data, _ = standing.compared
    ranks = standing.ranks
    order = sorted(ranks, key=lambda name: ranks[name])
    best = [name for name in order if ranks[name] == ranks[order[0]]]
    others = [f"{short(name)} ({ranks[name]:.2f})" for name in order[len(best) : len(best) + 2]]
    left_out = len(standing.data) - len(data)
    words = f"By {measure_name(standing.measure)}, {listed([*map(short, best)])} "
    words += "has" if len(best) == 1 else "share"
    words += f" the best average rank, {ranks[order[0]]:.2f}, over {len(data)} datasets"
    words += f", before {listed(others)}" if others else ""
    words += f"; {_firsts(standing, best[0])}" if len(best) == 1 else ""
    words += f"; {plural(left_out, 'dataset')} with empty places left out" if left_out else ""
    return f"{words}."


def _firsts(standing: Standing, method: str) -> str:
    """Count the datasets on which no other method is better."""
    data, _ = standing.compared
    n_first = sum(standing.places[d, method].mean == standing.best(d) for d in data)
    return f"it is first on {n_first} of them"


def _left_out(standing: Standing) -> list[str]:
    """Name the methods that have no rank, for want of some value that others have."""
    some = [m for m in standing.unranked if any(standing.places[d, m].known for d in standing.data)]
    if not some:
        return []
    names = listed([f"{short(m)} ({standing.unranked[m].removeprefix('it has ')})" for m in some])
    return [f"Left out of ranks and tests: {names}."]


def _tests(standing: Standing) -> list[str]:
    if standing.wilcoxon is not None:
        p, n = float(standing.wilcoxon.p_values[0]), len(standing.table)
        words = "The methods differ" if p < 0.05 else "The methods may not differ"
        few = ", which six datasets at least could show" if n < LEAST_WILCOXON else ""
        best = int(np.argmin([*standing.ranks.values()]))
        return [f"{words} (Wilcoxon's test, {_p(p)}{few}).", _in_practice(standing, best)]
    if standing.friedman is None or standing.nemenyi is None:
        return ["With so few datasets and methods no test can find a difference."]
    p = standing.friedman.f_p_value
    if p >= 0.05:
        return [f"Friedman's test finds no difference between the methods ({_p(p)})."]
    methods = standing.compared[1]
    best = int(np.argmin(standing.nemenyi.ranks))
    beaten = np.flatnonzero(standing.nemenyi.p_values[best] < standing.nemenyi.alpha)
    names = [short(methods[column]) for column in beaten]
    words = "no single pair is found to differ"
    if names:
        words = f"{short(methods[best])} is better than {listed(names)}"
    return [
        f"The methods differ (Friedman's test, {_p(p)}); by Nemenyi's test, which asks much of "
        f"{len(standing.table)} datasets, {words}.",
        _in_practice(standing, best),
    ]


def _tests_of_two(standing: Standing, run: Run) -> list[str]:
    """Count the datasets on which two methods differ by more than folds do."""
    data, methods = standing.compared
    found = {name: _t_test(run, name, methods, standing.measure) for name in data}
    tests = [test for test in found.values() if test is not None]
    if not tests:
        return []
    sure = [test for test in tests if test.p_value < 0.05]
    sign = 1.0 if standing.upward else -1.0
    n_second = sum(sign * test.difference > 0 for test in sure)
    return [
        f"Dataset by dataset, {short(methods[0])} is better by more than chance on "
        f"{len(sure) - n_second} of {len(tests)} and {short(methods[1])} on {n_second} (corrected "
        "t-tests over folds)."
    ]


def _in_practice(standing: Standing, best: int) -> str:
    """Compare the two best methods by how probable a difference that matters is."""
    methods = standing.compared[1]
    second = int(np.argsort([*standing.ranks.values()], kind="stable")[1])
    found = bayesian_signed_rank(
        standing.table[:, best],
        standing.table[:, second],
        rope=ROPE,
        n_samples=N_SAMPLES,
        greater_is_better=standing.upward,
    )
    names = short(methods[best]), short(methods[second])
    return (
        f"{names[0]} is better than {names[1]} by more than {ROPE:g} with probability "
        f"{found.p_first:.2f}, and worse by as much with {found.p_second:.2f} (Bayesian "
        "signed-rank test)."
    )


def _worth_their_time(standing: Standing) -> str:
    """Name the methods that are on the Pareto front of most datasets."""
    data, methods = standing.compared
    counts = np.zeros(len(methods), dtype=int)
    for name, values in zip(data, standing.table, strict=True):
        times = [standing.places[name, method].seconds for method in methods]
        counts += pareto_front(times, [*values], greater_is_better=standing.upward)
    order = np.argsort(-counts, kind="stable")[:3]
    named = [f"{short(methods[i])} ({counts[i]} of {len(data)})" for i in order if counts[i]]
    return f"Most often worth their time, with nothing both faster and better: {listed(named)}."


def _order(standing: Standing, data: str) -> list[str]:
    """List the methods that have a value on a dataset, best first."""
    known = [method for method in standing.methods if standing.places[data, method].known]
    sign = -1.0 if standing.upward else 1.0
    return sorted(known, key=lambda method: sign * standing.places[data, method].mean)


def _by_fold(run: Run, data: str, method: str, measure: str) -> dict[tuple[int, int], float]:
    return {
        (row.seed, row.fold): row.result.measures[measure]
        for row in run.rows
        if (run.where(row), row.method) == (data, method) and measure in row.result.measures
    }


def _test_share(run: Run, data: str) -> float | None:
    split = next((row.split for row in run.rows if run.where(row) == data), "")
    kind, _, size = split.partition(":")
    if kind == "cv":
        return 1.0 / int(size)
    return float(size) if kind == "holdout" else None


def _p(value: float) -> str:
    return "p\u00a0<\u00a00.001" if value < 0.001 else f"p\u00a0=\u00a0{value:.3f}"
