"""What is measured: contests of cases that do the same work, the shipped code and what it is compared with.

EOS is impossible until the wanted length, so that every sentence is as long as stated. How fast the cases are,
`measure` finds out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from rouge_score.rouge_scorer import RougeScorer
from torch import Tensor, nn

from nutgraf.bench import operations
from nutgraf.bench import plain_model as reference
from nutgraf.bench.material import SEED, Case, Material, Sizes, Work
from nutgraf.bench.neighbours import busy_training, single_summaries
from nutgraf.bench.plain_model import PlainModel
from nutgraf.bench.serving import serving
from nutgraf.bench.startup import startup
from nutgraf.evaluation import rouge
from nutgraf.learning import search
from nutgraf.learning.batches import pad_batch
from nutgraf.learning.beam import Beam
from nutgraf.learning.loop import Job
from nutgraf.models.alignment import prepare, refine
from nutgraf.models.decoding import ConvDecoder
from nutgraf.models.learn import fit_of, learn
from nutgraf.models.seq2seq import Seq2seq
from nutgraf.progress import ignore
from nutgraf.seeds import generator_of
from nutgraf.text.corpus import Corpus
from nutgraf.text.embeddings import train_embeddings
from nutgraf.text.tokens import Tokenizer

PRODUCTS, BUSY, STARTUP = "matrix products", "busy neighbours", "start-up"
Shipped = Callable[[Seq2seq], Work]
Plain = Callable[[PlainModel], Work]


def contests(sizes: Sizes) -> dict[str, list[Case]]:
    """Return everything that is measured; models go from texts to summaries and from summaries to texts."""
    text, ways = Material(sizes), ((sizes.long, sizes.short), (sizes.short, sizes.long))
    models = {f"{make.__name__} {a}->{b}": make(text, a, b) for make in (training, sampling, beam) for a, b in ways}
    of_text = {"tokens": tokens(text), "embeddings": embeddings(text), "alignment": alignment(sizes)}
    trained = models[f"{training.__name__} {sizes.long}->{sizes.short}"][0]
    busy = [*busy_training(trained), *single_summaries(text)]
    of_users = {BUSY: busy, STARTUP: startup(text), "serving": serving(text)}
    return {PRODUCTS: products(text), **models, **of_users, **of_text, "ROUGE": scoring(text)}


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
        fitting = fit_of(settings, text.sizes.steps, settings.learning_rate)
        return partial(learn, model, sources, targets, settings, fitting, Job("bench"))

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
        return partial(search.sample, ConvDecoder(model, settings.output_words), sources, options, SEED)

    def plain(model: PlainModel) -> Work:
        model.eval()
        return lambda: [reference.sample(model, batch, top, target, generator) for batch in _batches(sources, size)]

    once = [operations.sentence(text.recipe, source + 1, target, n) for n in (settings.output_words or words, words)]
    return _four(text, shipped, plain, {"sentences": count}, once[0] * count, once[1] * count)


def beam(text: Material, source: int, target: int) -> list[Case]:
    """Search for the most probable sentences; n-grams may repeat, as in the published figures."""
    settings, count, words = text.recipe.decoding, text.sizes.beamed, text.recipe.text.joint_vocabulary
    sources, size, width, rows = text.pieces(count, source), settings.batch, settings.beam, settings.beam * (target + 1)

    def shipped(model: Seq2seq) -> Work:
        options = Beam(width, target, target, 0, settings.length_penalty, size, unk=False)
        return partial(search.beam, ConvDecoder(model, settings.output_words), sources, options)

    def plain(model: PlainModel) -> Work:
        model.eval()
        return lambda: [reference.beam(model, batch, width, target) for batch in _batches(sources, size)]

    once = [operations.sentence(text.recipe, source + 1, rows, n) for n in (settings.output_words or words, words)]
    return _four(text, shipped, plain, {"sentences": count}, once[0] * count, once[1] * count)


def _batches(sentences: Corpus, size: int) -> Iterator[Tensor]:
    return (pad_batch(sentences[i : i + size]) for i in range(0, len(sentences), size))


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
    """Tokenise, from an empty cache."""
    lines = [line for story in text.stories for line in story]
    amounts: dict[str, float] = {"lines": len(lines), "words": len(text.sentences.tokens)}
    return [Case("shipped", lambda: lambda: [*map(Tokenizer().words, lines)], amounts)]


def embeddings(text: Material) -> list[Case]:
    """Train skip-gram vectors of the recipe's width; a word counts once an epoch."""
    settings = text.recipe.embeddings
    known = text.lexicon, text.vocab.ids
    work = partial(train_embeddings, [text.sentences], *known, settings.width, settings, SEED, ignore)
    return [Case("shipped", lambda: work, {"words": len(text.sentences.tokens) * settings.epochs})]


def alignment(sizes: Sizes) -> list[Case]:
    """Refine an alignment of random vectors: Sinkhorn, a gradient step, Procrustes."""
    settings = replace(sizes.recipe.pr_thr, epochs=1, iterations=sizes.iterations)
    rng, width = np.random.default_rng(SEED), sizes.recipe.embeddings.procrustes_width
    X = prepare(rng.normal(size=(10 * settings.batch, width)).astype(np.float32))
    work = partial(refine, np.eye(width, dtype=np.float32), X, X, settings, rng, ignore)
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
