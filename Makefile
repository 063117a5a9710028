# Two commands on a fresh machine: `make demo` and `make test`. Everything lands in .venv.

PYTHON ?= python3
BIN := .venv/bin
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(min(8, 1 + os.cpu_count()))')  # of the tests, some of which only wait
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo demo-service demo-folder test check bench bench-quick docs clean

demo: .venv/demo  ## collaborating against working alone: a table and a picture, in about a minute
	$(BIN)/cboc demo --out runs/demo

demo-service: .venv/service  ## a coordinator and three sites, and the dashboard; KEEP=1 keeps it up until Ctrl-C
	rm -rf runs/service
	$(BIN)/cboc demo-service --out runs/service $(if $(KEEP),--keep)

demo-folder: .venv/client  ## three sites that share nothing but a folder, each a process of its own
	rm -rf runs/folder
	$(BIN)/cboc demo-folder --out runs/folder

test: .venv/dev  ## linters, types, layers and tests
	@tests/parts
	$(MAKE) --no-print-directory check
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

check: .venv/dev  ## what is read without being run
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: .venv/bench  ## speed and quality against BoTorch, in the same run
	$(BIN)/python benchmarks/ascent.py
	$(BIN)/python benchmarks/round.py
	$(BIN)/python benchmarks/step.py
	$(BIN)/python benchmarks/stack.py
	$(BIN)/python benchmarks/scaling.py
	$(BIN)/python benchmarks/service.py
	$(BIN)/python benchmarks/biosensor.py
	$(BIN)/python benchmarks/tables.py
	$(BIN)/python benchmarks/solo.py

bench-quick: .venv/bench  ## the same in a few minutes
	$(BIN)/python benchmarks/ascent.py --quick
	$(BIN)/python benchmarks/round.py --quick
	$(BIN)/python benchmarks/step.py --quick
	$(BIN)/python benchmarks/stack.py --quick
	$(BIN)/python benchmarks/service.py --quick
	$(BIN)/python benchmarks/biosensor.py --quick
	$(BIN)/python benchmarks/tables.py --quick
	$(BIN)/python benchmarks/solo.py --quick

docs: .venv/dev  ## draw the pictures and check the claims of the documentation
	$(BIN)/python docs/draw.py
	$(BIN)/python -m pytest tests/test_docs.py

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "cboc needs Python 3.11 or newer; set PYTHON=...")'
	$(PYTHON) -m venv .venv

.venv/demo: .venv/bin/python pyproject.toml
	$(BIN)/pip install --quiet -e '.[plot]'
	@touch $@

.venv/client: .venv/bin/python pyproject.toml
	$(BIN)/pip install --quiet -e '.[client]'
	@touch $@

.venv/service: .venv/bin/python pyproject.toml
	$(BIN)/pip install --quiet -e '.[service]'
	@touch $@

.venv/dev: .venv/bin/python pyproject.toml
	$(BIN)/pip install --quiet -e '.[dev]'
	@touch $@

.venv/bench: .venv/bin/python pyproject.toml
	$(BIN)/pip install --quiet -e '.[botorch,service,fem]'
	@touch $@

clean:
	rm -rf .venv runs dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
