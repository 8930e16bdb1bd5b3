from dataclasses import replace
from pathlib import Path

import pytest

import nutgraf
from nutgraf.backtranslation.preview import preview
from nutgraf.backtranslation.train import Request, run_training
from nutgraf.run.folder import Run
from nutgraf.text.reading import read_lines
from tests.tiny import WITH_NEAR, Corpus, checksums, request


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


def chains(request: Request) -> tuple[str, ...]:
    return tuple(request.recipe.plan.initializers)


def test_near_is_left_out_where_summaries_are_few(corpus: Corpus, tmp_path: Path) -> None:
    asked = request(corpus, tmp_path / "run", WITH_NEAR, "plan.min_summaries_for_near=3.0")
    assert chains(asked.leave_out_near(100, 300)) == ("pr-thr", "dbae", "mu1", "near")
    assert chains(asked.leave_out_near(100, 299)) == ("pr-thr", "dbae", "mu1")
    alone = request(corpus, tmp_path / "run", 'plan.initializers=["near"]', "plan.min_summaries_for_near=3.0")
    assert chains(alone.leave_out_near(100, 1)) == ("near",)  # nothing would be left
    said = list[str]()
    run = run_training(replace(asked, stop_after="text"), warn=said.append)
    assert any("near, which" in message and "150 summaries for 150 texts" in message for message in said)
    assert "near" not in Run.open(run.folder).recipe.plan.initializers
    assert not any(step.chain == "near" for step, _ in preview(asked))
