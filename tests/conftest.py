"""Shared fixtures."""

import os
from pathlib import Path

import numpy as np
import pytest


def data_folders():
    """Folders with real data: ``$COLABEL_DATA``, then ``shared/data`` beside the repository."""
    named = [Path(p) for p in os.environ.get("COLABEL_DATA", "").split(os.pathsep) if p]
    return [p for p in [*named, Path(__file__).parents[2] / "shared" / "data"] if p.is_dir()]


@pytest.fixture
def real_data(monkeypatch):
    """Make real data loadable by name, or skip."""
    folders = data_folders()
    if not folders:
        pytest.skip("no real data: set COLABEL_DATA")
    monkeypatch.setenv("COLABEL_DATA", os.pathsep.join(map(str, folders)))
    return folders


@pytest.fixture
def toy():
    """Small multi-label data with a constant label on, one off, and rows without labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    Y = np.column_stack(
        [X[:, 0] > 0, X[:, 1] + X[:, 0] > 0.5, np.ones(60), np.zeros(60), X[:, 2] > 1]
    )
    return X, Y.astype(int)
