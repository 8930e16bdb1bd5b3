"""A summary that a model proposes, in word ids, and why several models together prefer it to others."""

from __future__ import annotations

from dataclasses import dataclass

from nutgraf.text.lexicon import Ids


@dataclass(frozen=True)
class Score:
    """Why agreed-N prefers one summary to another: `total` orders them. More is better, except of `breaks`.

    total = agreement + fluency_weight * log(fluency) + initial_weight * expected + expander_weight * log(content)
    - break_weight * breaks, with the recipe's weights. What has no weight is not computed, and None.
    """

    total: float
    agreement: float  # how much it is like the other proposals, from 0 to 1
    fluency: float  # how much it reads like a summary: the trigrams' probability per word
    expected: float | None = None  # how much of a real summary it has, as mu1-0 expects it, from 0 to 1
    content: float | None = None  # how well the text could be guessed from it: the expander's probability per word
    breaks: int | None = None  # places where it joins what the text has apart

    @property
    def parts(self) -> dict[str, float]:
        """The shares that the total is made of, by name; `breaks` is no share."""
        names = ("agreement", "fluency", "expected", "content")
        return {name: value for name in names if (value := getattr(self, name)) is not None}


@dataclass(frozen=True)
class Proposal:
    """A summary; one model alone has no score of this kind."""

    words: Ids
    score: Score | None = None
