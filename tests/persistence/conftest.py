"""Models that the tests of this room share."""

from __future__ import annotations

import pytest

import purely
from tests.persistence.models import declared_models


@pytest.fixture(scope="session")
def models():
    """Fitted models of every kind, and rows for each, by name."""
    return declared_models()


@pytest.fixture(scope="session")
def files(models, tmp_path_factory):
    """A file of each."""
    folder = tmp_path_factory.mktemp("models")
    paths = {name: folder / f"{i}.purely" for i, name in enumerate(models)}
    for name, path in paths.items():
        purely.save(models[name][0], path)
    return paths
