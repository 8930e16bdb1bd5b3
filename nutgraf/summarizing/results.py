"""What is asked of a Summarizer and what it answers, as plain values."""

from __future__ import annotations

from dataclasses import dataclass

from nutgraf.models.proposals import Score


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
    probability: float | None  # the model's own, given the words before; of agreed-N: all-N's; initializers have none
    unsupported: bool  # a name or a number that is not in the text


@dataclass(frozen=True)
class Summary:
    """A summary with its words; `probability` is the geometric mean of theirs and of the end's: the model's score.

    Of agreed-N, which several models make together, there is a `score` in its place.
    """

    text: str
    words: tuple[Word, ...]
    probability: float | None
    nearness: float | None = None  # of near-0: how near this real summary is to the text, from 0 to 1
    score: Score | None = None  # of agreed-N: what ordered the summaries


@dataclass(frozen=True)
class SummaryResult:
    """The words of a text as it writes them, its summaries, best first, and which of its words were skimmed over."""

    source: tuple[str, ...]  # up to the last one that was read
    summaries: tuple[Summary, ...]
    skipped: tuple[int, ...] = ()  # places among them
