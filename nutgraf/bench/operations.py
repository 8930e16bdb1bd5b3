"""The floating-point operations that are really done, counted from shapes: a product of (m, k) and (k, n) is 2mkn.

The matrix products of a model are counted by `cost.forward`, which has them right: convolutions, projections, attention
and the output layer. Left out is what is no product (softmax, weight norm, dropout, Adam) and the gate of models that
copy, a product with one column.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nutgraf.models.arithmetic import forward
from nutgraf.recipe import Recipe
from nutgraf.text.corpus import Corpus

TRAINING = 3  # times a forward pass: the gradients of a product's two factors are products of the same size


def sentence(recipe: Recipe, source: float, target: float, columns: int) -> float:
    """Return the operations of one forward pass for these numbers of positions and of output columns.

    EOS is a position. In beam search each hypothesis of each step is one of the target's; the source is read once.
    """
    return forward(replace(recipe, text=replace(recipe.text, joint_vocabulary=columns)), source, target)


def scored(targets: Corpus, batch: int, vocabulary: int, shortlist: int) -> int:
    """Return the columns of the output layer in training: all words, or those of a batch's shortlist on average.

    A shortlist holds half of `shortlist` most frequent words (EOS among them), the batch's own words, and of as many
    words drawn from the whole vocabulary those that are not in it already.
    """
    if shortlist == 0 or shortlist >= vocabulary:
        return vocabulary
    frequent, drawn, sizes = shortlist // 2, shortlist - shortlist // 2, []
    for start in range(0, len(targets), batch):
        words = np.unique(np.concatenate(targets[start : start + batch]))
        certain = frequent + int(((words >= frequent) & (words < vocabulary)).sum())
        sizes.append(certain + drawn * (1 - certain / vocabulary))
    return round(sum(sizes) / len(sizes))
