"""The verdict on a run, in plain words: which summarizer to use, how good it is, and what to try next.

Everything is read from the run's plan, inputs and evaluations. The thresholds are rules of thumb, for people who want
one sentence; the tables of the report have the figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nutgraf.report.facts import Facts
from nutgraf.run.evaluations import Evaluation, Row, evaluations
from nutgraf.run.inputs import Inputs
from nutgraf.run.names import NEAR, ModelName, lead_words
from nutgraf.run.plain_names import present

LEAD = 8  # words of the baseline to compare with: Lead-8, about as long as a headline
FEW_LINES, GOOD_LINES = 50_000, 100_000  # on each side
GOOD_PAIRS = 500
MANY_MADE_UP = 0.03  # of the summaries have a name or a number that is not in the text
MOST_ADVICE = 2
_FLUENCY = ((1.15, "about as fluently as"), (1.5, "less fluently than"))  # up to this many times the references' bits
_GENERIC = ("corpus", "data", "")  # names of folders that say nothing


@dataclass(frozen=True)
class Verdict:
    """One paragraph in three parts."""

    use: str  # the name of the summarizer; empty where none is done
    why: str
    quality: str  # empty where nothing was evaluated
    advice: str  # commands between backticks


def name_corpora(inputs: Inputs) -> str:
    """Return what the two corpora are called by their files: "open: articles and headlines"."""
    texts, summaries = Path(inputs.texts.path), Path(inputs.summaries.path)
    files = f"{texts.name.split('.')[0]} and {summaries.name.split('.')[0]}"
    named = (folder.name for folder in texts.parents if folder.name not in _GENERIC)
    folder = next(named, "") if texts.parent == summaries.parent else ""
    return f"{folder}: {files}" if folder else files


def judge(facts: Facts) -> Verdict:
    """Return the verdict on a run in whatever state it is."""
    best = facts.run.best()
    if best is None:
        return Verdict("", "No summarizer is done yet.", "", _advise(facts, None, None))
    title = f"“{present(best.name).title}”"
    found = max(evaluations(facts.run.folder), key=lambda one: one.source.lines, default=None)
    row = _row(found, best.name)
    if found is None or row is None:
        why = f"{title}: the last one trained. Nobody has measured yet how good it is"
        return Verdict(best.name, why, "", _advise(facts, None, None))
    rivals = [one for one in found.rows if one.aligned == 0 and ModelName.find(one.name)]
    which = f"the best of {len(rivals)} on" if len(rivals) > 1 else "the only one measured on"
    why = f"{title}: {which} the {row.pairs:,} pairs of {found.name}"
    lead = _row(found, f"Lead-{LEAD}")
    return Verdict(best.name, why, _describe_quality(row, lead, found), _advise(facts, row, lead))


def _row(found: Evaluation | None, name: str) -> Row | None:
    return next((row for row in found.rows if row.name == name), None) if found else None


def _describe_quality(row: Row, lead: Row | None, found: Evaluation) -> str:
    """Say how a summarizer compares with the first words of the text and with real summaries."""
    against = f": {_compare(row, lead)}" if lead else ""
    score = f"It scores {row.rl.mean:.1f} in ROUGE-L, where 100 is the real summary word for word{against}"
    return f"{score}. {_compare_reading(row, found)}."


def _compare(row: Row, lead: Row) -> str:
    place = "not clearly different from"
    if row.rl.low > lead.rl.high:
        place = "clearly above"
    elif row.rl.high < lead.rl.low:
        place = "clearly below"
    return f"{place} the {lead.rl.mean:.1f} of {lead.name}, the first {lead_words(lead.name)} words of the text"


def _compare_reading(row: Row, found: Evaluation) -> str:
    """Say how summaries read next to real ones: as far as it was measured."""
    references = [len(summary.split()) for _, summary in found.pairs()]
    length = f" ({np.mean(references):.1f} in real summaries)" if references else ""
    parts = [f"have {row.words:.1f} words{length}", f"copy {row.copied:.0%} of their words from the text"]
    if row.bits is not None:
        fluency = next((words for most, words in _FLUENCY if row.bits <= most), "much less fluently than")
        parts.insert(0, f"read {fluency} real summaries")
    made_up = ""
    if row.unsupported is not None:
        share = f"{row.unsupported:.1%} of them have" if row.unsupported >= 0.0005 else "almost none has"
        made_up = f"; {share} a name or a number that the text lacks"
    return f"Its summaries {', '.join(parts[:-1])} and {parts[-1]}{made_up}"


def _advise(facts: Facts, row: Row | None, lead: Row | None) -> str:
    """Return the most useful things to do next."""
    found = [*_advise_measuring(facts, row), *_advise_training(facts, row, lead)]
    return "; ".join(found[:MOST_ADVICE]) or "read the predictions below: figures do not see everything"


def _advise_measuring(facts: Facts, row: Row | None) -> list[str]:
    advice = []
    if to_come := len(facts.steps) - len(facts.done):
        steps = "1 step" if to_come == 1 else f"{to_come} steps"
        advice.append(f"let the training finish ({steps} to come): the same command continues it")
    if row is None:
        advice.append("measure it with texts whose real summaries you have: `nutgraf evaluate RUN --pairs test.tsv`")
    elif row.pairs < GOOD_PAIRS:
        advice.append(f"evaluate on more pairs: {row.pairs:,} leave much to chance")
    return advice


def _advise_training(facts: Facts, row: Row | None, lead: Row | None) -> list[str]:
    advice, inputs, recipe = [], facts.run.inputs, facts.run.recipe
    if row and lead and row.rl.mean <= lead.rl.mean:
        advice.append(f"take {lead.name} instead for now: it is no worse, and cannot make things up")
    if row and row.unsupported and row.unsupported > MANY_MADE_UP and not recipe.decoding.faithful:
        advice.append("use `--faithful`, which leaves out names and numbers that the text lacks")
    fewest = min(inputs.texts.lines, inputs.summaries.lines)
    if fewest < FEW_LINES:
        lines = f"{inputs.texts.lines:,} texts and {inputs.summaries.lines:,} summaries"
        advice.append(f"train on more than these {lines}: {GOOD_LINES:,} of each are good")
    elif NEAR not in recipe.plan.initializers:
        advice.append("train a run with the chain near, which finds real pairs in corpora of this size")
    if recipe.plan.teachers == 0 and recipe.plan.iterations:
        advice.append("train a run with `--set plan.teachers=1`: what two models agree on is more often right")
    return advice
