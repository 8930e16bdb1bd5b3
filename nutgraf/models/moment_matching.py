"""How mu:1 learns (Section 3.1 and the appendix): first-order word moments matching.

It sees no pairs: over a batch of texts the mean of f(., v) should equal v's share of the summaries. Training starts at
f = mu_S / mu_F (`start_at_ratios`); the paper does not say where it starts. What f is for is in `mu1`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from nutgraf import recipe
from nutgraf.learning.batches import Batches, gather_batch
from nutgraf.learning.loop import Fit, Job, fit
from nutgraf.models.arrays import Arrays
from nutgraf.models.bow import Bags, BowEncoder, average, moments, ratio
from nutgraf.models.mu1 import Mu1
from nutgraf.seeds import generator_of
from nutgraf.text.corpus import Corpus
from nutgraf.text.inflection import Inflections
from nutgraf.text.lexicon import UNK, Vocab

PAPER_ETA = 0.3

Forms = Mapping[int, Sequence[int]]  # of each word that has several: all its forms


class Moments(nn.Module):
    """f_theta: the probability of each word of a text."""

    vectors: Tensor

    def __init__(self, vectors: NDArray[np.float32], width: int, generator: torch.Generator):
        super().__init__()
        self.register_buffer("vectors", torch.from_numpy(vectors.copy()))  # (|V^S|, embedding), fixed
        self.encoder = BowEncoder(vectors.shape[1], width, generator)
        self.weight = nn.Parameter(torch.zeros(len(vectors), width))
        self.bias = nn.Parameter(torch.zeros(len(vectors)))

    def forward(self, bags: Bags, rows: Tensor, words: Tensor) -> Tensor:
        """Return f(s, v) for pairs: `rows` (n,) are bags, `words` (n,) local ids -> (n,)."""
        encoded = self.encoder(average(self.vectors, bags))
        scores = (functional.embedding(rows, encoded) * functional.embedding(words, self.weight)).sum(1)
        return torch.sigmoid(scores + self.bias[words])


def batch_loss(f: Tensor, words: Tensor, batch: int, ratios: Tensor) -> Tensor:
    """Return the loss of a batch B of texts, from f(s, v) of every distinct word v of every text s in it.

    Eq. 7: hat mu_F = sum_{s in B} 1[v in s] / |B|, hat mu_S = hat mu_F / mu_F * mu_S (at most 1: it is a probability).
    The appendix: L = sum_v BCE(sum_{s in B} f(s, v) / |B|, hat mu_S). The paper divides by |D^F|, but the target is a
    moment of the batch. `ratios` (|V^S|,) is mu_S / mu_F. A word that no text of the batch has adds nothing.
    """
    present, place = torch.unique(words, return_inverse=True)
    predicted = torch.zeros(len(present)).index_add(0, place, f) / batch
    mu_F = torch.zeros(len(present)).index_add(0, place, torch.ones_like(f)) / batch
    mu_S = (mu_F * ratios[present]).clamp(max=1.0)
    return functional.binary_cross_entropy(predicted.clamp(0, 1), mu_S, reduction="sum")


def distinct_words(local: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """Return rows and words of a padded table of local ids, each word once a row, without PAD and EOS."""
    rows, columns = (local >= UNK).nonzero(as_tuple=True)
    pairs = torch.unique(rows * size + local[rows, columns])
    return pairs // size, pairs % size


def train(
    texts: Corpus,
    summaries: Corpus,
    vocab: Vocab,
    vectors: NDArray[np.float32],
    settings: recipe.Mu1,
    job: Job,
    forms: Forms | None = None,
) -> Mu1:
    """Match the moments, starting from f = mu_S / mu_F; rows of `vectors` are the words of V^S.

    Where forms are given, in local ids, those of one word share their moments (not in the paper): "named" is
    in a summary as often as its verb is, although summaries say "names".
    Where eta is "auto", the model has the paper's until `thresholds` chooses one.
    """
    mu_S, mu_F = (share_moments(moments(corpus, vocab), forms or {}) for corpus in (summaries, texts))
    ratios = torch.from_numpy(ratio(mu_S, mu_F).astype(np.float32))
    module = Moments(vectors, settings.width, generator_of(job.key, "weights"))
    start_at_ratios(module, ratios)
    match_moments(module, texts, vocab, ratios, settings, job)
    eta = PAPER_ETA if isinstance(settings.eta, str) else settings.eta
    return Mu1(arrays_of(module), vocab, eta, settings.max_words)


def arrays_of(module: Moments) -> Arrays:
    """Return the values of a module, by name."""
    return {name: tensor.numpy() for name, tensor in module.state_dict().items()}


def forms_in(vocab: Vocab, words: Sequence[str]) -> Forms:
    """Return the forms of words in local ids; those outside the vocabulary are left out."""
    local = {words[word]: place for place, word in enumerate(vocab.ids.tolist())}
    known = {word: forms for word, forms in Inflections(words).all_forms().items() if word in local}
    return {local[word]: sorted(local[form] for form in forms if form in local) for word, forms in known.items()}


def share_moments(mu: NDArray[np.float64], forms: Forms) -> NDArray[np.float64]:
    """Return the moments of words, where each form of a word has the sum of all its forms."""
    shared = mu.copy()
    for word, own in forms.items():
        shared[word] = mu[list(own)].sum()
    return shared


def start_at_ratios(module: Moments, ratios: Tensor) -> None:
    """Set f(s, v) to mu_S / mu_F for every text s: a minimum of the loss that knows no context (not in the paper)."""
    with torch.no_grad():
        module.weight.zero_()
        module.bias.copy_(torch.logit(ratios.clamp(0.01, 0.99)))


def match_moments(module: Moments, texts: Corpus, vocab: Vocab, ratios: Tensor, settings: recipe.Mu1, job: Job) -> None:
    """Train a module, from whatever weights it has, until its moments over the texts are those of the summaries."""
    known = torch.from_numpy(vocab.table.astype(np.int64))

    def loss(indices: NDArray[np.int64]) -> Tensor:
        local = known[gather_batch(texts, indices)]
        rows, words = distinct_words(local, len(vocab))
        return batch_loss(module(Bags.of_table(local), rows, words), words, len(indices), ratios)

    batches = Batches(texts.lengths, settings.batch, f"{job.key}/batches")
    fit(module, loss, batches, Fit(settings.steps, settings.learning_rate, settings.clip), job)
