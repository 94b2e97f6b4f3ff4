"""The documentation's tables are those of the rows that the runs left."""

from __future__ import annotations

import csv

import pytest

from experiments import prior_tables


@pytest.mark.parametrize("name", ["estimators", "cells", "generators", "peers"])
def test_tables_of_the_documentation_follow_from_the_rows(name):
    path = prior_tables.PriorTables().out / f"class_priors_{name}.csv"
    with path.open(newline="") as file:
        assert list(csv.reader(file)) == getattr(prior_tables, f"{name}_table")()
