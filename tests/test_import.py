"""What ``import purely`` loads, and what it offers."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec

import pytest

import purely

#: What is done in a new process, step by step, and what must not have been loaded by then.
STEPS = {
    "import purely": ("torch", "matplotlib", "pandas", "polars", "tqdm", "purely.labels"),
    "from purely import labels": ("torch", "matplotlib", "purely.smi"),
    "purely.PUSMI, purely.smi.PNSMI, purely.stack, purely.make_pu, purely.rank_features": ("torch", "matplotlib"),
    "import purely.plotting, purely.report": ("torch", "matplotlib", "jinja2"),
    "import purely.datasets, purely.representation, purely.demo": ("torch", "matplotlib"),
    "from purely import *": (),
}


@pytest.fixture(scope="module")
def loaded():
    """By step, what should not be there; and whether a star imports all names."""
    lines = ["import json, sys", "found = {}"]
    for step, heavy in STEPS.items():
        lines += ["try:", f"    exec({step!r}, globals())", "except ModuleNotFoundError as error:"]
        lines += ["    if error.name != 'torch': raise"]  # some names need it; an installation without is a whole one
        lines += [f"found[{step!r}] = [name for name in {heavy!r} if name in sys.modules]"]
    lines += ["import purely", "found['star'] = [n for n in purely.__all__ if n not in globals()]"]
    lines += ["print(json.dumps(found))"]
    code = "\n".join(lines)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("step", STEPS)
def test_an_import_loads_nothing_heavy(loaded, step):
    assert loaded[step] == []


@pytest.mark.parametrize("name", purely.__all__)
def test_every_public_name_resolves(name):
    try:
        value = getattr(purely, name)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        pytest.skip("torch is not installed")
    assert value.__name__ == name
    assert value.__doc__
    assert name in dir(purely)


@pytest.mark.skipif(find_spec("torch") is None, reason="some names need torch, which is not installed")
def test_a_star_imports_all_public_names(loaded):
    assert loaded["star"] == []


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(AttributeError, match=r"module 'purely' has no attribute 'PUSMY'; it has: .*PUSMI"):
        purely.PUSMY  # noqa: B018
    assert not hasattr(purely, "__wrapped__")


@pytest.mark.parametrize(
    ("name", "room"), [("PNSMI", "smi"), ("DegenerateDataWarning", "exceptions"), ("compare_methods", "comparison")]
)
def test_a_name_of_a_room_is_refused_with_where_it_is(name, room):
    hint = rf"has no attribute '{name}'; use: from purely\.{room} import {name}$"
    with pytest.raises(ImportError, match=hint):
        exec(f"from purely import {name}", {})
    with pytest.raises(AttributeError, match=hint):
        getattr(purely, name)
    assert not hasattr(purely, name)


def test_the_version_is_a_string():
    assert isinstance(purely.__version__, str)
    assert purely.__version__
