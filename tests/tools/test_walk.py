"""The walk through the package: what it counts, and what it prints."""

import sys

import pytest

from colabel.decoders import make_decoder
from colabel.scores import Modular


@pytest.fixture(scope="module")
def walk(tool):
    return tool("walk")


def test_files_and_functions_are_in_order_of_first_entry(walk):
    table = Modular([[1.0, -1.0]])
    found = walk.follow(lambda: make_decoder("threshold").decode(table))
    assert next(iter(found)) == "decoders/__init__.py"
    assert found["decoders/__init__.py"] == ["make_decoder"]
    assert list(found)[-1] != "decoders/__init__.py", "the decoder is in files of its own"
    assert found["decoders/base.py"][0] == "BaseDecoder.decode"


def test_nothing_outside_the_package_counts(walk):
    assert walk.follow(lambda: sorted([2, 1], key=lambda number: number)) == {}


def test_a_profiler_that_was_there_is_there_afterwards(walk):
    before = sys.getprofile()
    with pytest.raises(ZeroDivisionError):
        walk.follow(lambda: 1 / 0)
    assert sys.getprofile() is before


def test_a_walk_after_another_counts_each_file_once(walk):
    first, second = {"a.py": ["f", "g"], "b.py": ["h"]}, {"b.py": ["h", "i"], "c.py": ["j"]}
    assert walk.joined(first, second) == {"a.py": ["f", "g"], "b.py": ["h", "i"], "c.py": ["j"]}


@pytest.mark.parametrize("method", ["knn", "indep"])
def test_a_method_is_followed_through_fit_and_predict(walk, method, capsys):
    walk.main([method])
    printed = capsys.readouterr().out
    fit, predict, both = (line for line in printed.splitlines() if line.startswith(method))
    assert fit.startswith(f"{method}, fit: ")
    assert predict.startswith(f"{method}, predict: ")
    n_files = [int(line.split(": ")[1].split(" files")[0]) for line in (fit, predict, both)]
    assert max(n_files[:2]) <= n_files[2] <= sum(n_files[:2])
    # every file is listed, under the part it was met in
    assert printed.count(".py\n") == n_files[0] + n_files[1]


def test_counts_alone_are_three_lines(walk, capsys):
    walk.main(["knn", "--counts"])
    assert capsys.readouterr().out.count("\n") == 3
