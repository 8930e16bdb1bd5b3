"""The verdict: what it says follows from the figures."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from nutgraf.report.facts import Facts
from nutgraf.report.verdict import judge, name_corpora
from nutgraf.run.evaluations import Estimate, Evaluation, Row
from nutgraf.run.folder import Run
from nutgraf.run.inputs import Inputs, Source, read_source


def row(name: str, score: float, margin: float = 1.0, pairs: int = 1000) -> Row:
    estimate = Estimate(score, score - margin, score + margin)
    return Row(name, 0, estimate, estimate, estimate, 8.4, 0.9, 0.0, pairs, "signature")


def evaluated(run: Run, *rows: Row) -> Facts:
    """The run with an evaluation of these rows, on pairs that are gone."""
    path = run.folder / "evaluation" / "test.json"
    path.parent.mkdir(exist_ok=True)
    Evaluation(path, Source("gone.tsv", rows[0].pairs, 1, "digest"), rows, {}).save()
    return Facts(run)


@pytest.mark.parametrize(
    ("texts", "summaries", "name"),
    [
        ("open/articles.txt.xz", "open/headlines.txt", "open: articles and headlines"),
        ("/home/me/demo/corpus/texts.txt", "/home/me/demo/corpus/summaries.txt", "demo: texts and summaries"),
        ("wire/a.txt", "web/b.txt", "a and b"),
        ("a.txt", "b.txt", "a and b"),
    ],
)
def test_the_corpora_are_named_by_their_files(texts: str, summaries: str, name: str) -> None:
    assert name_corpora(Inputs(Source(texts, 1, 1, ""), Source(summaries, 1, 1, ""))) == name


def test_the_best_model_against_lead(copied: Run) -> None:
    found = judge(evaluated(copied, row("Lead-8", 30.0), row("mu1-2", 34.0), row("all-2", 33.0)))
    assert (found.use, found.why) == ("mu1-2", "“Learned from cuts”: the best of 2 on the 1,000 pairs of test")
    assert found.quality.startswith(
        "It scores 34.0 in ROUGE-L, where 100 is the real summary word for word:"
        " clearly above the 30.0 of Lead-8, the first 8 words of the text."
    )
    assert found.quality.endswith("Its summaries have 8.4 words and copy 90% of their words from the text.")


@pytest.mark.parametrize(
    ("score", "place", "instead"),
    [(33.0, "clearly above", False), (31.0, "not clearly different from", False), (27.0, "clearly below", True)],
)
def test_a_difference_is_clear_where_the_intervals_do_not_overlap(
    copied: Run, score: float, place: str, instead: bool
) -> None:
    found = judge(evaluated(copied, row("Lead-8", 30.0), row("all-2", score)))
    assert f"{place} the 30.0 of Lead-8" in found.quality
    assert ("take Lead-8 instead for now" in found.advice) == instead


@pytest.mark.parametrize(
    ("bits", "words"),
    [(0.9, "about as fluently as"), (1.3, "less fluently than"), (2.0, "much less fluently than")],
)
def test_how_it_reads(copied: Run, bits: float, words: str) -> None:
    facts = evaluated(copied, replace(row("all-2", 30.0), bits=bits, unsupported=0.25))
    found = judge(facts)
    assert f"Its summaries read {words} real summaries, have 8.4 words" in found.quality
    assert "; 25.0% of them have a name or a number that the text lacks." in found.quality
    assert "use `--faithful`" in found.advice
    none = judge(evaluated(copied, replace(row("all-2", 30.0), bits=bits, unsupported=0.0)))
    assert "; almost none has a name or a number" in none.quality
    assert "--faithful" not in none.advice


def test_what_to_try_next(copied: Run) -> None:
    advice = judge(evaluated(copied, row("all-2", 30.0))).advice
    assert advice == (
        "train on more than these 150 texts and 150 summaries: 100,000 of each are good;"
        " train a run with `--set plan.teachers=1`: what two models agree on is more often right"
    )
    assert judge(evaluated(copied, row("all-2", 30.0, pairs=20))).advice.startswith("evaluate on more pairs: 20 leave")
    large = replace(copied.inputs.texts, lines=100_000)
    rich = replace(copied, inputs=Inputs(large, large))
    assert judge(evaluated(rich, row("all-2", 30.0))).advice.startswith("train a run with the chain near,")
    plan = replace(copied.recipe.plan, initializers=("mu1", "near"), teachers=2, train_all=True)
    done = replace(rich, recipe=replace(copied.recipe, plan=plan))
    assert "the same command continues it" in judge(evaluated(done, row("all-2", 30.0))).advice


def test_a_run_that_nobody_measured(copied: Run) -> None:
    found = judge(Facts(copied))
    assert found.use == "all-2"
    assert found.why.endswith("the last one trained. Nobody has measured yet how good it is")
    assert found.quality == ""
    assert found.advice.startswith("measure it with texts whose real summaries you have: `nutgraf evaluate RUN --pairs")


def test_a_run_without_a_summarizer(copied: Run) -> None:
    for folder in (copied.folder / "steps").iterdir():
        if folder.name != "text":
            shutil.rmtree(folder)
    found = judge(Facts(copied))
    assert (found.use, found.why, found.quality) == ("", "No summarizer is done yet.", "")
    assert found.advice.startswith(f"let the training finish ({len(copied.plan()) - 1} steps to come)")


def test_real_summaries_are_measured_where_the_pairs_are_there(copied: Run, tmp_path: Path) -> None:
    pairs = tmp_path / "test.tsv"
    pairs.write_text("a long text\tone two\nanother text\tone two three\n")
    path = copied.folder / "evaluation" / "test.json"
    path.parent.mkdir()
    Evaluation(path, read_source(str(pairs)), (row("all-2", 30.0),), {}).save()
    assert "have 8.4 words (2.5 in real summaries)" in judge(Facts(copied)).quality
