# codekb: `make lab` opens JupyterLab on notebook 00, `make test` runs every test. Both build .venv the first time.
SHELL := /bin/sh
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
LAB_EXTRAS := notebook,openai,chromem
TEST_EXTRAS := $(LAB_EXTRAS),minilm,milvus,test
TEST_WORKERS ?= 2

.PHONY: help lab test check bench notebooks clean

help:
	@echo "make lab        open JupyterLab on notebook 00 (builds the environment the first time)"
	@echo "make test       all tests: units, notebooks by strict nbval, the browser"
	@echo "make check      ruff, mypy --strict, layers and public names"
	@echo "make bench      speed and memory, printed as tables"
	@echo "make notebooks  run every notebook again, in place"

lab: $(VENV)/.lab
	@$(BIN)/python -m codekb.launch

test: $(VENV)/.test
	@$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadfile -q

check: $(VENV)/.test
	@$(BIN)/ruff check . && $(BIN)/ruff format --check codekb tests benchmarks training
	@$(BIN)/mypy
	@$(BIN)/python -m pytest -q tests/test_layers.py tests/test_public_names.py

bench: $(VENV)/.test
	@for script in benchmarks/index_and_query.py benchmarks/call_graph.py benchmarks/store.py; do $(BIN)/python $$script || exit 1; done

notebooks: $(VENV)/.test
	@$(BIN)/python notebooks/execute.py

# The environment. uv is used where it is installed; else venv and pip. The lock holds versions only, as constraints.
# Two stamps: opening the lab does not wait for what only the tests need.
$(VENV)/.lab: pyproject.toml requirements.lock | writable
	@echo "Building the environment in $(VENV) (first time, or pyproject.toml changed) ..."
	@$(call install,$(LAB_EXTRAS))
	@touch $@

$(VENV)/.test: pyproject.toml requirements.lock | writable
	@echo "Adding what the tests need to $(VENV) ..."
	@$(call install,$(TEST_EXTRAS))
	@touch $(VENV)/.lab $@

.PHONY: writable
writable:
	@test -w . || { echo "Cannot write to $$(pwd): the environment is built in this folder. Clone it to a place of your own." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "codekb needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version 2>&1). Try: make lab PYTHON=python3.12" >&2; exit 1; }

define install
if command -v uv >/dev/null 2>&1; then \
  { test -x $(BIN)/python || uv venv --quiet --python "$$(command -v $(PYTHON))" $(VENV); } && \
  uv pip install --quiet --python $(BIN)/python --constraint requirements.lock --editable '.[$(1)]'; \
else \
  { test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV) || { echo "On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }; } && \
  $(BIN)/pip install --quiet --disable-pip-version-check --constraint requirements.lock --editable '.[$(1)]'; \
fi || { echo "The installation failed; the lines above say why. It needs a network the first time." >&2; exit 1; }
endef

clean:
	rm -rf $(VENV) .jupyter-run
