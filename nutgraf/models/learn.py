"""The supervised learning algorithm S of Section 3: aligned pairs in, a trained model out.

Some pairs are held out for the loss that early stopping looks at; they are as artificial as the others. Only the
supervised rows see real references: they are given real pairs on purpose.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nutgraf.errors import InputError
from nutgraf.learning.batches import Batches, gather_batch
from nutgraf.learning.loop import Fit, Job, Point, fit
from nutgraf.models.seq2seq import Seq2seq
from nutgraf.recipe import Training
from nutgraf.seeds import seed_of
from nutgraf.text.lexicon import PAD
from nutgraf.text.selection import Sentences


def learn(
    model: Seq2seq, sources: Sentences, targets: Sentences, settings: Training, fitting: Fit, job: Job
) -> list[Point]:
    """f = S(D): train `model` on the pairs (sources[i], targets[i]); pairs with an empty side are left out."""
    device = model.bias.device
    usable = np.flatnonzero((sources.lengths > 0) & (targets.lengths > 0))
    if len(usable) < 2:
        raise InputError(f"{len(usable)} usable training pairs: every artificial text is empty; see `nutgraf samples`")
    shuffled = np.random.default_rng(seed_of(job.key, "held out")).permutation(usable)
    held = min(settings.held_out, len(usable) // 10)
    held_out, train = np.sort(shuffled[:held]), np.sort(shuffled[held:])

    def loss(indices: NDArray[np.int64]) -> Tensor:
        chosen = train[indices]
        source, target = gather_batch(sources, chosen).to(device), gather_batch(targets, chosen).to(device)
        return model.loss(source, target, settings.shortlist)

    lengths = np.stack([sources.lengths[train], targets.lengths[train]], 1)
    batches = Batches(lengths, settings.batch, job.key)
    if not held:
        return fit(model, loss, batches, replace(fitting, patience=0), job)
    return fit(model, loss, batches, fitting, job, lambda: held_out_loss(model, sources, targets, held_out))


def fit_of(settings: Training, steps: int, learning_rate: float) -> Fit:
    """Return how a recipe trains a seq2seq model."""
    return Fit(
        steps=steps,
        learning_rate=learning_rate,
        clip=settings.clip,
        warmup=settings.warmup,
        decay=settings.decay,
        validate_every=settings.validate_every,
        patience=settings.patience,
    )


@torch.no_grad()
def held_out_loss(model: Seq2seq, sources: Sentences, targets: Sentences, indices: NDArray[np.int64]) -> float:
    """Return the mean negative log-probability of a target word, by the full softmax."""
    total, words = 0.0, 0
    device = model.bias.device
    order = indices[np.argsort(targets.lengths[indices], kind="stable")]
    for chosen in np.array_split(order, range(100, len(order), 100)):
        target = gather_batch(targets, chosen).to(device)
        total -= float(model.log_probs(gather_batch(sources, chosen).to(device), target).sum())
        words += int((target != PAD).sum())
    return total / words
