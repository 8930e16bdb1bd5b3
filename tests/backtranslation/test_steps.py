"""What the models of a run are trained on: artificial inputs, real outputs."""

import json
from dataclasses import replace

import numpy as np
import torch

from nutgraf.backtranslation.pairs import coverage
from nutgraf.backtranslation.steps import Steps
from nutgraf.hardware import Hardware
from nutgraf.run.folder import Run
from nutgraf.run.pairs import ARTIFICIAL, share
from nutgraf.run.plan import Kind
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import UNK, Ids

CPU = Hardware(torch.device("cpu"), 1)
LIMIT = 100  # of the tiny recipe


def lists(corpus: Corpus | list[Ids]) -> list[list[int]]:
    return [words.tolist() for words in corpus]


def training_set(run: Run, name: str) -> tuple[list[list[int]], list[list[int]]]:
    steps = Steps(run, CPU)
    step = next(step for step in run.plan() if step.name == name)
    data = steps.training_set(step)
    return lists(data.sources), lists(data.targets)


def artificial(run: Run, name: str) -> list[list[int]]:
    return lists(Corpus.open(run.step_folder(name), ARTIFICIAL))


def test_eq_3_an_expander_learns_real_texts_from_artificial_summaries(finished: Run) -> None:
    sources, targets = training_set(finished, "mu1-1")
    made = artificial(finished, "mu1-0.pairs")
    real = lists(share(Steps(finished, CPU).prepared.texts, LIMIT, "mu1"))
    assert len(made) == LIMIT
    assert list(zip(sources, targets, strict=True)) == [
        pair for pair in zip(made, real, strict=True) if pair[0] and pair[1]
    ]


def test_eq_4_a_summarizer_learns_real_summaries_from_the_expanders_texts(finished: Run) -> None:
    sources, targets = training_set(finished, "dbae-2")
    assert sources == artificial(finished, "dbae-1.pairs")
    assert targets == lists(share(Steps(finished, CPU).prepared.summaries, LIMIT, "dbae"))


def test_section_3_2_all_learns_from_the_three_chains_together(finished: Run) -> None:
    sources, targets = training_set(finished, "all-2")
    chains = [artificial(finished, f"{chain}-1.pairs") for chain in ("pr-thr", "dbae", "mu1")]
    assert sources == [sentence for chain in chains for sentence in chain]
    summaries = Steps(finished, CPU).prepared.summaries
    shares = [lists(share(summaries, LIMIT, chain)) for chain in ("pr-thr", "dbae", "mu1")]
    assert targets == [sentence for part in shares for sentence in part]
    assert shares[0] != shares[1]


def test_a_summarizer_learns_only_from_texts_that_cover_their_summary(finished: Run) -> None:
    asked = replace(finished.recipe, training=replace(finished.recipe.training, min_coverage=0.5))
    sources, targets = training_set(replace(finished, recipe=asked), "mu1-2")
    everything = training_set(finished, "mu1-2")
    kept = coverage(Corpus.of(everything[0]), Corpus.of(everything[1])) >= 0.5
    assert 0 < kept.sum() < len(kept)
    assert sources == [sentence for sentence, keep in zip(everything[0], kept, strict=True) if keep]
    assert targets == [sentence for sentence, keep in zip(everything[1], kept, strict=True) if keep]


def test_artificial_texts_are_clean_and_within_bounds(finished: Run) -> None:
    lexicon = Steps(finished, CPU).prepared.lexicon
    settings = finished.recipe.generation
    for chain in ("pr-thr", "dbae", "mu1"):
        for sentence in artificial(finished, f"{chain}-1.pairs"):
            words = lexicon.decode(sentence)
            assert "." not in words[:-1]
            assert len(words) <= settings.max_text_words
            assert len(words) >= settings.min_text_words or words[-1] == "."
            assert UNK not in sentence  # the tiny recipe copies


def test_eq_2_pairs_of_an_initializer_are_what_it_gives_for_each_text(finished: Run) -> None:
    """The initializers are functions: the pairs hold what they give for each text."""
    from nutgraf.models.initializers import load_initializer

    texts = Steps(finished, CPU).prepared.texts
    for chain in ("pr-thr", "mu1"):
        model = load_initializer(chain, finished.step_folder(f"{chain}-0"))
        assert lists(model(share(texts, LIMIT, chain)[:])) == artificial(finished, f"{chain}-0.pairs")


def test_vectors_are_those_of_the_vocabularys_words(finished: Run) -> None:
    from safetensors.numpy import load_file

    steps = Steps(finished, CPU)
    stored = load_file(finished.step_folder("embeddings") / "vectors.safetensors")
    vocab = steps.vocabularies["S"]
    vectors = steps.vectors("embeddings", vocab)
    for row in (5, 17, len(vocab) - 1):
        place = int(np.flatnonzero(stored["ids"] == vocab.ids[row])[0])
        assert np.array_equal(vectors[row], stored["vectors"][place])


def test_the_learning_curve_is_kept_without_times(finished: Run) -> None:
    curve = json.loads((finished.step_folder("mu1-2") / "history.json").read_text())
    assert [point["step"] for point in curve] == [5, 10, 12]
    assert all(set(point) == {"step", "loss", "held_out"} for point in curve)
    assert {step.kind for step in finished.plan() if (finished.step_folder(step.name) / "history.json").exists()} == {
        Kind.EXPANDER,
        Kind.SUMMARIZER,
    }
