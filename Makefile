# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test bench docs lint format clean

demo: .venv/ready
	$(BIN)/nutgraf demo

test: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest

# On idle cores, some 20 minutes; BENCHMARKS.md says what the figures mean.
bench: .venv/ready
	$(BIN)/nutgraf bench --out bench.json

# The generated part of docs/; a test fails where it is stale.
docs: .venv/ready
	$(BIN)/python -m nutgraf.reference docs/

format: .venv/ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# torch first, by exact version: the CPU build, where a plain "torch" would pull gigabytes for GPUs.
.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet torch==2.13.0
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $@

clean:
	rm -rf .venv build *.egg-info .mypy_cache .ruff_cache .pytest_cache
