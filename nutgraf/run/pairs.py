"""Pairs as a run keeps them: the artificial or found side alone, sentence by sentence of a chain's real corpus."""

from __future__ import annotations

import numpy as np

from nutgraf.recipe import BASELINES, INITIALIZERS
from nutgraf.run.names import TEACHERS, ModelName
from nutgraf.text.corpus import Corpus
from nutgraf.text.selection import Selection, Sentences

ARTIFICIAL = "artificial"  # the name of the corpus in the folder of a step
FOUND_FILE = "found.safetensors"  # of found pairs: the place of each text's summary, -1 without one, and their scores
COMMON = 20  # sentences that all chains are given


def share(real: Corpus, limit: int, maker: ModelName) -> Sentences:
    """Return the part of D_B that a chain, or a teacher, works on: `limit` sentences (0: all), others for each.

    So several chains together see as many times more. The first few are everyone's, to be compared side by side.
    """
    if not 0 < limit < len(real):
        return real
    chains = (*INITIALIZERS, *BASELINES, maker.chain)
    number = TEACHERS.index(maker.teacher) if maker.teacher else chains.index(maker.chain)
    own = np.arange(limit - min(limit, COMMON)) + number * limit
    return Selection([real], np.concatenate([np.arange(min(limit, COMMON)), COMMON + own % (len(real) - COMMON)]))


def real_side(texts: Corpus, summaries: Corpus, limit: int, maker: ModelName) -> Sentences:
    """Return what a model's pairs are made from, sentence by sentence: its chain's share, or, to find pairs, all."""
    if maker.finds:
        return texts
    return share(summaries if maker.expands else texts, limit, maker)
