"""The output layer's log-probability of the right words, exactly or with less arithmetic.

The product with the whole vocabulary is most of a model's work. In training only the right word's score and the
softmax's normaliser are needed, and the normaliser can be estimated: the batch's own words and the most frequent ones
are summed exactly, the rest from a uniform sample, each drawn word standing for as many as it was unlikely to be drawn.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def target_log_probs(hidden: Tensor, targets: Tensor, weight: Tensor, bias: Tensor, sampled: int) -> Tensor:
    """Return log softmax(hidden @ weight.T + bias) at the targets: (n, d), (n,), (V, d), (V,) -> (n,).

    With `sampled` > 0 the normaliser Z is estimated without bias: half of `sampled` are the first, most frequent words,
    half are drawn uniformly from the whole vocabulary.
    """
    if sampled == 0 or sampled >= len(weight):
        logits = torch.addmm(bias, hidden, weight.t())
        return logits.gather(1, targets[:, None]).squeeze(1) - logits.logsumexp(1)
    words, correction = _shortlist(targets, len(weight), sampled)
    place = torch.zeros(len(weight), dtype=torch.long, device=targets.device)
    place[words] = torch.arange(len(words), device=targets.device)
    logits = torch.addmm(bias[words] + correction, hidden, weight[words].t())
    return logits.gather(1, place[targets][:, None]).squeeze(1) - logits.logsumexp(1)


def _shortlist(targets: Tensor, vocabulary: int, sampled: int) -> tuple[Tensor, Tensor]:
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
