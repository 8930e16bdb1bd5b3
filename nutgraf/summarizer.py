"""Summaries of raw text by any model of a run: one code path for the command line, HTTP, ROUGE and Python.

Text is tokenised and lower-cased for the model; words that no corpus had can still be copied. On the way back a word
that stands in the text is written as there, others as the corpora write them, and the first letter is a capital. Beam
search as in Section 4; the initializers decode in their own way.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from nutgraf import recipe as recipes
from nutgraf.backtranslation.initializers import load_initializer
from nutgraf.backtranslation.plan import best
from nutgraf.backtranslation.run import RUN, STEPS, Run
from nutgraf.errors import InputError, RunError
from nutgraf.export import EXPORT, Export
from nutgraf.initial.lead import Lead
from nutgraf.language import Language
from nutgraf.models import Initial, Model, Searched
from nutgraf.progress import Report, silent
from nutgraf.seq2seq.storage import load as load_seq2seq
from nutgraf.text.casing import Casing, Writer
from nutgraf.text.lexicon import SPECIALS, UNK, Ids, Lexicon
from nutgraf.text.reading import cleaned
from nutgraf.text.tokens import Tokenizer, detokenize, is_digit, sentences

MORE = 8  # searches for a number of words: so many marks a summary may have, but for one


@dataclass(frozen=True)
class Wishes:
    """What is wanted of summaries; None is as the model usually does. See `Summarizer.__call__` and `explain`."""

    max_words: int | None = None
    min_words: int | None = None
    faithful: bool | None = None
    n_best: int = 1
    explain: bool = False


@dataclass(frozen=True)
class Word:
    """A word of a summary, and what it rests on."""

    text: str
    copied: bool  # stands in the text
    source: int | None  # its place among the text's words, or the place most looked at; an initializer looks at none
    probability: float | None  # the model's own, given the words before; the initializers have none
    unsupported: bool  # a name or a number that is not in the text


@dataclass(frozen=True)
class Summary:
    """A summary with its words; `probability` is the geometric mean of theirs."""

    text: str
    words: tuple[Word, ...]
    probability: float | None


@dataclass(frozen=True)
class Explained:
    """The words of a text as it writes them, and its summaries, best first."""

    source: tuple[str, ...]
    summaries: tuple[Summary, ...]


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

    def count(self, sentence: Ids) -> int:
        """Return the number of words between blanks, as a reader counts."""
        return len(detokenize(self.decode([sentence])[0]).split())

    def cut(self, sentence: Ids, most: int) -> Ids:
        """Return the longest beginning that has no more words than that."""
        return next(sentence[:end] for end in range(len(sentence), -1, -1) if self.count(sentence[:end]) <= most)

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
        casing: Casing | None = None,
    ):
        self.name = name
        self.decoding = decoding
        self.casing = casing or Casing()
        self._model, self._lexicon, self._text = model, lexicon, text
        self._write = Writer(self.casing, text.digits)
        self._tokenizer = Tokenizer(text.digits)

    @classmethod
    def load(cls, path: str | Path, name: str | None = None, device: str = "cpu") -> Summarizer:
        """Load from a run folder: the summarizer called `name`, or the best that is done (the last all-N, or mu1-N).

        `path` may also end in the name, "run/mu1-2", and the folder be an export.
        """
        run, name = located(Path(path), name)
        return cls.of(run, name, torch.device(device))

    @classmethod
    def of(cls, run: Run | Export, name: str, device: torch.device, language: Language | None = None) -> Summarizer:
        """Load one summarizer of an open run or export; several of one run may share its `language`."""
        check_done(run, name)
        folder = run.folder / name if isinstance(run, Export) else run.intact(name)
        language = language or language_of(run)
        model: Model
        if name.endswith("-0"):
            model = Initial(load_initializer(name.removesuffix("-0"), folder))
        else:
            seq2seq = load_seq2seq(folder, device)
            words = language.lexicon.decode(seq2seq.target.ids.tolist())
            unsaid = torch.tensor([_is_fact(word, language.casing) for word in words])
            model = Searched(seq2seq, language.decoding.spoken, unsaid)
        return cls(name, model, language.lexicon, language.text, language.decoding, language.casing)

    @classmethod
    def lead(cls, words: int, text: recipes.Text) -> Summarizer:
        """Return the baseline Lead-N, which needs no run."""
        return cls(f"lead-{words}", Initial(Lead(words)), Lexicon(SPECIALS), text, recipes.Decoding())

    def __call__(
        self,
        texts: Sequence[str],
        max_words: int | None = None,
        min_words: int | None = None,
        faithful: bool | None = None,
        report: Report = silent,
    ) -> list[str]:
        """Summarize raw texts, one string each; a blank text has an empty summary.

        Of a text that is longer than the model reads, the first sentences count. `faithful` output has no name and no
        number that is not in the text.
        """
        texts = _read_as_files_are(texts)
        summaries = self.words(texts, max_words, min_words, faithful, report)
        return [self._write(words, text) for words, text in zip(summaries, texts, strict=True)]

    def words(
        self,
        texts: Sequence[str],
        max_words: int | None = None,
        min_words: int | None = None,
        faithful: bool | None = None,
        report: Report = silent,
    ) -> list[list[str]]:
        """Summarize raw texts, as lower-case words: what is scored."""
        codec, _, found = self._found(_read_as_files_are(texts), Wishes(max_words, min_words, faithful), report)
        return [codec.decode(summaries)[0] if summaries else [] for summaries in found]

    def explain(
        self,
        texts: Sequence[str],
        max_words: int | None = None,
        min_words: int | None = None,
        faithful: bool | None = None,
        n_best: int = 1,
    ) -> list[Explained]:
        """Summarize raw texts, up to `n_best` summaries each, and say what every word rests on."""
        if n_best < 1:
            raise InputError(f"n_best {n_best}: expected 1 or more")
        texts = _read_as_files_are(texts)
        codec, sentences, found = self._found(texts, Wishes(max_words, min_words, faithful, n_best), silent)
        return [
            Explained(
                tuple(self._tokenizer.tokenize(self._read(text))[: len(sentence)]),
                tuple(self._explained(codec, sentence, summary, text) for summary in summaries),
            )
            for text, sentence, summaries in zip(texts, sentences, found, strict=True)
        ]

    def answer(self, texts: Sequence[str], wishes: Wishes) -> list[Explained]:
        """Summarize raw texts; where nobody wants to know, the words stay unexplained, which takes less time."""
        bounds = wishes.max_words, wishes.min_words, wishes.faithful
        if wishes.explain or wishes.n_best > 1:
            return self.explain(texts, *bounds, wishes.n_best)
        return [Explained((), (Summary(summary, (), None),)) for summary in self(texts, *bounds)]

    def _found(self, texts: Sequence[str], wishes: Wishes, report: Report) -> tuple[Codec, list[Ids], list[list[Ids]]]:
        """Return the texts as ids and the best summaries of each; a blank text has none."""
        decoding = self._settings(wishes)
        codec = Codec(self._lexicon, self._text.digits)
        encoded = [codec.encode(self._read(text), self._text.max_text_words) for text in texts]
        # A text that is no longer than a summary is not stretched to one, unless that was asked for.
        enough = decoding.min_words if wishes.min_words is None else 0
        long = [place for place, sentence in enumerate(encoded) if len(sentence) > enough]
        short = [place for place, sentence in enumerate(encoded) if 0 < len(sentence) <= enough]
        result: list[list[Ids]] = [[] for _ in texts]
        for places, bounds in ((long, decoding), (short, replace(decoding, min_words=1))):
            found = self._searched(codec, [encoded[place] for place in places], bounds, wishes, report)
            for place, summaries in zip(places, found, strict=True):
                result[place] = summaries
        return codec, encoded, result

    def _searched(
        self, codec: Codec, sentences: Sequence[Ids], decoding: recipes.Decoding, wishes: Wishes, report: Report
    ) -> list[list[Ids]]:
        """Return the best summaries of sentences.

        A model counts marks as words, a reader does not. Where a number of words was asked for, what has too few is
        sought again with one more word of the model's, and again.
        """
        if wishes.max_words is None and wishes.min_words is None:
            found = self._model(sentences, decoding, wishes.n_best, report) if sentences else []
            return [
                [self._kept(summary, sentence, decoding)[: decoding.max_words] for summary in summaries]
                for summaries, sentence in zip(found, sentences, strict=True)
            ]
        result: list[list[Ids]] = [[] for _ in sentences]
        left, least = list(range(len(sentences))), wishes.min_words or 1
        for more in range(MORE if isinstance(self._model, Searched) else 1):
            most = min(decoding.max_words + more, self._model.longest)
            bounds = replace(decoding, min_words=min(decoding.min_words + more, most), max_words=most)
            chosen = [sentences[place] for place in left]
            found = self._model(chosen, bounds, max(wishes.n_best, decoding.beam), report) if chosen else []
            for place, summaries in zip(left, found, strict=True):
                kept = [self._kept(summary, sentences[place], decoding) for summary in summaries]
                fitting = [s for s in kept if least <= codec.count(s) <= decoding.max_words]
                result[place] = fitting or result[place] or [codec.cut(summary, decoding.max_words) for summary in kept]
            left = [place for place in left if codec.count(result[place][0]) < least]
        return [summaries[: wishes.n_best] for summaries in result]

    def _kept(self, summary: Ids, sentence: Ids, decoding: recipes.Decoding) -> Ids:
        """Leave out special words and, for the initializers, which do not know of it, what is not faithful."""
        kept = summary[summary >= len(SPECIALS)]
        if decoding.faithful:
            words = self._lexicon.words
            said = [i in sentence or not _is_fact(words[i], self.casing) for i in kept.tolist()]
            kept = kept[np.array(said, dtype=bool)]
        return np.asarray(kept, dtype=np.int32)

    def _read(self, text: str) -> str:
        """Return what is read of a text: all, or the first sentences where it is too long, at least one."""
        if len(text.split()) <= self._text.max_text_words:
            return text
        first, *others = sentences(text)
        for sentence in others:
            if len(self._tokenizer.words(f"{first} {sentence}")) > self._text.max_text_words:
                break
            first = f"{first} {sentence}"
        return first

    def _explained(self, codec: Codec, sentence: Ids, summary: Ids, text: str) -> Summary:
        rests = self._model.explain(sentence, summary)
        decoded = codec.decode([summary])[0]
        forms = self._write.forms(decoded, text)
        words = []
        for place, (number, word, form) in enumerate(zip(summary.tolist(), decoded, forms, strict=True)):
            own = sentence == number
            copied = bool(own.any())
            weights = np.where(own, rests.weights[place] + 1, 0) if copied else rests.weights[place]
            words.append(
                Word(
                    form,
                    copied,
                    int(weights.argmax()) if weights.any() else None,
                    None if rests.probabilities is None else float(rests.probabilities[place]),
                    not copied and _is_fact(word, self.casing),
                )
            )
        known = [math.log(max(word.probability, 1e-30)) for word in words if word.probability is not None]
        mean = math.exp(sum(known) / len(known)) if known else None
        return Summary(self._write.line(forms), tuple(words), mean)

    def _settings(self, wishes: Wishes) -> recipes.Decoding:
        most = self.decoding.max_words if wishes.max_words is None else wishes.max_words
        least = min(self.decoding.min_words, most) if wishes.min_words is None else wishes.min_words
        longest = self._model.longest
        if not 1 <= least <= most <= longest:
            bound = f" <= {longest}" if longest < sys.maxsize else ""
            raise InputError(f"min_words {least}, max_words {most}: expected 1 <= min_words <= max_words{bound}")
        faithful = self.decoding.faithful if wishes.faithful is None else wishes.faithful
        return replace(self.decoding, max_words=most, min_words=least, faithful=faithful)


def _read_as_files_are(texts: Sequence[str]) -> list[str]:
    """Clean texts that did not come from a file of lines."""
    if isinstance(texts, str):
        raise TypeError("expected a list of texts, not one string: write [text]")
    return [cleaned(text) for text in texts]


def _is_fact(word: str, casing: Casing) -> bool:
    """Whether a word, as models see it, is a name or a number: what must not be made up."""
    return any(map(is_digit, word)) or casing.is_name(word)


def language_of(run: Run | Export) -> Language:
    """Return what the summarizers of a run or an export share."""
    return run.language if isinstance(run, Export) else Language.of(run)


def located(path: Path, name: str | None) -> tuple[Run | Export, str]:
    """Find the folder, of a run or an export, and the summarizer's name that a path such as run/ or run/mu1-2 means."""
    if name is None and not _opens(path):
        for folder in (path.parent, path.parent.parent if path.parent.name == STEPS else path.parent):
            if _opens(folder):
                path, name = folder, path.name
                break
    run = Export.open(path) if (path / EXPORT).exists() else Run.open(path)
    name = name or best(run.summarizers()) or (run.names[0] if isinstance(run, Export) else None)
    if name is None:
        raise RunError(f"{path}: no summarizer is done yet. See `nutgraf status {path}`")
    check_done(run, name)
    return run, name


def check_done(run: Run | Export, name: str) -> None:
    """Raise an error where there is no such summarizer, or not yet."""
    if name not in run.summarizers():
        done = ", ".join(run.summarizers()) or "none yet"
        raise RunError(f"{run.folder}: no summarizer {name} that is done. There are: {done}")


def _opens(folder: Path) -> bool:
    return (folder / RUN).exists() or (folder / EXPORT).exists()
