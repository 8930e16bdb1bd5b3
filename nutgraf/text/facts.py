"""Names and numbers of a summary, and whether its text has them.

A text also has a name in another form: its plural, the adjective of a country, an abbreviation of words that stand in
order ("IMF"). And it has a number in another spelling: "five", "1,000", "$5m", "Q2" for the second quarter. It does not
compute: 1.04 is not 1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from nutgraf.text.casing import Casing
from nutgraf.text.tokens import is_number

_NUMBERS = {
    word: str(value)
    for value, line in enumerate(
        """zero
        one first
        two second
        three third
        four fourth
        five fifth
        six sixth
        seven seventh
        eight eighth
        nine ninth
        ten tenth
        eleven
        twelve""".splitlines()
    )
    for word in line.split()
}
# Forms of one name that no ending explains; the first stands for all.
_SAME = {
    form: forms[0]
    for forms in (
        line.split()
        for line in """us u.s usa states american americans america
        uk u.k britain british briton britons
        eu e.u europe european europeans
        un u.n nations
        france french
        spain spanish
        sweden swedish
        netherlands dutch
        greece greek
        turkey turkish
        switzerland swiss
        thailand thai
        poland polish
        denmark danish
        ireland irish
        norway norwegian
        finland finnish
        scotland scottish
        philippines philippine
        ceo executive
        cfo financial""".splitlines()
    )
    for form in forms
}
_ENDINGS = ("s", "es", "n", "an", "ian", "i", "ese", "ish", "a", "e", "o", "y")
_LEAST = 4  # letters of what is left without an ending
_FIGURE = re.compile(r"[\d#N]+(?:\.[\d#N]+)?")


def is_fact(word: str, casing: Casing) -> bool:
    """Whether a word, as models see it, is a name or a number: what must not be made up."""
    return is_number(word) or casing.is_name(word)


def find_unsupported(summary: Sequence[str], text: Sequence[str], casing: Casing) -> list[bool]:
    """Return which words of a summary are names or numbers that its text lacks; both are as models see them."""
    wanted = [is_fact(word, casing) for word in summary]
    if not any(wanted):
        return wanted
    facts = _Facts(text, casing)
    return [fact and not facts.support(word) for word, fact in zip(summary, wanted, strict=True)]


class _Facts:
    """What a text has to support names and numbers."""

    def __init__(self, text: Sequence[str], casing: Casing):
        self.casing = casing
        self._forms = frozenset(form for word in text for part in (word, *_split(word)) for form in _forms_of(part))
        words = [word for word in text if word[:1].isalpha()]
        self._initials = "".join(word[0] for word in words)
        self._initials_of_names = "".join(word[0] if casing.is_name(word) else " " for word in words)

    def support(self, word: str) -> bool:
        """Whether the text has a name or number; of one with hyphens, all parts that are names or numbers."""
        parts = _split(word)
        return self._has(word) or (parts != [] and all(self._has(p) or not is_fact(p, self.casing) for p in parts))

    def _has(self, word: str) -> bool:
        return self._abbreviates(re.sub(r"[.&]", "", word)) or not self._forms.isdisjoint(_forms_of(word))

    def _abbreviates(self, letters: str) -> bool:
        """Whether letters are the initials of words in a row: of names, or of any if they are three or more."""
        if len(letters) < 2 or not letters.isalpha():
            return False
        return letters in self._initials_of_names or (len(letters) > 2 and letters in self._initials)


def _split(word: str) -> list[str]:
    """Return the parts of a word with hyphens or slashes; none of a word without."""
    return [part for part in re.split(r"[-/]", word) if part] if "-" in word or "/" in word else []


def _forms_of(word: str) -> set[str]:
    """Return what a word may be compared by: two that share one mean the same."""
    if word in _NUMBERS:
        return {word, _NUMBERS[word]}
    if is_number(word):
        return {word, *map(_plain_figure, _FIGURE.findall(word.replace(",", "")))}
    bare = word.rstrip(".")
    bare = _SAME.get(bare, bare).replace(".", "")
    stems = {bare[: -len(ending)] for ending in _ENDINGS if bare.endswith(ending)}
    return {word, bare} | {stem for stem in stems if len(stem) >= _LEAST}


def _plain_figure(figure: str) -> str:
    """Write 5.0 and 5.00 as 5."""
    return figure.rstrip("0").rstrip(".") if "." in figure else figure
