"""Artificial sentences from a trained model: top-k sampling, one sample a sentence (Section 4 and the appendix)."""

from __future__ import annotations

from collections.abc import Sequence

from nutgraf import recipe
from nutgraf.backtranslation.pairs import Apply, cleaned
from nutgraf.randomness import seed_of
from nutgraf.seq2seq.decoding import ConvDecoder
from nutgraf.seq2seq.model import Seq2seq
from nutgraf.seq2seq.search import Sampling, sample
from nutgraf.text.lexicon import UNK, Ids, Lexicon

FULL_STOP = "."
NONE = -1


def full_stop_of(lexicon: Lexicon) -> int:
    """Return the id of the full stop; -1 where no text has one."""
    found = int(lexicon.encode([FULL_STOP])[0])
    return NONE if found == UNK else found


def sampler(model: Seq2seq, settings: recipe.Generation, expands: bool, full_stop: int, key: str) -> Apply:
    """Return a function that draws one sentence for each, seeded by the key and the place in the corpus.

    An expander's output ends at the first full stop: nothing after it would be kept.
    """
    bounds = (
        (settings.min_text_words, settings.max_text_words)
        if expands
        else (settings.min_summary_words, settings.max_summary_words)
    )
    stop = full_stop if expands else NONE
    # A model that copies has a better way to write a word that it does not know than UNK.
    unk = not model.settings.copy
    repeatable = settings.repeatable if expands else 0
    sampling = Sampling(settings.top_k, *bounds, settings.batch, stop, unk, repeatable)

    decoder = ConvDecoder(model, settings.spoken)

    def apply(sentences: Sequence[Ids], start: int) -> list[Ids]:
        drawn = sample(decoder, sentences, sampling, seed_of(key, start))
        return [cleaned(words, stop) for words in drawn] if expands else drawn

    return apply
