"""The names of models, as in the paper: the one place that knows their grammar.

mu1-0            an initializer: chain and iteration
mu1-1, mu1-2     its expander and its summarizer; odd iterations expand, even ones summarize
near-0           the nearest real summary; near-1, near-2 learn from the pairs found by it
hc-0             a baseline: another system, to compare with
all-2            trained on the pairs of all chains, or taught by all-2a, all-2b ..., the first of which is
agreed-2         nothing is trained: what all-2, near-2 and others agree on
mixed-2          the paper's All, where `near` is a chain too: trained on the pairs of all others
all-2+10000      all-2, fine-tuned on 10,000 aligned pairs
mass-0+all       a baseline that learned from all aligned pairs, too; mass-0 alone is no summarizer yet
seq2seq          trained on aligned pairs alone, for comparison
mu1-1.pairs      the step that applies mu1-1 to a corpus; near-0.pairs, near-2.pairs ... find pairs of two real
                 sentences; all-2a.pairs are what all-2a and near-2 agree on
Lead-8           the baseline: the first 8 words of a text
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from nutgraf.recipe import BASELINES, INITIALIZERS, WITH_PAIRS

NEAR, MIXED, ALL, AGREED, SUPERVISED = "near", "mixed", "all", "agreed", "seq2seq"
CHAINS = (*BASELINES, *WITH_PAIRS, *INITIALIZERS, MIXED, ALL, AGREED)
# In what order chains are trained, and preferred where nothing was evaluated: the best initializer first.
PREFERRED = ("mu1", "dbae", "pr-thr", *BASELINES, NEAR)
EVERY = "all"  # aligned pairs
TEACHERS = "abcdefghi"  # how the summarizers that teach all-N are told apart
_PATTERN = re.compile(rf"({'|'.join(CHAINS)})-(\d+)([{TEACHERS}]?)(?:\+(\d+|{EVERY}))?")
_PAIRS = ".pairs"
_LEAD = re.compile(r"Lead-(\d+)")


@dataclass(frozen=True)
class ModelName:
    """The name of a summarizer or an expander."""

    chain: str
    iteration: int = 0
    aligned_limit: int = 0  # fine-tuned on this many aligned pairs
    teacher: str = ""  # one of several that teach all-N: its letter
    every_pair: bool = False  # trained on all aligned pairs, after something else

    @classmethod
    def find(cls, text: str) -> ModelName | None:
        """Read a name; None where the text is none."""
        if text == SUPERVISED:
            return cls(SUPERVISED)
        found = _PATTERN.fullmatch(text)
        if found is None or (found[3] and found[1] != ALL) or (found[4] and found[1] == AGREED):
            return None
        every = found[4] == EVERY
        return cls(found[1], int(found[2]), 0 if every else int(found[4] or 0), found[3], every)

    @classmethod
    def parse(cls, text: str) -> ModelName:
        """Read a name; anything else is a ValueError."""
        name = cls.find(text)
        if name is None:
            raise ValueError(
                f"{text!r} is not the name of a model: expected one such as mu1-0, mu1-2, all-2 or seq2seq"
            )
        return name

    @classmethod
    def of_pairs(cls, step: str) -> ModelName:
        """Return the model whose pairs a step made: mu1-1 for mu1-1.pairs."""
        return cls.parse(step.removesuffix(_PAIRS))

    def __str__(self) -> str:
        if self.supervised:
            return SUPERVISED
        pairs = EVERY if self.every_pair else self.aligned_limit
        return f"{self.chain}-{self.iteration}{self.teacher}" + (f"+{pairs}" if pairs else "")

    @property
    def pairs(self) -> str:
        """The step that applies this model to a corpus."""
        return f"{self}{_PAIRS}"

    @property
    def expands(self) -> bool:
        """Whether it turns summaries into texts."""
        return self.iteration % 2 == 1

    @property
    def finds(self) -> bool:
        """Whether its pairs are found between the two corpora, and none of their sides is artificial."""
        return self.chain == NEAR and not self.expands

    @property
    def initial(self) -> bool:
        """Whether it is an initializer, or a baseline that has seen no aligned pair."""
        return self.iteration == 0 and self.unsupervised

    @property
    def summarizes(self) -> bool:
        """Whether it is a summarizer, or one day will be: not an expander, and not what is only pre-trained."""
        return not self.expands and not (self.chain in WITH_PAIRS and self.unsupervised)

    @property
    def baseline(self) -> bool:
        """Whether it is another system that learns from no pairs; what it starts, such as pbsmt-2, is a chain's."""
        return self.initial and self.chain in BASELINES

    @property
    def supervised(self) -> bool:
        """Whether it is trained on aligned pairs alone."""
        return self.chain == SUPERVISED

    @property
    def unsupervised(self) -> bool:
        """Whether it has seen no aligned pair."""
        return not self.supervised and not self.aligned_limit and not self.every_pair

    @property
    def rank(self) -> tuple[int, int, int, str]:
        """Where a summarizer stands in the paper's tables: by iteration and chain; with aligned pairs at the end."""
        if self.supervised:
            return (2, 0, len(CHAINS), "")
        chain, last = CHAINS.index(self.chain), self.teacher or "z"  # all-2 after its teachers
        if self.unsupervised:
            return (0, self.iteration, chain, last)
        return (2, 0, chain, last) if self.every_pair else (1, self.aligned_limit, chain, last)

    def at(self, iteration: int) -> ModelName:
        """Return the model of the same chain at another iteration."""
        return replace(self, iteration=iteration)


CUTTER = ModelName("mu1")  # its summaries are the text's own words in their order, which can be made whole lines
FOUND = ModelName(NEAR)  # its pairs are found by words alone; those of near-2, near-4 ... are chosen with its help


def is_baseline(name: str) -> bool:
    """Whether a name is that of a baseline."""
    model = ModelName.find(name)
    return model is not None and model.baseline


def is_pairs(step: str) -> bool:
    """Whether a step makes pairs."""
    return step.endswith(_PAIRS)


def lead_words(name: str) -> int | None:
    """Return how many words a Lead baseline keeps; None for any other name."""
    found = _LEAD.fullmatch(name)
    return int(found[1]) if found else None


def summarizers(names: Iterable[str]) -> list[str]:
    """Return the summarizers among the names of steps, in the order of the paper's tables."""
    found = [name for name in map(ModelName.find, names) if name and name.summarizes]
    return [str(name) for name in sorted(found, key=lambda name: name.rank)]


def _preference(chain: str) -> int:
    """Return how good a chain should be; the systems to compare with come last."""
    return 1 if chain == MIXED else -PREFERRED.index(chain) - (len(PREFERRED) if chain in BASELINES else 0)


def latest(names: Iterable[str]) -> str | None:
    """Return the summarizer that should be best: the last agreed-N or all-N, else the last of the others."""
    found = [name for name in map(ModelName.find, names) if name and name.summarizes and name.unsupervised]
    together = [name for name in found if name.chain in (ALL, AGREED)]
    if together:
        return str(max(together, key=lambda name: (name.iteration, name.chain == AGREED, not name.teacher)))
    chosen = max(found, key=lambda name: (name.iteration, _preference(name.chain)), default=None)
    return str(chosen) if chosen else None
