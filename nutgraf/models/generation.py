"""Artificial sentences from a trained model: top-k sampling, one sample a sentence (Section 4 and the appendix)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from nutgraf import recipe
from nutgraf.learning.search import Sampling, sample
from nutgraf.models.decoding import ConvDecoder
from nutgraf.models.seq2seq import Seq2seq
from nutgraf.seeds import seed_of
from nutgraf.text.lexicon import UNK, Ids, Lexicon

FULL_STOP = "."
NONE = -1

# A model as a function: sentences and the place of the first one in the corpus -> one artificial sentence each.
Apply = Callable[[Sequence[Ids], int], list[Ids]]


def full_stop_of(lexicon: Lexicon) -> int:
    """Return the id of the full stop; -1 where no text has one."""
    found = int(lexicon.encode([FULL_STOP])[0])
    return NONE if found == UNK else found


def sampler(model: Seq2seq, settings: recipe.Generation, expands: bool, full_stop: int, key: str) -> Apply:
    """Return a function that draws one sentence for each, seeded by the key and the place in the corpus.

    An expander stops at the first full stop: the appendix keeps nothing after it.
    """
    bounds = (
        (settings.min_text_words, settings.max_text_words)
        if expands
        else (settings.min_summary_words, settings.max_summary_words)
    )
    stop = full_stop if expands else NONE
    # A model that copies has a better way to write a word that it does not know than UNK.
    unk = not model.settings.copy
    repeat_top_words = settings.repeat_top_words if expands else 0
    sampling = Sampling(settings.top_k, *bounds, settings.batch, stop, unk, repeat_top_words)

    decoder = ConvDecoder(model, settings.output_words)

    def apply(sentences: Sequence[Ids], start: int) -> list[Ids]:
        drawn = sample(decoder, sentences, sampling, seed_of(key, start))
        return [clean_expansion(words, stop) for words in drawn] if expands else drawn

    return apply


def clean_expansion(words: Ids, full_stop: int) -> Ids:
    """Clean an expander's output as the appendix does: collapse contiguous UNK, cut after the first full stop."""
    ends = np.flatnonzero(words == full_stop)
    words = words[: ends[0] + 1] if len(ends) else words
    repeated = np.zeros(len(words), dtype=bool)
    repeated[1:] = (words[1:] == UNK) & (words[:-1] == UNK)
    return words[~repeated]
