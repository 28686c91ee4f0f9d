"""The page about the command line shows what the commands print."""

import re
import shlex
from itertools import zip_longest
from pathlib import Path

import pytest

from colabel.lab.methods import list_methods

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "command-line.md"
NUMBER = re.compile(r"[+-]?\d+\.\d+")


def examples(text):
    """Yield each command of the page and the lines it prints there."""
    for block in re.findall(r"```console\n(.*?)```", text, re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, printed = part.partition("\n")
            yield command, printed.rstrip("\n").split("\n")


def words(line):
    """The words of a line, lines and times left out."""
    line = re.sub(r"─+|in \d+\.\d s;|\"seconds\": .*", "", line)
    parts = line.split()
    if len(parts) == 4 and all(NUMBER.fullmatch(part) for part in parts[1:]):
        return parts[:-1]  # of `tune`
    is_row = len(parts) == 9 and parts[0] in list_methods()
    return parts[:-2] if is_row else parts


def assert_alike(ours, shown):
    """Words are equal; numbers may differ by what another machine rounds differently."""
    for mine, theirs in zip_longest(words(ours), words(shown), fillvalue=""):
        if NUMBER.fullmatch(mine.strip(",")) and NUMBER.fullmatch(theirs.strip(",")):
            assert float(mine.strip(",")) == pytest.approx(float(theirs.strip(",")), abs=0.02)
        else:
            assert mine == theirs


def test_every_command_of_the_page_prints_what_is_shown(run, tmp_path):
    text = PAGE.read_text(encoding="utf-8")
    (tmp_path / "birds.csv").write_text(re.search(r"```csv\n(.*?)```", text, re.S)[1])
    commands = 0
    for command, shown in examples(text):
        program, *arguments = shlex.split(command.partition(" | head")[0])
        assert program == "colabel"
        if arguments[0] == "reproduce":  # takes half a minute; test_runs.py runs the table
            continue
        outcome = run(*arguments)
        ours = (outcome.out + outcome.err).rstrip("\n").split("\n")
        if "| head" in command:
            ours = ours[: len(shown)]
        assert len(ours) == len(shown), command
        for mine, theirs in zip(ours, shown, strict=True):
            assert_alike(mine, theirs)
        commands += 1
    assert commands >= 10


def test_every_command_and_option_is_on_the_page(run):
    text = PAGE.read_text(encoding="utf-8")
    models = ("methods", "datasets", "info", "fit", "predict", "evaluate", "tune")
    for command in (*models, "compare", "report", "redo", "warmup"):
        assert f"`colabel {command}" in text
        for option in re.findall(r"(--[a-z-]+)", run(command, "--help").out):
            assert option in text or option in ("--output", "--method", "--methods", "--param")
