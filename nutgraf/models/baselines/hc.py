"""HC: hill climbing over the choice of a text's words (Schumann et al. 2020).

A summary of a text x is n of its words, in their order: the choice y with the highest

    score(y) = fluency(y) * similarity(y, x) ** weight

fluency is the inverse of the perplexity under language models of the summaries, one that reads forward and one that
reads backward: exp of the mean of their log-probabilities of a word. similarity is (1 + cos(v(y), v(x))) / 2, where
v is the sum of word vectors, weighted by the words' idf log2(N / n) in the summaries. The vectors are normalised,
centred and normalised again: what all words have in common would make every choice alike.

From each of several random choices, a chosen word is exchanged for another, both at random, as often as `steps` says;
the exchange stays unless the score falls. The best choice found is the summary. Marks such as commas are not chosen.
The random numbers depend on the sentence alone. PAPER.md says what differs from the original.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from nutgraf.files import naming, read_json
from nutgraf.models.arrays import read_arrays
from nutgraf.models.baselines import Material, Seconds
from nutgraf.recipe import Hc, Recipe
from nutgraf.run.sizes import Sizes
from nutgraf.run.systems import JOINT
from nutgraf.seeds import seed_of
from nutgraf.text.corpus import Corpus
from nutgraf.text.kneser_ney import NONE, KneserNey
from nutgraf.text.lexicon import SPECIALS, Ids, Vocab
from nutgraf.text.trigrams import END, Floats, Longs

if TYPE_CHECKING:
    from nutgraf.learning.loop import Job

FIGURES, WORDS, FORWARD, BACKWARD = "hc.json", "hc.safetensors", "forward.safetensors", "backward.safetensors"
ORDER = 3  # of the language models: the fluency of every choice is then a sum over a table of three places
LONGEST = 120  # words of a text that are chosen from
LEAST = 1e-12  # similarity of opposite vectors: its logarithm must be finite
_COUNTED = 8e5  # words per second that a language model is trained on
_TRIED = 7e-7, 7e-5  # seconds of a step: for each start, and for all of them


@dataclass(frozen=True)
class Words:
    """What is known of words besides their fluency."""

    vocab: Vocab  # those with vectors
    vectors: NDArray[np.float32]  # (words of the vocabulary, width), multiplied by their idf
    marks: Ids  # words of the lexicon that are no words


class HillClimbing:
    """A summarizer that chooses `settings.words` words of a text."""

    def __init__(self, forward: KneserNey, backward: KneserNey, words: Words, settings: Hc, seed: str):
        self.forward, self.backward, self.words, self.settings, self.seed = forward, backward, words, settings, seed

    @property
    def lexicon_size(self) -> int:
        """The number of words of the lexicon that it was made for."""
        return len(self.forward.classes)

    @property
    def work(self) -> int:
        """How much work a sentence is, in steps of a beam search's hypothesis: one takes as long as 20 exchanges."""
        return max(1, self.settings.restarts * self.settings.steps // 20)

    def __call__(self, sentences: Sequence[Ids]) -> list[Ids]:
        """Summarize sentences."""
        return [self._summarize(np.asarray(sentence, dtype=np.int32)) for sentence in sentences]

    def _summarize(self, sentence: Ids) -> Ids:
        words, settings = sentence[~np.isin(sentence, self.words.marks)][:LONGEST], self.settings
        if len(words) <= settings.words:
            return words
        rng = np.random.default_rng(seed_of(self.seed, *words.tolist()))
        return words[climb(self.scorer(words), len(words), settings, rng)]

    def scorer(self, words: Ids) -> Score:
        """Return what scores choices of words."""
        forward = tabulate(self.forward, self.forward.classes_of(words))
        backward = tabulate(self.backward, self.backward.classes_of(words[::-1]))
        # Read from the other end, the place p is the place p from there.
        fluency = (forward + backward[::-1, ::-1, ::-1].transpose(2, 1, 0)) / 2
        vectors = self.words.vectors[self.words.vocab.local(words)].astype(np.float64)
        return Score(fluency, vectors @ vectors.T, self.settings.similarity_weight)

    def save(self, folder: Path) -> None:
        """Write the language models, what is known of words, and the settings."""
        self.forward.save(folder / FORWARD)
        self.backward.save(folder / BACKWARD)
        arrays = {"vocabulary": self.words.vocab.ids, "vectors": self.words.vectors, "marks": self.words.marks}
        save_file(arrays, folder / WORDS)
        figures = {"settings": asdict(self.settings), "seed": self.seed, "lexicon": self.lexicon_size}
        (folder / FIGURES).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


class Score:
    """The logarithm of the score of choices. `fluency` is the table of a text, `gram` (words, words) its products."""

    def __init__(self, fluency: Floats, gram: Floats, weight: float):
        self._fluency, self._size = fluency.ravel(), len(fluency)
        self._gram, self._to_text, self._total = gram.ravel(), gram.sum(0), float(gram.sum())
        self._weight, self._length = weight, len(gram)

    def __call__(self, choices: Longs) -> Floats:
        """Return the scores of choices (n, words) of places, each in order."""
        places = np.empty((len(choices), choices.shape[1] + 4), dtype=np.int64)
        places[:, :2], places[:, -2:] = (0, 1), (self._size - 2, self._size - 1)
        places[:, 2:-2] = choices + 2
        triples = (places[:, :-2] * self._size + places[:, 1:-1]) * self._size + places[:, 2:]
        fluency = self._fluency[triples].sum(1) / (choices.shape[1] + 1)
        pairs = choices[:, :, None] * self._length + choices[:, None, :]
        squares = self._gram[pairs].sum((1, 2)) * self._total
        lengths = np.sqrt(np.maximum(squares, LEAST))
        cosine = np.where(squares > LEAST, self._to_text[choices].sum(1) / lengths, 0)
        return np.asarray(fluency + self._weight * np.log(np.maximum((1 + cosine) / 2, LEAST)))


def climb(score: Callable[[Longs], Floats], length: int, settings: Hc, rng: np.random.Generator) -> Longs:
    """Return the best choice found of `settings.words` of this many places, in order; there must be more places."""
    words, rows = settings.words, np.arange(settings.restarts)
    order = rng.permuted(np.tile(np.arange(length), (settings.restarts, 1)), axis=1)  # the first ones are chosen
    best = score(np.sort(order[:, :words]))
    shape = (settings.steps, settings.restarts)
    for out, into in zip(rng.integers(words, size=shape), rng.integers(words, length, size=shape), strict=True):
        _exchange(order, rows, out, into)
        tried = score(np.sort(order[:, :words]))
        worse = np.flatnonzero(tried < best)
        _exchange(order, worse, out[worse], into[worse])
        best = np.maximum(best, tried)
    return np.sort(order[int(best.argmax()), :words])


def _exchange(order: Longs, rows: Longs, out: Longs, into: Longs) -> None:
    order[rows, out], order[rows, into] = order[rows, into], order[rows, out]


def tabulate(model: KneserNey, words: Longs) -> Floats:
    """Return the log-probabilities of a text's words (classes) after any two words before them.

    The table has (words + 4) places each way: two for the beginning, the words, two for the end. At (i, j, k) is the
    log-probability of the word at k after those at i and j; that of the end is at the first of its two places. The
    sum over what is chosen, three by three, is the log-probability of the choice. Elsewhere the table is 0.
    """
    count = len(words)
    table = np.zeros((count + 4,) * 3)
    end, places = count + 2, np.arange(count)
    first, begun = model.extend(model.first(count), words)
    table[0, 1, 2 + places] = np.log(first)
    table[1, 2 + places, end] = np.log(model.extend(begun, np.full(count, END))[0])
    i, j = np.nonzero(places[:, None] < places)
    table[1, 2 + i, 2 + j] = np.log(model.extend(begun[i], words[j])[0])
    one = np.full((count, ORDER - 1), NONE, dtype=np.int64)
    one[:, 0] = words
    two = model.extend(one[i], words[j])[1]
    table[2 + i, 2 + j, end] = np.log(model.extend(two, np.full(len(i), END))[0])
    pair, k = _after_pairs(count)
    table[2 + i[pair], 2 + j[pair], 2 + k] = np.log(model.extend(two[pair], words[k])[0])
    return table


@lru_cache(maxsize=LONGEST)
def _after_pairs(count: int) -> tuple[Longs, Longs]:
    """Return each pair of places (by its number, in order) with each place after it."""
    places = np.arange(count)
    _, second = np.nonzero(places[:, None] < places)
    pair, third = np.nonzero(second[:, None] < places)
    return pair, third


def train(material: Material, job: Job) -> HillClimbing:
    """Train the language models, and weigh the joint vectors."""
    from nutgraf.models.alignment import prepare

    summaries, lexicon, settings = material.prepared.summaries, material.prepared.lexicon, material.recipe.hc
    backward = Corpus(summaries.tokens[::-1], len(summaries.tokens) - summaries.offsets[::-1])
    vocab, counts = material.vocabularies["F"], summaries.sentence_counts(len(lexicon))
    idf = np.where(counts > 0, np.log2(max(1, len(summaries)) / np.maximum(counts, 1)), 0)[vocab.ids]
    vectors = material.vectors(JOINT, vocab)
    vectors[: len(SPECIALS)] = 0
    vectors[len(SPECIALS) :] = prepare(vectors[len(SPECIALS) :])
    vectors *= idf[:, None].astype(np.float32)
    marks = [place for place, word in enumerate(lexicon.words) if not any(map(str.isalnum, word))]
    words = Words(vocab, vectors, np.array(marks, dtype=np.int32))
    length = settings.words or max(1, round(float(summaries.lengths.mean())))
    models = [KneserNey.train(corpus, lexicon, ORDER) for corpus in (summaries, backward)]
    values = asdict(settings) | {"words": length}
    return HillClimbing(models[0], models[1], words, Hc(**values), job.key)


def load(folder: Path) -> HillClimbing:
    """Read what `save` wrote; a RunError names a file that is something else."""
    with naming(folder / FIGURES):
        figures = read_json(folder / FIGURES)
        settings, seed, lexicon = Hc(**figures["settings"]), str(figures["seed"]), int(figures["lexicon"])
        if settings.words < 1:
            raise ValueError(f"words {settings.words}")
    models = []
    for name in (FORWARD, BACKWARD):
        with naming(folder / name):
            models.append(KneserNey.load(folder / name))
            if models[-1].order != ORDER or len(models[-1].classes) != lexicon:
                raise ValueError("a language model of other words")
    with naming(folder / WORDS):
        arrays = read_arrays(folder / WORDS)
        vocab, vectors, marks = Vocab(arrays["vocabulary"], lexicon), arrays["vectors"], arrays["marks"]
        if vectors.ndim != 2 or len(vectors) != len(vocab) or vectors.dtype != np.float32 or marks.dtype.kind != "i":
            raise ValueError("vectors of other words")
    return HillClimbing(models[0], models[1], Words(vocab, vectors, marks), settings, seed)


def estimate(recipe: Recipe, sizes: Sizes) -> Seconds:
    """Return how long it may take: both language models, and the search by its steps."""
    settings, (start, step) = recipe.hc, _TRIED
    table = 2 * 5e-7 * min(sizes.text_words, LONGEST) ** 3 / 6
    return Seconds(
        2 * sizes.summaries * sizes.summary_words / _COUNTED,
        settings.steps * (step + start * settings.restarts) + table,
    )
