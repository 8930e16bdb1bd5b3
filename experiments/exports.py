"""What exports cost: an untrained agreed-2 of real size, its files and its time with numpy and torch; fewer bits.

    python -m experiments.exports make OUT                    # writes an export, with the ready model's words
    python -m experiments.exports time OUT                    # CPU time of texts of 32 words, one by one
    python -m experiments.exports bits MODEL VALID.tsv        # ROUGE with word vectors of fewer bits; writes nothing

Set OMP_NUM_THREADS=1 for figures that can be compared. LOG.md (2026-11-17) has what came of it.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated
from unittest.mock import patch

import numpy as np
import torch
import typer

from nutgraf import recipe as recipes
from nutgraf.demo.newswire import newswire
from nutgraf.evaluation.rouge import rouge
from nutgraf.models.light import LightModel
from nutgraf.models.members import Members
from nutgraf.models.seq2seq import Seq2seq
from nutgraf.models.storage import weights_of
from nutgraf.models.weights import Weights
from nutgraf.run.folder import Choice
from nutgraf.seeds import generator_of
from nutgraf.summarizing import loading
from nutgraf.summarizing.export import Export, save_models
from nutgraf.summarizing.language import Language
from nutgraf.summarizing.ready import find_model
from nutgraf.summarizing.summarizer import Summarizer
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import SPECIALS, Vocab
from nutgraf.text.reading import read_pairs
from nutgraf.text.tokens import Tokenizer
from nutgraf.text.trigrams import Trigrams

MEMBERS = ("all-2", "near-2", "mu1-1")
WORDS = 32  # of a text

app = typer.Typer(add_completion=False)


@app.command()
def make(out: Path, width: int = 128, summaries: int = 20_000) -> None:
    """Write an untrained agreed-2 as an export, and say how large its files are; trigrams are of generated newswire."""
    language = Export.open(find_model()).language
    settings = recipes.load("cpu").seq2seq
    models = {name: _untrained(len(language.lexicon), replace(settings, width=width), name) for name in MEMBERS}
    tokenizer = Tokenizer()
    corpus = Corpus.of(language.lexicon.encode(tokenizer.words(line)) for _, line in newswire(summaries, 1))
    members = Members(MEMBERS[:2], MEMBERS[2], recipes.Agreement(), Trigrams.train(corpus, language.lexicon), {})
    out.mkdir(parents=True)
    default = Choice("agreed-2", "it is the only one")
    save_models(out, models, language, default, "int8", {}, {"agreed-2": members}, ["agreed-2"])
    for path in sorted(path for path in out.rglob("*") if path.is_file()):
        typer.echo(f"{path.stat().st_size:12,} {path.relative_to(out)}")
    typer.echo(f"{Export.open(out).size:12,} bytes in all")


def _untrained(words: int, settings: recipes.Seq2seq, name: str) -> Weights:
    generator = generator_of(name)
    vocab = Vocab(np.arange(words, dtype=np.int32), words)
    vectors = torch.randn(words, settings.width, generator=generator).numpy()
    return weights_of(Seq2seq(vocab, vocab, settings, vectors, vectors, generator))


@app.command(name="time")
def measure(folder: Path, texts: int = 20, turns: int = 3) -> None:
    """Say how long a text takes with numpy and with torch, by turns, and whether the summaries are the same."""
    summarizers = {kind: _load(folder, kind) for kind in ("numpy", "torch")}
    lexicon = Export.open(folder).language.lexicon
    frequent = [word for word in lexicon.words[len(SPECIALS) : 4000] if word.isalpha()]
    rng = np.random.default_rng(1)
    lines = [" ".join([*rng.choice(frequent, WORDS - 1), "."]) for _ in range(texts)]
    same = len({tuple(summarizer(lines)) for summarizer in summarizers.values()}) == 1
    for turn in range(turns):
        for kind, summarizer in summarizers.items():
            median = np.median([_seconds(summarizer, line) for line in lines])
            typer.echo(f"turn {turn + 1}: {kind} {1000 * median:.0f} ms of CPU per text (median)")
    typer.echo(f"the same summaries: {'yes' if same else 'no'}")


def _load(folder: Path, kind: str) -> Summarizer:
    with patch.object(loading, "has_torch", lambda: kind == "torch"):
        return Summarizer.load(folder, threads=1)


def _seconds(summarizer: Summarizer, line: str) -> float:
    began = time.process_time()
    summarizer(line)
    return time.process_time() - began


@app.command()
def bits(
    folder: Path, pairs: Path, kept: Annotated[list[int] | None, typer.Option("--bits")] = None, limit: int = 500
) -> None:
    """Score the best model of a run or an export as it is, and with word vectors rounded to fewer bits per weight."""
    run, choice = loading.locate(folder, None)
    language, before = loading.language_of(run), Weights.load(run.intact(choice.name))
    texts, references = zip(*read_pairs(str(pairs), limit), strict=True)
    first: list[str] = []
    for count in [0, *(kept or [8, 6, 4])]:
        table = before.arrays["target_table"]
        arrays = before.arrays | {"target_table": _round(table, count) if count else table}
        lines = _summarize(replace(before, arrays=arrays), language, texts)
        first = first or lines
        same = sum(one == other for one, other in zip(lines, first, strict=True)) / len(lines)
        scores = rouge(lines, references)
        shown = "/".join(f"{100 * values.mean():.2f}" for values in (scores.r1, scores.r2, scores.rl))
        typer.echo(f"{f'{count} bits' if count else 'as it is'}: {shown}, {same:.1%} of the lines the same")


def _summarize(weights: Weights, language: Language, texts: tuple[str, ...]) -> list[str]:
    model = loading.make_searched(LightModel(weights), language)
    return Summarizer("bits", model, language.lexicon, language.text, language.decoding, language.casing)(texts)


def _round(table: np.ndarray, count: int) -> np.ndarray:
    scale = np.abs(table).max(1, keepdims=True) / (2 ** (count - 1) - 1)
    return np.asarray(np.round(table / np.where(scale > 0, scale, 1)) * scale, dtype=np.float32)


if __name__ == "__main__":
    app()
