"""MASS (Song et al. 2019): half of a sentence is masked, and the decoder writes that half; then a few pairs are enough.

A span of half of the sentence's words, at a random place, is masked: of its words about 80 % are replaced by a mask,
10 % by random words, and 10 % stay. The encoder reads the sentence with the mask, the decoder writes the span and
nothing else. Sentences of both piles are taken alike; no pair of a text and its summary is needed. The pre-trained
model is then trained further on aligned pairs, as any seq2seq: here are only the pairs that it is pre-trained on.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nutgraf.models.baselines import Models, Seconds
from nutgraf.recipe import Recipe
from nutgraf.run.sizes import Sizes
from nutgraf.seeds import seed_of
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import SPECIALS, UNK, Ids

if TYPE_CHECKING:
    from nutgraf.learning.loop import Job
    from nutgraf.models.baselines.trained import Trained

MASKED = 0.5  # share of a sentence that is masked: what the original found to be best
HIDDEN, RANDOM = 0.8, 0.1  # of the masked words; the others stay
MASK = UNK  # no word of a corpus is UNK, so it can stand for the mask


def mask_span(words: Ids, start: int, drawn: NDArray[np.float64], others: Ids) -> tuple[Ids, Ids]:
    """Mask as many words from `start` as `drawn` has numbers; return the sentence as it is read, and the span.

    A word whose number is below 0.8 is hidden, below 0.9 it is replaced by its one of `others`; above, it stays.
    """
    span = words[start : start + len(drawn)]
    source = words.copy()
    shown = np.where(drawn < HIDDEN, MASK, np.where(drawn < HIDDEN + RANDOM, others, span))
    source[start : start + len(drawn)] = shown
    return source, span


def mask(words: Ids, vocabulary: Ids, rng: np.random.Generator) -> tuple[Ids, Ids]:
    """Mask half of a sentence, at a random place; random words come from a vocabulary that starts with the specials."""
    count = max(1, round(MASKED * len(words)))
    start = int(rng.integers(0, len(words) - count + 1))
    others = vocabulary[rng.integers(len(SPECIALS), len(vocabulary), count)]
    return mask_span(words, start, rng.random(count), others)


def make_pairs(
    texts: Corpus, summaries: Corpus, vocabulary: Ids, count: int, rng: np.random.Generator
) -> tuple[Corpus, Corpus]:
    """Return masked sentences and their spans: of `count` sentences, as many texts as summaries, or of all."""
    sources, targets = [], []
    for corpus in (texts, summaries):
        usable = np.flatnonzero(corpus.lengths > 1)
        for place in rng.permutation(usable)[: count // 2].tolist():
            source, target = mask(np.asarray(corpus[place]), vocabulary, rng)
            sources.append(source)
            targets.append(target)
    return Corpus.of(sources), Corpus.of(targets)


def train(material: Models, job: Job) -> Trained:
    """Pre-train a seq2seq model on masked sentences of both piles; it is no summarizer yet."""
    from nutgraf.models.baselines.trained import Trained
    from nutgraf.models.learn import fit_of, learn

    settings, prepared = material.recipe.training, material.prepared
    model = material.new_model("joint", "joint", material.recipe.seq2seq, job.key)
    fitting = fit_of(settings, material.recipe.mass.steps, settings.learning_rate)
    count = fitting.steps * settings.batch + settings.held_out
    rng = np.random.default_rng(seed_of(job.key, "noise"))
    pairs = make_pairs(prepared.texts, prepared.summaries, model.target.ids, count, rng)
    return Trained(model, learn(model, *pairs, settings, fitting, job))


def load(folder: Path) -> Trained:
    """Read what `train` made."""
    from nutgraf.models.baselines.trained import load

    return load(folder)


def estimate(recipe: Recipe, sizes: Sizes) -> Seconds:
    """Return how long it may take: half of the sentences are texts, and half of each is written."""
    from nutgraf.models.baselines.trained import training_seconds, writing_seconds

    pairs, means = recipe.mass.steps * recipe.training.batch, (sizes.text_words, sizes.summary_words)
    return Seconds(
        sum(training_seconds(recipe, pairs / 2, words, MASKED * words) for words in means),
        writing_seconds(recipe, *means),
    )
