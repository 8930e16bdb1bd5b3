"""The summaries of a text as JSON has them, for `--json` and for the API."""

from __future__ import annotations

from dataclasses import asdict

from nutgraf.summarizing.results import Summary, SummaryOptions, SummaryResult


def as_record(found: SummaryResult, options: SummaryOptions, scores: bool = False) -> dict[str, object]:
    """Return the best summary, and what the options ask for; a blank text has an empty summary.

    With `scores`, several summaries have their probabilities, also where their words are not explained. A score of
    agreed-N is always there, where there are several.
    """
    best, *others = found.summaries or (Summary("", (), None),)
    scores = options.explain or (scores and options.n_best > 1 and bool(found.summaries))
    record = _record(best, options.explain, scores)
    if options.n_best > 1:
        record["alternatives"] = [_record(other, options.explain, scores) for other in others]
    if options.explain:
        record["source_words"] = list(found.source)
        record["skipped"] = list(found.skipped)
    return record


def _record(summary: Summary, explain: bool, scores: bool) -> dict[str, object]:
    record: dict[str, object] = {"summary": summary.text}
    if scores:
        record["probability"] = summary.probability
    if summary.score is not None:
        record["score"] = asdict(summary.score)
    if explain:
        record["words"] = [asdict(word) for word in summary.words]
    return record
