"""One thread for every test: small tensors gain nothing from two, and lose much where the cores are busy.

And one tiny run, trained once, for all tests that need a finished one; they must not change it.
"""

from pathlib import Path

import pytest
import torch

from nutgraf.run.folder import Run
from tests.tiny import Corpus, add_agreed, add_near, train_tiny, write_corpus

torch.set_num_threads(1)


LOUD = {
    "test_browser.py": "browser tests",
    "test_two_nodes.py": "tests on two Ray nodes",
    "test_store.py": "tests of inputs in a store",
    "test_stored.py": "tests of runs in a store",
}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say plainly what was not tested, as the page in a browser: a skipped test is easily overlooked."""
    for file, what in LOUD.items():
        skipped = [found for found in terminalreporter.stats.get("skipped", []) if file in found.nodeid]
        if skipped:
            reason = str(skipped[0].longrepr[2]).removeprefix("Skipped: ")
            terminalreporter.write_line(f"{what} were NOT run: {reason}", yellow=True)


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="session")
def finished(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return train_tiny(corpus, tmp_path_factory.mktemp("finished") / "run")


@pytest.fixture(scope="session")
def with_near(corpus: Corpus, finished: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The finished run with a fourth chain, near."""
    return add_near(corpus, finished, tmp_path_factory.mktemp("near") / "run")


@pytest.fixture(scope="session")
def with_agreed(corpus: Corpus, with_near: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The run with four chains and agreed-2."""
    return add_agreed(corpus, with_near, tmp_path_factory.mktemp("agreed") / "run")


@pytest.fixture
def copied(finished: Run, tmp_path: Path) -> Run:
    """A copy of the finished run, to change."""
    import shutil

    shutil.copytree(finished.folder, tmp_path / "run")
    return Run.open(tmp_path / "run")
