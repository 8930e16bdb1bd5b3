"""One thread for every test: small tensors gain nothing from two, and lose much where the cores are busy.

And one tiny run, trained once, for all tests that need a finished one; they must not change it.

Nothing large is imported here: pytest reads this file also in the process that only hands out tests to others.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from nutgraf.run.folder import Run
    from tests.tiny import Corpus

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")  # before numpy and torch; also for other processes

LOUD = {
    "test_browser.py": "browser tests",
    "test_two_nodes.py": "tests on two Ray nodes",
    "test_frozen_nodes.py": "a test on Ray nodes that freeze",
    "test_store.py": "tests of inputs in a store",
    "test_stored.py": "tests of runs in a store",
}
# The files that take longest, from more than a minute of a core to ten seconds. They begin first: one that began last
# would run on alone.
LONGEST = (
    "backtranslation/test_two_nodes.py",
    "backtranslation/test_frozen_nodes.py",
    "tools/test_campaign.py",
    "backtranslation/test_resume.py",
    "serve/test_browser.py",
    "run/test_stored.py",
    "bench/test_results.py",
    "tools/test_campaign_server.py",
    "backtranslation/test_baselines.py",
    "test_imports.py",
    "tools/test_model.py",
    "summarizing/test_summarizer.py",
    "serve/test_server.py",
    "models/test_light_decoding.py",
    "learning/test_loop.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of the longest files first."""
    places = {Path(__file__).parent / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(LONGEST)))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say plainly what was not tested, as the page in a browser: a skipped test is easily overlooked."""
    for file, what in LOUD.items():
        skipped = [found for found in terminalreporter.stats.get("skipped", []) if file in found.nodeid]
        if skipped:
            reason = str(skipped[0].longrepr[2]).removeprefix("Skipped: ")
            terminalreporter.write_line(f"{what} were NOT run: {reason}", yellow=True)


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    from tests.tiny import write_corpus

    return write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="session")
def finished(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Run:
    from tests.tiny import train_tiny

    return train_tiny(corpus, tmp_path_factory.mktemp("finished") / "run")


@pytest.fixture(scope="session")
def with_near(corpus: Corpus, finished: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The finished run with a fourth chain, near."""
    from tests.tiny import add_near

    return add_near(corpus, finished, tmp_path_factory.mktemp("near") / "run")


@pytest.fixture(scope="session")
def with_agreed(corpus: Corpus, with_near: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The run with four chains and agreed-2."""
    from tests.tiny import add_agreed

    return add_agreed(corpus, with_near, tmp_path_factory.mktemp("agreed") / "run")


@pytest.fixture
def copied(finished: Run, tmp_path: Path) -> Run:
    """A copy of the finished run, to change."""
    from nutgraf.run.folder import Run

    shutil.copytree(finished.folder, tmp_path / "run")
    return Run.open(tmp_path / "run")
