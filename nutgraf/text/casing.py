"""How words are usually written: "u.s." is U.S., "at&t" is AT&T.

Models see lower case. In a written summary, a word that is in the text is copied as it is there. Other words, and the
text's first word, whose capital may only mark the start, are written as in the corpora. Titles may capitalise every
word and texts do not, so the summaries decide how a word is written, and the texts decide whether it is a name.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from nutgraf.files import naming, read_words
from nutgraf.text.reading import clean_shown
from nutgraf.text.tokens import Tokenizer, detokenize

FILE = "casing.tsv"
SAME = "="  # stands for a form that is the word itself, as models see it
_BEFORE_START = frozenset((".", "!", "?", ":", ";", "``", "`", "(", "-", "--", "..."))
Forms = Mapping[str, str]


class Casing:
    """The usual forms of words, in summaries and in texts; a word found in neither is left as it is."""

    def __init__(self, summaries: Forms | None = None, texts: Forms | None = None):
        self.summaries, self.texts = summaries or {}, texts or {}

    @classmethod
    def learn(cls, texts: Iterable[str], summaries: Iterable[str]) -> Casing:
        """Count the forms in raw lines, except at the start of a sentence."""
        return cls(_count_forms(summaries), _count_forms(texts))

    def form(self, word: str) -> str:
        """Return a word as summaries write it; without the capital of a title, where most have none."""
        form = self.summaries.get(word) or self.texts.get(word) or word
        return word if self.texts.get(word) == word and not self._are_titles else form

    @cached_property
    def _are_titles(self) -> bool:
        """Whether summaries write most words with a capital, which texts do not."""
        lower = [self.summaries[word] == word for word, form in self.texts.items() if form == word in self.summaries]
        return 2 * sum(lower) < len(lower)

    def is_name(self, word: str) -> bool:
        """Whether a word has a capital inside a sentence."""
        form = self.texts.get(word) or self.summaries.get(word) or word
        return form != form.lower()

    def inside(self, word: str, form: str) -> str:
        """Return how the first word of a text is written inside it: its capital may only mark the start."""
        known = word in self.summaries or word in self.texts
        return self.form(word) if known and not self.is_name(word) else form

    def save(self, path: Path, short: bool = False) -> None:
        """Write one line per word: as models see it, in summaries, in texts; a short file is a third smaller."""
        lines = []
        for word in sorted({*self.summaries, *self.texts}):
            forms = (of_side.get(word, "") for of_side in (self.summaries, self.texts))
            row = [SAME if short and form == word else form for form in forms]
            lines.append("\t".join([word, *row]) + "\n")
        path.write_text("".join(lines), encoding="utf-8", newline="\n")

    @classmethod
    def load(cls, path: Path) -> Casing:
        """Read what `save` wrote; a RunError names a file that is something else."""
        with naming(path):
            rows = [line.split("\t") for line in read_words(path).split("\n")[:-1]]
            return cls(
                {word: word if summary == SAME else summary for word, summary, _ in rows if summary},
                {word: word if text == SAME else text for word, _, text in rows if text},
            )


class Writer:
    """Turns the words of a summary, as models see them, into a line as a newspaper prints it."""

    def __init__(self, casing: Casing, tokenizer: Tokenizer):
        self.casing, self._tokenizer = casing, tokenizer

    def __call__(self, words: Sequence[str], text: str) -> str:
        """Write the summary of a text."""
        return self.line(self.forms(words, text))

    def forms(self, words: Sequence[str], text: str) -> list[str]:
        """Return words as the text writes them, or else as the corpora do; what cannot be shown is left out."""
        pairs = [*zip(self._tokenizer.words(text), self._tokenizer.tokenize(text), strict=True)]
        forms: dict[str, str] = {}
        for word, form in pairs[1:]:
            forms.setdefault(word, form)
        for word, form in pairs[:1]:
            forms.setdefault(word, self.casing.inside(word, form))
        found = (forms.get(word) or self.casing.form(word) for word in words)
        return [form if form.isprintable() else "".join(clean_shown(form).split()) for form in found]

    def line(self, forms: Sequence[str]) -> str:
        """Join words to a line that starts with a capital."""
        written = detokenize(forms)
        first = re.split("[ -]", written)[0]  # "pay-TV", but not "iPhone"
        return written[:1].upper() + written[1:] if first.islower() else written


def _count_forms(lines: Iterable[str]) -> dict[str, str]:
    """Return each word's most frequent form; if several are, the lower-case one or the first by the alphabet."""
    tokenizer = Tokenizer()
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for line in lines:
        if line.isupper():
            continue
        before = "."
        for form in tokenizer.tokenize(line):
            if before not in _BEFORE_START:
                counts[form.lower()][form] += 1
            before = form
    return {word: min(forms, key=lambda form: (-forms[form], form != word, form)) for word, forms in counts.items()}
