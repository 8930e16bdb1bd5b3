"""The command line, called from tests."""

from pathlib import Path

import pytest

from nutgraf import cli
from tests.tiny import Corpus

Capture = pytest.CaptureFixture[str]


def run(*arguments: str | Path) -> int:
    with pytest.raises(SystemExit) as stopped:
        cli.main([str(argument) for argument in arguments])
    assert isinstance(stopped.value.code, int)
    return stopped.value.code


def train(corpus: Corpus, out: Path, *more: str) -> int:
    return run("train", "--texts", corpus.texts, "--summaries", corpus.summaries, "--out", out,
               "--recipe", corpus.recipe, "--threads", "1", *more)  # fmt: skip
