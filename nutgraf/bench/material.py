"""What the contests are made of: sizes, cases, and text and weights for them.

A case is made (data, weights) when its turn comes, and then called repeatedly. Text is the project's own newswire
cut into pieces of the wanted length; weights are random.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from nutgraf import recipe
from nutgraf.demo.newswire import newswire
from nutgraf.models.seq2seq import Seq2seq
from nutgraf.seeds import generator_of
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import SPECIALS, Lexicon, Vocab
from nutgraf.text.tokens import Tokenizer

SEED = 1
# As wide as fairseq's model, whose figures these are compared with, and summaries of exactly the length asked for.
HELD = ["seq2seq.width=256", "embeddings.width=256", "decoding.trim=false", "decoding.prefer_true=false"]
Work = Callable[[], object]


@dataclass(frozen=True)
class Sizes:
    """How much of everything; the model is the recipe's, but as wide as fairseq's."""

    recipe: recipe.Recipe = field(default_factory=lambda: recipe.override(recipe.load("cpu"), HELD))
    long: int = 32  # words of a text
    short: int = 10  # words of a summary
    square: int = 2048  # of the product that is the limit
    stories: int = 4_000  # from which texts and summaries are cut
    steps: int = 5  # of training a call
    sampled: int = 512  # sentences a call
    beamed: int = 128  # sentences a call
    iterations: int = 20  # of the alignment a call
    served: int = 1024  # requests of many clients a call
    served_alone: int = 200  # requests of one client a call
    served_texts: int = 64  # different ones, each asked for many times
    repeats: int = 3


def quick() -> Sizes:
    """Return sizes for a smoke run: its figures mean nothing."""
    small = """embeddings.width=16 embeddings.procrustes_width=8 embeddings.buckets=100 seq2seq.width=16 pr_thr.batch=20
        text.joint_vocabulary=200 training.shortlist=50 training.batch=8 generation.batch=8 decoding.batch=4"""
    model = recipe.override(recipe.load("cpu"), HELD + small.split())
    calls = {"steps": 1, "sampled": 8, "beamed": 4, "iterations": 2, "repeats": 2}
    return Sizes(model, 6, 3, square=64, stories=60, **calls, served=32, served_alone=4, served_texts=16)


@dataclass(frozen=True)
class Case:
    """One way to do the work. `amounts` is what a call does, by unit, the most telling first."""

    name: str
    make: Callable[[], Work]
    amounts: dict[str, float]
    operations: float = 0.0  # a call; 0 where no matrix product is counted
    against: str = ""  # the case that it is compared with
    share: float = 1.0  # of that case's speed which it can have at best


class Material:
    """Newswire as ids of a lexicon whose first words are the models' vocabulary; made-up words fill it to its size."""

    def __init__(self, sizes: Sizes):
        self.sizes, self.recipe = sizes, sizes.recipe
        self.stories = newswire(sizes.stories, SEED)
        tokenizer, vocabulary = Tokenizer(), self.recipe.text.joint_vocabulary
        sentences = [tokenizer.words(text) for story in self.stories for text in story]
        words = [word for word, _ in Counter(word for sentence in sentences for word in sentence).most_common()]
        fillers = (f"<filler{i}>" for i in range(vocabulary - len(words)))
        self.lexicon = Lexicon([*SPECIALS, *words, *fillers])
        self.vocab = Vocab(np.arange(vocabulary, dtype=np.int32), len(self.lexicon))
        self.sentences = Corpus.of(self.lexicon.encode(sentence) for sentence in sentences)

    def pieces(self, count: int, length: int, skip: int = 0) -> Corpus:
        """Cut `count` pieces of `length` words, wrapping around at the end of the text."""
        places = (skip + np.arange(count * length)) % len(self.sentences.tokens)
        return Corpus(self.sentences.tokens[places], np.arange(count + 1) * length)

    def model(self, copy: bool) -> Seq2seq:
        """Return a shipped model with random weights."""
        blank = np.zeros((len(self.vocab), self.recipe.embeddings.width), dtype=np.float32)
        settings = replace(self.recipe.seq2seq, copy=copy)
        return Seq2seq(self.vocab, self.vocab, settings, blank, blank, generator_of("bench", SEED))
