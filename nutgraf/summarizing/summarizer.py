"""Summaries of raw text by any model of a run: one code path for the command line, HTTP, ROUGE and Python.

Text is tokenised and lower-cased for the model; words that no corpus had can still be copied. On the way back a word
that stands in the text is written as there, others as the corpora write them, and the first letter is a capital. Beam
search as in Section 4; the initializers decode in their own way.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import overload

import numpy as np
import torch

from nutgraf import recipe as recipes
from nutgraf.errors import InputError, RunError
from nutgraf.hardware import Hardware, using_threads
from nutgraf.models.lead import Lead
from nutgraf.models.storage import load as load_seq2seq
from nutgraf.progress import Report, has_terminal, ignore, show_bar
from nutgraf.run.folder import STEPS, Choice, Run
from nutgraf.run.names import ModelName
from nutgraf.summarizing.backends import Backend, Initial, Searched
from nutgraf.summarizing.codec import UNKNOWN, Codec
from nutgraf.summarizing.export import EXPORT, Export
from nutgraf.summarizing.language import Language
from nutgraf.summarizing.ready import find_model, is_model_folder
from nutgraf.text.beginning import count_read, take_beginning
from nutgraf.text.casing import Casing, Writer
from nutgraf.text.directions import find_contradictions, forbidden_words
from nutgraf.text.facts import find_unsupported, is_fact
from nutgraf.text.lexicon import SPECIALS, Ids, Lexicon
from nutgraf.text.reading import clean_line
from nutgraf.text.tokens import Tokenizer

# A line that ends in one of these is not finished; "in", "on", "up" may belong to a verb and end one.
_DANGLING = (
    ", : ; - -- ( [ `` ` & + $ a an the of to for from with by and or at as its his her their than that"
    " 's is are was were be been has have had will would could should may might must not"
    " into amid among between despite without during via including because if while which who whose"
    " very too such these those another"
)
DANGLING = frozenset(_DANGLING.split())
LONG_LIST, BLOCK = 200, 64  # texts: from how many on a bar is shown, and how often it moves
RETRIES = 8  # to meet the word limit: the model counts punctuation as words, a reader does not


@dataclass(frozen=True)
class SummaryOptions:
    """What is wanted of summaries; None: the model's default. See `Summarizer.__call__` and `explain`."""

    max_words: int | None = None
    min_words: int | None = None
    faithful: bool | None = None
    n_best: int = 1
    explain: bool = False


DEFAULTS = SummaryOptions()


@dataclass(frozen=True)
class Word:
    """A word of a summary, and where it comes from."""

    text: str
    copied: bool  # stands in the text
    source: int | None  # its place among the text's words, or the place most attended to; initializers attend to none
    probability: float | None  # the model's own, given the words before; the initializers have none
    unsupported: bool  # a name or a number that is not in the text


@dataclass(frozen=True)
class Summary:
    """A summary with its words; `probability` is the geometric mean of theirs and of the end's: the model's score."""

    text: str
    words: tuple[Word, ...]
    probability: float | None
    nearness: float | None = None  # of near-0: how near this real summary is to the text, from 0 to 1


@dataclass(frozen=True)
class SummaryResult:
    """The words of a text as it writes them, and its summaries, best first."""

    source: tuple[str, ...]
    summaries: tuple[Summary, ...]


class Summarizer:
    """A trained summarizer.

    >>> summarizer = Summarizer.load()                  # the model that comes with nutgraf
    >>> summarizer = Summarizer.load("run/")            # the best one of a run
    >>> summarizer = Summarizer.load("run/", "mu1-2")   # or one by its name in the paper
    >>> summarizer("France took an important step toward power market liberalization monday ...")
    'France takes step toward power market liberalization'

    A text gives a string, a list of texts gives a list. So it goes wherever a function of a text does:

    >>> frame["headline"] = frame.text.map(summarizer)                                           # pandas
    >>> dataset.map(lambda rows: {"headline": summarizer(rows["text"])}, batched=True)           # datasets
    """

    def __init__(
        self,
        name: str,
        model: Backend,
        lexicon: Lexicon,
        text: recipes.Text,
        decoding: recipes.Decoding,
        casing: Casing | None = None,
        threads: int | None = None,
    ):
        self.name, self.threads = name, threads
        self.reason = ""  # why it is this one of its run
        self.decoding = decoding
        self.casing = casing or Casing()
        self._model, self._lexicon, self._text = model, lexicon, text
        self._write = Writer(self.casing, text.digits)
        self._tokenizer = Tokenizer(text.digits)

    def __repr__(self) -> str:
        return f"<Summarizer {self.name}: up to {self.decoding.max_words} words, {len(self._lexicon):,} words known>"

    @classmethod
    def load(
        cls, path: str | Path | None = None, name: str | None = None, device: str = "cpu", threads: int | None = None
    ) -> Summarizer:
        """Load from a run folder or an export: the summarizer called `name`, or the best that is done.

        `path` may also be the name of a model that comes with nutgraf (none: "news"), or end in a summarizer's name,
        "run/mu1-2". The best is the one with the highest ROUGE-L where the run was evaluated, else the last all-N.
        `threads` of the processor are used; None: as many as torch uses.
        """
        found = Hardware.of(device, threads or 0).device
        run, choice = locate(find_model(path), name)
        summarizer = cls.of(run, choice.name, found, threads=threads)
        summarizer.reason = choice.reason
        return summarizer

    @classmethod
    def of(
        cls,
        run: Run | Export,
        name: str,
        device: torch.device,
        language: Language | None = None,
        threads: int | None = None,
    ) -> Summarizer:
        """Load one summarizer of an open run or export; several of one run may share its `language`."""
        check_done(run, name)
        folder, parsed = run.intact(name), ModelName.parse(name)
        language = language or language_of(run)
        model: Backend
        if parsed.initial:
            from nutgraf.models.initializers import load_initializer  # exports have none

            model = Initial(load_initializer(parsed.chain, folder))
        else:
            seq2seq = load_seq2seq(folder, device)
            words = language.lexicon.decode(seq2seq.target.ids.tolist())
            facts = torch.tensor([is_fact(word, language.casing) for word in words])
            model = Searched(seq2seq, language.decoding.output_words, facts)
        return cls(name, model, language.lexicon, language.text, language.decoding, language.casing, threads)

    @classmethod
    def lead(cls, words: int, text: recipes.Text) -> Summarizer:
        """Return the baseline Lead-N, which needs no run."""
        return cls(f"lead-{words}", Initial(Lead(words)), Lexicon(SPECIALS), text, recipes.Decoding())

    @overload
    def __call__(  # type: ignore[overload-overlap]
        self,
        texts: str,
        max_words: int | None = None,
        min_words: int | None = None,
        faithful: bool | None = None,
        report: Report = ignore,
        bar: bool = True,
    ) -> str: ...

    @overload
    def __call__(
        self,
        texts: Iterable[str],
        max_words: int | None = None,
        min_words: int | None = None,
        faithful: bool | None = None,
        report: Report = ignore,
        bar: bool = True,
    ) -> list[str]: ...

    def __call__(
        self,
        texts: str | Iterable[str],
        max_words: int | None = None,
        min_words: int | None = None,
        faithful: bool | None = None,
        report: Report = ignore,
        bar: bool = True,
    ) -> str | list[str]:
        """Summarize raw text: of one text a string, of several a list of strings; a blank text has an empty summary.

        Of a text that is longer than the model reads, the first sentences count. `faithful` output has no name and no
        number that is not in the text, and no direction, such as a rise, that contradicts it. On a terminal, a long
        list shows a progress bar, unless `bar` is False or `report` gets the progress.
        """
        checked = _check_texts([texts] if isinstance(texts, str) else texts)
        options = SummaryOptions(max_words, min_words, faithful)
        if bar and report is ignore and len(checked) >= LONG_LIST and has_terminal():
            summaries = self._words_with_bar(checked, options)
        else:
            summaries = self._words(checked, options, report)
        lines = [self._write(words, text) for words, text in zip(summaries, checked, strict=True)]
        return lines[0] if isinstance(texts, str) else lines

    def stream(
        self,
        texts: Iterable[str],
        max_words: int | None = None,
        min_words: int | None = None,
        faithful: bool | None = None,
        batch: int = 1,
    ) -> Iterator[str]:
        """Yield the summary of each text, before the next text is read; `batch` texts are read and done together.

        A larger batch is faster where texts come fast, such as 64 for a file.

        >>> for headline in summarizer.stream(open("articles.txt")):
        ...     print(headline)
        """
        if batch < 1:
            raise InputError(f"batch {batch}: expected 1 or more")
        if isinstance(texts, str):
            raise TypeError("expected texts one by one, not one string: write [text]")
        coming = iter(texts)
        while block := list(islice(coming, batch)):
            yield from self(block, max_words, min_words, faithful, bar=False)

    def count_read(self, text: str) -> tuple[int, int]:
        """Return how many words of a text the model reads, and how many the text has."""
        return count_read(clean_line(text), self._text.max_text_words, self._tokenizer)

    def words(
        self, texts: Sequence[str], options: SummaryOptions = DEFAULTS, report: Report = ignore
    ) -> list[list[str]]:
        """Summarize raw texts, as lower-case words: what is scored."""
        return self._words(_check_texts(texts), options, report)

    def _words(self, texts: Sequence[str], options: SummaryOptions, report: Report) -> list[list[str]]:
        codec, _, found = self._search(texts, options, report)
        return [codec.decode(summaries)[0] if summaries else [] for summaries in found]

    def _words_with_bar(self, texts: Sequence[str], options: SummaryOptions) -> list[list[str]]:
        found: list[list[str]] = []
        with show_bar(len(texts), "texts") as show:
            for start in range(0, len(texts), BLOCK):
                found += self._words(texts[start : start + BLOCK], options, ignore)
                show(len(found))
        return found

    def explain(
        self,
        texts: Sequence[str],
        max_words: int | None = None,
        min_words: int | None = None,
        faithful: bool | None = None,
        n_best: int = 1,
    ) -> list[SummaryResult]:
        """Summarize raw texts, up to `n_best` summaries each, and say where every word comes from."""
        return self.answer(texts, SummaryOptions(max_words, min_words, faithful, n_best, explain=True))

    def answer(self, texts: Sequence[str], options: SummaryOptions) -> list[SummaryResult]:
        """Summarize raw texts; words are explained only if the options ask for it, which takes longer."""
        if not options.explain and options.n_best == 1:
            lines = self(texts, options.max_words, options.min_words, options.faithful, bar=False)
            return [SummaryResult((), (Summary(line, (), None),)) for line in lines]
        if options.n_best < 1:
            raise InputError(f"n_best {options.n_best}: expected 1 or more")
        texts = _check_texts(texts)
        codec, sentences, found = self._search(texts, options, ignore)
        return [
            SummaryResult(
                tuple(self._tokenizer.tokenize(self._beginning(text))[: len(sentence)]),
                rank(self._explain(codec, sentence, summary, text) for summary in summaries),
            )
            for text, sentence, summaries in zip(texts, sentences, found, strict=True)
        ]

    def _search(
        self, texts: Sequence[str], options: SummaryOptions, report: Report
    ) -> tuple[Codec, list[Ids], list[list[Ids]]]:
        """Return the texts as ids and the best summaries of each; a blank text has none."""
        decoding = self._settings(options)
        codec = Codec(self._lexicon, self._text.digits)
        encoded = [codec.encode(self._beginning(text), self._text.max_text_words) for text in texts]
        # A text that is no longer than a summary is not stretched to one, unless that was asked for.
        enough = decoding.min_words if options.min_words is None else 0
        long = [place for place, sentence in enumerate(encoded) if len(sentence) > enough]
        short = [place for place, sentence in enumerate(encoded) if 0 < len(sentence) <= enough]
        result: list[list[Ids]] = [[] for _ in texts]
        with using_threads(self.threads):
            for places, bounds in ((long, decoding), (short, replace(decoding, min_words=1))):
                found = self._search_all(codec, [encoded[place] for place in places], bounds, options, report)
                for place, summaries in zip(places, found, strict=True):
                    result[place] = summaries
        return codec, encoded, result

    def _search_all(
        self,
        codec: Codec,
        sentences: Sequence[Ids],
        decoding: recipes.Decoding,
        options: SummaryOptions,
        report: Report,
    ) -> list[list[Ids]]:
        """Return the best summaries of sentences.

        The model counts punctuation as words, a reader does not. Where a number of words was asked for, a summary with
        too few is searched for once more with a higher limit, up to RETRIES times.
        """
        forbid = partial(self._forbid, codec)
        if options.max_words is None and options.min_words is None:
            wanted = max(options.n_best, decoding.beam) if decoding.prefer_true else options.n_best
            found = self._model(sentences, decoding, wanted, report, forbid) if sentences else []
            return [
                self._clean_all(codec, summaries, sentence, decoding, decoding.max_words)[: options.n_best]
                for summaries, sentence in zip(found, sentences, strict=True)
            ]
        result: list[list[Ids]] = [[] for _ in sentences]
        left, least = list(range(len(sentences))), options.min_words or 1
        for more in range(RETRIES if isinstance(self._model, Searched) else 1):
            most = min(decoding.max_words + more, self._model.longest)
            bounds = replace(decoding, min_words=min(decoding.min_words + more, most), max_words=most)
            chosen = [sentences[place] for place in left]
            found = self._model(chosen, bounds, max(options.n_best, decoding.beam), report, forbid) if chosen else []
            for place, summaries in zip(left, found, strict=True):
                kept = self._clean_all(codec, summaries, sentences[place], bounds, sys.maxsize)
                fitting = [s for s in kept if least <= codec.count(s) <= decoding.max_words]
                result[place] = fitting or result[place] or [codec.cut(summary, decoding.max_words) for summary in kept]
            left = [place for place in left if codec.count(result[place][0]) < least]
        return [summaries[: options.n_best] for summaries in result]

    def _forbid(self, codec: Codec, sentence: Ids) -> Ids:
        """Return the words that would contradict a sentence."""
        return self._lexicon.encode(sorted(forbidden_words(codec.decode([sentence])[0])))

    def _clean_all(
        self, codec: Codec, summaries: Sequence[Ids], sentence: Ids, decoding: recipes.Decoding, most: int
    ) -> list[Ids]:
        """Clean the summaries of a sentence, `most` words of each; if asked for, the truest go first."""
        cleaned = [self._clean(codec, summary, sentence, decoding)[:most] for summary in summaries]
        if decoding.trim:
            cleaned = [trim(summary, codec) for summary in cleaned]
        if decoding.prefer_true and len(cleaned) > 1:
            text, *written = codec.decode([sentence, *cleaned], UNKNOWN)
            faults = [self._faults(words, text) for words in written]
            cleaned = [cleaned[place] for place in sorted(range(len(cleaned)), key=faults.__getitem__)]
        return cleaned

    def _faults(self, summary: Sequence[str], text: Sequence[str]) -> int:
        """Return how many words of a summary are made up or contradict its text."""
        return sum(find_unsupported(summary, text, self.casing)) + sum(find_contradictions(summary, text))

    def _clean(self, codec: Codec, summary: Ids, sentence: Ids, decoding: recipes.Decoding) -> Ids:
        """Leave out special words and, for the initializers, which do not know of it, what is not faithful."""
        kept = summary[summary >= len(SPECIALS)]
        if decoding.faithful:
            words, text = codec.decode([kept, sentence], UNKNOWN)
            wrong = zip(find_unsupported(words, text, self.casing), find_contradictions(words, text), strict=True)
            kept = kept[~np.array([*map(any, wrong)], dtype=bool)]
        return np.asarray(kept, dtype=np.int32)

    def _beginning(self, text: str) -> str:
        return take_beginning(text, self._text.max_text_words, self._tokenizer)

    def _explain(self, codec: Codec, sentence: Ids, summary: Ids, text: str) -> Summary:
        attribution = self._model.explain(sentence, summary)
        decoded = codec.decode([summary])[0]
        forms = self._write.forms(decoded, text)
        unsupported = find_unsupported(decoded, codec.decode([sentence])[0], self.casing)
        words = []
        for place, (number, form) in enumerate(zip(summary.tolist(), forms, strict=True)):
            own = sentence == number
            copied = bool(own.any())
            weights = np.where(own, attribution.weights[place] + 1, 0) if copied else attribution.weights[place]
            words.append(
                Word(
                    form,
                    copied,
                    int(weights.argmax()) if weights.any() else None,
                    None if attribution.probabilities is None else float(attribution.probabilities[place]),
                    unsupported[place],
                )
            )
        known = [word.probability for word in words if word.probability is not None]
        mean = geometric_mean(known if attribution.end is None else [*known, attribution.end])
        return Summary(self._write.line(forms), tuple(words), mean, attribution.nearness)

    def _settings(self, options: SummaryOptions) -> recipes.Decoding:
        most = self.decoding.max_words if options.max_words is None else options.max_words
        least = min(self.decoding.min_words, most) if options.min_words is None else options.min_words
        longest = self._model.longest
        if not 1 <= least <= most <= longest:
            bound = f" <= {longest}" if longest < sys.maxsize else ""
            raise InputError(f"min_words {least}, max_words {most}: expected 1 <= min_words <= max_words{bound}")
        faithful = self.decoding.faithful if options.faithful is None else options.faithful
        return replace(self.decoding, max_words=most, min_words=least, faithful=faithful)


def rank(summaries: Iterable[Summary]) -> tuple[Summary, ...]:
    """Return the best summary, which is the first, then the others by their probability, each text once."""
    once: dict[str, Summary] = {}
    for summary in summaries:
        once.setdefault(summary.text, summary)
    best, others = [*once.values()][:1], [*once.values()][1:]
    return (*best, *sorted(others, key=lambda summary: -(summary.probability or 0.0)))


def geometric_mean(probabilities: Sequence[float]) -> float | None:
    """Return the geometric mean; none of no probabilities."""
    logs = [math.log(max(probability, 1e-30)) for probability in probabilities]
    return math.exp(sum(logs) / len(logs)) if logs else None


def trim(summary: Ids, codec: Codec) -> Ids:
    """Leave out what a summary cannot end in; one that has nothing else stays."""
    words = codec.decode([summary], UNKNOWN)[0]
    ends = [place for place, word in enumerate(words, 1) if word not in DANGLING]
    return summary[: ends[-1]] if ends else summary


def _check_texts(texts: Iterable[str]) -> list[str]:
    """Clean texts that did not come from a file of lines; what is no list of texts is an error."""
    if isinstance(texts, str):
        raise TypeError("expected a list of texts, not one string: write [text]")
    texts = list(texts)
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"text {place}: expected a string, not {type(text).__name__}")
    return [clean_line(text) for text in texts]


def language_of(run: Run | Export) -> Language:
    """Return what the summarizers of a run or an export share."""
    return run.language if isinstance(run, Export) else Language.of(run)


def locate(path: Path, name: str | None) -> tuple[Run | Export, Choice]:
    """Find the run or export, and the summarizer of it, that a path such as run/ or run/mu1-2 means."""
    if name is None and not is_model_folder(path):
        for folder in (path.parent, path.parent.parent if path.parent.name == STEPS else path.parent):
            if is_model_folder(folder):
                path, name = folder, path.name
                break
    run = Export.open(path) if (path / EXPORT).exists() else Run.open(path)
    choice = Choice(name, "it was asked for") if name else run.best()
    if choice is None:
        raise RunError(f"{path}: no summarizer is done yet. See `nutgraf status {path}`")
    check_done(run, choice.name)
    return run, choice


def check_done(run: Run | Export, name: str) -> None:
    """Raise an error where there is no such summarizer, or not yet."""
    if name not in run.summarizers():
        done = ", ".join(run.summarizers()) or "none yet"
        raise RunError(f"{run.folder}: no summarizer {name} that is done. There are: {done}")
