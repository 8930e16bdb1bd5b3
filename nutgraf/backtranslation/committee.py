"""What all-N's teachers agree on for real texts: all-N learns from it (not in the paper).

It writes as they do together, and at the price of one. How proposals are weighed is in models.agreement.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nutgraf import recipe
from nutgraf.learning.beam import Beam
from nutgraf.learning.search import beam
from nutgraf.models.agreement import Agreement
from nutgraf.models.decoding import ConvDecoder
from nutgraf.models.scoring import Estimate
from nutgraf.models.seq2seq import Seq2seq
from nutgraf.seeds import seed_of
from nutgraf.text.lexicon import Ids


@dataclass(frozen=True)
class Committee:
    """Teachers, and what weighs their proposals."""

    teachers: Sequence[Seq2seq]
    agreement: Agreement
    teaching: recipe.Teaching
    decoding: recipe.Decoding
    shortlist: int  # words that the expander's output layer is estimated from, as in training
    key: str

    def __call__(self, sentences: Sequence[Ids], start: int) -> list[Ids]:
        """Return one summary for each sentence; randomness is from the key and the place in the corpus."""
        found = [self._search(teacher, sentences) for teacher in self.teachers]
        proposed = [[*itertools.chain(*of_one)] for of_one in zip(*found, strict=True)]
        estimate = Estimate(self.shortlist, seed_of(self.key, start))
        edited = self.agreement.edit(sentences, proposed, self.decoding)
        ranked = self.agreement.rank(sentences, edited, estimate, self.teaching.kept)
        return [proposals[0].words if proposals else np.zeros(0, dtype=np.int32) for proposals in ranked]

    def _search(self, teacher: Seq2seq, sentences: Sequence[Ids]) -> list[list[Ids]]:
        decoding = self.decoding
        settings = Beam.of(decoding, self.teaching.beam, unk=not teacher.settings.copy)
        decoder = ConvDecoder(teacher, decoding.output_words, related_words=decoding.related_words)
        found = beam(decoder, sentences, settings)
        return [[hypothesis.words for hypothesis in of_one if len(hypothesis.words)] for of_one in found]
