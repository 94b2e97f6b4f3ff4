"""What ``import purely`` loads, and what it offers."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest

import purely


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_import_loads_nothing_heavy():
    code = (
        "import sys, purely; "
        "heavy = ('torch', 'matplotlib', 'pandas', 'polars', 'tqdm'); "
        "print([m for m in heavy if m in sys.modules])"
    )
    assert run(code) == "[]"


def test_the_analytic_estimators_load_neither_torch_nor_matplotlib():
    code = (
        "import sys, purely; purely.PUSMI, purely.smi.PNSMI, purely.stack, purely.make_pu, purely.rank_features; "
        "print([m for m in ('torch', 'matplotlib') if m in sys.modules])"
    )
    assert run(code) == "[]"


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
def test_star_import_gives_all_public_names():
    code = "from purely import *; import purely; print(all(globals()[n] is getattr(purely, n) for n in purely.__all__))"
    assert run(code) == "True"


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(AttributeError, match=r"module 'purely' has no attribute 'PUSMY'; it has: .*PUSMI"):
        purely.PUSMY  # noqa: B018
    assert not hasattr(purely, "__wrapped__")


def test_the_version_is_a_string():
    assert isinstance(purely.__version__, str)
    assert purely.__version__
