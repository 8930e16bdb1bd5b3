"""The initializers of the chains, and other systems to compare with (baselines).

One row each: what the step x-0 needs, which values of the recipe it uses, and what people who have not read a paper are
told of it. Some learn from aligned pairs, too: x-0+10000 and x-0+all are steps of their own, where there are pairs. The
settings of a baseline are a section of the recipe, and its code is a module of `models.baselines`. This module and
`names` know all names; nothing here trains or loads.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from nutgraf.recipe import Recipe
from nutgraf.run.names import ModelName

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
# What every seq2seq model depends on that is trained from random weights.
_SEQ2SEQ = ("seq2seq", _V_F, _V_S, "text.joint_vocabulary")
_TRAINING = tuple(
    f"training.{name}"
    for name in (
        "learning_rate",
        "batch",
        "warmup",
        "decay",
        "clip",
        "shortlist",
        "held_out",
        "validate_every",
        "patience",
    )
)
_WRITING = ("generation.max_summary_words", "generation.output_words")


@dataclass(frozen=True)
class System:
    """A summarizer x-0."""

    needs: tuple[str, ...]  # the steps that it is made from
    uses: tuple[str, ...]  # of the recipe: sections, or single values of others
    title: str
    does: str
    version: int = 1  # of a baseline: to be raised when its code makes something else
    seq2seq: bool = False  # whether it is a seq2seq model: searched, sampled from and exported as any other
    full: bool = False  # whether the paper has it among the full systems (Table 3)
    pairs: bool = False  # whether there are x-0+10000 and x-0+all, where aligned pairs are given

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
    "pre-dae": System(
        (TEXT, JOINT),
        (*_SEQ2SEQ, *_TRAINING, "training.summarizer_steps"),
        "Picks words in a row",
        "learned to pick a few words in a row out of scrambled texts",
        seq2seq=True,
    ),
    "nmt": System(
        (TEXT, JOINT),
        (*_SEQ2SEQ, *_TRAINING, *_WRITING, "nmt", "generation.max_text_words", "generation.batch"),
        "Translates sentences",
        "reads texts and summaries alike, and translates one into the other",
        seq2seq=True,
        full=True,
    ),
    "adversarial": System(
        (TEXT, JOINT, "pre-dae-0"),
        (*_SEQ2SEQ, *_WRITING, "adversarial", "training.shortlist"),
        "Fools a critic",
        "learned to write what a critic takes for real summaries, and what tells most of the text",
        seq2seq=True,
        full=True,
        version=3,
        pairs=True,
    ),
    "mass": System(
        (TEXT, JOINT),
        (*_SEQ2SEQ, *_TRAINING, "mass"),
        "Fills gaps first",
        "learned to fill long gaps in sentences",
        seq2seq=True,
        full=True,
        pairs=True,
    ),
    "fsc": System(
        (TEXT, JOINT),
        (*_SEQ2SEQ, *_WRITING, "fsc", "training.shortlist"),
        "Compresses",
        "learned to choose words of texts that read like a summary and tell the text",
        seq2seq=True,
        full=True,
        version=2,
        pairs=True,
    ),
    "hc": System(
        (TEXT, JOINT),
        ("hc",),
        "Searches for words",
        "searches for the few words of the text that read like a summary and say the same",
    ),
}


def is_seq2seq(name: ModelName) -> bool:
    """Whether a model is a seq2seq model, which is searched or sampled from: all are, except most initializers."""
    return not name.initial or SYSTEMS[name.chain].seq2seq
