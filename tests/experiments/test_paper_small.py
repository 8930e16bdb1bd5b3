"""The recipe `paper` from its beginning to its end, on the tiny corpus: smaller, and nothing else."""

from dataclasses import asdict
from pathlib import Path

from nutgraf import recipe as recipes
from nutgraf.backtranslation.train import Request, run_training
from nutgraf.evaluation.evaluate import evaluate_run
from nutgraf.evaluation.tables import tables
from nutgraf.hardware import Hardware
from nutgraf.models import storage
from nutgraf.progress import ignore
from tests.tiny import Corpus

SMALL = Path(__file__).parents[2] / "experiments" / "paper_small.toml"
SIZES = {  # what may be smaller: vocabularies, widths, and how long is trained
    "text": {"texts_vocabulary", "summaries_vocabulary"},
    "embeddings": {"width", "procrustes_width", "buckets", "min_count"},
    "pr_thr": {"words_aligned", "iterations", "init_words", "vector_words"},
    "dbae": {"width", "steps"},
    "mu1": {"width", "steps"},
    "seq2seq": {"width"},
    "training": {"summarizer_steps", "expander_steps", "all_steps", "validate_every", "held_out"},
}
TINY = (
    "text.texts_vocabulary=300",
    "text.summaries_vocabulary=200",
    "embeddings.width=16",
    "embeddings.procrustes_width=8",
    "embeddings.buckets=500",
    "embeddings.min_count=2",
    "pr_thr.init_words=50",
    "pr_thr.words_aligned=50",
    "pr_thr.iterations=5",
    "pr_thr.vector_words=0",
    "dbae.width=16",
    "dbae.steps=12",
    "mu1.width=16",
    "mu1.steps=12",
    "seq2seq.width=16",
    "training.summarizer_steps=6",
    "training.expander_steps=6",
    "training.all_steps=6",
    "training.validate_every=3",
    "training.held_out=10",
)


def differences(one: recipes.Recipe, other: recipes.Recipe) -> dict[str, set[str]]:
    first, second = asdict(one), asdict(other)
    assert first["seed"] == second["seed"]
    sections = [name for name, value in first.items() if isinstance(value, dict)]
    found = {name: {key for key in first[name] if first[name][key] != second[name][key]} for name in sections}
    return {name: keys for name, keys in found.items() if keys}


def test_only_sizes_are_smaller() -> None:
    paper = recipes.load("paper")
    for small in (recipes.load(str(SMALL)), recipes.override(paper, list(TINY))):
        found = differences(paper, small)
        assert found.keys() <= SIZES.keys()
        assert all(keys <= SIZES[name] for name, keys in found.items())
    assert (paper.seq2seq.copy, paper.plan.warm_start, paper.plan.iterations) == (False, False, 6)
    assert (paper.pr_thr.init, paper.pr_thr.epochs, paper.generation.sentences_per_chain) == ("relaxation", 5, 0)


def test_the_paper_is_run_to_its_end(corpus: Corpus, tmp_path: Path) -> None:
    recipe = recipes.override(recipes.load("paper"), list(TINY))
    asked = Request(texts=corpus.texts, summaries=corpus.summaries, out=tmp_path / "run", recipe=recipe, threads=1)
    run = run_training(asked, ignore, ignore)
    assert not any(storage.load(run.step_folder(f"all-{i}"), "cpu").settings.copy for i in (2, 4, 6))
    evaluation = evaluate_run(run, corpus.pairs, Hardware.of("cpu", 1), limit=2)
    first, full = tables(evaluation.rows)
    assert [row.name for row in first.groups[1]] == ["pr-thr-0", "dbae-0", "mu1-0"]
    chains = [f"{chain}-{i}" for i in (2, 4, 6) for chain in ("pr-thr", "dbae", "mu1")]
    assert {row.name for row in full.groups[0]} == {*chains, "all-2", "all-4", "all-6"}
    # Every model starts from random weights, and is trained on what one chain alone has made.
    steps = {step.name: step for step in asked.steps}
    assert not any(step.start for step in steps.values())
    assert steps["mu1-6"].pairs == ("mu1-5.pairs",)
    assert set(steps["all-6"].pairs) == {"pr-thr-5.pairs", "dbae-5.pairs", "mu1-5.pairs"}
