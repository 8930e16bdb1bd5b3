"""What is measured: contests of cases that do the same work, the shipped code and what it is compared with.

A case is made (data, weights) when its turn comes, and then called again and again. Text is the project's own newswire
cut into pieces of the wanted length; weights are random, and EOS is impossible until the wanted length, so that every
sentence is as long as stated. How fast the cases are, `measure` finds out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import torch
from rouge_score.rouge_scorer import RougeScorer
from torch import Tensor, nn

from nutgraf import recipe, rouge
from nutgraf.bench import operations, reference
from nutgraf.bench.reference import PlainModel
from nutgraf.initial import procrustes
from nutgraf.newswire import newswire
from nutgraf.progress import silent
from nutgraf.randomness import generator_of
from nutgraf.seq2seq import search
from nutgraf.seq2seq.batch import padded
from nutgraf.seq2seq.decoding import ConvDecoder
from nutgraf.seq2seq.model import Seq2seq
from nutgraf.seq2seq.pairs import learn
from nutgraf.text.corpus import Corpus
from nutgraf.text.embeddings import train_embeddings
from nutgraf.text.lexicon import SPECIALS, Lexicon, Vocab
from nutgraf.text.tokens import Tokenizer, tokenize_all

SEED = 1
PRODUCTS = "matrix products"
Work = Callable[[], object]
Shipped = Callable[[Seq2seq], Work]
Plain = Callable[[PlainModel], Work]


@dataclass(frozen=True)
class Sizes:
    """How much of everything; the model is the recipe's."""

    recipe: recipe.Recipe = field(default_factory=lambda: recipe.load("cpu"))
    long: int = 32  # words of a text
    short: int = 10  # words of a summary
    square: int = 2048  # of the product that is the limit
    stories: int = 4_000  # from which texts and summaries are cut
    steps: int = 5  # of training a call
    sampled: int = 1024  # sentences a call
    beamed: int = 256  # sentences a call
    iterations: int = 20  # of the alignment a call
    repeats: int = 5


def quick() -> Sizes:
    """Return sizes for a smoke run: its figures mean nothing."""
    small = """embeddings.width=16 embeddings.procrustes_width=8 embeddings.buckets=100 seq2seq.width=16 pr_thr.batch=20
        text.joint_vocabulary=200 training.shortlist=50 training.batch=8 generation.batch=8 decoding.batch=4"""
    model = recipe.override(recipe.load("cpu"), small.split())
    return Sizes(model, 6, 3, square=64, stories=60, steps=1, sampled=8, beamed=4, iterations=2, repeats=2)


@dataclass(frozen=True)
class Case:
    """One way to do the work. `amounts` is what a call does, by unit, the most telling first."""

    name: str
    make: Callable[[], Work]
    amounts: dict[str, float]
    operations: float = 0.0  # a call; 0 where no matrix product is counted
    against: str = ""  # the case that it is compared with


def contests(sizes: Sizes) -> dict[str, list[Case]]:
    """Return everything that is measured; models go from texts to summaries and from summaries to texts."""
    text, ways = Material(sizes), ((sizes.long, sizes.short), (sizes.short, sizes.long))
    models = {f"{make.__name__} {a}->{b}": make(text, a, b) for make in (training, sampling, beam) for a, b in ways}
    of_text = {"tokens": tokens(text), "embeddings": embeddings(text), "alignment": alignment(sizes)}
    return {PRODUCTS: products(text), **models, **of_text, "ROUGE": scoring(text)}


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
        """Cut `count` pieces of `length` words, from the beginning again where the text ends."""
        places = (skip + np.arange(count * length)) % len(self.sentences.tokens)
        return Corpus(self.sentences.tokens[places], np.arange(count + 1) * length)

    def model(self, copy: bool) -> Seq2seq:
        """Return a shipped model with random weights."""
        blank = np.zeros((len(self.vocab), self.recipe.embeddings.width), dtype=np.float32)
        settings = replace(self.recipe.seq2seq, copy=copy)
        return Seq2seq(self.vocab, self.vocab, settings, blank, blank, generator_of("bench", SEED))


def products(text: Material) -> list[Case]:
    """Multiply matrices of the shapes that the models use, as `F.linear` does."""
    cpu, batch, words = text.recipe, text.recipe.training.batch, text.recipe.text.joint_vocabulary
    convolution = cpu.seq2seq.kernel * cpu.seq2seq.width, 2 * cpu.seq2seq.width
    shortlist = operations.scored(text.pieces(batch, text.sizes.short), batch, words, cpu.training.shortlist)
    decoded, beams = batch * (text.sizes.short + 1), cpu.decoding.batch * cpu.decoding.beam
    shapes = {
        "training, encoder": (batch * (text.sizes.long + 1), *convolution),
        "training, decoder": (decoded, *convolution),
        "training, shortlist": (decoded, cpu.embeddings.width, shortlist),
        "training, all words": (decoded, cpu.embeddings.width, words),
        "sampling, decoder": (cpu.generation.batch, *convolution),
        "sampling, all words": (cpu.generation.batch, cpu.embeddings.width, words),
        "beam, decoder": (beams, *convolution),
        "beam, all words": (beams, cpu.embeddings.width, words),
    }
    return [product(name, *shape, text.sizes.square) for name, shape in shapes.items()]


def product(name: str, rows: int, inner: int, columns: int, square: int) -> Case:
    """Return a product, as often as it takes to do the work of one of `square` cubed."""
    times = max(1, square**3 // (rows * inner * columns))

    def make() -> Work:
        left, right = torch.randn(rows, inner), torch.randn(columns, inner).t()
        result = torch.empty(rows, columns)
        return lambda: [torch.mm(left, right, out=result) for _ in range(times)]

    done = 2 * rows * inner * columns * times
    return Case(f"{name} ({rows} x {inner} x {columns})", make, {"products": times}, done)


def training(text: Material, source: int, target: int) -> list[Case]:
    """Train the shipped model by the one loop with the recipe's shortlist, the reference by an obvious one."""
    settings, words = replace(text.recipe.training, held_out=0), text.recipe.text.joint_vocabulary
    size, pairs = settings.batch, settings.batch * text.sizes.steps
    sources, targets = text.pieces(pairs, source), text.pieces(pairs, target, skip=source // 2)

    def shipped(model: Seq2seq) -> Work:
        return partial(learn, model, sources, targets, settings, text.sizes.steps, "bench", None, silent)

    def plain(model: PlainModel) -> Work:
        optimizer = torch.optim.Adam(model.parameters(), lr=settings.learning_rate)

        def work() -> None:
            for one, other in zip(_batches(sources, size), _batches(targets, size), strict=True):
                optimizer.zero_grad()
                model.loss(one, other).backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
                optimizer.step()

        return work

    columns = operations.scored(targets, size, words, settings.shortlist), words
    once = [operations.sentence(text.recipe, source + 1, target + 1, n) * operations.TRAINING for n in columns]
    return _four(text, shipped, plain, {"pairs": pairs}, once[0] * pairs, once[1] * pairs)


def sampling(text: Material, source: int, target: int) -> list[Case]:
    """Draw one sentence a source, each word from the most probable ones."""
    settings, count, generator = text.recipe.generation, text.sizes.sampled, generator_of("bench", SEED)
    words = text.recipe.text.joint_vocabulary
    sources, size, top = text.pieces(count, source), settings.batch, settings.top_k

    def shipped(model: Seq2seq) -> Work:
        options = search.Sampling(top, target, target, size, unk=False)
        return partial(search.sample, ConvDecoder(model, settings.spoken), sources, options, SEED)

    def plain(model: PlainModel) -> Work:
        model.eval()
        return lambda: [reference.sample(model, batch, top, target, generator) for batch in _batches(sources, size)]

    once = [operations.sentence(text.recipe, source + 1, target, n) for n in (settings.spoken or words, words)]
    return _four(text, shipped, plain, {"sentences": count}, once[0] * count, once[1] * count)


def beam(text: Material, source: int, target: int) -> list[Case]:
    """Search for the most probable sentences; n-grams may come again, as in the published figures."""
    settings, count, words = text.recipe.decoding, text.sizes.beamed, text.recipe.text.joint_vocabulary
    sources, size, width, rows = text.pieces(count, source), settings.batch, settings.beam, settings.beam * (target + 1)

    def shipped(model: Seq2seq) -> Work:
        options = search.Beam(width, target, target, 0, settings.length_penalty, size, unk=False)
        return partial(search.beam, ConvDecoder(model, settings.spoken), sources, options)

    def plain(model: PlainModel) -> Work:
        model.eval()
        return lambda: [reference.beam(model, batch, width, target) for batch in _batches(sources, size)]

    once = [operations.sentence(text.recipe, source + 1, rows, n) for n in (settings.spoken or words, words)]
    return _four(text, shipped, plain, {"sentences": count}, once[0] * count, once[1] * count)


def _batches(sentences: Corpus, size: int) -> Iterator[Tensor]:
    return (padded(sentences[i : i + size]) for i in range(0, len(sentences), size))


def _four(
    text: Material, shipped: Shipped, plain: Plain, amounts: dict[str, float], ours: float, theirs: float
) -> list[Case]:
    """Set the shipped code against the reference, with the operations of each, with and without copying."""
    return [
        Case("shipped, copy", lambda: shipped(text.model(True)), amounts, ours, "reference, copy"),
        Case("shipped, plain", lambda: shipped(text.model(False)), amounts, ours, "reference, plain"),
        Case("reference, copy", lambda: plain(PlainModel(text.model(True))), amounts, theirs),
        Case("reference, plain", lambda: plain(PlainModel(text.model(False))), amounts, theirs),
    ]


def tokens(text: Material) -> list[Case]:
    """Tokenise in one process, from an empty cache."""
    lines = [line for story in text.stories for line in story]
    amounts: dict[str, float] = {"lines": len(lines), "words": len(text.sentences.tokens)}
    return [Case("shipped", lambda: lambda: list(tokenize_all(lines, "keep", 1)), amounts)]


def embeddings(text: Material) -> list[Case]:
    """Train skip-gram vectors of the recipe's width; a word counts once an epoch."""
    settings = text.recipe.embeddings
    known = text.lexicon, text.vocab.ids
    work = partial(train_embeddings, [text.sentences], *known, settings.width, settings, SEED, silent)
    return [Case("shipped", lambda: work, {"words": len(text.sentences.tokens) * settings.epochs})]


def alignment(sizes: Sizes) -> list[Case]:
    """Refine an alignment of random vectors: Sinkhorn, a gradient step, Procrustes."""
    settings = replace(sizes.recipe.pr_thr, epochs=1, iterations=sizes.iterations)
    rng, width = np.random.default_rng(SEED), sizes.recipe.embeddings.procrustes_width
    X = procrustes.prepared(rng.normal(size=(10 * settings.batch, width)).astype(np.float32))
    work = partial(procrustes.refine, np.eye(width, dtype=np.float32), X, X, settings, rng, silent)
    return [Case("shipped", lambda: work, {"iterations": sizes.iterations})]


def scoring(text: Material) -> list[Case]:
    """Score leads against headlines by ROUGE, no stem remembered from the call before."""
    leads, headlines = zip(*text.stories, strict=True)

    def shipped() -> rouge.Scores:
        rouge._stems.cache_clear()
        return rouge.rouge(leads, headlines)

    def published() -> Work:
        scorer = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
        return lambda: [scorer.score(*pair) for pair in zip(headlines, leads, strict=True)]

    amounts: dict[str, float] = {"pairs": len(leads)}
    return [Case("shipped", lambda: shipped, amounts, 0, "rouge-score"), Case("rouge-score", published, amounts)]
