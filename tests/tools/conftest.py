"""The scripts in ``tools``, imported from where they lie."""

import importlib.util
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / "tools"


@pytest.fixture(scope="session")
def tool():
    """Import a script by name."""

    def load(name):
        place = importlib.util.spec_from_file_location(f"tool_{name}", TOOLS / f"{name}.py")
        module = importlib.util.module_from_spec(place)
        place.loader.exec_module(module)
        return module

    return load
