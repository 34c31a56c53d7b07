# Only python3, git and make are assumed: every target makes what it needs under .venv/.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Every start of a program compiles all of it where bytecode may not be kept: the tests start some two thousand.
unexport PYTHONDONTWRITEBYTECODE
.DEFAULT_GOAL := help
.PHONY: help demo test traced untraced check bench bless docs suite clean suite-slow suite-faults suite-faults-full suite-projects suite-replay suite-ecosystems suite-ecosystems-full suite-agents suite-agents-full suite-examples suite-browser suite-fleet suite-fleet-full suite-interpreters suite-coverage suite-screenshots suite-integrity suite-judgement suite-objectives suite-fuzz suite-mutants suite-docs suite-release

help:
	@awk -F':.*## ' '/^[a-z]+:.*## /{printf "  make %-20s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "ralph-tracker needs Python 3.11 or newer; name one with make PYTHON=…")'
	$(PYTHON) -m venv $(VENV)

# An environment that was there before may have a pip that knows no groups. Much is installed that is never imported:
# Python compiles what it needs.
$(VENV)/.test: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable . --group test
	@touch $@

$(VENV)/.check: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group check
	@touch $@

$(VENV)/.projects: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group projects
	@touch $@

$(VENV)/.docs: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group docs
	@touch $@

demo: $(VENV)/.test ## see a whole loop on a sample project
	$(BIN)/ralph-tracker demo $(ARGS)

# Coverage makes Python half as fast: only the tests of what has a gate are run under it, the others beside it. The
# gates hold without what does the same many times over: laws, hostile sizes, real reports cut anywhere.
GATED = tests/test_codec.py tests/core tests/records tests/formats tests/integrity
REPEATING = $(addprefix tests/,core/test_laws.py core/test_walk_laws.py \
	formats/test_limits.py formats/test_corpus.py formats/test_cuts.py formats/coverage/test_coveragepy.py \
	formats/tests/test_junit_properties.py)
TRACED = $(filter-out $(REPEATING),$(shell find $(GATED) -name 'test_*.py'))
PYTEST = -m pytest -q -m "not slow and not faults"
# A lane collects its own tests only, which workers that share all of them do not. There are more lanes than
# cores, since tests wait for processes that they start.
LANES = cli store replay agents measured
REST = $(addprefix --ignore=tests/,$(LANES)) $(addprefix --ignore=,$(TRACED))
# What a lane has to say comes in one piece.
IN_ONE_PIECE = >$(VENV)/$@.txt 2>&1; ended=$$?; cat $(VENV)/$@.txt; exit $$ended

test: $(VENV)/.test ## run the tests, with gates of branch coverage; only those that ARGS names where it names some
ifeq ($(ARGS),)
	@$(MAKE) --no-print-directory --keep-going -j7 traced untraced $(addprefix untraced-,$(LANES))
else
	$(BIN)/python $(PYTEST) -n auto --dist loadfile $(ARGS)
endif

traced:
	@rm -f .coverage .coverage.*
	@{ $(BIN)/python -m coverage run $(PYTEST) $(TRACED) && \
	$(BIN)/python -m coverage combine --quiet && \
	$(BIN)/python -m coverage report --include='ralph_tracker/core/*,ralph_tracker/records/*,ralph_tracker/codec.py' --fail-under=100 && \
	$(BIN)/python -m coverage report --include='ralph_tracker/formats/*' --fail-under=95 && \
	$(BIN)/python -m coverage report --include='ralph_tracker/integrity/*' --fail-under=95; \
	} $(IN_ONE_PIECE)

untraced:
	@$(BIN)/python $(PYTEST) $(REST) $(IN_ONE_PIECE)

untraced-%:
	@$(BIN)/python $(PYTEST) tests/$* $(IN_ONE_PIECE)

suite-coverage: $(VENV)/.test ## run `make test` and the suite slow under coverage, with a gate of 95 % for the whole package
	@rm -f .coverage .coverage.*
	$(BIN)/python -m coverage run -m pytest -q -n auto --dist loadfile -m "not faults"
	@$(BIN)/python -m coverage combine --quiet
	@$(BIN)/python -m coverage report --fail-under=95

suite-slow: $(VENV)/.test ## what takes its time: every page's commands, laws with many examples, pytest gone wrong
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m "(slow or hypothesis) and not faults" --hypothesis-profile=full $(ARGS)

# What is tried at random points, or with one more tool, has a sample each time, by a seed that is printed.
SAMPLE = @seed=$${RALPH_TRACKER_SEED:-$$(date +%s)}; echo "RALPH_TRACKER_SEED=$$seed"; \
	RALPH_TRACKER_SEED=$$seed RALPH_TRACKER_SWEEP=sample

# The folder whose table of figures is printed at the end is named beside all others.
FAULTS = $(BIN)/python -m pytest -q -n auto --dist worksteal -m faults tests tests/measured/faults $(ARGS)

suite-faults: $(VENV)/.test ## kill, damage and refuse at some points, a sample by a seed that is printed
	$(SAMPLE) $(FAULTS)

suite-faults-full: $(VENV)/.test ## kill, damage and refuse at every point
	RALPH_TRACKER_SWEEP=full $(FAULTS)

suite-projects: $(VENV)/.projects ## measure projects from the package index, compare with what their tools print
	$(BIN)/python -m pytest -q -n 2 --dist load tests/projects --ignore=tests/projects/test_histories.py $(ARGS)

suite-replay: $(VENV)/.projects ## replay the releases of three public projects from package index and npm, compare with its tools
	$(BIN)/python -m pytest -q tests/projects/test_histories.py $(ARGS)

# Of cases that show one property with several tools, the others of the kind are marked `deep`.
ECOSYSTEMS = $(BIN)/python -m pytest -q -n 2 --dist load tests/ecosystems

suite-ecosystems: $(VENV)/.test ## measure projects of a dozen ecosystems with their real tools, half of them by a seed that is printed
	$(SAMPLE) $(ECOSYSTEMS) -m "not deep" $(ARGS)

suite-ecosystems-full: $(VENV)/.test ## the same with all of them, older versions of the tools, and all languages for all that is asked of one
	$(ECOSYSTEMS) $(ARGS)

# Clients start, wait and are waited for: three at once keep two cores at work.
AGENTS = $(BIN)/python -m pytest -q -n 3 --dist load tests/clients

# The pinned version of each agent, then the newest ones of those that have one since.
NEWEST = newest=$$($(BIN)/python -m tests.clients.clients newest); [ -z "$$newest" ] || env $$newest

suite-agents: suite-agents-pinned ## drive whole loops inside real coding agents, pinned and newest, from the npm registry and the package index, half of them by a seed
	$(NEWEST) $(BIN)/python -m pytest -q -n 3 --dist load tests/clients/test_installed_hooks.py tests/clients/test_plugins.py \
		tests/clients/test_backends.py -m "not deep" $(ARGS)

suite-agents-pinned: $(VENV)/.test ## the same with the pinned versions alone, which no new release turns red
	$(SAMPLE) $(AGENTS) -m "not deep" $(ARGS)

suite-agents-full: $(VENV)/.test ## the same with all of them, and every way to fail with every agent
	$(AGENTS) $(ARGS)

$(VENV)/.examples: $(VENV)/.test
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group examples || \
		echo "the libraries of the examples cannot be installed here; what needs them is skipped"
	@touch $@

suite-examples: $(VENV)/.examples ## drive the examples and extras with the libraries that they adapt, from the package index
	$(BIN)/python -m pytest -q tests/examples $(ARGS)

$(VENV)/.browser: $(VENV)/.test
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group browser || \
		echo "playwright cannot be installed here; all of it is skipped"
	@npm install --silent --no-audit --no-fund --prefix $(VENV)/browser mermaid@11 axe-core@4 || \
		echo "axe-core and mermaid cannot be installed here; what needs them is skipped"
	@touch $@

suite-browser: $(VENV)/.browser ## open page and server in a real Chromium, with axe-core and mermaid from npm; skips, saying so
	RALPH_TRACKER_BROWSER=$(VENV)/browser $(BIN)/python -m pytest -q tests/browser $(ARGS)

suite-screenshots: $(VENV)/.browser ## take pictures of all that people look at into dist/screenshots, to be looked at; skips, saying so
	RALPH_TRACKER_BROWSER=$(VENV)/browser $(BIN)/python tools/screenshots.py $(ARGS)

# MLflow's server brings a hundred packages: they have an environment of their own, all at once or what can be had.
$(VENV)/.fleet: pyproject.toml
	@test -x $(VENV)/fleet/bin/python || $(PYTHON) -m venv $(VENV)/fleet
	@$(VENV)/fleet/bin/python -m pip install --quiet --disable-pip-version-check 'pip>=25.1'
	@install="$(VENV)/fleet/bin/python -m pip install --quiet --disable-pip-version-check --no-compile"; \
	$$install --editable ".[cluster,mlflow,otel,parquet]" --group test --group fleet || { \
		$$install --editable . --group test || exit 1; \
		for each in cluster mlflow otel parquet; do \
			$$install --editable ".[$$each]" || echo "the extra $$each cannot be installed here; what needs it is skipped"; \
		done; \
		$$install --group fleet || echo "MLflow's server cannot be installed here; what needs it is skipped"; \
	}
	@touch $@

FLEET = $(VENV)/fleet/bin/python -m pytest -q -n 2 --dist loadfile tests/fleet

suite-fleet: $(VENV)/.fleet ## export to a real MLflow over PostgreSQL and an OTLP receiver, replay on a real Dask cluster; skips, saying so
	$(FLEET) -m "not deep" $(ARGS)

suite-fleet-full: $(VENV)/.fleet ## the same with 20 loops of 200 iterations, and two workers timed against one job
	RALPH_TRACKER_FLEET_LOOPS=20 RALPH_TRACKER_FLEET_STEPS=200 RALPH_TRACKER_FLEET_COMMITS=10 $(FLEET) $(ARGS)

suite-interpreters: $(VENV)/.check ## install the wheel with every Python 3.11 to 3.14 on PATH, and try it there
	$(BIN)/python tools/test_interpreters.py

check: $(VENV)/.check ## ruff, mypy, import layers, wheel and sdist
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python tools/check_wheel.py

bench: $(VENV)/.test ## measure speed and memory, as ratios within one run
	$(BIN)/python bench/run.py $(ARGS)

suite-integrity: $(VENV)/.test ## judge tampered and honest changes of small projects: noticed, selected
	$(BIN)/python benchmarks/integrity/run.py $(ARGS)

suite-judgement: $(VENV)/.test ## judge labelled loops of real agents: selection, classes, decisions, beside simple rules
	@$(BIN)/python benchmarks/judgement/run.py $(ARGS)

suite-objectives: $(VENV)/.test ## judge optimised numbers: real histories and simulated loops, beside simple rules
	@$(BIN)/python benchmarks/objectives/run.py $(ARGS)

$(VENV)/.fuzz: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group fuzz
	@touch $@

suite-fuzz: $(VENV)/.fuzz ## throw a million mutated reports at the readers
	$(BIN)/python fuzz/formats.py $(ARGS)

suite-mutants: $(VENV)/.test ## try small errors, sampled by a printed seed, and list those that the tests let live
	$(BIN)/python tools/mutants.py $(ARGS)

bless: $(VENV)/.test ## rewrite the golden files from what is printed now
	$(BIN)/python -m pytest -q --bless $(ARGS)

suite: ## run one of the slower suites, e.g. make suite NAME=slow; list them where NAME names none
ifeq ($(NAME),)
	@awk -F':.*## ' '/^suite-[a-z-]+:.*## /{printf "  make suite NAME=%-17s %s\n", substr($$1, 7), $$2}' $(MAKEFILE_LIST)
else
	@$(MAKE) --no-print-directory suite-$(NAME)
endif

suite-docs: docs ## build the pages as a site that can be searched, in dist/site

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "read it at http://127.0.0.1:8000: python3 -m http.server --bind 127.0.0.1 --directory dist/site"

suite-release: check ## make wheel, sdist and the notes of the version in dist/, ready to be tagged
	$(BIN)/python tools/release.py

# The names that these suites had before they were suites.
bench-%: suite-%
	@:
test-%: suite-%
	@:
mutants fuzz coverage: %: suite-%
	@:

clean:  # remove what the targets made
	rm -rf $(VENV) dist build .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .hypothesis
