"""What kernels are given has names: no field is reached by its number.

The parameters of a kernel are arrays and named tuples. A number in brackets after the name of a
parameter, or of what is bound in the function, may be 0, the first entry of a vector; any other
stands for a field, a row or a column whose name is missing. Ends of slices and places that are
computed are free. Lists of numbers that are unpacked have names.
"""

import ast
from pathlib import Path

import pytest

from colabel import _kernels

FILES = sorted(Path(_kernels.__file__).parent.glob("*.py"))
# Of others' making.
OPEN = {"logistic.py": 4}


def numbered(text):
    """Return the accesses of a source by a number above 0, anywhere among the indices."""
    found = []
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
                    index = node.slice
                    parts = index.elts if isinstance(index, ast.Tuple) else [index]
                    values = [part.value for part in parts if isinstance(part, ast.Constant)]
                    if any(type(value) is int and value > 0 for value in values):
                        found.append(ast.unparse(node))
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_field_is_reached_by_its_number(path):
    assert len(numbered(path.read_text(encoding="utf-8"))) == OPEN.get(path.name, 0)


def test_the_rule_sees_what_it_is_for():
    text = """
def f(work, pairs, a, k):
    score = work[8][0] + pairs[2, k] + a[0] + a[k + 1] + a.shape[1] + a[1:]
    return pairs[k, 1]
"""
    assert sorted(numbered(text)) == ["pairs[2, k]", "pairs[k, 1]", "work[8]"]
