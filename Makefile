# Every target makes its own virtual environment in .venv (or VENV=...) when it is missing or out of date.
# PYTHON chooses the interpreter; by default the first supported one that runs. Both may have spaces in them.
SUPPORTED := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c '$(SUPPORTED)' 2>/dev/null && echo $$p && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
# the environment's path as the name of a target, where make wants spaces marked; recipes quote $(BIN)
SPACE := $(subst ,, )
TARGET := $(subst $(SPACE),\$(SPACE),$(VENV))
WORKERS ?= 2
DEMO ?=
BENCH ?=
PYTEST ?=
CPYTHON ?=
CONFORMANCE ?=
ZOO ?=

.PHONY: demo test test-all slow lint format types pytest cpython conformance zoo open-sizes bench clean
.DEFAULT_GOAL := test

$(TARGET)/bin/python:
	@if [ -z "$(PYTHON)" ]; then echo "weft needs Python 3.11, 3.12 or 3.13; set PYTHON=/path/to/python" >&2; exit 1; fi
	"$(PYTHON)" -m venv "$(VENV)"
	"$(BIN)/python" -m pip install --quiet --upgrade pip

$(TARGET)/.%-installed: pyproject.toml | $(TARGET)/bin/python
	"$(BIN)/python" -m pip install --quiet --editable '.[$*]'
	@touch "$@"

demo: $(TARGET)/.demo-installed
	"$(BIN)/weft" demo $(DEMO)

test: lint types pytest

lint: $(TARGET)/.dev-installed
	"$(BIN)/ruff" check .
	"$(BIN)/ruff" format --check .

format: $(TARGET)/.dev-installed
	"$(BIN)/ruff" check --fix .
	"$(BIN)/ruff" format .

types: $(TARGET)/.dev-installed
	"$(BIN)/mypy"

pytest: $(TARGET)/.dev-installed
	"$(BIN)/pytest" -n $(WORKERS) $(PYTEST)

# long rounds of what `make pytest` runs shortly: thousands of random programs, threads for minutes
slow: $(TARGET)/.dev-installed
	"$(BIN)/pytest" -n $(WORKERS) -m slow $(PYTEST)

# the programs of the suite with the sizes of all tensors left open from the first capture on
OPEN_SIZES := $(addprefix tests/,autodiff breaks capture jit nn ops random_programs sizes train views)
open-sizes: $(TARGET)/.dev-installed
	PYTHONPATH=. "$(BIN)/pytest" -n $(WORKERS) -p tests.helpers.open_sizes $(OPEN_SIZES) $(PYTEST)

# CPython's own tests under capture, all files; docs/python-coverage.md says how its tables are made from the result
cpython: $(TARGET)/.dev-installed
	mkdir -p build
	PYTHONPATH=src "$(BIN)/python" -m tests.cpython --jobs $(WORKERS) $(CPYTHON) \
		--json build/cpython-$$("$(BIN)/python" -c 'import platform; print(platform.python_version())').json

# weft's answers against those of MindSpore to all calls of tests/conformance; docs/conformance.md
conformance: $(TARGET)/.dev-installed
	PYTHONPATH=. "$(BIN)/python" -m tests.conformance --jobs $(WORKERS) $(CONFORMANCE)

# the models of mindcv, eagerly, in Graph mode and with jit; results are kept in build/zoo.json, so that a run goes on where
# the one before ended; docs/zoo.md has them
zoo: $(TARGET)/.zoo-installed
	"$(BIN)/python" -m tests.zoo $(ZOO)

# the whole test suite under each supported interpreter that this machine has
test-all:
	@for p in python3.11 python3.12 python3.13; do \
		if $$p -c '$(SUPPORTED)' 2>/dev/null; then \
			echo "== $$p"; $(MAKE) --no-print-directory test PYTHON=$$p VENV=.venv-$$p || exit 1; \
		else echo "== $$p is not installed, skipped"; fi; done

bench: $(TARGET)/.dev-installed
	"$(BIN)/python" -m bench $(BENCH)

clean:
	rm -rf .venv .venv-* .mypy_cache .ruff_cache .pytest_cache .hypothesis dist
