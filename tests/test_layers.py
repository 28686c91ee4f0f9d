"""Imports point one way, between packages and the packages in them. The tables are the whole truth.

A part is a package, a package inside it (``datasets.formats``), or a module of the root.
"""

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import colabel

ROOT = Path(colabel.__file__).parent
GROUND = {
    "_label_scores",
    "_measure_names",
    "_parameters",
    "_part",
    "_progress",
    "_old_keywords",
    "_renamed",
    "_rows",
    "_sklearn",
    "_unchanged",
    "exceptions",
    "files",
    "messages",
}
ROLES = {"roles", "losses", "decoders", "models", "oracles", "learners"}
TABLES = {"scores", "results"}
SHARED = {"numerics", "linear", "trees", "metric_learning"}
BASES = {"base", "_targets", "_meta", "_weighted", "_one_target"}
CORE = GROUND | TABLES | SHARED | ROLES | BASES | {"_kernels"}
FAMILIES = {
    "structured",
    "mixture",
    "neighbors",
    "facets",
    "reduction",
    "embedding",
    "neural",
}
SHELF = {"metrics", "dataset", "datasets", "datasets.formats", "model_selection"}
LAB = {"lab", "lab.papers", "lab.report"}
BELOW_LAB = CORE | FAMILIES | SHELF | {"datasets.generators", "plot", "persistence", "__init__"}

# Which parts of colabel each part may import, besides itself.
MAY_IMPORT = {
    "exceptions": set(),
    "messages": {"exceptions"},
    "_part": {"exceptions", "messages"},
    "files": set(),
    "_sklearn": {"exceptions"},
    "_parameters": set(),
    "_label_scores": set(),
    "_measure_names": set(),
    "_progress": set(),
    "_old_keywords": {"exceptions", "messages"},
    "_renamed": {"exceptions", "messages"},
    "_rows": set(),
    "_unchanged": set(),
    "_kernels": set(),
    "scores": GROUND,
    "results": GROUND,
    "roles": GROUND | TABLES,
    "losses": GROUND,
    "decoders": GROUND | TABLES | {"roles", "_kernels", "numerics"},
    "models": GROUND | TABLES | {"roles", "_kernels", "numerics"},
    "oracles": GROUND | TABLES | {"roles", "losses", "decoders"},
    "learners": GROUND | TABLES | {"roles", "_kernels", "numerics"},
    "numerics": GROUND | {"_kernels"},
    "trees": GROUND | {"_kernels", "numerics"},
    "linear": GROUND | TABLES | {"_kernels", "numerics"},
    "metric_learning": GROUND | TABLES | {"_kernels", "numerics"},
    "_targets": GROUND,
    "base": GROUND | TABLES | {"_targets", "decoders"},
    "_meta": GROUND | {"base"},
    "_one_target": GROUND,
    "_weighted": GROUND | {"base", "numerics"},
    "metrics": GROUND | {"_kernels"},
    "dataset": GROUND,
    "datasets.formats": GROUND | {"dataset"},
    "datasets.generators": GROUND | {"dataset"},
    "datasets": GROUND | {"dataset", "datasets.formats", "datasets.generators"},
    "model_selection": CORE | {"metrics"},
    "_model_file": GROUND,
    "_model_content": GROUND,
    "persistence": GROUND | {"_model_file", "_model_content", "__init__"},
    **{family: CORE | {"metrics"} for family in FAMILIES},
    "plot": CORE | FAMILIES | SHELF,
    "lab": BELOW_LAB,
    "lab.papers": BELOW_LAB | {"lab"},
    "lab.report": BELOW_LAB | {"lab"},
    "cli": BELOW_LAB | LAB,
    "__init__": FAMILIES | SHELF | {"persistence"},
    "__main__": {"cli"},
}
# Parts that import one another all the same; these lists are to become shorter, never longer.
CYCLES = {
    "persistence": {"__init__"},  # for the number of the version
}
UNDERSCORED: dict[str, set[str]] = {}
OUTSIDE = {"_kernels": {"numpy", "numba"}}
FILES = sorted(ROOT.rglob("*.py"))


def package_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).parts[:-1])


def part_of(path: Path) -> str:
    return package_of(path) or path.stem


def imports(path: Path) -> Iterator[str]:
    """Modules that a file imports, anywhere in it, packages named by ``from`` among them."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} has a relative import"
            assert node.module is not None
            named = [f"{node.module}.{alias.name}" for alias in node.names]
            inside = [name for name in named if is_ours(name)]
            yield from inside
            if len(inside) < len(named):
                yield node.module


def is_ours(module: str) -> bool:
    """Whether it is a module or package of colabel's."""
    names = module.split(".")
    place = ROOT.joinpath(*names[1:])
    return names[0] == "colabel" and (place.is_dir() or place.with_suffix(".py").exists())


def parts_imported(path: Path) -> Iterator[str]:
    for module in imports(path):
        names = module.split(".")
        if names[0] == "colabel":
            place = ROOT.joinpath(*names[1:])
            within = names[1:] if place.is_dir() else names[1:-1] or names[1:]
            yield ".".join(within) or "__init__"


def graph() -> dict[str, set[str]]:
    """Which parts each part imports."""
    found: dict[str, set[str]] = {}
    for path in FILES:
        part = part_of(path)
        found.setdefault(part, set()).update(set(parts_imported(path)) - {part})
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_one_way(path):
    part = part_of(path)
    assert part in MAY_IMPORT, f"{part} has no place in the table of layers"
    wrong = set(parts_imported(path)) - MAY_IMPORT[part] - {part}
    assert not wrong, f"{part} must not import {sorted(wrong)}"


def test_parts_do_not_import_one_another_in_a_circle():
    known = graph()
    for part, others in CYCLES.items():
        assert others <= known[part], f"{part} imports no longer all of {sorted(others)}"
        known[part] -= others
    TopologicalSorter(known).prepare()  # raises CycleError, which names the circle


def test_no_package_imports_a_module_of_another_that_begins_with_an_underscore():
    found: dict[str, set[str]] = {}
    for path in FILES:
        package = package_of(path)
        for module in imports(path):
            *owner, name = module.split(".")
            hidden = name.startswith("_") and len(owner) > 1 and is_ours(module)
            if hidden and ".".join(owner[1:]) != package:
                found.setdefault(f"{package}.{path.stem}", set()).add(module)
    assert found == UNDERSCORED, "only named exceptions, and those only as long as they are needed"


@pytest.mark.parametrize("part", OUTSIDE)
def test_kernels_import_nothing_but_numpy_and_numba(part):
    # What reports on compiling and keeps its results is no kernel.
    others = {ROOT / "_kernels" / name for name in ("_cache.py", "_compiling.py")}
    for path in {*(ROOT / part).glob("*.py")} - others:
        found = {module.split(".")[0] for module in imports(path)} - {"colabel"}
        assert found <= OUTSIDE[part] | {"collections", "typing", "math"}


def test_the_rule_would_notice_a_violation(tmp_path):
    bad = tmp_path / "bad.py"
    bad.write_text(
        "def f():\n    from colabel.lab import compare, report\n    import colabel.cli\n"
        "    from colabel.datasets import formats\n"
    )
    assert set(parts_imported(bad)) == {"lab", "lab.report", "cli", "datasets.formats"}
