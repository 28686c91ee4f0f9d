"""Print the test files of what has changed since the last commit on the main branch.

    python -m pytest $(python tools/changed_tests.py)

On a branch that is what differs from where the branch left the main one, with what is not committed
yet; on the main branch what is not committed, or else the last commit. The tests of a module are
those that import it or a name that it defines, and those of its name (``_knn.py``: ``test_knn.py``
in the folder of its package), and those of its role in ``tests/conformance``; of a module without
such tests, those of the modules that import it; of any other file, the tests that name it.
``ALWAYS`` are tests of the whole source that are quick.
"""

import ast
import re
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[1]
ALWAYS = ("test_docstrings", "test_house", "test_import", "test_layers")


def changed_files() -> list[str]:
    """Return the files that have changed, removed ones included."""
    base = _git("merge-base", "HEAD", _main_branch())[0]
    found = _since(base)
    if not found and base == _git("rev-parse", "HEAD")[0]:
        found = _since("HEAD~1")
    return found


def _since(commit: str) -> list[str]:
    new = _git("ls-files", "--others", "--exclude-standard")
    return sorted({*_git("diff", "--name-only", "--no-renames", commit), *new})


def _main_branch() -> str:
    known = _git("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes/origin")
    names = ("main", "master", "origin/main", "origin/master")
    return next((name for name in names if name in known), "HEAD")


def _git(*words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def tests_of(files: Iterable[str]) -> list[str]:
    """Return the test files to run for these files, as paths from the root of the repository."""
    chosen = {f"tests/{name}.py" for name in ALWAYS}
    for file in files:
        chosen |= _tests_of_one(file)
    return sorted(file for file in chosen if (ROOT / file).exists())


def _tests_of_one(file: str) -> set[str]:
    path = PurePosixPath(file)
    if path.parts[0] == "tests" and path.name.startswith("test_"):
        return {file}
    if path.name == "conftest.py":
        return {test for test in _tests() if test.startswith(f"{path.parent}/")}
    if path.suffix == ".py" and path.parts[0] in ("src", "tests"):
        role = f"tests/conformance/test_{path.parts[-2]}.py"
        return _tests_of_module(_module(path)) | ({role} & _tests().keys())
    if path.parts[0] in ("docs", "examples") and path.suffix in (".md", ".py"):
        return {"tests/test_pages.py"} | {t for t, text in _tests().items() if _names(text, path)}
    return {test for test, text in _tests().items() if _names(text, path)} | _same_name(path)


def _tests_of_module(module: str) -> set[str]:
    """Return the tests of a module, or, if it has none, of those that import it, and so on."""
    seen: set[str] = set()
    modules = {module}
    while modules:
        seen |= modules
        tests = {test for name in modules for test in _direct(name)}
        if tests:
            return tests
        modules = {other for name in modules for other in _importers(name)} - seen
    return set()


def _direct(module: str) -> set[str]:
    found = {test for test in _tests() if _imports(test) & _meant(module)}
    return found | _same_name(PurePosixPath(_file(module)))


def _same_name(path: PurePosixPath) -> set[str]:
    """Return the tests that are called as the file is, in the folder of its package or above."""
    folders = {"tests", *(f"tests/{part}" for part in path.parts[:-1])}
    ending = re.compile(rf"test_{re.escape(path.stem.strip('_'))}(_\w+)?\.py")
    return {
        test
        for test in _tests()
        if (place := PurePosixPath(test)).parent.as_posix() in folders
        and ending.fullmatch(place.name)
    }


def _names(text: str, path: PurePosixPath) -> bool:
    return re.search(rf"\b{re.escape(path.name)}\b", text) is not None


@cache
def _meant(module: str) -> frozenset[str]:
    """Return what an import may say that means this module.

    That is the module, or what it defines, from it or from a package around it; importing a name
    from a package means the module that defines it, not the package.
    """
    file = ROOT / _file(module)
    parts = module.split(".")
    places = [".".join(parts[:n]) for n in range(1, len(parts) + 1)]
    body = ast.parse(file.read_text(encoding="utf-8")).body if file.exists() else []
    names = [node.name for node in body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    itself = set() if file.name == "__init__.py" else {module}
    return frozenset({*itself, *(f"{place}.{name}" for place in places for name in names)})


@cache
def _tests() -> dict[str, str]:
    """Return the text of each test file."""
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    return {file.relative_to(ROOT).as_posix(): file.read_text("utf-8") for file in files}


@cache
def _importers(module: str) -> frozenset[str]:
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    paths = (file.relative_to(ROOT).as_posix() for file in files)
    return frozenset(_module(PurePosixPath(p)) for p in paths if _imports(p) & _meant(module))


@cache
def _imports(file: str) -> frozenset[str]:
    """Return the modules and the names in modules that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse((ROOT / file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(found)


def _module(path: PurePosixPath) -> str:
    return ".".join(path.with_suffix("").parts[1:]).removesuffix(".__init__")


def _file(module: str) -> str:
    """Return the file of a module, in the package or among the tests."""
    top = "src" if module.partition(".")[0] == "colabel" else "tests"
    stem = f"{top}/{module.replace('.', '/')}"
    return f"{stem}/__init__.py" if (ROOT / stem).is_dir() else f"{stem}.py"


if __name__ == "__main__":
    print("\n".join(tests_of(changed_files())))
