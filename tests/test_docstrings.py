"""Public names are documented, parameters match signatures, and examples run."""

import doctest
import importlib
import inspect
import pkgutil
import re

import numpy as np
import pytest

import colabel

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(colabel.__path__, "colabel.")
    if "._kernels" not in module.name and not module.name.endswith("__main__")
)


def public_objects():
    """Names in ``__all__`` of every module, each under the module that defines it."""
    for name in MODULES:
        module = importlib.import_module(name)
        for attribute in getattr(module, "__all__", ()):
            thing = getattr(module, attribute)
            if getattr(thing, "__module__", None) == name and (
                inspect.isclass(thing) or inspect.isfunction(thing)
            ):
                yield f"{name}.{attribute}", thing


PUBLIC = dict(public_objects())


def test_something_is_public():
    assert len(PUBLIC) > 60


@pytest.mark.parametrize("name", MODULES)
def test_module_has_a_docstring(name):
    assert importlib.import_module(name).__doc__


@pytest.mark.parametrize("name", PUBLIC)
def test_public_name_and_its_methods_have_docstrings(name):
    thing = PUBLIC[name]
    assert inspect.getdoc(thing), name
    if inspect.isclass(thing):
        for member, value in vars(thing).items():
            if not member.startswith("_") and (
                inspect.isfunction(value) or isinstance(value, property | classmethod)
            ):
                assert inspect.getdoc(getattr(thing, member)), f"{name}.{member}"


@pytest.mark.parametrize("name", PUBLIC)
def test_documented_parameters_are_those_of_the_signature(name):
    thing = PUBLIC[name]
    text = inspect.getdoc(thing) or ""
    section = re.search(r"Parameters\n-+\n(.*?)(?=\n\n?[A-Z][A-Za-z ]+\n-+\n|\Z)", text, re.S)
    if section is None:
        return
    lines = re.findall(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: :.*)?$", section.group(1), re.M)
    documented = {part.strip(" *") for line in lines for part in line.split(",")}
    parameters = {p for p in inspect.signature(thing).parameters if p != "self"}
    assert documented <= parameters, f"{name} documents {documented - parameters}"
    assert parameters <= documented, f"{name} does not document {parameters - documented}"


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with np.printoptions(legacy=False):
        failed, _ = doctest.testmod(
            importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE
        )
    assert failed == 0
