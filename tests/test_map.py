"""The guide's map of the rooms is true: every package, in its own words, in an order of imports."""

import ast
import re
from pathlib import Path

import colabel
from test_layers import graph

ROOT = Path(colabel.__file__).parent
PAGE = Path(__file__).parents[1] / "docs" / "guide" / "how-it-works.md"
MAP = PAGE.read_text("utf-8").split("## A map")[1]
ROOMS = dict(re.findall(r"^\| `([\w.]+)` \| (.+) \|$", MAP, re.M))


def first_line(room):
    path = ROOT / room
    file = path / "__init__.py" if path.is_dir() else path
    return ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))).split("\n")[0]


def test_every_package_has_a_room_and_every_room_is_there():
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert {room for room in ROOMS if not room.endswith(".py")} == packages
    assert len(ROOMS) == len(re.findall(r"^\| `", MAP, re.M))


def test_each_is_described_in_its_own_words():
    assert {room: first_line(room) for room in ROOMS} == ROOMS


def test_rooms_stand_in_an_order_of_imports():
    order = [room.removesuffix(".py") for room in ROOMS]
    imports = graph()
    for place, room in enumerate(order):
        later = set(order[place + 1 :]) & {name.split(".")[0] for name in imports[room]}
        assert not later, f"{room} imports {sorted(later)}, which stand below it"
