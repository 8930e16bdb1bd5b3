"""The three initializers by their names in the paper: how each is trained, gets its threshold, is loaded (Section 3.1).

Where eta is "auto" it is chosen on the `--valid` pairs by ROUGE-L, as the appendix does, or, with no pair at all, so
that the outputs' mean length is the summaries' and their words' moments are nearest to the summaries'.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from nutgraf.initial import thresholds
from nutgraf.initial.dbae import Dbae
from nutgraf.initial.moments import Mu1
from nutgraf.initial.procrustes import PrThr
from nutgraf.rouge import rouge
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import Ids, Lexicon

VALID_PAIRS = 1_000  # thresholds need no more
SAMPLED_TEXTS = 2_000
LENGTHS = (8, 10, 12, 15)  # values of N that are tried on pairs
ETAS = {"pr-thr": np.linspace(0.05, 1.4, 28), "mu1": np.linspace(0.02, 0.9, 45)}


class Initializer(Protocol):
    """A summarizer of word ids that can be written down."""

    def __call__(self, sentences: Sequence[Ids]) -> list[Ids]:
        """Summarize sentences."""

    def save(self, folder: Path) -> None:
        """Write the model's files."""


def load_initializer(chain: str, folder: Path) -> Initializer:
    """Read an initializer by the name of its chain."""
    loaders: dict[str, Callable[[Path], Initializer]] = {"pr-thr": PrThr.load, "dbae": Dbae.load, "mu1": Mu1.load}
    return loaders[chain](folder)


@dataclass(frozen=True)
class Pairs:
    """Aligned pairs to choose a threshold on, in the ids of a lexicon that has all their words."""

    texts: Sequence[Ids]
    summaries: Sequence[Ids]
    lexicon: Lexicon


def tuned(model: thresholds.Model, chain: str, pairs: Pairs) -> thresholds.Model:
    """Return the model with the eta and the N that have the best ROUGE-L on pairs."""

    def score(outputs: list[Ids], references: list[Ids]) -> float:
        return float(rouge(written(outputs, pairs.lexicon), written(references, pairs.lexicon)).rl.mean())

    aligned = list(zip(pairs.texts, pairs.summaries, strict=True))[:VALID_PAIRS]
    return thresholds.by_score(model, aligned, score, ETAS[chain].tolist(), LENGTHS)


def matched(model: thresholds.Model, chain: str, texts: Corpus, summaries: Corpus) -> thresholds.Model:
    """Return the model with the eta and the N whose outputs are as long as summaries are, and most like them."""
    return thresholds.by_moments(model, texts[:SAMPLED_TEXTS], summaries, ETAS[chain].tolist())


def written(sentences: Sequence[Ids], lexicon: Lexicon) -> list[str]:
    """Return sentences as words apart by blanks."""
    return [" ".join(lexicon.decode(sentence)) for sentence in sentences]
