"""What `nutgraf summarize` reads and prints: texts from arguments, files, pipes and people; summaries, one per line.

Answers are printed as soon as they are there: a person's line at once, and of a pipe what has arrived so far.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from nutgraf.errors import InputError
from nutgraf.progress import ignore
from nutgraf.store import is_url
from nutgraf.summarizing.documents import DocumentSummary
from nutgraf.summarizing.records import as_record
from nutgraf.summarizing.results import Summary, SummaryOptions, SummaryResult
from nutgraf.summarizing.summarizer import Summarizer
from nutgraf.summarizing.systems import System
from nutgraf.text.reading import STDIN, clean_line, read_blocks
from nutgraf.text.sentences import split_sentences
from nutgraf.workers.executor import Executor, Tell, map_in_order

BLOCK = 256  # texts summarized at once, at most
NOTES = 3  # texts of which is said that they are too long, one by one


@dataclass(frozen=True)
class Part:
    """What is summarized: a text, or one of its sentences, with their numbers from 1."""

    text: str
    text_number: int
    sentence_number: int | None = None

    @property
    def place(self) -> dict[str, int]:
        """Both numbers, where there are two."""
        if self.sentence_number is None:
            return {}
        return {"text_number": self.text_number, "sentence_number": self.sentence_number}


def read_arguments(arguments: Sequence[str]) -> Iterator[list[str]]:
    """Yield texts in blocks: an argument is a text if it has a blank, else a file of texts, one per line."""
    for argument in arguments:
        if is_text(argument):
            yield [_clean(argument, "an argument")]
        else:
            yield from read_blocks(argument, BLOCK)


def is_text(argument: str) -> bool:
    """Whether an argument is a text, not a file; what has no blank and is no file is an error."""
    if argument == STDIN or (is_url(argument) and len(argument.split()) == 1):
        return False
    with suppress(OSError):  # such as a name that is too long
        if Path(argument).exists() and argument:
            return False
    if len(argument.split()) == 1:
        raise InputError(f"{argument}: no such file (from {Path.cwd()}). A text has two words or more")
    return True


def ask() -> Iterator[list[str]]:
    """Yield the lines that a person types, each as soon as it is there; blank ones are skipped."""
    with suppress(ImportError):
        import readline  # noqa: F401  # input() then takes long lines, and has a history
    say("Type or paste a text and press Enter. Ctrl-D ends.")
    with suppress(EOFError):
        while True:
            if line := _clean(input("> "), "standard input"):
                yield [line]


def _clean(text: str, where: str) -> str:
    """Clean a text that Python has decoded, which leaves bytes that are not UTF-8 in it as surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{where}, character {error.start + 1}: not UTF-8") from error
    return clean_line(text).strip()


# Answers blocks one by one, in their order.
AnswerBlocks = Callable[[Iterator[list[Part]]], Iterator[tuple[list[Part], list[SummaryResult]]]]


class Printer:
    """Summarizes blocks of texts and prints the summaries; what is not read of a text is said on standard error.

    `answer` says who summarizes; by default, the summarizer does, here.
    """

    def __init__(
        self,
        summarizer: Summarizer,
        options: SummaryOptions,
        per_sentence: bool = False,
        as_json: bool = False,
        numbered: bool = True,
        answer: AnswerBlocks | None = None,
    ):
        self._summarizer, self._options, self._answer = summarizer, options, answer or self._answer_here
        self._per_sentence, self._as_json, self._numbered = per_sentence, as_json, numbered
        self._texts = self._long = self._printed = 0

    def print_all(self, blocks: Iterator[list[str]]) -> None:
        """Answer every block, then say how many texts were too long."""
        for parts, results in self._answer(map(self._split_all, blocks)):
            for part, found in zip(parts, results, strict=True):
                self._print(part, found)
            sys.stdout.flush()
        if self._long > NOTES:
            say(f"only the beginning was read of {self._long:,} of {self._texts:,} texts{self._advice}")

    def _answer_here(self, blocks: Iterator[list[Part]]) -> Iterator[tuple[list[Part], list[SummaryResult]]]:
        for parts in blocks:
            yield parts, self._summarizer.answer([part.text for part in parts], self._options)

    def _split_all(self, block: Sequence[str]) -> list[Part]:
        parts = [part for number, text in enumerate(block, self._texts + 1) for part in self._split(text, number)]
        self._texts += len(block)
        return parts

    def _split(self, text: str, number: int) -> list[Part]:
        if not self._per_sentence:
            return [Part(text, number)]
        return [Part(sentence, number, place) for place, sentence in enumerate(split_sentences(text) or [""], 1)]

    def _print(self, part: Part, found: SummaryResult) -> None:
        read, words = self._summarizer.count_read(part.text)
        if self._as_json:
            about = {"text": part.text, "summary": "", "model": self._summarizer.name, **part.place}
            record = about | {"text_words": words, "read_words": read} | as_record(found, self._options, scores=True)
            print(json.dumps(record, ensure_ascii=False))
        else:
            self._print_lines(part, found)
        if read < words:
            self._note(part, read, words)

    def _print_lines(self, part: Part, found: SummaryResult) -> None:
        prefix = "".join(f"{number}\t" for number in part.place.values())
        if self._options.explain:
            from nutgraf.terminal.explanation import show_explanation

            print(prefix, end="", flush=True)
            show_explanation(found)
            return
        if self._options.n_best > 1 and self._printed and not prefix:
            print()  # between the lists of two texts
        for line in list_summaries(found, self._options):
            print(f"{prefix}{line}")
        self._printed += 1

    def _note(self, part: Part, read: int, words: int) -> None:
        self._long += 1
        if self._long <= NOTES:
            sentence = f", sentence {part.sentence_number}" if part.sentence_number else ""
            where = f"text {part.text_number}{sentence}: " if self._numbered or sentence else ""
            say(f"{where}read the first {read:,} of {words:,} words{self._advice}")

    @property
    def _advice(self) -> str:
        return "" if self._per_sentence else "; --per-sentence reads all"


def answer_elsewhere(executor: Executor, system: System, options: SummaryOptions, threads: int) -> AnswerBlocks:
    """Return who summarizes blocks with an executor's workers."""

    def answer(blocks: Iterator[list[Part]]) -> Iterator[tuple[list[Part], list[SummaryResult]]]:
        return map_in_order(executor, partial(_answer_block, system, options), blocks, threads, ignore)

    return answer


def _answer_block(system: System, options: SummaryOptions, parts: list[Part], tell: Tell) -> list[SummaryResult]:
    return system.summarizer.answer([part.text for part in parts], options)


def list_summaries(found: SummaryResult, options: SummaryOptions) -> list[str]:
    """Return the summaries of a text, one per line; of several, each with its score; an empty line for no text."""
    if options.n_best == 1:
        return [found.summaries[0].text]
    return [f"{_show_score(summary)}{summary.text}" for summary in found.summaries] or [""]


def _show_score(summary: Summary) -> str:
    if summary.score is not None:
        return f"{summary.score.total:6.2f}  "
    return "" if summary.probability is None else f"{summary.probability:4.0%}  "


def print_document(name: str, found: DocumentSummary, model: str, bullets: int, as_json: bool) -> None:
    """Print the headline of a document and the lines below it."""
    if as_json:
        about = {"document": name, "model": model, **asdict(found.headline)}
        print(json.dumps(about | {"bullets": [asdict(line) for line in found.bullets]}, ensure_ascii=False))
        return
    print(found.headline.summary)
    for line in found.bullets:
        print(f"- {line.summary}")
    if len(found.bullets) < bullets:
        say(f"{name}: {len(found.bullets)} of {bullets} lines; the other sentences say the same, or there are no more")


def say(line: str) -> None:
    """Print a line on standard error."""
    print(line, file=sys.stderr, flush=True)
