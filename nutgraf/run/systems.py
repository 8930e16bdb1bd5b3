"""Summarizers that learn from no pairs: the initializers of the chains, and other systems to compare with (baselines).

One row each: what the step x-0 needs, which values of the recipe it uses, and what people who have not read a paper are
told of it. The settings of a baseline are a section of the recipe, and its code is a module of `models.baselines`.
This module and `names` know all names; nothing here trains or loads.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from nutgraf.recipe import Recipe

TEXT, CASING = "text", "casing"
JOINT, OF_TEXTS, OF_SUMMARIES = "embeddings", "embeddings-F", "embeddings-S"
_V_F, _V_S = "text.texts_vocabulary", "text.summaries_vocabulary"
_ALIGNMENT = (
    "pr_thr.init",
    "pr_thr.init_words",
    "pr_thr.init_steps",
    "pr_thr.words_aligned",
    "pr_thr.epochs",
    "pr_thr.iterations",
    "pr_thr.batch",
    "pr_thr.learning_rate",
    "pr_thr.regularisation",
)


@dataclass(frozen=True)
class System:
    """A summarizer x-0."""

    needs: tuple[str, ...]  # the steps that it is made from
    uses: tuple[str, ...]  # of the recipe: sections, or single values of others
    title: str
    does: str
    version: int = 1  # of a baseline: to be raised when its code makes something else

    def values(self, recipe: Recipe) -> dict[str, object]:
        """Return the recipe's values that it uses, by their names there."""
        found: dict[str, object] = {}
        for name in self.uses:
            section, _, key = name.partition(".")
            values = asdict(getattr(recipe, section))
            found |= {f"{section}.{one}": values[one] for one in ([key] if key else values)}
        return found


SYSTEMS = {
    "pr-thr": System(
        (TEXT, OF_TEXTS, OF_SUMMARIES),
        (*_ALIGNMENT, "pr_thr.eta", "pr_thr.max_words", _V_F, _V_S),
        "Swaps words",
        "replaces each word by the nearest word of summaries",
    ),
    "dbae": System(
        (TEXT, JOINT),
        ("dbae", _V_S),
        "Loose words",
        "writes a sentence from the text's words, whatever their order",
    ),
    "mu1": System(
        (TEXT, JOINT),
        ("mu1", _V_S),
        "Cuts only",
        "keeps the words that a summary would have, and cuts the others",
    ),
    "near": System(
        (TEXT, CASING, JOINT),
        ("near.candidates", "near.common", "near.early", "near.name_penalty"),
        "Found",
        "finds the nearest real summary",
    ),
    "pbsmt": System(
        (TEXT, OF_TEXTS, OF_SUMMARIES),
        ("pbsmt", *_ALIGNMENT, _V_F, _V_S),
        "Translates words",
        "translates the text's first words one by one into the words of summaries, in the most fluent way",
    ),
    "hc": System(
        (TEXT, JOINT),
        ("hc",),
        "Searches for words",
        "searches for the few words of the text that read like a summary and say the same",
    ),
}
