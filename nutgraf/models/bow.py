"""What DBAE and mu:1 share: moments, the weights w_v, and the bag-of-words encoder (Section 3.1 and the appendix).

Words here are local ids of V^S; words outside it are not in the bag. The encoder is given averages of fixed,
pre-trained embeddings; its caller has the embeddings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import UNK, Ids, Vocab


def moments(corpus: Corpus, vocab: Vocab) -> NDArray[np.float64]:
    """Return mu_v for each word of the vocabulary: the share of sentences that it occurs in.

    Eq. 5: mu_v = sum_{s in D} 1[v in s] / |D|. UNK's is the share of sentences with any word outside the vocabulary.
    """
    size = len(vocab.table)
    mu = corpus.sentence_counts(size)[vocab.ids] / max(len(corpus), 1)
    mu[UNK] = sum(_count_unknown(block, vocab) for block in corpus.blocks()) / max(len(corpus), 1)
    return np.asarray(mu, dtype=np.float64)


def _count_unknown(corpus: Corpus, vocab: Vocab) -> int:
    """Return the number of sentences with any word outside the vocabulary."""
    unknown = np.add.reduceat(np.append(vocab.local(corpus.tokens) == UNK, False), corpus.offsets[:-1])
    return int(np.count_nonzero(unknown[corpus.lengths > 0]))


def ratio(mu_S: NDArray[np.float64], mu_F: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return mu_S / mu_F; 1 for a word that no text has, of which nothing is known."""
    return np.divide(mu_S, mu_F, out=np.ones_like(mu_S), where=mu_F > 0)


def input_weights(mu_S: NDArray[np.float64], mu_F: NDArray[np.float64], rule: str) -> NDArray[np.float32]:
    """Return w_v, the weight of an input word at summarization; it lowers words that are rarer in summaries.

    Eq. 6, as the paper's text has it: w_v = min(mu_S / mu_F, 1). `rule` "max" is what the paper prints.
    """
    bound = {"min": np.minimum, "max": np.maximum}[rule]
    return np.asarray(bound(ratio(mu_S, mu_F), 1.0), dtype=np.float32)


@dataclass(frozen=True)
class Bags:
    """`count` bags of words: `words` (n,) local ids, `rows` (n,) the bag that each is in."""

    words: Tensor
    rows: Tensor
    count: int

    @classmethod
    def of(cls, sentences: Sequence[Ids]) -> Bags:
        """Make bags of sentences of local ids; PAD, EOS and UNK stay out."""
        words = np.concatenate([*sentences, np.zeros(0, dtype=np.int32)]).astype(np.int64)
        rows = np.repeat(np.arange(len(sentences)), [len(sentence) for sentence in sentences])
        known = words > UNK
        return cls(torch.from_numpy(words[known]), torch.from_numpy(rows[known]), len(sentences))

    @classmethod
    def of_table(cls, local: Tensor) -> Bags:
        """Make bags of the rows of a padded table of local ids."""
        rows, columns = (local > UNK).nonzero(as_tuple=True)
        return cls(local[rows, columns], rows, len(local))


def average(vectors: Tensor, bags: Bags, weights: Tensor | None = None) -> Tensor:
    """Return each bag's mean vector, 0 for an empty bag; `weights` (|V^S|,) make it a weighted mean."""
    each = torch.ones(len(bags.words)) if weights is None else weights[bags.words]
    total = torch.zeros(bags.count, vectors.shape[1])
    total.index_add_(0, bags.rows, vectors[bags.words] * each[:, None])
    mass = torch.zeros(bags.count).index_add_(0, bags.rows, each)
    return total / mass.clamp_min(1e-12)[:, None]


class BowEncoder(nn.Module):
    """A linear map of the average embedding, then batch normalisation: (bags, embedding) -> (bags, width)."""

    def __init__(self, embedding: int, width: int, generator: torch.Generator):
        super().__init__()
        self.linear = nn.Linear(embedding, width)
        self.norm = nn.BatchNorm1d(width)
        initialise(self.linear, generator)

    def forward(self, averages: Tensor) -> Tensor:
        """Encode averages."""
        encoded: Tensor = self.norm(self.linear(averages))
        return encoded


def initialise(module: nn.Module, generator: torch.Generator) -> None:
    """Initialise matrices by N(0, 1 / inputs) and biases by 0, all from this generator."""
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, parameter.shape[-1] ** -0.5, generator=generator)
            else:
                parameter.zero_()
