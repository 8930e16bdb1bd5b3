"""Other systems beside the chains of a run: added to it, resumed, used and evaluated as its own models are."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from nutgraf.backtranslation.train import resolve
from nutgraf.errors import RecipeError
from nutgraf.evaluation.evaluate import evaluate_run
from nutgraf.evaluation.tables import tables
from nutgraf.hardware import Hardware
from nutgraf.models import baselines
from nutgraf.progress import Progress, Stopped
from nutgraf.recipe import BASELINES
from nutgraf.run.evaluations import Estimate
from nutgraf.run.events import Event
from nutgraf.run.folder import Run
from nutgraf.run.systems import SYSTEMS
from nutgraf.summarizing.results import SummaryOptions
from nutgraf.summarizing.summarizer import Summarizer
from nutgraf.text.corpus import Corpus as Sentences
from tests.tiny import Corpus, checksums, ended, train_tiny

NAMES = [f"{name}-0" for name in BASELINES]
ALL = f"plan.baselines={list(BASELINES)}"
TEXT = "Profit of Ford fell 4 percent on Monday , the company said after it closed a plant in Ohio ."


@pytest.fixture(scope="module")
def compared(corpus: Corpus, finished: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The finished run, with all baselines added."""
    folder = tmp_path_factory.mktemp("compared") / "run"
    shutil.copytree(finished.folder, folder)
    events: list[Event] = []
    run = train_tiny(corpus, folder, ALL, listener=events.append)
    assert {name for name, state in ended(events).items() if state == "done"} == set(NAMES)
    return run


def test_nothing_else_of_the_run_changes_and_what_was_added_stays(corpus: Corpus, finished: Run, compared: Run) -> None:
    before, after = checksums(finished.folder), checksums(compared.folder)
    assert {name: after[name] for name in before} == before
    assert Run.create(compared.folder, finished.recipe, finished.inputs).recipe.plan.baselines == BASELINES
    assert set(NAMES) <= set(compared.summarizers())


@pytest.mark.parametrize("name", NAMES)
def test_a_baseline_is_made_the_same_again(corpus: Corpus, compared: Run, name: str, tmp_path: Path) -> None:
    again = train_tiny(corpus, tmp_path / "run", ALL, f"plan.initializers=['{name[:-2]}']", "plan.iterations=0")
    before, after = checksums(compared.folder), checksums(again.folder)
    own = [path for path in before if f"/{name}/" in path]
    assert own
    assert [before[path] for path in own] == [after[path] for path in own]


@pytest.mark.parametrize("name", NAMES)
def test_a_baseline_summarizes(compared: Run, name: str) -> None:
    summarizer = Summarizer.load(compared.folder, name)
    summary = summarizer(TEXT)
    assert 0 < len(summary.split()) < len(TEXT.split())
    assert summarizer([TEXT, "Shares rose ."])[0] == summary
    (explained,) = summarizer.explain([TEXT])
    assert [word.text for word in explained.summaries[0].words]


@pytest.mark.parametrize("name", NAMES)
def test_a_baseline_takes_one_sentence_after_the_other_where_it_is_slow(compared: Run, name: str) -> None:
    summarizer = Summarizer.load(compared.folder, name)
    heard: list[Progress] = []
    work = summarizer.count_work(3, SummaryOptions())
    assert work == 3 * summarizer.count_work(1, SummaryOptions())
    summarizer.words([TEXT] * 3, report=heard.append)
    if work > 3:
        assert [progress.done for progress in heard[:3]] == [1, 2, 3]
        with pytest.raises(Stopped):
            summarizer.answer([TEXT] * 3, SummaryOptions(), should_stop=lambda: True)


def test_baselines_are_rows_of_the_first_table_after_lead(corpus: Corpus, compared: Run) -> None:
    evaluation = evaluate_run(compared, corpus.pairs, Hardware.of("cpu", 1), limit=4)
    first = tables(evaluation.rows)[0]
    assert [row.name for row in first.groups[0]] == ["Lead-8", "Lead-12", *NAMES]
    assert [row.name for row in first.groups[1]] == ["pr-thr-0", "dbae-0", "mu1-0"]
    highest = Estimate(99.0, 99.0, 99.0)
    replace(
        evaluation, rows=tuple(replace(row, rl=highest) if row.name in NAMES else row for row in evaluation.rows)
    ).save()
    best = compared.best()
    assert best is not None
    assert best.name not in NAMES  # they are there to compare with


def test_a_baseline_starts_a_chain(corpus: Corpus, compared: Run, tmp_path: Path) -> None:
    run = train_tiny(corpus, tmp_path / "run", "plan.initializers=['hc']", "hc.steps=5", "generation.chunk=200")
    assert {"hc-0", "hc-2"} <= set(run.summarizers())
    made = Sentences.open(run.step_folder("hc-0.pairs"), "artificial")
    assert 3 < made.lengths.mean() < 12


def test_every_baseline_has_its_module_and_its_row() -> None:
    assert set(SYSTEMS) >= set(BASELINES)
    for name in BASELINES:
        module = baselines.of(name)
        assert all(callable(getattr(module, function)) for function in ("train", "load", "estimate"))
    with pytest.raises(ValueError, match="none of"):
        baselines.of("os")


def test_baselines_are_added_to_those_of_the_recipe() -> None:
    assert resolve("cpu").plan.baselines == ()
    assert resolve("cpu", ["plan.baselines=['hc']"], baselines=["hc"]).plan.baselines == ("hc",)
    with pytest.raises(RecipeError, match=r"--with nothing: none of .*hc"):
        resolve("cpu", baselines=["nothing"])
