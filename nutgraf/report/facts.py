"""What a report shows, read from a run folder in whatever state it is; nothing is written and no model is run.

Histograms use a few thousand sentences, evenly spaced, so that a large run costs no more than a small one.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from safetensors.numpy import load_file

from nutgraf.learning.loop import Point, load_history
from nutgraf.models.pr_thr import PrThr
from nutgraf.report.charts import Axis, Charts, Panel, Series, make_axis
from nutgraf.run import manifest
from nutgraf.run.evaluations import Evaluation, evaluations
from nutgraf.run.folder import Run
from nutgraf.run.manifest import Manifest
from nutgraf.run.names import ModelName
from nutgraf.run.pairs import ARTIFICIAL, FOUND_FILE, real_side
from nutgraf.run.plan import Kind, Step
from nutgraf.run.systems import TEXT
from nutgraf.summarizing.codec import Codec
from nutgraf.summarizing.language import casing_of
from nutgraf.text.casing import Writer
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import UNK, Ids
from nutgraf.text.prepare import Prepared
from nutgraf.text.selection import Sentences
from nutgraf.text.tokens import Tokenizer

SAMPLED = 2_000  # sentences in a histogram
EXAMPLES = 10  # of found pairs


@dataclass(frozen=True)
class Pairs:
    """Some pairs of a text and a summary, one of which may be artificial, as word ids."""

    texts: Sequence[Ids]
    summaries: Sequence[Ids]

    @cached_property
    def _places(self) -> list[list[int]]:
        """For each summary, the places in the text where its words first occur."""
        found = []
        for text, summary in zip(self.texts, self.summaries, strict=True):
            first = {word: place for place, word in reversed(list(enumerate(text.tolist()))) if word != UNK}
            found.append([first[word] for word in summary.tolist() if word in first])
        return found

    @property
    def copied(self) -> list[float]:
        """For each summary, the share of its words that are in its text."""
        return [len(p) / len(s) for p, s in zip(self._places, self.summaries, strict=True) if len(s)]

    @property
    def positions(self) -> list[float]:
        """For each copied word, where it first occurs in its text: 0 at the start, 1 at the end."""
        return [(place + 0.5) / len(t) for p, t in zip(self._places, self.texts, strict=True) for place in p]


@dataclass(frozen=True)
class Found:
    """The pairs found between the two corpora, by words alone or again with the help of models."""

    model: ModelName  # whose pairs they are
    count: int
    share: float  # of the texts that have a pair
    score: float  # the mean
    adapted: int  # summaries that were made to fit their text
    examples: Sequence[tuple[str, str, float]]  # text, summary and score, from the best to the worst


class Facts:
    """A run, finished or not."""

    def __init__(self, run: Run):
        self.run = run
        self.steps = run.plan()

    @cached_property
    def done(self) -> dict[str, Manifest]:
        """The steps that are done; checksums are not compared, which takes long in a large run."""
        found: dict[str, Manifest] = {}
        for step in self.steps:
            # A step with a damaged manifest is as good as not done: the next training redoes it.
            with suppress(manifest.DamagedError):
                if record := manifest.read(self.run.step_folder(step.name)):
                    found[step.name] = record
        return found

    @property
    def versions(self) -> list[tuple[str, str]]:
        """The versions that the steps were made with, by package; several where the run was continued with another."""
        found = {item for record in self.done.values() for item in record.versions.items()}
        packages = sorted({package for package, _ in found})
        return [(package, ", ".join(sorted(version for p, version in found if p == package))) for package in packages]

    def done_steps(self, *kinds: Kind) -> list[Step]:
        """Return the steps of these kinds that are done, in the order of the paper's tables."""
        found = [(step.model.rank, step) for step in self.steps if step.kind in kinds and step.model]
        return [step for _, step in sorted(found, key=lambda item: item[0]) if step.name in self.done]

    @cached_property
    def evaluations(self) -> list[Evaluation]:
        """All evaluations, by the name of the pairs; a damaged one is an error."""
        return evaluations(self.run.folder)

    @cached_property
    def prepared(self) -> Prepared:
        """The two corpora; only once the step `text` is done."""
        return Prepared.open(self.run.step_folder(TEXT))

    @cached_property
    def codec(self) -> Codec:
        """Writes word ids as text."""
        return Codec(self.prepared.lexicon, self.run.recipe.text.digits)

    @cached_property
    def writer(self) -> Writer:
        """Writes a summary's words as people do."""
        return Writer(casing_of(self.run), Tokenizer(self.run.recipe.text.digits))

    def pr_thr(self) -> PrThr | None:
        """Return Pr-Thr, which knows how well its alignment worked; None where it is not done."""
        name = str(ModelName("pr-thr"))
        return PrThr.load(self.run.step_folder(name)) if name in self.done else None

    def artificial(self, step: Step) -> Corpus:
        """Return what a step of pairs made."""
        return Corpus.open(self.run.step_folder(step.name), ARTIFICIAL)

    def real(self, step: Step) -> Sentences:
        """Return what a step of pairs was made from, sentence by sentence."""
        assert step.model is not None, "pairs are made by a model"
        limit = self.run.recipe.generation.sentences_per_chain
        return real_side(self.prepared.texts, self.prepared.summaries, limit, step.model)

    def sample(self, step: Step) -> Pairs:
        """Return some of the pairs of a step."""
        real, artificial = self.real(step), self.artificial(step)
        made = np.arange(min(len(real), len(artificial)))
        if step.model and step.model.finds:
            made = np.flatnonzero(artificial.lengths)
        places = [int(made[place]) for place in spread(len(made))]
        texts, summaries = (artificial, real) if step.expands else (real, artificial)
        return Pairs([texts[place] for place in places], [summaries[place] for place in places])

    def found(self) -> list[Found]:
        """Return the pairs that `near` found first and those found again; none where it is no chain or not done."""
        return [self._found(step.model) for step in self.done_steps(Kind.PAIRS) if step.model and step.model.finds]

    def _found(self, model: ModelName) -> Found:
        folder = self.run.step_folder(model.pairs)
        stored, summaries = load_file(folder / FOUND_FILE), Corpus.open(folder, ARTIFICIAL)
        scores, were = stored["scores"], stored["places"]
        best = np.argsort(-scores, kind="stable")[: int((scores > 0).sum())]
        real = self.prepared.summaries
        adapted = sum(not np.array_equal(summaries[place], real[int(were[place])]) for place in best.tolist())
        chosen = [int(best[place]) for place in spread(len(best), EXAMPLES)]
        write, texts = self.codec.text, self.prepared.texts
        examples = [(write(texts[place]), write(summaries[place]), float(scores[place])) for place in chosen]
        mean = float(scores[best].mean()) if len(best) else 0.0
        return Found(model, len(best), len(best) / max(1, len(texts)), mean, adapted, examples)

    def real_pairs(self) -> Pairs:
        """Return some pairs of the first evaluation whose file is still there; none without such a file."""
        found = next((pairs for evaluation in self.evaluations if (pairs := evaluation.pairs())), [])
        settings = self.run.recipe.text
        chosen = [found[place] for place in spread(len(found))]
        texts = [self.codec.read(text, settings)[0] for text, _ in chosen]
        return Pairs(texts, [self.codec.encode(summary, settings.max_summary_words) for _, summary in chosen])


def learning_curves(facts: Facts) -> Charts | None:
    """Return the loss of each model on training and held-out pairs; None before the first. Initializers keep none.

    A model that was validated once has no curve: the note has its loss.
    """
    steps = facts.done_steps(Kind.EXPANDER, Kind.SUMMARIZER)
    histories = [(step, load_history(facts.run.step_folder(step.name))) for step in steps]
    curves = [(step, points) for step, points in histories if len(points) > 1]
    y = make_axis([loss for _, points in curves for p in points for loss in (p.loss, p.held_out) if loss is not None])
    panels = [_curve(step, points, y) for step, points in curves]
    legend = [("held-out", "held-out pairs"), ("training", "training pairs")] if panels else []
    return Charts(legend, [("", panels)] if panels else [], True, _without_curve(histories)) if steps else None


def _without_curve(histories: Sequence[tuple[Step, Sequence[Point]]]) -> str:
    """Return a note on the models that have no curve; empty where all have one."""
    once = [(step.name, points[0]) for step, points in histories if len(points) == 1]
    losses = [f"{name} {point.loss if point.held_out is None else point.held_out:.2f}" for name, point in once]
    untrained = [step.name for step, points in histories if not points]
    notes = [f"Validated only once, at the end: {', '.join(losses)}."] if losses else []
    notes += [f"Not trained, for want of pairs: {', '.join(untrained)}."] if untrained else []
    return " ".join(notes)


def _curve(step: Step, points: Sequence[Point], y: Axis) -> Panel:
    held_out = [(float(point.step), point.held_out) for point in points if point.held_out is not None]
    training = Series("training", "training", [(float(point.step), point.loss) for point in points])
    last = f"{step.kind} {held_out[-1][1]:.2f}" if held_out else str(step.kind)
    x = make_axis([0.0, *(float(point.step) for point in points)])
    return Panel(step.name, [training, Series("held out", step.chain, held_out, dots=True)], x, y, last)


def spread(count: int, most: int = SAMPLED) -> list[int]:
    """Return at most `most` places among `count`, evenly spaced."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(int)).tolist() if count else []
