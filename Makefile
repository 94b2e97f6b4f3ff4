# Each target makes the environment it needs; nothing else has to be typed first.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
OLDEST ?= .venv-oldest

.DEFAULT_GOAL := help
.PHONY: help demo test test-full test-fast test-oldest lint docs bench fuzz smoke paper paper-smoke clean

help: ## show the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "purely needs Python 3.11 or newer; $$($(PYTHON) --version) was found. Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: $(STAMP) ## the main job on embedded data; prints where the picture is
	$(BIN)/purely demo

test: $(STAMP) ## all tests, the slow ones too
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal --durations 12 -m 'not full'

test-full: $(STAMP) ## the full sizes of checks of which `make test` runs a smaller form
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal -m full tests

test-fast: $(STAMP) ## the tests that take seconds
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto -m 'not slow and not full and not data'

test-oldest: ## the promises of every estimator on the oldest versions we claim, without torch
	@test -x $(OLDEST)/bin/python || $(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints-oldest.txt --editable . pytest pytest-xdist pandas polars pyarrow
	OMP_NUM_THREADS=1 $(OLDEST)/bin/python -m pytest -n auto -m 'not full' tests/test_common.py tests/test_labels.py tests/test_folds.py tests/smi

lint: $(STAMP) ## style, types, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(STAMP) ## HTML documentation, warnings are errors
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

bench: $(STAMP) ## speed, as ratios in one run
	$(BIN)/python -m benchmarks.run

fuzz: $(STAMP) ## forged models, malformed tables, kills, storms; FUZZ='tables -n 500 --seed 3 --minutes 10' for a part
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.fuzz $(or $(FUZZ),all)

smoke: $(STAMP) ## every experiment and benchmark once, in the smallest size
	rm -rf build/smoke
	$(BIN)/python -m experiments.smoke

paper: $(STAMP) ## every table and figure of the paper; a GPU is advised, a killed run is resumed
	$(BIN)/python -m experiments.theorem3 $(SIZE)
	$(BIN)/python -m experiments.figure1 $(SIZE)
	$(BIN)/python -m experiments.figure2 $(SIZE)
	$(BIN)/python -m experiments.paper figure3 $(SIZE)
	OMP_NUM_THREADS=1 $(BIN)/python -m experiments.paper run $(SIZE)

paper-smoke: $(STAMP) ## the same commands in the smallest size, a minute on two cores
	rm -rf build/paper-smoke
	$(MAKE) paper SIZE='--smoke --out build/paper-smoke'

clean: ## remove the environment and all that was built
	rm -rf $(VENV) docs/_build docs/auto_examples docs/api/generated build dist .pytest_cache .mypy_cache .ruff_cache
