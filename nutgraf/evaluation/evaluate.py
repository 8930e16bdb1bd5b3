"""Evaluation of a whole run: every summarizer that is done and the Lead baselines, on one file of pairs (Section 4)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from hashlib import sha256

from nutgraf.evaluation.scores import score
from nutgraf.hardware import Hardware
from nutgraf.progress import Progress, Report, ignore
from nutgraf.recipe import Text
from nutgraf.run import manifest
from nutgraf.run.evaluations import Evaluation
from nutgraf.run.folder import Run
from nutgraf.run.inputs import read_source
from nutgraf.run.names import ModelName, lead_words
from nutgraf.summarizing.summarizer import Summarizer, check_done
from nutgraf.text.reading import read_pairs
from nutgraf.text.tokens import Tokenizer

LEADS = ("Lead-8", "Lead-12")
SEED = 1  # of the bootstrap: the same pairs are drawn for every system

# Told which system is at work; returns what hears of its progress.
Watch = Callable[[str], Report]


def evaluate_run(
    run: Run,
    pairs_path: str,
    hardware: Hardware,
    models: Sequence[str] = (),
    limit: int = 0,
    watch: Watch = lambda _: ignore,
) -> Evaluation:
    """Score Lead-8, Lead-12 and the summarizers of a run, or some of them; write rows and outputs into the run.

    Return all rows that are known of these pairs: also those of an earlier evaluation whose models are the same.
    """
    for name in models:
        check_done(run, name)
    source = read_source(pairs_path, limit)
    pairs = read_pairs(pairs_path, limit)
    texts = [text for text, _ in pairs]
    inputs, references = split_pairs(pairs, run.recipe.text)
    evaluation = Evaluation(Evaluation.place(run.folder, source), source, (), {})
    evaluation.outputs_path("any").parent.mkdir(parents=True, exist_ok=True)
    rows, order = [], [*LEADS, *run.summarizers()]
    for name in [name for name in order if not models or name in models or name in LEADS]:
        summarizer = _load(run, name, hardware)
        report = watch(name)
        outputs = [" ".join(words) for words in summarizer.words(texts, report=report)]
        report(Progress(len(texts), len(texts), "sentences"))
        evaluation.outputs_path(name).write_text("".join(f"{output}\n" for output in outputs), encoding="utf-8")
        rows.append(score(name, outputs, inputs, references, SEED, aligned_pairs(run, name)))
    decoding = json.dumps(asdict(run.recipe.decoding))  # other settings give other summaries: rows must not be mixed
    records = {name: record for name in order if (record := manifest.read(run.step_folder(name)))}
    digests = {name: sha256((record.digest + decoding).encode()).hexdigest() for name, record in records.items()}
    earlier = Evaluation.find(evaluation.path) or evaluation
    merged = Evaluation(evaluation.path, source, tuple(rows), digests).merged(earlier, order, digests)
    merged.save()
    return merged


def split_pairs(pairs: Sequence[tuple[str, str]], settings: Text) -> tuple[list[str], list[str]]:
    """Return texts and references as ROUGE is to see them: split, and their digits mapped, as outputs are."""
    tokenizer = Tokenizer(settings.digits)
    inputs, references = ([" ".join(tokenizer.words(line)) for line in side] for side in zip(*pairs, strict=True))
    return inputs, references


def _load(run: Run, name: str, hardware: Hardware) -> Summarizer:
    words = lead_words(name)
    return Summarizer.lead(words, run.recipe.text) if words else Summarizer.of(run, name, hardware.device)


def aligned_pairs(run: Run, name: str) -> int:
    """Return how many aligned pairs a summarizer was trained on: the paper's "Sup."."""
    lines = run.inputs.aligned.lines if run.inputs.aligned else 0
    model = ModelName.find(name)
    if model is None or model.unsupervised:
        return 0
    return min(model.aligned_limit or lines, lines)
