"""Evaluation of a whole run: every summarizer that is done and the Lead baselines, on one file of pairs (Section 4).

Rows go into run/evaluation/<pairs>.json, outputs beside it, one a line. What a row holds is evaluation's business.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from nutgraf.backtranslation.hardware import Hardware
from nutgraf.backtranslation.inputs import read_source
from nutgraf.backtranslation.manifest import write_atomically
from nutgraf.backtranslation.plan import SUPERVISED
from nutgraf.backtranslation.run import Run
from nutgraf.evaluation import Row, evaluate
from nutgraf.progress import Progress, Report, silent
from nutgraf.recipe import Text
from nutgraf.summarizer import Summarizer, check_done
from nutgraf.text.reading import read_pairs
from nutgraf.text.tokens import Tokenizer

LEADS = (8, 12)
SEED = 1  # of the bootstrap: the same pairs are drawn for every system

# Told which system is at work; returns what hears of its progress.
Watch = Callable[[str], Report]


def unwatched(_: str) -> Report:
    """Watch nothing."""
    return silent


def evaluate_run(
    run: Run,
    pairs_path: str,
    hardware: Hardware,
    models: Sequence[str] = (),
    limit: int = 0,
    watch: Watch = unwatched,
) -> list[Row]:
    """Score Lead-8, Lead-12 and the summarizers of a run, or some of them; write rows and outputs into the run."""
    names = _chosen(run, models)
    source = read_source(pairs_path, limit)
    pairs = read_pairs(pairs_path, limit)
    texts = [text for text, _ in pairs]
    inputs, references = compared(pairs, run.recipe.text)
    folder = run.folder / "evaluation" / _stem(pairs_path)
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in [*(f"Lead-{words}" for words in LEADS), *names]:
        summarizer = _loaded(run, name, hardware)
        report = watch(name)
        outputs = [" ".join(words) for words in summarizer.words(texts, report=report)]
        report(Progress(len(texts), len(texts), "sentences"))
        (folder / f"{name}.txt").write_text("".join(f"{output}\n" for output in outputs), encoding="utf-8")
        rows.append(evaluate(name, outputs, inputs, references, SEED, aligned_pairs(run, name)))
    table = {"pairs": asdict(source), "rows": [asdict(row) for row in rows]}
    write_atomically(folder.with_name(f"{folder.name}.json"), json.dumps(table, indent=1).encode())
    return rows


def compared(pairs: Sequence[tuple[str, str]], settings: Text) -> tuple[list[str], list[str]]:
    """Return texts and references as ROUGE is to see them: split, and their digits mapped, as outputs are."""
    tokenizer = Tokenizer(settings.digits)
    inputs, references = ([" ".join(tokenizer.words(line)) for line in side] for side in zip(*pairs, strict=True))
    return inputs, references


def _chosen(run: Run, models: Sequence[str]) -> list[str]:
    for name in models:
        check_done(run, name)
    return [name for name in run.summarizers() if not models or name in models]


def _loaded(run: Run, name: str, hardware: Hardware) -> Summarizer:
    if name.startswith("Lead-"):
        return Summarizer.lead(int(name.removeprefix("Lead-")), run.recipe.text)
    return Summarizer.of(run, name, hardware.device)


def aligned_pairs(run: Run, name: str) -> int:
    """Return how many aligned pairs a summarizer was trained on: the paper's "Sup."."""
    lines = run.inputs.aligned.lines if run.inputs.aligned else 0
    if name == SUPERVISED:
        return lines
    _, sign, limit = name.partition("+")
    return min(int(limit), lines) if sign else 0


def _stem(path: str) -> str:
    """Return the name of a file without its endings: test for data/test.tsv.xz."""
    name = Path(path).name
    for ending in (".gz", ".xz", ".tsv", ".txt"):
        name = name.removesuffix(ending)
    return name or "pairs"
