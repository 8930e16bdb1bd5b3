"""Pairs found between the two corpora: by words alone, and again with the help of trained models (not in the paper).

The first search is `near`'s. Once there are a summarizer and an expander, each text's candidates are scored again:

    near(x, s) * exp(a * log p(s | x) / |s| + b * log p(x | s) / |x|)

so that of two summaries that share as many words with the text, the one that says what the text says wins. Then the
best pairs are chosen once more, and models are trained on them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from nutgraf import recipe
from nutgraf.learning.batches import gather_batch
from nutgraf.models.near import NONE, Match, Places, choose
from nutgraf.models.seq2seq import Seq2seq
from nutgraf.progress import Progress, Report, ignore
from nutgraf.run.pairs import ARTIFICIAL
from nutgraf.text.corpus import Corpus

KEPT = 5  # candidates per text that are kept to be scored again
BATCH = 128  # pairs scored at once
FILE = "found.safetensors"

Scores = NDArray[np.float32]


def save_pairs(match: Match, chosen: Places, summaries: Corpus, folder: Path) -> None:
    """Write the summary chosen for each text, empty where there is none, and the candidates that were not chosen."""
    found = chosen != NONE
    corpus = Corpus.of(summaries[place] if place != NONE else np.zeros(0, np.int32) for place in chosen.tolist())
    corpus.save(folder, ARTIFICIAL)
    scores = np.where((match.places == chosen[:, None]) & found[:, None], match.scores, 0).max(1, initial=0)
    kept = {"candidates": match.places[:, :KEPT], "candidate_scores": match.scores[:, :KEPT]}
    save_file({"places": chosen, "scores": scores, **{k: np.ascontiguousarray(v) for k, v in kept.items()}}, folder / FILE)


def load_match(folder: Path) -> Match:
    """Read the candidates of all texts."""
    stored = load_file(folder / FILE)
    return Match(stored["candidates"], stored["candidate_scores"])


def load_chosen(folder: Path) -> tuple[Places, Scores]:
    """Read the place of the summary chosen for each text, or NONE, and its score."""
    stored = load_file(folder / FILE)
    return stored["places"], stored["scores"]


def find_again(
    match: Match,
    texts: Corpus,
    summaries: Corpus,
    summarizer: Seq2seq,
    expander: Seq2seq,
    settings: recipe.Near,
    report: Report = ignore,
) -> Match:
    """Return the candidates in the order of their scores by words and by models; weak candidates are left out."""
    rows, columns = np.nonzero(match.scores >= settings.again_min_score)
    places = match.places[rows, columns]
    total = 2 * len(rows)

    def part(start: int) -> Report:
        return lambda progress: report(Progress(start + progress.done, total, "pairs"))

    forward = mean_log_probs(summarizer, texts, rows, summaries, places, part(0))
    backward = mean_log_probs(expander, summaries, places, texts, rows, part(len(rows)))
    scores = np.zeros_like(match.scores)
    models = np.exp(settings.summarizer_weight * forward + settings.expander_weight * backward)
    scores[rows, columns] = match.scores[rows, columns] * models
    order = np.argsort(-scores, axis=1, kind="stable")
    scores = np.take_along_axis(scores, order, 1)
    return Match(np.where(scores > 0, np.take_along_axis(match.places, order, 1), NONE), scores)


def choose_most(match: Match, count: int, max_uses: int) -> Places:
    """Return one summary per text, NONE where there is none: the best `count` pairs."""
    chosen = choose(match, 0.0, max_uses)
    scores = np.where(match.places == chosen[:, None], match.scores, 0).max(1, initial=0) * (chosen != NONE)
    kept = np.argsort(-scores, kind="stable")[:count]
    result = np.full_like(chosen, NONE)
    result[kept] = chosen[kept]
    return result


@torch.no_grad()
def mean_log_probs(
    model: Seq2seq, sources: Corpus, source: Places, targets: Corpus, target: Places, report: Report = ignore
) -> NDArray[np.float64]:
    """Return the mean log-probability of a word of targets[target[i]], given sources[source[i]]."""
    result = np.zeros(len(source))
    order = np.lexsort((sources.lengths[source], targets.lengths[target]))
    model.eval()
    device = model.bias.device
    for start in range(0, len(order), BATCH):
        chosen = order[start : start + BATCH]
        given, wanted = gather_batch(sources, source[chosen]).to(device), gather_batch(targets, target[chosen]).to(device)
        total = model.log_probs(given, wanted).sum(1).cpu().numpy()
        result[chosen] = total / (targets.lengths[target[chosen]] + 1)
        report(Progress(start + len(chosen), len(order), "pairs"))
    return result
