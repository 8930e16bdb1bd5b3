"""A whole document as one headline, and as a few lines that do not repeat each other.

The models read sentences. So a headline is the summary of the one sentence, among the first ones, that matters most
(nutgraf.text.salience), and the lines are summaries of other sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nutgraf.summarizing.results import SummaryOptions
from nutgraf.summarizing.summarizer import Summarizer
from nutgraf.text.salience import order_sentences, score_sentences, share_words

LEADING = 5  # sentences that a headline may come from
OVERLAP = 0.5  # lines share fewer of their words than this


@dataclass(frozen=True)
class DocumentLine:
    """A line about a document, and the sentence that it summarizes."""

    summary: str
    sentence: str
    sentence_number: int  # among the document's sentences, from 1


@dataclass(frozen=True)
class DocumentSummary:
    """The headline, and the lines in the order of their sentences; there may be fewer than were asked for."""

    headline: DocumentLine
    bullets: tuple[DocumentLine, ...]


def summarize_document(
    summarizer: Summarizer, sentences: Sequence[str], options: SummaryOptions, bullets: int = 0
) -> DocumentSummary:
    """Summarize the sentences of a document, of which there must be one."""
    scores = score_sentences(sentences)[:LEADING]
    places = order_sentences(sentences, scores.index(max(scores)), 1 + 3 * bullets)
    texts = [sentences[place] for place in places]
    summaries = summarizer(texts, options.max_words, options.min_words, options.faithful, bar=False)
    lines = [DocumentLine(s, t, place + 1) for s, t, place in zip(summaries, texts, places, strict=True)]
    chosen = lines[:1]
    for line in lines[1:]:
        if len(chosen) <= bullets and share_words(line.summary, [one.summary for one in chosen]) < OVERLAP:
            chosen.append(line)
    return DocumentSummary(chosen[0], tuple(sorted(chosen[1:], key=lambda line: line.sentence_number)))
