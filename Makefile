# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help demo test slow model browser campaign lowest bench bench-cluster docs fingerprints format clean

help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: .venv/ready ## Train on newswire and print the tables and ten summaries.
	$(BIN)/nutgraf demo

# The type checker keeps one core busy, and tests wait now and then: they run side by side. Files of tests begin in the
# order of tests/conftest.py, the longest first; pytest-xdist would begin with those that have most tests. A test that
# crashes its process, or takes a quarter of an hour, ends the run and is named.
test: .venv/ready browser ## Run the linter, the type checker and all tests.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy & types=$$!; \
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile --no-loadscope-reorder --max-worker-restart 0 \
		-o faulthandler_timeout=900 -o faulthandler_exit_on_timeout=true; \
	tests=$$?; wait $$types && exit $$tests

slow: .venv/ready ## Run the tests that take minutes and gigabytes of disk.
	$(BIN)/python -m pytest -m slow

# The model that comes with the package. Training resumes where it was stopped; the old model stays until the new one is
# whole. A trial: make model OPEN=small MODEL_RUN=/tmp/news MODEL=/tmp/model MODEL_OPTIONS="--recipe quick"
OPEN ?= ../shared/data/open
MODEL_RUN ?= run-news
MODEL ?= nutgraf/ready/news
MODEL_OPTIONS ?=
model: .venv/ready ## Train the ready model `news` on the corpus in OPEN and export it; the same command resumes.
	$(BIN)/python -m nutgraf.cli train --texts $(OPEN)/texts.txt.xz --summaries $(OPEN)/summaries.txt.xz \
		--valid $(OPEN)/valid.tsv --recipe tools/news.toml --seed 1 --only agreed-2 --out $(MODEL_RUN) $(MODEL_OPTIONS)
	$(BIN)/python -m nutgraf.cli evaluate $(MODEL_RUN) --pairs $(OPEN)/valid.tsv --models agreed-2
	rm -rf $(MODEL_RUN).export
	$(BIN)/python -m nutgraf.cli export $(MODEL_RUN) $(MODEL_RUN).export --models agreed-2 --int8
	mkdir -p $(dir $(MODEL))
	rm -rf $(MODEL)
	mv $(MODEL_RUN).export $(MODEL)

# The page is tested in a real browser. Without one, those tests are skipped, and pytest says so at its end.
APT := DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::http::Timeout=20
browser: ## Install chromium for the tests of the page, if it is missing and apt-get may install it.
	@if command -v chromium >/dev/null && command -v chromedriver >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "chromium is missing: installing it with apt-get, for the tests of the page"; \
		{ $(APT) update && $(APT) install -y chromium chromium-driver; } >/dev/null \
		|| echo "chromium could not be installed: the tests of the page are skipped"; \
	else \
		echo "chromium is missing: the tests of the page are skipped. To run them, install chromium and chromedriver"; \
	fi

MINUTES ?= 10
SEED ?=
campaign: .venv/ready ## Attack run folders, files and the server for MINUTES=10 (SEED=7 repeats one); see SECURITY.md.
	$(BIN)/python -m tools.campaign --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

lowest: .venv/ready ## Run the fast tests with the oldest versions that pyproject.toml allows.
	$(BIN)/python -m tools.lowest

bench: .venv/ready ## Measure speed and memory, about 15 minutes on idle cores; see BENCHMARKS.md.
	$(BIN)/nutgraf bench --out bench.json

bench-cluster: .venv/ready ## Measure what a Ray cluster gains and costs, less than 15 minutes on two idle cores.
	$(BIN)/python -m experiments.cluster

docs: .venv/ready ## Write the generated part of docs/; a test fails if it is stale.
	$(BIN)/python -m tools.docs docs/

fingerprints: .venv/ready ## Store what the steps of a tiny run make, once their versions are raised.
	$(BIN)/python -m tests.run.fingerprints

format: .venv/ready ## Format the code.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# torch first, by exact version: the CPU build. A plain "torch" would download gigabytes for GPUs.
.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet torch==2.13.0 --constraint constraints.txt
	$(BIN)/python -m pip install --quiet --editable ".[dev]" --constraint constraints.txt
	touch $@

clean: ## Remove the virtual environment and all caches.
	rm -rf .venv build *.egg-info .mypy_cache .ruff_cache .pytest_cache
