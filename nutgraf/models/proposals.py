"""A summary that a model proposes, in word ids, and why several models together prefer it to others."""

from __future__ import annotations

from dataclasses import dataclass

from nutgraf.text.lexicon import Ids


@dataclass(frozen=True)
class Score:
    """Why agreed-N prefers one summary to another: `total` orders them. More is better, in all four.

    total = agreement + expander_weight * log(content) + fluency_weight * log(fluency), with the recipe's weights.
    """

    total: float
    agreement: float  # how much it is like the other proposals, from 0 to 1
    content: float  # how well the text could be guessed from it: the expander's probability per word of the text
    fluency: float  # how much it reads like a summary: the trigrams' probability per word


@dataclass(frozen=True)
class Proposal:
    """A summary; one model alone has no score of this kind."""

    words: Ids
    score: Score | None = None
