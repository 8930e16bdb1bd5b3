from pathlib import Path

import pytest

import nutgraf
from nutgraf.run.folder import Run
from nutgraf.text.reading import read_lines
from tests.tiny import Corpus, checksums


@pytest.mark.filterwarnings("ignore:text\\..*vocabulary")  # a tiny corpus has small vocabularies
def test_lists_and_generators_are_trained_on_as_files_are(corpus: Corpus, finished: Run, tmp_path: Path) -> None:
    texts, summaries = list(read_lines(corpus.texts)), read_lines(corpus.summaries)
    run = nutgraf.train(texts, summaries, tmp_path / "run", recipe=corpus.recipe, stop_after="text", threads=1)
    assert checksums(run.folder)
    assert checksums(run.folder).items() <= checksums(finished.folder).items()
    # The same lines are the same run, whatever they come from.
    again = nutgraf.train(Path(corpus.texts), corpus.summaries, run.folder, recipe=corpus.recipe, stop_after="text")
    assert again.inputs.texts.digest == run.inputs.texts.digest
    with pytest.raises(nutgraf.RunError, match="holds another run"):
        nutgraf.train(texts[1:], corpus.summaries, run.folder, recipe=corpus.recipe)
    with pytest.raises(nutgraf.InputError, match="a generator that was read before"):
        nutgraf.train(texts, summaries, run.folder, recipe=corpus.recipe)
