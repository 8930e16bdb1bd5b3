"""Pairs found between the two corpora: by words alone, and again with the help of trained models (not in the paper).

The first search is `near`'s. Once there are a summarizer and an expander, each text's candidates are scored again:

    near(x, s) * exp(a * log p(s | x) / |s| + b * log p(x | s) / |x|)

so that of two summaries that share as many words with the text, the one that says what the text says wins. Then the
best pairs are chosen once more, and models are trained on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from nutgraf import recipe
from nutgraf.models.adapting import Fitted
from nutgraf.models.near import NONE, Match, Places, choose
from nutgraf.models.scoring import Estimate, Side, mean_log_probs
from nutgraf.models.seq2seq import Seq2seq
from nutgraf.progress import Progress, Report, ignore
from nutgraf.run.pairs import ARTIFICIAL, FOUND_FILE
from nutgraf.text.corpus import Corpus
from nutgraf.text.selection import Selection

KEPT = 5  # candidates per text that are kept to be scored again

Scores = NDArray[np.float32]


def save_pairs(match: Match, chosen: Places, summaries: Corpus, folder: Path) -> None:
    """Write the summary chosen for each text, empty where there is none, and the candidates that were not chosen."""
    _save(match, Match(chosen[:, None], _scores_of(match, chosen)[:, None]), _sentences(summaries, chosen), folder)


def save_fitted(match: Match, fitted: Fitted, folder: Path) -> None:
    """Write the same of summaries that were made to fit, at most one for each text: its words, and what it was."""
    rows = np.full(len(match.places), NONE, dtype=np.int64)
    rows[fitted.texts] = np.arange(len(fitted.texts))
    chosen = Match(np.full((len(rows), 1), NONE), np.zeros((len(rows), 1), dtype=np.float32))
    chosen.places[fitted.texts, 0], chosen.scores[fitted.texts, 0] = fitted.places, fitted.scores
    _save(match, chosen, _sentences(fitted.summaries, rows), folder)


def _sentences(corpus: Corpus, places: Places) -> Selection:
    """Return the sentences at some places, an empty one for NONE."""
    return Selection([corpus, Corpus.of([[]])], np.where(places == NONE, len(corpus), places))


def _save(match: Match, chosen: Match, summaries: Selection, folder: Path) -> None:
    summaries.save(folder, ARTIFICIAL)
    arrays: dict[str, NDArray[Any]] = {
        "places": chosen.places[:, 0],
        "scores": chosen.scores[:, 0],
        "candidates": np.ascontiguousarray(match.places[:, :KEPT]),
        "candidate_scores": np.ascontiguousarray(match.scores[:, :KEPT]),
    }
    save_file(arrays, folder / FOUND_FILE)


def load_match(folder: Path) -> Match:
    """Read the candidates of all texts."""
    stored = load_file(folder / FOUND_FILE)
    return Match(stored["candidates"], stored["candidate_scores"])


def load_chosen(folder: Path) -> tuple[Places, Scores]:
    """Read the place of the summary chosen for each text, or NONE, and its score."""
    stored = load_file(folder / FOUND_FILE)
    return stored["places"], stored["scores"]


@dataclass(frozen=True)
class Scorer:
    """Two models that score pairs, and how their output layers are estimated."""

    summarizer: Seq2seq
    expander: Seq2seq
    estimate: Estimate


def find_again(
    match: Match, texts: Corpus, summaries: Corpus, scorer: Scorer, settings: recipe.Near, report: Report = ignore
) -> Match:
    """Return the candidates in the order of their scores by words and by models; weak candidates are left out."""
    rows, columns = np.nonzero(match.scores >= max(settings.again_min_score, 1e-6))
    places = match.places[rows, columns]
    of_texts, of_summaries = Side(texts, rows), Side(summaries, places)

    def report_from(start: int) -> Report:
        return lambda progress: report(Progress(start + progress.done, 2 * len(rows), "pairs"))

    forward = mean_log_probs(scorer.summarizer, of_texts, of_summaries, scorer.estimate, report_from(0))
    backward = mean_log_probs(scorer.expander, of_summaries, of_texts, scorer.estimate, report_from(len(rows)))
    scores = np.zeros_like(match.scores)
    by_models = np.exp(settings.summarizer_weight * forward + settings.expander_weight * backward)
    scores[rows, columns] = match.scores[rows, columns] * by_models
    return Match.ranked(match.places, scores)


def choose_most(match: Match, count: int, max_uses: int) -> Places:
    """Return one summary per text, NONE where there is none: the best `count` pairs."""
    chosen = choose(match, 0.0, max_uses)
    scores = _scores_of(match, chosen)
    kept = np.argsort(-scores, kind="stable")[:count]
    result = np.full_like(chosen, NONE)
    result[kept] = chosen[kept]
    return result


def _scores_of(match: Match, chosen: Places) -> Scores:
    """Return the score of each text's summary; 0 where it has none."""
    same = (match.places == chosen[:, None]) & (chosen != NONE)[:, None]
    return np.asarray(np.where(same, match.scores, 0).max(1, initial=0), dtype=np.float32)
