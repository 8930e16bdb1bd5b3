"""How probable a seq2seq model finds sentences, given others: pairs that were found, or summaries to choose from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from nutgraf.learning.batches import gather_batch
from nutgraf.models.seq2seq import Seq2seq
from nutgraf.progress import Progress, Report, ignore
from nutgraf.text.corpus import Corpus

BATCH = 128  # pairs scored at once

Places = NDArray[np.int64]


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


@torch.no_grad()
def mean_log_probs(
    model: Seq2seq, given: Side, wanted: Side, estimate: Estimate, report: Report = ignore
) -> NDArray[np.float64]:
    """Return the mean log-probability of a word of each wanted sentence, its end included, given the other."""
    result, lengths, device = np.zeros(len(given.places)), wanted.lengths, model.bias.device
    order = np.lexsort((given.lengths, lengths))
    model.eval()
    drawn = estimate.seed is not None
    with torch.random.fork_rng(enabled=drawn):
        if estimate.seed is not None:
            torch.manual_seed(estimate.seed)
        for start in range(0, len(order), BATCH):
            chosen = order[start : start + BATCH]
            source, target = (gather_batch(side.corpus, side.places[chosen]).to(device) for side in (given, wanted))
            total = model.log_probs(source, target, estimate.words, drawn).sum(1).cpu().numpy()
            result[chosen] = total / (lengths[chosen] + 1)
            report(Progress(start + len(chosen), len(order), "pairs"))
    return result
