"""Pre-DAE (Wang and Lee 2018): a summarizer that learned to pick a few words in a row out of a scrambled text.

Their generator is pre-trained in this way, and the paper quotes it in Table 2. Source: a text of which about every
16th word is dropped; it is cut into phrases, after each word with probability 1/3, and the phrases are shuffled.
Target: 6 to 11 words in a row of the text, without commas, from one of its first places. The figures are those of the
authors' code. The model is our seq2seq, trained and searched as any other; here are only the pairs that it learns from.
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
from nutgraf.text.lexicon import UNK, Ids

if TYPE_CHECKING:
    from nutgraf.learning.loop import Job
    from nutgraf.models.baselines.trained import Trained

DROPPED = 1 / 16  # share of the words that the source lacks
CUT = 1 / 3  # probability that a phrase ends after a word
SHORTEST, LONGEST = 6, 11  # words of a target
LATEST = 10  # the last place, counted from 0, where a target begins
COMMA = ","

Mask = NDArray[np.bool_]


def rearrange(words: Ids, kept: Mask, ends: Mask, order: NDArray[np.int64]) -> Ids:
    """Return the kept words, cut into phrases after each word that `ends` one; the phrases come in the given order.

    `order` may hold more numbers than there are phrases; those of no phrase are passed over.
    """
    phrase: NDArray[np.int64] = (np.cumsum(ends) - ends)[kept]  # of each word: how many ended before it
    rank = np.argsort(order)[phrase]
    return np.asarray(words[kept][np.argsort(rank, kind="stable")], dtype=np.int32)


def scramble(words: Ids, rng: np.random.Generator) -> Ids:
    """Return a text with words dropped and its phrases shuffled."""
    n = len(words)
    return rearrange(words, rng.random(n) >= DROPPED, rng.random(n) < CUT, rng.permutation(n))


def choose_span(words: Ids, rng: np.random.Generator) -> Ids:
    """Return 6 to 11 words in a row, from one of the first places; all words where there are fewer."""
    length = int(rng.integers(SHORTEST, LONGEST + 1))
    start = int(rng.integers(0, max(0, min(LATEST, len(words) - length)) + 1))
    return words[start : start + length]


def make_pairs(texts: Corpus, said: Mask, count: int, rng: np.random.Generator) -> tuple[Corpus, Corpus]:
    """Return scrambled texts and what is to be picked out of each: of `count` texts, or of all that are long enough.

    `said` (lexicon,) marks the words that a target may have: not commas, and not words that the model cannot write.
    """
    said = said.copy()
    said[UNK] = False
    usable = np.flatnonzero(texts.lengths > LONGEST)
    sources, targets = [], []
    for place in rng.permutation(usable)[:count].tolist():
        words = texts[place]
        sources.append(scramble(words, rng))
        targets.append(choose_span(words[said[words]], rng))
    return Corpus.of(sources), Corpus.of(targets)


def train(material: Models, job: Job) -> Trained:
    """Train a seq2seq model to pick words in a row out of scrambled texts."""
    from nutgraf.models.baselines.trained import Trained
    from nutgraf.models.learn import fit_of, learn

    settings, lexicon = material.recipe.training, material.prepared.lexicon
    model = material.new_model("F", "S", material.recipe.seq2seq, job.key)
    said = np.ones(len(lexicon), dtype=bool)
    if not model.settings.copy:
        said[:] = model.target.table != UNK
    said[lexicon.encode([COMMA])] = False
    fitting = fit_of(settings, settings.summarizer_steps, settings.learning_rate)
    count = fitting.steps * settings.batch + settings.held_out
    rng = np.random.default_rng(seed_of(job.key, "noise"))
    pairs = make_pairs(material.prepared.texts, said, count, rng)
    return Trained(model, learn(model, *pairs, settings, fitting, job))


def load(folder: Path) -> Trained:
    """Read what `train` made."""
    from nutgraf.models.baselines.trained import load

    return load(folder)


def estimate(recipe: Recipe, sizes: Sizes) -> Seconds:
    """Return how long it may take."""
    from nutgraf.models.baselines.trained import training_seconds, writing_seconds

    pairs = recipe.training.summarizer_steps * recipe.training.batch
    return Seconds(
        training_seconds(recipe, pairs, sizes.text_words, (SHORTEST + LONGEST) / 2),
        writing_seconds(recipe, sizes.text_words, sizes.summary_words),
    )
