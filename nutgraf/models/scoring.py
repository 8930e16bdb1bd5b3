"""How probable a seq2seq model finds sentences, given others: pairs that were found, or summaries to choose from."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nutgraf.progress import Progress, Report, ignore
from nutgraf.text.corpus import Corpus

BATCH = 128  # pairs scored at once

Places = NDArray[np.int64]
Table = NDArray[np.int64]  # (sentences, words) lexicon ids, each row a sentence, EOS, then PAD
ScorePairs = Callable[[Table, Table], NDArray[Any]]  # what is given, what is wanted -> (sentences,) log-probabilities


@dataclass(frozen=True)
class Estimate:
    """How a model's output layer is estimated: by its `words` most frequent words, or as in training (words 0: exact).

    In training, half of the words are drawn by the seed, and all words of a batch count. So what a pair gets depends,
    if little, on the others in its batch. By frequent words it does not.
    """

    words: int = 0
    seed: int | None = None  # None: by frequent words


@dataclass(frozen=True)
class Side:
    """One side of pairs: sentences of a corpus, by their places; one may be there several times."""

    corpus: Corpus
    places: Places

    @property
    def lengths(self) -> Places:
        """The number of words of each."""
        return self.corpus.lengths[self.places]


class PairScorer(Protocol):
    """A model that scores pairs: `Seq2seq`, or `LightModel` where torch is not installed."""

    def scoring(self, estimate: Estimate) -> AbstractContextManager[ScorePairs]:
        """Give a function of two padded batches; it can be called until the context ends."""


def mean_log_probs(
    model: PairScorer, given: Side, wanted: Side, estimate: Estimate, report: Report = ignore
) -> NDArray[np.float64]:
    """Return the mean log-probability of a word of each wanted sentence, its end included, given the other."""
    result, lengths = np.zeros(len(given.places)), wanted.lengths
    order = np.lexsort((given.lengths, lengths))
    with model.scoring(estimate) as score:
        for start in range(0, len(order), BATCH):
            chosen = order[start : start + BATCH]
            total = score(*(side.corpus.pad(side.places[chosen]) for side in (given, wanted)))
            result[chosen] = total / (lengths[chosen] + 1)
            report(Progress(start + len(chosen), len(order), "pairs"))
    return result
