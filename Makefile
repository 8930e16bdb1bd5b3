# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test browser bench docs lint format clean

demo: .venv/ready
	$(BIN)/nutgraf demo

test: .venv/ready browser
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest

# The page is tested in a real browser. Where there is none and none can be installed, pytest says so at its end.
APT := DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::http::Timeout=20
browser:
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null \
	|| if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing chromium, for the tests of the page ..."; \
		{ $(APT) update; $(APT) install -y chromium chromium-driver; } >/dev/null 2>&1 || true; \
	fi

# On idle cores, some 15 minutes; BENCHMARKS.md says what the figures mean.
bench: .venv/ready
	$(BIN)/nutgraf bench --out bench.json

# The generated part of docs/; a test fails where it is stale.
docs: .venv/ready
	$(BIN)/python -m tools.docs docs/

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
