"""Where each word of a summary comes from, how probable it is, and the order of several summaries."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from nutgraf.models.proposals import Proposal
from nutgraf.summarizing.backends import Attribution
from nutgraf.summarizing.codec import Codec
from nutgraf.summarizing.results import Summary, Word
from nutgraf.text.casing import Writer
from nutgraf.text.facts import find_unsupported
from nutgraf.text.lexicon import Ids


def explain_summary(
    attribution: Attribution,
    codec: Codec,
    write: Writer,
    sentence: Ids,
    places: Sequence[int],
    proposal: Proposal,
    text: str,
) -> Summary:
    """Return a summary as it is written, with its words.

    Sentence and summary are ids of the codec; `places` are those of the sentence's words in the text.
    """
    summary = proposal.words
    decoded, source = codec.decode([summary, sentence])
    forms = write.forms(decoded, text)
    unsupported = find_unsupported(decoded, source, write.casing)
    words = []
    for place, (number, form) in enumerate(zip(summary.tolist(), forms, strict=True)):
        own = sentence == number
        copied = bool(own.any())
        weights = np.where(own, attribution.weights[place] + 1, 0) if copied else attribution.weights[place]
        origin = places[int(weights.argmax())] if weights.any() else None
        probability = None if attribution.probabilities is None else float(attribution.probabilities[place])
        words.append(Word(form, copied, origin, probability, unsupported[place]))
    known = [word.probability for word in words if word.probability is not None]
    mean = geometric_mean(known if attribution.end is None else [*known, attribution.end])
    # What has a score was not chosen by a probability; that of one of the models would only look like a reason.
    probability = mean if proposal.score is None else None
    return Summary(write.line(forms), tuple(words), probability, attribution.nearness, proposal.score)


def rank(summaries: Iterable[Summary]) -> tuple[Summary, ...]:
    """Return the best summary, which is the first, then the others by score or probability, each text once."""
    once: dict[str, Summary] = {}
    for summary in summaries:
        once.setdefault(summary.text, summary)
    best, others = [*once.values()][:1], [*once.values()][1:]
    return (*best, *sorted(others, key=_worth, reverse=True))


def _worth(summary: Summary) -> float:
    return summary.score.total if summary.score else summary.probability or 0.0


def geometric_mean(probabilities: Sequence[float]) -> float | None:
    """Return the geometric mean; none of no probabilities."""
    logs = [math.log(max(probability, 1e-30)) for probability in probabilities]
    return math.exp(sum(logs) / len(logs)) if logs else None
