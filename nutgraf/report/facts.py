"""What a report tells, read from a run folder in whatever state it is; nothing is written and no model is run.

Histograms are of a few thousand sentences, taken at even distances, so that a large run costs no more than a small one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from nutgraf.learning.loop import load_history
from nutgraf.run import manifest
from nutgraf.run.evaluations import Evaluation, evaluations
from nutgraf.run.folder import Run
from nutgraf.run.manifest import Manifest
from nutgraf.run.names import CHAINS as UNSUPERVISED
from nutgraf.run.names import SUPERVISED
from nutgraf.run.pairs import ARTIFICIAL, share
from nutgraf.run.plan import ALIGNED, TEXT, Kind, Step
from nutgraf.summarizing.codec import Codec
from nutgraf.summarizing.language import casing_of
from nutgraf.text.casing import Writer
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import UNK, Ids
from nutgraf.text.prepare import Prepared

CHAINS = (*UNSUPERVISED, SUPERVISED)  # each is a class of the style sheet: one colour throughout the page
SAMPLED = 2_000  # sentences that a histogram is of


@dataclass(frozen=True)
class Curve:
    """How a model learned: the loss of training and of held-out pairs, by step."""

    step: Step
    loss: list[tuple[float, float]]
    held_out: list[tuple[float, float]]


@dataclass(frozen=True)
class Pairs:
    """Some pairs of a text and a summary, one of which may be artificial, as word ids."""

    texts: Sequence[Ids]
    summaries: Sequence[Ids]

    @cached_property
    def _found(self) -> tuple[list[float], list[float]]:
        """For each summary the share of its words that are in the text; for each such word where it stands there."""
        shares, positions = [], []
        for words, summary in zip(self.texts, self.summaries, strict=True):
            first = {word: place for place, word in reversed(list(enumerate(words.tolist()))) if word != UNK}
            found = [first[word] for word in summary.tolist() if word in first]
            if len(summary):
                shares.append(len(found) / len(summary))
            positions += [(place + 0.5) / len(words) for place in found]
        return shares, positions

    @property
    def copied(self) -> list[float]:
        """For each summary the share of its words that are in its text."""
        return self._found[0]

    @property
    def positions(self) -> list[float]:
        """For each word of a summary that is in the text, where it first stands there: 0 at the start, 1 at the end."""
        return self._found[1]


class Facts:
    """A run, as far as it has got."""

    def __init__(self, run: Run):
        self.run = run
        self.steps = run.plan()

    @cached_property
    def done(self) -> dict[str, Manifest]:
        """The steps that are done; checksums are not compared, which takes long in a large run."""
        found = {step.name: _record(self.run.step_folder(step.name)) for step in self.steps}
        return {name: record for name, record in found.items() if record}

    @property
    def seconds(self) -> float:
        """What all steps took together."""
        return sum(record.seconds for record in self.done.values())

    @property
    def versions(self) -> list[tuple[str, str]]:
        """The versions that the steps were made with, by package; more than one where the run went on with another."""
        found: dict[str, set[str]] = {}
        for record in self.done.values():
            for package, version in record.versions.items():
                found.setdefault(package, set()).add(version)
        return [(package, ", ".join(sorted(versions))) for package, versions in sorted(found.items())]

    def of_kind(self, *kinds: Kind) -> list[Step]:
        """Return the steps of these kinds that are done: by iteration, then by chain; those with aligned pairs last."""
        found = [step for step in self.steps if step.kind in kinds and step.name in self.done]
        return sorted(found, key=lambda step: (ALIGNED in step.needs, step.iteration, CHAINS.index(step.chain)))

    @cached_property
    def curves(self) -> list[Curve]:
        """The learning curves of all models; the initializers keep none."""
        curves = []
        for step in self.of_kind(Kind.EXPANDER, Kind.SUMMARIZER):
            points = load_history(self.run.step_folder(step.name))
            loss = [(float(point.step), point.loss) for point in points]
            held_out = [(float(point.step), point.held_out) for point in points if point.held_out is not None]
            curves.append(Curve(step, loss, held_out))
        return curves

    @cached_property
    def evaluations(self) -> list[Evaluation]:
        """All evaluations, by the name of the pairs."""
        return evaluations(self.run.folder)

    @cached_property
    def prepared(self) -> Prepared:
        """The two corpora; to be asked for when the step `text` is done."""
        return Prepared.open(self.run.step_folder(TEXT))

    @cached_property
    def codec(self) -> Codec:
        """Writes word ids as text."""
        return Codec(self.prepared.lexicon, self.run.recipe.text.digits)

    @cached_property
    def writer(self) -> Writer:
        """Writes a summary's words as people do."""
        return Writer(casing_of(self.run), self.run.recipe.text.digits)

    def artificial(self, step: Step) -> Corpus:
        """Return what a step of pairs made."""
        return Corpus.open(self.run.step_folder(step.name), ARTIFICIAL)

    def real(self, step: Step) -> Corpus:
        """Return what a step of pairs was made from, sentence by sentence."""
        corpus = self.prepared.summaries if step.expands else self.prepared.texts
        return share(corpus, self.run.recipe.generation.sentences_per_chain, step.chain)

    def sampled(self, step: Step) -> Pairs:
        """Return some of the pairs of a step."""
        real, artificial = self.real(step), self.artificial(step)
        places = spread(min(len(real), len(artificial)))
        texts, summaries = (artificial, real) if step.expands else (real, artificial)
        return Pairs([texts[place] for place in places], [summaries[place] for place in places])

    def evaluated(self) -> Pairs:
        """Return some real pairs, of the first evaluation whose file is still there; they may be none."""
        found = next((found for evaluation in self.evaluations if (found := evaluation.pairs())), [])
        settings = self.run.recipe.text
        chosen = [found[place] for place in spread(len(found))]
        texts = [self.codec.encode(text, settings.max_text_words) for text, _ in chosen]
        return Pairs(texts, [self.codec.encode(summary, settings.max_summary_words) for _, summary in chosen])


def spread(count: int, most: int = SAMPLED) -> list[int]:
    """Return at most so many places among `count`, at even distances."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(int)).tolist() if count else []


def _record(folder: Path) -> Manifest | None:
    try:
        return manifest.read(folder)
    except manifest.DamagedError:
        return None  # as good as not done: the next training redoes it
