"""Summaries of raw text by any model of a run: one code path for the command line, HTTP, ROUGE and Python.

Text is tokenised and lower-cased for the model; words that no corpus had can still be copied. On the way back a word
that stands in the text is written as there, others as the corpora write them, and the first letter is a capital. Beam
search as in Section 4; the initializers decode in their own way.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, overload

from nutgraf import recipe as recipes
from nutgraf.errors import InputError
from nutgraf.hardware import Hardware, using_threads
from nutgraf.models.lead import Lead
from nutgraf.models.proposals import Proposal
from nutgraf.progress import Report, ShouldStop, check_stop, has_terminal, ignore, never, show_bar
from nutgraf.run.folder import Run
from nutgraf.summarizing.backends import Backend, Initial
from nutgraf.summarizing.cleaning import Cleaner
from nutgraf.summarizing.codec import Codec
from nutgraf.summarizing.explaining import explain_summary, rank
from nutgraf.summarizing.export import Export
from nutgraf.summarizing.language import Language
from nutgraf.summarizing.loading import check_done, language_of, load_backend, locate
from nutgraf.summarizing.ready import find_model
from nutgraf.summarizing.results import DEFAULTS, Summary, SummaryOptions, SummaryResult
from nutgraf.summarizing.searching import Search, count_tries
from nutgraf.text.beginning import count_read, take_beginning
from nutgraf.text.casing import Casing, Writer
from nutgraf.text.lexicon import SPECIALS, Ids, Lexicon
from nutgraf.text.reading import clean_line, clean_shown
from nutgraf.text.tokens import Tokenizer

if TYPE_CHECKING:
    import torch

LONG_LIST, BLOCK = 200, 64  # texts: from how many on a bar is shown, and how often it moves
CACHED_BYTES = 1 << 20  # of pieces of text that each of a summarizer's two caches holds
EXPLAINING = 10  # steps of one hypothesis that take as long as explaining one word


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
        self._tokenizer = Tokenizer(text.digits, CACHED_BYTES)
        self._write = Writer(self.casing, self._tokenizer)

    def __repr__(self) -> str:
        return f"<Summarizer {self.name}: up to {self.decoding.max_words} words, {len(self._lexicon):,} words known>"

    @classmethod
    def load(
        cls,
        path: str | Path | None = None,
        name: str | None = None,
        device: str = "cpu",
        threads: int | None = None,
        light: bool = False,
    ) -> Summarizer:
        """Load from a run folder or an export: the summarizer called `name`, or the best that is done.

        `path` may also be the name of a model that comes with nutgraf (none: "news"), end in a summarizer's name,
        "run/mu1-2", or be an export in a store, "s3://bucket/export". The best is the one with the highest mean ROUGE
        where the run was evaluated, else the last all-N.
        `threads` of the processor are used; None: as many as torch uses or, without torch, one per core. With `light`,
        numpy computes even where torch is installed: the same summaries, without the seconds that torch's import takes.
        """
        hardware = Hardware.of(device, threads or 0)
        run, choice = locate(find_model(path), name)
        summarizer = cls.of(run, choice.name, hardware.name, threads=threads, light=light)
        summarizer.reason = choice.reason
        return summarizer

    @classmethod
    def of(
        cls,
        run: Run | Export,
        name: str,
        device: str | torch.device = "cpu",
        language: Language | None = None,
        threads: int | None = None,
        light: bool = False,
    ) -> Summarizer:
        """Load one summarizer of an open run or export; several of one run may share its `language`."""
        check_done(run, name)
        language = language or language_of(run)
        model = load_backend(run, name, language, device, light)
        return cls(name, model, language.lexicon, language.text, language.decoding, language.casing, threads)

    @classmethod
    def lead(cls, words: int, text: recipes.Text) -> Summarizer:
        """Return the baseline Lead-N, which needs no run."""
        whole = replace(text, skim=False)
        return cls(f"lead-{words}", Initial(Lead(words)), Lexicon(SPECIALS), whole, recipes.Decoding())

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
        return count_read(clean_line(text), self._text, self._tokenizer)

    def words(
        self, texts: Sequence[str], options: SummaryOptions = DEFAULTS, report: Report = ignore
    ) -> list[list[str]]:
        """Summarize raw texts, as lower-case words: what is scored."""
        return self._words(_check_texts(texts), options, report)

    def _words(self, texts: Sequence[str], options: SummaryOptions, report: Report) -> list[list[str]]:
        codec, _, found = self._search(texts, options, report, never)
        return [codec.decode([proposals[0].words])[0] if proposals else [] for proposals in found]

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

    def answer(
        self, texts: Sequence[str], options: SummaryOptions, should_stop: ShouldStop = never
    ) -> list[SummaryResult]:
        """Summarize raw texts; words are explained only if the options ask for it, which takes longer.

        `should_stop` is called often; if it is true, Stopped is raised.
        """
        if options.n_best < 1:
            raise InputError(f"n_best {options.n_best}: expected 1 or more")
        texts = _check_texts(texts)
        codec, sentences, found = self._search(texts, options, ignore, should_stop)
        together = zip(texts, sentences, found, strict=True)
        if not options.explain and options.n_best == 1:
            return [self._result(codec, *one, should_stop) for one in together]
        return [self._explained_result(codec, *one, should_stop) for one in together]

    def _result(
        self, codec: Codec, text: str, _: Ids, proposals: Sequence[Proposal], should_stop: ShouldStop
    ) -> SummaryResult:
        check_stop(should_stop)
        line = self._write(codec.decode([proposals[0].words])[0] if proposals else [], text)
        return SummaryResult((), (Summary(line, (), None),))

    def _explained_result(
        self, codec: Codec, text: str, sentence: Ids, proposals: Sequence[Proposal], should_stop: ShouldStop
    ) -> SummaryResult:
        source = self._tokenizer.tokenize(self._beginning(text))
        _, places = codec.read(self._beginning(text), self._text)
        source = source[: max(places, default=-1) + 1]
        check_stop(should_stop)
        attributions = self._model.explain(sentence, [proposal.words for proposal in proposals])
        explained = []
        for attribution, proposal in zip(attributions, proposals, strict=True):
            check_stop(should_stop)
            explained.append(explain_summary(attribution, codec, self._write, sentence, places, proposal, text))
        return SummaryResult(tuple(source), rank(explained), tuple(sorted({*range(len(source))} - {*places})))

    def count_work(self, texts: int, options: SummaryOptions) -> int:
        """Return how much work `answer` may have with this many texts, in steps of one hypothesis.

        Options that the model cannot follow are an error, as in `answer`.
        """
        decoding = self._settings(options)
        tries = 1 if options.min_words is None else count_tries(self._model, decoding)
        work = self._model.count_work(texts, decoding, options.n_best) * tries
        if options.explain or options.n_best > 1:
            work += texts * options.n_best * (decoding.max_words + 1) * EXPLAINING
        return work

    def _search(
        self, texts: Sequence[str], options: SummaryOptions, report: Report, should_stop: ShouldStop
    ) -> tuple[Codec, list[Ids], list[list[Proposal]]]:
        """Return the texts as ids and the best summaries of each; a blank text has none."""
        decoding, codec = self._settings(options), Codec(self._lexicon, self._text.digits)
        search = Search(self._model, Cleaner(codec, self.casing), options, report, should_stop)
        encoded = [codec.read(self._beginning(text), self._text)[0] for text in texts]
        with using_threads(self.threads):
            return codec, encoded, search(encoded, decoding)

    def _beginning(self, text: str) -> str:
        return take_beginning(text, self._text.max_text_words, self._tokenizer)

    def _settings(self, options: SummaryOptions) -> recipes.Decoding:
        most = self.decoding.max_words if options.max_words is None else options.max_words
        least = min(self.decoding.min_words, most) if options.min_words is None else options.min_words
        longest = self._model.longest
        if not 1 <= least <= most <= longest:
            bound = f" <= {longest}" if longest < sys.maxsize else ""
            raise InputError(f"min_words {least}, max_words {most}: expected 1 <= min_words <= max_words{bound}")
        faithful = self.decoding.faithful if options.faithful is None else options.faithful
        return replace(self.decoding, max_words=most, min_words=least, faithful=faithful)


def _check_texts(texts: Iterable[str]) -> list[str]:
    """Clean texts that did not come from a file of lines; what is no list of texts is an error."""
    if isinstance(texts, str):
        raise TypeError("expected a list of texts, not one string: write [text]")
    if not isinstance(texts, Iterable):  # a gap in a column of pandas is None or a float
        raise TypeError(f"expected a text or a list of texts, not {type(texts).__name__}")
    texts = list(texts)
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"text {place}: expected a string, not {type(text).__name__}")
    return [clean_shown(text) for text in texts]
