"""Small models, their files, and ways to forge them."""

import io
import json
import zipfile

import numpy as np
import pytest

from colabel.persistence import save

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 6))
Y = (X[:, :3] + 0.5 * RNG.normal(size=(150, 3)) > 0).astype(int)


def saved(path, estimator, **options):
    save(estimator, path, **options)
    return path


def saved_in_doubt(path, estimator):
    """Save a model of which `save` says that `load` will not trust it."""
    with pytest.warns(UserWarning, match="will need trusted=") as caught:
        save(estimator, path)
    assert len(caught) == 1
    return path


def rewrite(path, edit, compression=zipfile.ZIP_STORED):
    """Let ``edit`` change the members (name to bytes) of a model file."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    edit(members)
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def edit_json(member, change):
    def edit(members):
        content = json.loads(members[member])
        members[member] = json.dumps(change(content) or content)

    return edit


def edit_array(matches, change):
    """Return an edit of the first array for which ``matches`` holds."""

    def edit(members):
        for name, content in members.items():
            if name.endswith(".npy"):
                array = np.load(io.BytesIO(content))
                if matches(array):
                    buffer = io.BytesIO()
                    change(array)
                    np.save(buffer, array)
                    members[name] = buffer.getvalue()
                    return
        raise AssertionError("no such array")

    return edit


def node(module, name, loader, **more):
    return {"__module__": module, "__class__": name, "__loader__": loader, **more}


def argument(value):
    inner = node("builtins", "str", "JsonNode", content=json.dumps(value))
    return node("builtins", "tuple", "TupleNode", content=[inner])


def named(module, name, loader="ObjectNode", **more):
    """Return a schema of one object of the named type."""
    return lambda schema: {"protocol": schema["protocol"], **node(module, name, loader, **more)}


def walk(value):
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for child in value:
            yield from walk(child)
