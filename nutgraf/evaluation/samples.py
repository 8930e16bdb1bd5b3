"""Tables like the paper's 1, 4 and 5 from a run: what each expander wrote, by iteration, and final predictions.

Without sentences of the user's own, they are the first of the run's corpora, and the artificial texts are those that
the next summarizers were trained on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nutgraf.errors import RunError
from nutgraf.hardware import Hardware
from nutgraf.models.generation import full_stop_of, sampler
from nutgraf.models.storage import load
from nutgraf.run.folder import Run
from nutgraf.run.names import ModelName
from nutgraf.run.pairs import ARTIFICIAL, COMMON
from nutgraf.run.plan import Kind
from nutgraf.run.systems import TEXT
from nutgraf.summarizing.codec import Codec
from nutgraf.summarizing.summarizer import Summarizer
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import Ids
from nutgraf.text.prepare import Prepared

SEED = "samples"


@dataclass(frozen=True)
class Sample:
    """One sentence, and what each model made of it."""

    given: str
    made: tuple[tuple[str, str], ...]  # model, its output


@dataclass(frozen=True)
class Samples:
    """Full texts written for summaries (Tables 1 and 4), and summaries of texts (Table 5)."""

    expansions: tuple[Sample, ...]
    predictions: tuple[Sample, ...]


def samples(
    run: Run,
    hardware: Hardware,
    texts: Sequence[str] = (),
    summaries: Sequence[str] = (),
    models: Sequence[str] = (),
    count: int = 5,
) -> Samples:
    """Take samples of a run: of the sentences given, or of the first `count` of the run's own."""
    prepared = Prepared.open(run.intact(TEXT))
    codec = Codec(prepared.lexicon, run.recipe.text.digits)
    expansions = _expanded(run, hardware, codec, summaries) if summaries else _kept(run, prepared, codec, count)
    given = list(texts) or [codec.text(words) for words in prepared.texts[:count]]
    chosen = list(models) or [best.name for best in [run.best()] if best]
    if not chosen and not expansions:
        raise RunError(f"{run.folder}: no model is done yet. See `nutgraf status {run.folder}`")
    made = [(name, Summarizer.of(run, name, hardware.device)(given)) for name in chosen]
    predictions = [
        Sample(text, tuple((name, outputs[place]) for name, outputs in made)) for place, text in enumerate(given)
    ]
    return Samples(tuple(expansions), tuple(predictions))


def _done(run: Run, kind: Kind) -> list[str]:
    """Return the expanders, or their pairs, that are done: by chain, then by iteration."""
    order = list(run.recipe.plan.initializers)
    wanted = [
        step
        for step in run.plan()
        if step.kind is kind and step.chain in order and step.expands and run.is_done(step.name)
    ]
    return [step.name for step in sorted(wanted, key=lambda step: (order.index(step.chain), step.iteration))]


def _kept(run: Run, prepared: Prepared, codec: Codec, count: int) -> list[Sample]:
    """Return artificial texts that are in the run."""
    names = _done(run, Kind.PAIRS)
    made = [(str(ModelName.of_pairs(name)), Corpus.open(run.intact(name), ARTIFICIAL)) for name in names]
    return [
        Sample(
            codec.text(prepared.summaries[place]),
            tuple((name, codec.text(corpus[place])) for name, corpus in made if place < len(corpus)),
        )
        for place in range(min(count, COMMON, len(prepared.summaries)) if made else 0)
    ]


def _expanded(run: Run, hardware: Hardware, codec: Codec, summaries: Sequence[str]) -> list[Sample]:
    """Write full texts for new summaries."""
    sentences = [codec.encode(summary, run.recipe.text.max_summary_words) for summary in summaries]
    made: list[tuple[str, list[Ids]]] = []
    for name in _done(run, Kind.EXPANDER):
        model = load(run.intact(name), hardware.device)
        apply = sampler(model, run.recipe.generation, True, full_stop_of(codec.lexicon), f"{SEED} {run.recipe.seed}")
        made.append((name, apply(sentences, 0)))
    return [
        Sample(summary, tuple((name, codec.text(outputs[place])) for name, outputs in made))
        for place, summary in enumerate(summaries)
    ]
