# Only python3, git and make are assumed: every target makes what it needs under .venv/.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
.DEFAULT_GOAL := help
.PHONY: help demo test check bench mutants bless clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "ralph-tracker needs Python 3.11 or newer; name one with make PYTHON=…")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'pip>=25.1'

$(VENV)/.test: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group test
	@touch $@

$(VENV)/.check: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group check
	@touch $@

$(VENV)/.mutants: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group mutants
	@touch $@

demo: $(VENV)/.test ## see a whole loop on a sample project
	$(BIN)/ralph-tracker demo $(ARGS)

test: $(VENV)/.test ## run the tests, with branch coverage and its gates
	@rm -f .coverage .coverage.*
	$(BIN)/python -m coverage run -m pytest -q -n auto --dist loadfile $(ARGS)
	@$(BIN)/python -m coverage combine --quiet
	@$(BIN)/python -m coverage report --include='ralph_tracker/core/*' --fail-under=100
	@$(BIN)/python -m coverage report --include='ralph_tracker/formats/*' --fail-under=95
	@$(BIN)/python -m coverage report --fail-under=95 | tail -n 3

check: $(VENV)/.check ## ruff, mypy, import layers, content of the wheel
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python tools/check_wheel.py

bench: $(VENV)/.test ## measure speed and memory, as ratios within one run
	$(BIN)/python bench/run.py

mutants: $(VENV)/.mutants ## mutate the core and list what the tests let live
	$(BIN)/python -m mutmut run
	$(BIN)/python -m mutmut results

bless: $(VENV)/.test ## rewrite the golden files from what is printed now
	$(BIN)/python -m pytest -q --bless

clean: ## remove what the targets made
	rm -rf $(VENV) dist build mutants .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .hypothesis
