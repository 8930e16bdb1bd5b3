"""Other systems beside the chains of a run: added to it, resumed, used and evaluated as its own models are."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nutgraf.backtranslation.train import resolve, run_training
from nutgraf.errors import InputError, RecipeError, RunError
from nutgraf.evaluation.evaluate import evaluate_run
from nutgraf.evaluation.tables import tables
from nutgraf.hardware import Hardware
from nutgraf.models import baselines, storage
from nutgraf.progress import Progress, Stopped, ignore
from nutgraf.recipe import BASELINES, WITH_PAIRS
from nutgraf.run.evaluations import Estimate
from nutgraf.run.events import Event
from nutgraf.run.folder import Run
from nutgraf.run.systems import SYSTEMS
from nutgraf.summarizing import export
from nutgraf.summarizing.results import SummaryOptions
from nutgraf.summarizing.summarizer import Summarizer
from nutgraf.text.corpus import Corpus as Sentences
from nutgraf.text.prepare import Prepared
from tests.tiny import Corpus, checksums, ended, request, train_tiny

NAMES = [f"{name}-0" for name in BASELINES]
PAIRED = ["adversarial-0+10", "mass-0+10", "fsc-0+10", "adversarial-0+all", "mass-0+all", "fsc-0+all"]
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
    again = train_tiny(corpus, tmp_path / "run", f"plan.initializers=['{name[:-2]}']", "plan.iterations=0")
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


@pytest.mark.parametrize("name", [name for name in NAMES if not SYSTEMS[name[:-2]].seq2seq])
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
    first, full = tables(evaluation.rows)
    assert [row.name for row in first.groups[0]] == ["Lead-8", "Lead-12", "pbsmt-0", "pre-dae-0", "hc-0"]
    assert [row.name for row in full.groups[0]] == ["pr-thr-2", "dbae-2", "mu1-2", "all-2", "nmt-0", "adversarial-0"]
    assert [row.name for row in first.groups[1]] == ["pr-thr-0", "dbae-0", "mu1-0"]
    highest = Estimate(99.0, 99.0, 99.0)
    replace(
        evaluation, rows=tuple(replace(row, rl=highest) if row.name in NAMES else row for row in evaluation.rows)
    ).save()
    best = compared.best()
    assert best is not None
    assert best.name not in NAMES  # they are there to compare with


@pytest.fixture(scope="module")
def with_pairs(corpus: Corpus, compared: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The same, with those that learn from aligned pairs."""
    folder = tmp_path_factory.mktemp("pairs") / "run"
    shutil.copytree(compared.folder, folder)
    recipe = resolve(corpus.recipe, baselines=[*BASELINES, *WITH_PAIRS])
    asked = replace(request(corpus, folder), aligned=corpus.pairs, aligned_limits=(10,), only=tuple(PAIRED))
    return run_training(replace(asked, recipe=recipe), ignore, ignore)


def test_what_learns_from_pairs_is_added_without_changing_what_does_not(compared: Run, with_pairs: Run) -> None:
    before, after = checksums(compared.folder), checksums(with_pairs.folder)
    assert {name: after[name] for name in before} == before
    assert set(PAIRED) <= set(with_pairs.summarizers())
    assert "mass-0" not in with_pairs.summarizers()
    assert with_pairs.is_done("mass-0")


@pytest.mark.parametrize("name", PAIRED)
def test_what_learned_from_pairs_summarizes(with_pairs: Run, name: str) -> None:
    assert Summarizer.load(with_pairs.folder, name)(TEXT)


def test_what_learned_from_pairs_says_how_many(corpus: Corpus, with_pairs: Run) -> None:
    evaluation = evaluate_run(with_pairs, corpus.pairs, Hardware.of("cpu", 1), limit=2)
    supervised = tables(evaluation.rows)[1].groups[1]
    assert {row.name: row.aligned for row in supervised} == {name: 10 if name.endswith("10") else 20 for name in PAIRED}
    assert [row.name for row in supervised] == PAIRED


def test_a_seq2seq_baseline_is_exported_and_another_is_not(compared: Run, tmp_path: Path) -> None:
    export.write(compared, tmp_path / "out", ["pre-dae-0", "all-2"])
    assert Summarizer.load(tmp_path / "out", "pre-dae-0")(TEXT) == Summarizer.load(compared.folder, "pre-dae-0")(TEXT)
    with pytest.raises(RunError, match="only seq2seq models"):
        export.write(compared, tmp_path / "other", ["hc-0"])


def test_a_seq2seq_baseline_starts_a_chain_by_sampling(corpus: Corpus, tmp_path: Path) -> None:
    run = train_tiny(corpus, tmp_path / "run", "plan.initializers=['pre-dae']", "generation.max_summary_words=5")
    assert {"pre-dae-0", "pre-dae-2"} <= set(run.summarizers())
    made = Sentences.open(run.step_folder("pre-dae-0.pairs"), "artificial")
    assert 1 <= made.lengths.min() <= made.lengths.max() <= 5


def test_models_that_do_not_copy_are_trained_too(corpus: Corpus, tmp_path: Path) -> None:
    names = ("nmt-0", "adversarial-0+all", "mass-0+all", "fsc-0+all")
    settings = ["seq2seq.copy=false", "plan.iterations=0", "plan.initializers=['mu1']"]
    recipe = resolve(corpus.recipe, settings, baselines=["nmt", "adversarial", *WITH_PAIRS])
    asked = replace(request(corpus, tmp_path / "run"), aligned=corpus.pairs, only=names)
    run = run_training(replace(asked, recipe=recipe), ignore, ignore)
    assert all(Summarizer.load(run.folder, name)(TEXT) for name in names)
    copies = [storage.load(run.step_folder(name), "cpu").settings.copy for name in names]
    assert copies == [False, False, False, True]  # FSC is a pointer


def test_pairs_are_asked_for(corpus: Corpus, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--with mass: .* needs --aligned"):
        request(corpus, tmp_path, "plan.baselines=['mass']")


def test_a_baseline_starts_a_chain(corpus: Corpus, compared: Run, tmp_path: Path) -> None:
    run = train_tiny(corpus, tmp_path / "run", "plan.initializers=['hc']", "hc.steps=5", "generation.chunk=200")
    assert {"hc-0", "hc-2"} <= set(run.summarizers())
    made = Sentences.open(run.step_folder("hc-0.pairs"), "artificial")
    assert 3 < made.lengths.mean() < 12


def test_every_baseline_has_its_module_and_its_row(compared: Run) -> None:
    assert set(SYSTEMS) >= {*BASELINES, *WITH_PAIRS}
    for name in BASELINES:
        module = baselines.of(name)
        assert all(callable(getattr(module, function)) for function in ("train", "load", "estimate"))
        if SYSTEMS[name].seq2seq:
            loaded = module.load(compared.step_folder(f"{name}-0"))
            assert loaded.lexicon_size == len(Prepared.open(compared.step_folder("text")).lexicon)
            assert [len(words) > 0 for words in loaded([np.array([5, 6, 7], dtype=np.int32)])] == [True]
    with pytest.raises(ValueError, match="none of"):
        baselines.of("os")


def test_baselines_are_added_to_those_of_the_recipe() -> None:
    assert resolve("cpu").plan.baselines == ()
    assert resolve("cpu", ["plan.baselines=['hc']"], baselines=["hc"]).plan.baselines == ("hc",)
    with pytest.raises(RecipeError, match=r"--with nothing: none of .*hc"):
        resolve("cpu", baselines=["nothing"])
