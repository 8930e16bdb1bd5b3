"""Procrustes Thresholded Alignment (Pr-Thr), Section 3.1 and the appendix: the summarizer.

Two embeddings, trained separately on D^F and on D^S, have been aligned in one space (`alignment`). A summary is then
the words' nearest neighbours in V^S, where they are near enough and not EOS, in the order of the text. The distance is
the Euclidean one between unit vectors (from 0 to 2): the paper does not name its own.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from nutgraf.files import check_regular, naming, read_json
from nutgraf.text.lexicon import EOS, UNK, Ids, Vocab

Matrix = NDArray[np.float32]

WEIGHTS, FIGURES = "pr-thr.safetensors", "pr-thr.json"
PAPER_ETA = 0.9
SHARED_WORDS = 1000  # the most frequent words of both vocabularies, over which `self_match` is counted
MIN_SELF_MATCH = 0.2  # below this, the alignment found little or nothing


def explain_failure(system: str, self_match: float) -> str:
    """Return what to tell a user of a system whose alignment failed, and what to try."""
    return (
        f"{system}: the alignment failed: only {self_match:.0%} of the most frequent words that texts and "
        f"summaries share are their own nearest neighbours (at least {MIN_SELF_MATCH:.0%} are expected), so its "
        'summaries are mostly noise. Train on more text, try pr_thr.init = "shared" if it is not set'
    )


@dataclass(frozen=True)
class PrThr:
    """A summarizer that replaces each word by its nearest neighbour in V^S."""

    vocab: Vocab  # V^F
    neighbour: Ids  # (|V^F|,) lexicon ids
    distance: Matrix  # (|V^F|,)
    eta: float
    max_words: int  # N
    self_match: float  # the share of the most frequent shared words that are their own nearest neighbours

    @property
    def lexicon_size(self) -> int:
        """The number of words of the lexicon that it was made for."""
        return len(self.vocab.table)

    @property
    def alignment_failed(self) -> bool:
        """Whether so few shared words are their own nearest neighbours that the model's output is noise."""
        return self.self_match < MIN_SELF_MATCH

    @property
    def alignment_warning(self) -> str:
        """What to tell a user whose alignment failed."""
        return f"{explain_failure('Pr-Thr', self.self_match)}, or leave pr-thr out of plan.initializers"

    def __call__(self, sentences: Sequence[Ids]) -> list[Ids]:
        """Summarize sentences."""
        return [self._summarize(sentence) for sentence in sentences]

    def _summarize(self, sentence: Ids) -> Ids:
        local = self.vocab.local(sentence)
        kept = (local > UNK) & (self.distance[local] <= self.eta) & (self.neighbour[local] != EOS)
        return np.asarray(self.neighbour[local[kept][: self.max_words]], dtype=np.int32)

    def with_eta(self, eta: float, max_words: int | None = None) -> PrThr:
        """Return the same alignment with another threshold, and another N where given."""
        return replace(self, eta=float(eta), max_words=max_words or self.max_words)

    def save(self, folder: Path) -> None:
        """Write the model's two files."""
        arrays = {"vocabulary": self.vocab.ids, "neighbour": self.neighbour, "distance": self.distance}
        save_file(arrays, folder / WEIGHTS)
        figures = {
            "eta": self.eta,
            "max_words": self.max_words,
            "self_match": self.self_match,
            "lexicon": len(self.vocab.table),
        }
        (folder / FIGURES).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> PrThr:
        """Read what `save` wrote; a RunError names a file that is something else."""
        with naming(folder / FIGURES):
            figures = read_json(folder / FIGURES)
            lexicon, max_words = int(figures["lexicon"]), int(figures["max_words"])
            eta, self_match = float(figures["eta"]), float(figures["self_match"])
            if not 0 <= eta <= 2 or not 0 <= self_match <= 1 or max_words < 1:
                raise ValueError(f"eta {eta}, self_match {self_match}, max_words {max_words}")
        with naming(folder / WEIGHTS):
            check_regular(folder / WEIGHTS, (folder / WEIGHTS).lstat().st_mode)
            arrays = load_file(folder / WEIGHTS)
            vocab, neighbour, distance = Vocab(arrays["vocabulary"], lexicon), arrays["neighbour"], arrays["distance"]
            if not neighbour.shape == distance.shape == (len(vocab),) or not np.isfinite(distance).all():
                raise ValueError("a neighbour and its distance should be there for each word")
            if not 0 <= neighbour.min() <= neighbour.max() < lexicon:
                raise ValueError("neighbours that the lexicon lacks")
        return cls(vocab, neighbour, distance, eta, max_words, self_match)
