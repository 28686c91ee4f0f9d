"""Imports point one way. The table below is the whole truth; there are no exceptions."""

import ast
from pathlib import Path

import pytest

import colabel

ROOT = Path(colabel.__file__).parent
GROUND = {"_parameters", "exceptions", "_sklearn", "_label_scores", "_progress", "_unchanged"}
ROLES = {"losses", "decoders", "models", "learners"}
TABLES = {"scores", "results"}
SHARED = {"numerics", "linear", "trees", "metric_learning"}
BASES = {"compat", "base", "_targets", "_meta", "_weighted", "_one_target"}
CORE = GROUND | TABLES | SHARED | ROLES | BASES | {"_kernels"}
FAMILIES = {
    "structured",
    "mixture",
    "neighbors",
    "labelsets",
    "reduction",
    "embedding",
    "neural",
}
SHELF = {"metrics", "datasets", "model_selection"}

# Which parts of colabel each part may import, besides itself.
MAY_IMPORT = {
    "exceptions": set(),
    "_sklearn": set(),
    "_parameters": set(),
    "_label_scores": set(),
    "_progress": set(),
    "_unchanged": set(),
    "_kernels": set(),
    "scores": GROUND,
    "results": GROUND,
    "losses": GROUND,
    "decoders": GROUND | TABLES | {"_kernels"},
    "models": GROUND | TABLES | {"_kernels"},
    "learners": GROUND | TABLES | {"_kernels", "numerics"},
    "numerics": GROUND | {"_kernels"},
    "trees": GROUND | {"_kernels"},
    "linear": GROUND | TABLES | {"_kernels", "numerics"},
    "metric_learning": GROUND | TABLES | {"_kernels", "numerics"},
    "compat": GROUND | TABLES | ROLES,
    "_targets": GROUND,
    "base": GROUND | TABLES | {"_targets", "compat", "decoders"},
    "_meta": GROUND | {"base"},
    "_one_target": GROUND,
    "_weighted": GROUND | {"base", "numerics"},
    "metrics": GROUND | {"_kernels"},
    "datasets": GROUND | {"_kernels"},
    "model_selection": CORE | {"metrics"},
    "_model_file": GROUND,
    "_model_content": GROUND,
    "persistence": GROUND | {"_model_file", "_model_content", "__init__"},
    **{family: CORE | {"metrics"} for family in FAMILIES},
    "plot": CORE | FAMILIES | SHELF,
    "lab": CORE | FAMILIES | SHELF | {"plot", "persistence", "__init__"},
    "cli": CORE | FAMILIES | SHELF | {"plot", "lab", "persistence", "__init__"},
    "__init__": FAMILIES | SHELF | {"persistence"},
    "__main__": {"cli"},
}
OUTSIDE = {"_kernels": {"numpy", "numba"}}
FILES = sorted(ROOT.rglob("*.py"))


def part_of(path):
    relative = path.relative_to(ROOT)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def imports(path):
    """Modules that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} has a relative import"
            if node.module == "colabel":
                yield from (f"colabel.{alias.name}" for alias in node.names)
            else:
                yield node.module


def parts_imported(path):
    for module in imports(path):
        if module == "colabel":
            yield "__init__"
        elif module.startswith("colabel."):
            part = module.split(".")[1]
            inside = (ROOT / part).is_dir() or (ROOT / f"{part}.py").exists()
            yield part if inside else "__init__"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_one_way(path):
    part = part_of(path)
    assert part in MAY_IMPORT, f"{part} has no place in the table of layers"
    wrong = set(parts_imported(path)) - MAY_IMPORT[part] - {part}
    assert not wrong, f"{part} must not import {sorted(wrong)}"


@pytest.mark.parametrize("part", OUTSIDE)
def test_kernels_import_nothing_but_numpy_and_numba(part):
    # What reports on compiling and keeps its results is no kernel.
    others = {ROOT / "_kernels" / name for name in ("_cache.py", "_compiling.py")}
    for path in {*(ROOT / part).glob("*.py")} - others:
        found = {module.split(".")[0] for module in imports(path)} - {"colabel"}
        assert found <= OUTSIDE[part] | {"collections", "typing", "math"}


# Which packages of the laboratory each one may import, besides itself; "" is its own modules.
LAB_MAY_IMPORT = {"": set(), "papers": {""}, "report": {""}}


@pytest.mark.parametrize("package", LAB_MAY_IMPORT)
def test_packages_of_the_laboratory_import_one_way(package):
    for path in (ROOT / "lab" / package).glob("*.py"):
        names = [module.split(".") for module in imports(path)]
        inside = [name[2:] for name in names if name[:2] == ["colabel", "lab"]]
        found = {name[0] if name and name[0] in LAB_MAY_IMPORT else "" for name in inside}
        assert found <= LAB_MAY_IMPORT[package] | {package}, path.name


def test_the_rule_would_notice_a_violation(tmp_path):
    bad = tmp_path / "bad.py"
    bad.write_text("def f():\n    from colabel.lab import compare\n    import colabel.cli\n")
    assert set(parts_imported(bad)) == {"lab", "cli"}
