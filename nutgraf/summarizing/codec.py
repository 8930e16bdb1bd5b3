"""Raw text to word ids and back."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from nutgraf import recipe
from nutgraf.text.beginning import find_read
from nutgraf.text.lexicon import SPECIALS, UNK, Ids, Lexicon
from nutgraf.text.tokens import Tokenizer, detokenize

UNKNOWN = "UNK"


class Codec:
    """Raw text to word ids and back; words that no corpus had get numbers past the lexicon's end."""

    def __init__(self, lexicon: Lexicon, digits: str):
        self.lexicon = lexicon
        self.tokenizer = Tokenizer(digits)
        self._new: dict[str, int] = {}
        self._new_words: list[str] = []

    def read(self, text: str, settings: recipe.Text) -> tuple[Ids, list[int]]:
        """Return the ids of the words of a text that models read, and their places in the text."""
        words = self.tokenizer.words(text)
        places = find_read(words, settings)
        return self._encode([words[place] for place in places]), places

    def encode(self, summary: str, most: int) -> Ids:
        """Return the ids of a summary's first words."""
        return self._encode(self.tokenizer.words(summary)[:most])

    def _encode(self, words: list[str]) -> Ids:
        ids = self.lexicon.encode(words)
        for place in np.flatnonzero(ids == UNK):
            ids[place] = self._numbered(words[place])
        return ids

    def _numbered(self, word: str) -> int:
        if word not in self._new:
            self._new[word] = len(self.lexicon) + len(self._new)
            self._new_words.append(word)
        return self._new[word]

    def decode(self, sentences: Iterable[Ids], unknown: str = "") -> list[list[str]]:
        """Return the words of sentences; what no word is known for is left out, or written as `unknown`."""
        return [[word for i in ids.tolist() if (word := self._word(i, unknown))] for ids in sentences]

    def text(self, words: Ids) -> str:
        """Write a sentence; words that are not known are shown as in the paper."""
        return detokenize(self.decode([words], UNKNOWN)[0])

    def count(self, sentence: Ids) -> int:
        """Return the number of words between blanks, as a reader counts."""
        return len(detokenize(self.decode([sentence])[0]).split())

    def cut(self, sentence: Ids, most: int) -> Ids:
        """Return the longest beginning that has no more words than that."""
        return next(sentence[:end] for end in range(len(sentence), -1, -1) if self.count(sentence[:end]) <= most)

    def _word(self, i: int, unknown: str) -> str:
        if i >= len(self.lexicon):
            return self._new_words[i - len(self.lexicon)]
        return self.lexicon.words[i] if i >= len(SPECIALS) else unknown if i == UNK else ""
