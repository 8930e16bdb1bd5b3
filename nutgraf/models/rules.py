"""What all rules for whole lines read: the phrases of a text, the forms of words and the small ones."""

from __future__ import annotations

from dataclasses import dataclass

from nutgraf.text.grammar import Grammar
from nutgraf.text.phrases import Phrases
from nutgraf.text.small_words import SmallWords


@dataclass(frozen=True)
class Rules:
    """Rules of English, for the words of one lexicon."""

    phrases: Phrases

    @property
    def grammar(self) -> Grammar:
        """The forms of words."""
        return self.phrases.grammar

    @property
    def known(self) -> SmallWords:
        """The small words."""
        return self.phrases.known
