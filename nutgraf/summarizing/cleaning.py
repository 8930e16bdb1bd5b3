"""What is mended in a summary that a model found: special words, what is not true, an end that wants another word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nutgraf.models.proposals import Proposal
from nutgraf.recipe import Decoding
from nutgraf.summarizing.codec import UNKNOWN, Codec
from nutgraf.text.casing import Casing
from nutgraf.text.directions import find_contradictions
from nutgraf.text.facts import find_unsupported
from nutgraf.text.inflection import words_of
from nutgraf.text.lexicon import SPECIALS, Ids
from nutgraf.text.negations import find_lost_negations
from nutgraf.text.tokens import is_number

# A line that ends in one of these is not finished; "in", "on", "up" may belong to a verb and end one.
_DANGLING = (
    ", : ; - -- ( [ `` ` & + $ a an the of to for from with by and or at as its his her their than that"
    " 's is are was were be been has have had will would could should may might must not"
    " into amid among between despite without during via including because if while which who whose"
    " very too such these those another"
)
DANGLING = words_of(_DANGLING)
# What belongs to the number before it: "fell 12" of "fell 12 percent" says something else.
UNITS = words_of("percent pct % hundred thousand million billion trillion mln bln")


@dataclass(frozen=True)
class Cleaner:
    """Cleans summaries in word ids of a codec; the casing says which words are names."""

    codec: Codec
    casing: Casing

    def clean_all(self, proposals: Sequence[Proposal], sentence: Ids, decoding: Decoding, most: int) -> list[Proposal]:
        """Clean the summaries of a sentence, `most` words of each; if asked for, the truest go first."""
        cleaned = [self._clean(proposal.words, sentence, decoding.faithful)[:most] for proposal in proposals]
        if decoding.trim:
            trimmed = [trim(summary, self.codec) for summary in cleaned]
            cleaned = [keep_unit(summary, sentence, self.codec)[:most] for summary in trimmed]
        result = [replace(proposal, words=words) for proposal, words in zip(proposals, cleaned, strict=True)]
        if decoding.prefer_true and len(result) > 1:
            text, *written = self.codec.decode([sentence, *cleaned], UNKNOWN)
            faults = [sum(self._find_faults(words, text)) + any(find_lost_negations(words, text)) for words in written]
            result = [result[place] for place in sorted(range(len(result)), key=faults.__getitem__)]
        return result

    def _clean(self, summary: Ids, sentence: Ids, faithful: bool) -> Ids:
        """Leave out special words and, for the initializers, which do not know of it, what is not faithful."""
        kept = summary[summary >= len(SPECIALS)]
        if faithful:
            words, text = self.codec.decode([kept, sentence], UNKNOWN)
            kept = kept[np.array(self._find_faults(words, text)) == 0]
        return np.asarray(kept, dtype=np.int32)

    def _find_faults(self, summary: Sequence[str], text: Sequence[str]) -> list[int]:
        """Return for each word of a summary whether it is made up (1) or contradicts its text (1), or both (2)."""
        wrong = zip(find_unsupported(summary, text, self.casing), find_contradictions(summary, text), strict=True)
        return [made_up + contradicts for made_up, contradicts in wrong]


def trim(summary: Ids, codec: Codec) -> Ids:
    """Leave out what a summary cannot end in; one that has nothing else stays."""
    words = codec.decode([summary], UNKNOWN)[0]
    ends = [place for place, word in enumerate(words, 1) if word not in DANGLING]
    return summary[: ends[-1]] if ends else summary


def keep_unit(summary: Ids, sentence: Ids, codec: Codec) -> Ids:
    """Add the unit of a number that a summary ends in, if the sentence has the number only with that unit."""
    if len(summary) == 0 or not is_number(codec.decode([summary[-1:]], UNKNOWN)[0][0]):
        return summary
    after = [sentence[place + 1 : place + 2] for place in np.flatnonzero(sentence == summary[-1])]
    units = {words[0] if words else "" for words in codec.decode(after, UNKNOWN)}
    return np.concatenate([summary, after[0]]) if len(units) == 1 and units <= UNITS else summary
