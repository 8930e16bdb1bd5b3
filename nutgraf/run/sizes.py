"""How large the inputs of a run are, for estimates of how long steps take."""

from __future__ import annotations

from dataclasses import dataclass

from nutgraf.recipe import Recipe
from nutgraf.run.inputs import Inputs


@dataclass(frozen=True)
class Sizes:
    """How many sentences, and words a sentence."""

    texts: int
    summaries: int
    text_words: float
    summary_words: float
    aligned: int = 0

    @classmethod
    def of(cls, inputs: Inputs, recipe: Recipe) -> Sizes:
        """Take the sizes of inputs; tokens are about 12 % more than words between blanks."""
        mean = [1.12 * source.words / max(1, source.lines) for source in (inputs.texts, inputs.summaries)]
        return cls(
            inputs.texts.lines,
            inputs.summaries.lines,
            min(mean[0], recipe.text.max_text_words),
            min(mean[1], recipe.text.max_summary_words),
            inputs.aligned.lines if inputs.aligned else 0,
        )
