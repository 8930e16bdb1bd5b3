"""How summaries read: fluent or not, and true to their text or not. ROUGE sees neither.

Fluency is bits per word under a trigram model of real summaries that no model was trained on, divided by those of the
references: 1.0 is as fluent as real summaries. It runs no model of the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nutgraf.run.folder import Run
from nutgraf.run.systems import TEXT
from nutgraf.summarizing.language import casing_of
from nutgraf.text.casing import Casing
from nutgraf.text.directions import find_contradictions
from nutgraf.text.facts import find_unsupported
from nutgraf.text.lexicon import Lexicon
from nutgraf.text.negations import find_lost_negations
from nutgraf.text.prepare import Prepared
from nutgraf.text.trigrams import Trigrams, encode_words

LEAST = 200  # held-out summaries: a language model of fewer says little

Lines = Sequence[Sequence[str]]  # the words of each summary or text, as models see them


@dataclass(frozen=True)
class Fluency:
    """A language model of held-out summaries, and what the references take under it."""

    model: Trigrams
    lexicon: Lexicon
    reference: float  # bits per word

    @classmethod
    def learn(cls, prepared: Prepared, references: Lines) -> Fluency | None:
        """Learn from the summaries that were set aside; None where they are too few."""
        if len(prepared.judge) < LEAST:
            return None
        model = Trigrams.train(prepared.judge, prepared.lexicon)
        encoded = [encode_words(words, prepared.lexicon) for words in references]
        return cls(model, prepared.lexicon, model.bits_per_word(encoded))

    def ratio(self, outputs: Lines) -> float:
        """Return the outputs' bits per word, as a multiple of the references'."""
        return self.model.bits_per_word([encode_words(words, self.lexicon) for words in outputs]) / self.reference


@dataclass(frozen=True)
class Reader:
    """Judges summaries with what a run knows of its corpora."""

    casing: Casing
    fluency: Fluency | None

    @classmethod
    def of(cls, run: Run, references: Sequence[str]) -> Reader:
        """Return the reader of a run, for pairs with these references, whose words are between blanks."""
        prepared = Prepared.open(run.intact(TEXT))
        return cls(casing_of(run), Fluency.learn(prepared, [line.split() for line in references]))

    def bits(self, outputs: Lines) -> float | None:
        """Return how many times as many bits a word takes as in the references; None where no model could tell."""
        return self.fluency.ratio(outputs) if self.fluency else None

    def unsupported(self, outputs: Lines, inputs: Lines) -> float:
        """Return the share of outputs that have a name or a number that their input lacks."""
        found = [any(find_unsupported(*pair, self.casing)) for pair in zip(outputs, inputs, strict=True)]
        return sum(found) / len(found)

    def contradicted(self, outputs: Lines, inputs: Lines) -> float:
        """Return the share of outputs that say the opposite of a direction in their input, or lose a negation."""
        pairs = zip(outputs, inputs, strict=True)
        found = [any(find_contradictions(*pair)) or any(find_lost_negations(*pair)) for pair in pairs]
        return sum(found) / len(found)
