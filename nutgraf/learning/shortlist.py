"""The output layer with less arithmetic, and the embeddings of a batch with fewer bytes.

The product with the whole vocabulary is most of a model's work. In training only the right word's score and the
softmax's normaliser are needed, and the normaliser can be estimated: the batch's own words and the most frequent ones
are summed exactly, the rest from a uniform sample, each drawn word weighted by the inverse of its chance to be drawn.
Where a sentence's score must not depend on the others in its batch, only the most frequent words and the right one are
summed.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor


class Shortlist:
    """The words that a batch needs of a table, (V, d) embeddings that are the output layer's weights as well.

    With `sampled` > 0 the normaliser Z is estimated without bias: half of `sampled` are the first, most frequent words,
    half are drawn uniformly from the whole vocabulary. Their rows, and those of the words `read`, are gathered once, so
    that their gradients are scattered into one table-sized zero and not into one for each use.
    """

    def __init__(self, table: Tensor, bias: Tensor, targets: Tensor, sampled: int, read: Tensor | None = None):
        self.table, self.bias = table, bias
        self.place: Tensor | None = None  # (V,) the row of each word; None: its own id
        if sampled == 0 or sampled >= len(table):
            return
        words, correction = _words_to_score(targets, len(table), sampled)
        self.bias = bias[words] + correction
        if read is not None:
            others = torch.zeros(len(table), dtype=torch.bool, device=table.device)
            others[read.flatten()] = True
            others[words] = False
            words = torch.cat([words, others.nonzero().squeeze(1)])
        self.table = F.embedding(words, table)
        self.place = torch.zeros(len(table), dtype=torch.long, device=table.device)
        self.place[words] = torch.arange(len(words), device=table.device)

    def embed(self, words: Tensor) -> Tensor:
        """Return the embeddings of words that are among `read` or the targets."""
        return F.embedding(self._places(words), self.table)

    def log_probs(self, hidden: Tensor, targets: Tensor) -> Tensor:
        """Return log softmax(hidden @ table.T + bias) at the targets: (n, d), (n,) -> (n,)."""
        logits = torch.addmm(self.bias, hidden, self.table[: len(self.bias)].t())
        return -F.cross_entropy(logits, self._places(targets), reduction="none")

    def _places(self, words: Tensor) -> Tensor:
        return words if self.place is None else self.place[words]


class Frequent:
    """The same with nothing drawn: Z is the sum over the `most` first, most frequent words and the target itself.

    The rarer words are left out of Z. So log-probabilities are a little too high; they are meant for comparing.
    """

    def __init__(self, table: Tensor, bias: Tensor, most: int):
        self.table, self.bias, self.most = table, bias, most

    def embed(self, words: Tensor) -> Tensor:
        """Return the embeddings of words."""
        return F.embedding(words, self.table)

    def log_probs(self, hidden: Tensor, targets: Tensor) -> Tensor:
        """Return the log-probabilities of targets: (n, d), (n,) -> (n,)."""
        own = (hidden * self.embed(targets)).sum(1) + self.bias[targets]
        normaliser = torch.addmm(self.bias[: self.most], hidden, self.table[: self.most].t()).logsumexp(1)
        return own - torch.where(targets < self.most, normaliser, torch.logaddexp(normaliser, own))


def _words_to_score(targets: Tensor, vocabulary: int, sampled: int) -> tuple[Tensor, Tensor]:
    """Return the words to score and the logarithm of how many words each stands for."""
    certain = torch.zeros(vocabulary, dtype=torch.bool, device=targets.device)
    certain[: sampled // 2] = True
    certain[targets] = True
    draws = sampled - sampled // 2
    drawn = torch.randperm(vocabulary, device=targets.device)[:draws]
    drawn = drawn[~certain[drawn]]
    kept = certain.nonzero().squeeze(1)
    correction = torch.zeros(len(kept) + len(drawn), device=targets.device)
    correction[len(kept) :] = math.log(vocabulary / draws)
    return torch.cat([kept, drawn]), correction
