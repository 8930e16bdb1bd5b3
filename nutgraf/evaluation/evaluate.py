"""Evaluation of a whole run: every summarizer that is done and the Lead baselines, on one file of pairs (Section 4)."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from nutgraf.errors import InputError, RunError
from nutgraf.evaluation.readability import Reader
from nutgraf.evaluation.scores import Comparison, compare, score
from nutgraf.files import write_atomically
from nutgraf.hardware import Hardware
from nutgraf.progress import Progress, Report, ignore
from nutgraf.recipe import Text
from nutgraf.run import manifest
from nutgraf.run.evaluations import Evaluation
from nutgraf.run.folder import Run
from nutgraf.run.inputs import Source, read_pairs_source
from nutgraf.run.names import ModelName, lead_words
from nutgraf.summarizing.export import Export
from nutgraf.summarizing.loading import check_done, language_of, locate
from nutgraf.summarizing.systems import System
from nutgraf.text.tokens import Tokenizer
from nutgraf.workers.executor import Executor, Local, Tell, map_in_order

LEADS = ("Lead-8", "Lead-12")
BLOCK = 256  # texts that a worker summarizes at once
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
    executor: Executor | None = None,
) -> Evaluation:
    """Score Lead-8, Lead-12 and the summarizers of a run, or some of them; write rows and outputs into the run.

    An executor's workers summarize; by default, this process does.

    Return all rows that are known of these pairs: also those of an earlier evaluation whose models are the same.
    """
    for name in models:
        check_done(run, name)
    source, pairs = read_pairs_source(pairs_path, limit)
    inputs, references = split_pairs(pairs, run.recipe.text)
    evaluation = Evaluation(Evaluation.place(run.folder, source), source, (), {})
    evaluation.outputs_path("any").parent.mkdir(parents=True, exist_ok=True)
    reader = Reader.of(run, references)
    rows, order = [], [*LEADS, *run.summarizers()]
    names = [name for name in order if not models or name in models or name in LEADS]
    systems = {name: System(run, name, hardware) for name in names}
    found = summarize_all(systems, pairs, watch, executor or Local(hardware), hardware.threads)
    for name, outputs in zip(names, found, strict=True):
        write_atomically(evaluation.outputs_path(name), "".join(f"{output}\n" for output in outputs).encode())
        rows.append(score(name, outputs, inputs, references, SEED, aligned_pairs(run, name), reader))
    digests = _digest_models(run, order)
    earlier = Evaluation.find(evaluation.path) or evaluation
    merged = Evaluation(evaluation.path, source, tuple(rows), digests).merged(earlier, order, digests)
    merged.save()
    return merged


def compare_systems(
    run: Run,
    pairs_path: str,
    names: tuple[str, str],
    hardware: Hardware,
    limit: int = 0,
    watch: Watch = lambda _: ignore,
    executor: Executor | None = None,
) -> Comparison:
    """Test whether the first of two systems is better than the second on these pairs.

    A system is a summarizer of the run or a Lead, or one of another run or export: other-run/all-2. Outputs of an
    evaluation of the same pairs by the same model are taken from it; nothing is written.
    """
    source, pairs = read_pairs_source(pairs_path, limit)
    references = split_pairs(pairs, run.recipe.text)[1]
    found = {name: _find_system(run, name) for name in names}
    known = {
        name: _known_outputs(place, system, source) if isinstance(place, Run) else None
        for name, (place, system) in found.items()
    }
    missing = {name: System(*found[name], hardware) for name in known if known[name] is None}
    made = summarize_all(missing, pairs, watch, executor or Local(hardware), hardware.threads)
    outputs = {name: next(made) if lines is None else lines for name, lines in known.items()}
    return compare(outputs[names[0]], outputs[names[1]], references, SEED)


def _find_system(run: Run, name: str) -> tuple[Run | Export, str]:
    """Return where a system is and its name there; what is scored must be split in the same way."""
    if lead_words(name):
        return run, name
    if name in run.summarizers() or not ("/" in name or Path(name).is_dir()):
        check_done(run, name)
        return run, name
    other, choice = locate(Path(name), None)
    if (digits := language_of(other).text.digits) != run.recipe.text.digits:
        raise InputError(
            f"{name}: text.digits is {digits!r} there and {run.recipe.text.digits!r} in {run.folder}:"
            " scores of the two cannot be compared"
        )
    return other, choice.name


def _known_outputs(run: Run, name: str, source: Source) -> list[str] | None:
    """Return the outputs of an evaluation, if it is of these pairs and of the model as it is now."""
    evaluation = Evaluation.find(Evaluation.place(run.folder, source))
    digest = _digest_models(run, [name]).get(name)
    if evaluation is None or digest is None or evaluation.models.get(name) != digest:
        return None
    with suppress(OSError, RunError, ValueError):
        return evaluation.outputs(name)
    return None


def summarize_all(
    systems: Mapping[str, System], pairs: Sequence[tuple[str, str]], watch: Watch, executor: Executor, threads: int
) -> Iterator[list[str]]:
    """Yield what each system makes of the texts, as words with blanks between; workers take blocks of all systems."""
    texts = [text for text, _ in pairs]
    blocks = [texts[start : start + BLOCK] for start in range(0, len(texts), BLOCK)]
    outputs = list[str]()
    report: Report = ignore

    def tell(message: Progress | str) -> None:
        if isinstance(message, Progress):
            report(Progress(min(len(outputs) + message.done, len(texts)), len(texts), "sentences"))

    work = ((system, block) for system in systems.values() for block in blocks)
    made = map_in_order(executor, _summarize_block, work, threads, tell)
    for name, system in systems.items():
        outputs, report = [], watch(name)
        for _, lines in itertools.islice(made, len(blocks)):
            outputs += lines
            report(Progress(len(outputs), len(texts), "sentences"))
        system.release()
        yield outputs


def _summarize_block(item: tuple[System, list[str]], tell: Tell) -> list[str]:
    system, texts = item
    return [" ".join(words) for words in system.summarizer.words(texts, report=tell)]


def _digest_models(run: Run, names: Sequence[str]) -> dict[str, str]:
    """Return the digest of each model, and of how it is decoded: other settings give other summaries."""
    decoding = json.dumps(asdict(run.recipe.decoding))
    records = {name: record for name in names if (record := manifest.read(run.step_folder(name)))}
    return {name: sha256((record.digest + decoding).encode()).hexdigest() for name, record in records.items()}


def split_pairs(pairs: Sequence[tuple[str, str]], settings: Text) -> tuple[list[str], list[str]]:
    """Return texts and references as ROUGE is to see them: split, and their digits mapped, as outputs are."""
    tokenizer = Tokenizer(settings.digits)
    inputs, references = ([" ".join(tokenizer.words(line)) for line in side] for side in zip(*pairs, strict=True))
    return inputs, references


def aligned_pairs(run: Run, name: str) -> int:
    """Return how many aligned pairs a summarizer was trained on: the paper's "Sup."."""
    lines = run.inputs.aligned.lines if run.inputs.aligned else 0
    model = ModelName.find(name)
    if model is None or model.unsupervised:
        return 0
    return min(model.aligned_limit or lines, lines)
