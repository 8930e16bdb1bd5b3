"""Summaries of raw text by any model of a run: one code path for the command line, ROUGE and Python.

Text is tokenised and lower-cased for the model; words that no corpus had can still be copied. The way back restores
case simply: a word that stands in the text is written as there (as it stands inside the sentence, where it does), and
the first letter is a capital. Beam search as in Section 4; the initializers decode in their own way.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from nutgraf import recipe as recipes
from nutgraf.backtranslation.initializers import load_initializer
from nutgraf.backtranslation.plan import TEXT, best
from nutgraf.backtranslation.run import RUN, STEPS, Run
from nutgraf.errors import InputError, RunError
from nutgraf.initial.lead import Lead
from nutgraf.progress import Report, silent
from nutgraf.seq2seq.decoding import ConvDecoder
from nutgraf.seq2seq.search import Beam, beam
from nutgraf.seq2seq.storage import load as load_seq2seq
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import SPECIALS, UNK, Ids, Lexicon
from nutgraf.text.prepare import Prepared
from nutgraf.text.tokens import Tokenizer, detokenize

# Sentences and the bounds of a summary's length in; summaries out.
Model = Callable[[Sequence[Ids], recipes.Decoding, Report], list[Ids]]


class Codec:
    """Raw text to word ids and back; words that no corpus had get numbers past the lexicon's end."""

    def __init__(self, lexicon: Lexicon, digits: str):
        self.lexicon = lexicon
        self.tokenizer = Tokenizer(digits)
        self._new: dict[str, int] = {}
        self._new_words: list[str] = []

    def encode(self, text: str, most: int) -> Ids:
        """Return the ids of a text's first words."""
        words = self.tokenizer.words(text)[:most]
        ids = self.lexicon.encode(words)
        for place in np.flatnonzero(ids == UNK):
            ids[place] = self._numbered(words[place])
        return ids

    def _numbered(self, word: str) -> int:
        if word not in self._new:
            self._new[word] = len(self.lexicon) + len(self._new)
            self._new_words.append(word)
        return self._new[word]

    def decode(self, sentences: Iterable[Ids], unknown: str = "") -> list[list[str]]:
        """Return the words of sentences; what no word is known for is left out, or written as `unknown`."""
        return [[word for i in ids.tolist() if (word := self._word(i, unknown))] for ids in sentences]

    def _word(self, i: int, unknown: str) -> str:
        if i >= len(self.lexicon):
            return self._new_words[i - len(self.lexicon)]
        return self.lexicon.words[i] if i >= len(SPECIALS) else unknown if i == UNK else ""


class Summarizer:
    """A trained summarizer.

    >>> summarizer = Summarizer.load("run/")            # the best one of a run
    >>> summarizer = Summarizer.load("run/", "mu1-2")   # or one by its name in the paper
    >>> summarizer(["France took an important step toward power market liberalization monday ..."])
    ['France takes step toward power market liberalization']
    """

    def __init__(
        self,
        name: str,
        model: Model,
        lexicon: Lexicon,
        text: recipes.Text,
        decoding: recipes.Decoding,
        longest: int = sys.maxsize,
    ):
        self.name = name
        self.decoding = decoding
        self.longest = longest  # words that the model can write
        self._model, self._lexicon, self._text = model, lexicon, text
        self._tokenizer = Tokenizer(text.digits)

    @classmethod
    def load(cls, path: str | Path, name: str | None = None, device: str = "cpu") -> Summarizer:
        """Load from a run folder: the summarizer called `name`, or the best that is done (the last all-N, or mu1-N).

        `path` may also end in the name: "run/mu1-2".
        """
        run, name = located(Path(path), name)
        return cls.of(run, name, torch.device(device))

    @classmethod
    def of(cls, run: Run, name: str, device: torch.device) -> Summarizer:
        """Load one summarizer of an open run."""
        folder = run.intact(name)
        if name.endswith("-0"):
            model = _initial(load_initializer(name.removesuffix("-0"), folder))
        else:
            model = _searched(
                ConvDecoder(load_seq2seq(folder, device), run.recipe.decoding.spoken), run.recipe.seq2seq.copy
            )
        prepared = Prepared.open(run.intact(TEXT))
        longest = sys.maxsize if name.endswith("-0") else run.recipe.seq2seq.positions - 1
        decoding = usual_length(run.recipe.decoding, prepared.summaries)
        return cls(name, model, prepared.lexicon, run.recipe.text, decoding, longest)

    @classmethod
    def lead(cls, words: int, text: recipes.Text) -> Summarizer:
        """Return the baseline Lead-N, which needs no run."""
        return cls(f"lead-{words}", _initial(Lead(words)), Lexicon(SPECIALS), text, recipes.Decoding())

    def __call__(
        self,
        texts: Sequence[str],
        max_words: int | None = None,
        min_words: int | None = None,
        report: Report = silent,
    ) -> list[str]:
        """Summarize raw texts, one string each; a blank text has an empty summary."""
        summaries = self.words(texts, max_words, min_words, report)
        return [self._written(words, text) for words, text in zip(summaries, texts, strict=True)]

    def words(
        self,
        texts: Sequence[str],
        max_words: int | None = None,
        min_words: int | None = None,
        report: Report = silent,
    ) -> list[list[str]]:
        """Summarize raw texts, as lower-case words: what is scored."""
        if isinstance(texts, str):
            raise TypeError("expected a list of texts, not one string: write [text]")
        codec = Codec(self._lexicon, self._text.digits)
        sentences = [codec.encode(text, self._text.max_text_words) for text in texts]
        decoding = self._bounds(max_words, min_words)
        # A text that is no longer than a summary is not stretched to one, unless that was asked for.
        enough = decoding.min_words if min_words is None else 0
        long = [place for place, sentence in enumerate(sentences) if len(sentence) > enough]
        short = [place for place, sentence in enumerate(sentences) if 0 < len(sentence) <= enough]
        result: list[list[str]] = [[] for _ in texts]
        for places, bounds in ((long, decoding), (short, replace(decoding, min_words=1))):
            found = self._model([sentences[place] for place in places], bounds, report) if places else []
            for place, words in zip(places, codec.decode(found), strict=True):
                result[place] = words[: decoding.max_words]
        return result

    def _bounds(self, max_words: int | None, min_words: int | None) -> recipes.Decoding:
        most = self.decoding.max_words if max_words is None else max_words
        least = min(self.decoding.min_words, most) if min_words is None else min_words
        if not 1 <= least <= most <= self.longest:
            bound = f" <= {self.longest}" if self.longest < sys.maxsize else ""
            raise InputError(f"min_words {least}, max_words {most}: expected 1 <= min_words <= max_words{bound}")
        return replace(self.decoding, max_words=most, min_words=least)

    def _written(self, words: Sequence[str], text: str) -> str:
        """Write words as a person would: the text's own spelling, a capital at the start."""
        pairs = [*zip(self._tokenizer.words(text), self._tokenizer.tokenize(text), strict=True)]
        forms: dict[str, str] = {}
        # The first word last: its capital may only mark the sentence's start.
        for word, form in (*pairs[1:], *pairs[:1]):
            forms.setdefault(word, form)
        written = detokenize([forms.get(word, word) for word in words])
        return written[:1].upper() + written[1:] if written.split(" ")[0].islower() else written


def located(path: Path, name: str | None) -> tuple[Run, str]:
    """Find the run folder and the summarizer's name that a path such as run/ or run/mu1-2 means."""
    if name is None and not (path / RUN).exists():
        for folder in (path.parent, path.parent.parent if path.parent.name == STEPS else path.parent):
            if (folder / RUN).exists():
                path, name = folder, path.name
                break
    run = Run.open(path)
    name = name or best(run.summarizers())
    if name is None:
        raise RunError(f"{path}: no summarizer is done yet. See `nutgraf status {path}`")
    if name not in run.summarizers():
        done = ", ".join(run.summarizers()) or "none yet"
        raise RunError(f"{path}: no summarizer {name} that is done. There are: {done}")
    return run, name


def usual_length(decoding: recipes.Decoding, summaries: Corpus) -> recipes.Decoding:
    """Put the summaries' mean length in the place of a minimum of 0: beam search alone ends too soon."""
    if decoding.min_words or not len(summaries):
        return replace(decoding, min_words=max(1, decoding.min_words))
    return replace(decoding, min_words=min(decoding.max_words, max(1, round(float(summaries.lengths.mean())))))


def _initial(apply: Callable[[Sequence[Ids]], list[Ids]]) -> Model:
    def model(sentences: Sequence[Ids], decoding: recipes.Decoding, report: Report) -> list[Ids]:
        return apply(sentences)

    return model


def _searched(decoder: ConvDecoder, copies: bool) -> Model:
    def model(sentences: Sequence[Ids], decoding: recipes.Decoding, report: Report) -> list[Ids]:
        settings = Beam(
            decoding.beam,
            decoding.min_words,
            decoding.max_words,
            decoding.no_repeat,
            decoding.length_penalty,
            decoding.batch,
            unk=not copies,  # a model that copies has a better way to write a word that it does not know
        )
        return [
            found[0].words if found else np.zeros(0, np.int32) for found in beam(decoder, sentences, settings, report)
        ]

    return model
