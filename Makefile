# `make demo` shows colabel at work, `make check` is for every day, `make test` checks everything.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
DEV_STAMP := .venv/.installed-dev
# Two test workers on two cores: their matrix products and trees must not fight for both.
export OPENBLAS_NUM_THREADS := 1
export OMP_NUM_THREADS := 1

.PHONY: demo check test lint types cover kernels format bench clean

demo: $(STAMP)
	$(BIN)/colabel compare yeast -o runs/demo --keep predictions,models
	$(BIN)/colabel report runs/demo -o runs/demo/report.html

# Lint, types, and the tests of what has changed since the last commit on the main branch.
check: lint types
	$(BIN)/python -m pytest -q -n 2 $$($(BIN)/python tools/changed_tests.py)

test: lint types cover kernels

lint: $(DEV_STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell

types: $(DEV_STAMP)
	$(BIN)/mypy

# Kernels run interpreted once, so that coverage sees their lines, ...
cover: $(DEV_STAMP)
	rm -f .coverage*
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest tests/kernels -q -n 2 --cov --cov-report= --cov-fail-under=0
	$(BIN)/python -m pytest -n 2 --cov --cov-append --cov-report=term

# ... and once with every array access checked.
kernels: $(DEV_STAMP)
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=.venv/numba-boundscheck $(BIN)/python -m pytest tests/kernels -q -n 2

format: $(DEV_STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(DEV_STAMP)
	for script in benchmarks/*.py; do $(BIN)/python $$script || exit 1; done

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage* runs

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("colabel needs Python 3.11 or newer; this is %s. Try: make PYTHON=python3.12" % sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv

$(STAMP): $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[all]"
	touch $@

$(DEV_STAMP): $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	touch $@
