"""The key of a step: a hash of what it is made from, so that a step is redone where, and only where, that changed.

A key covers the keys of the step's needs, the recipe's values that the step uses, the seed, the digests of the files
that it reads and the version of its code. Device and number of threads stay out of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict

from nutgraf.recipe import AUTO, INITIALIZERS, Recipe
from nutgraf.run.inputs import Inputs
from nutgraf.run.names import FOUND, ModelName
from nutgraf.run.plan import ALIGNED, OWN_WAY, Kind, Step, learning_rate, learns_initial, training_steps
from nutgraf.run.systems import JOINT, OF_TEXTS, SYSTEMS, is_seq2seq

# To be raised when the code of a kind of step changes what it makes: tests/run/test_versions.py finds out.
VERSIONS = {
    Kind.TEXT: 5,
    Kind.CASING: 2,
    Kind.EMBEDDINGS: 2,
    Kind.ALIGNED: 1,
    Kind.INITIALIZER: 2,
    Kind.PAIRS: 1,
    Kind.EXPANDER: 2,
    Kind.SUMMARIZER: 2,
    Kind.AGREED: 5,
}

MENDING = 6  # the same for the rules of models.mending, which some pairs go through

Values = dict[str, object]
_PART, _DEFAULT_CHUNK = 1_024, 4_096  # sentences that a model is given at once, and of a file, as keys have them


def step_keys(steps: Sequence[Step], recipe: Recipe, inputs: Inputs) -> dict[str, str]:
    """Return the key of each step; each comes after its needs."""
    keys: dict[str, str] = {}
    for step in steps:
        facts = {
            "step": step.name,
            "version": VERSIONS[step.kind],
            "seed": recipe.seed,
            "recipe": values_used(step, recipe),
            "files": _digests(step, recipe, inputs),
            "needs": [keys[name] for name in step.needs],
        }
        keys[step.name] = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
    return keys


def values_used(step: Step, recipe: Recipe) -> Values:
    """Return the recipe's values that a step uses, by their names there."""
    match step.kind:
        case Kind.TEXT:
            # Where nothing is set aside or left out, the step makes what it always made.
            names = [name for name in ("judge_share", "skim") if getattr(recipe.text, name)]
            return _values(recipe, "text", "digits", "max_text_words", "max_summary_words", *names)
        case Kind.CASING | Kind.ALIGNED:  # of the text's values, by its key
            return {}
        case Kind.EMBEDDINGS:
            return _of_embeddings(step, recipe)
        case Kind.INITIALIZER:
            return _of_initializer(step, recipe)
        case Kind.PAIRS:
            return _of_pairs(step, recipe)
        case Kind.EXPANDER | Kind.SUMMARIZER:
            # A baseline that learns from pairs does what else it does in the same step.
            own = _of_initializer(step, recipe) if step.chain in OWN_WAY and ALIGNED in step.needs else {}
            return _of_seq2seq(step, recipe) | own
        case Kind.AGREED:
            words = "joint" if recipe.seq2seq.copy else "summaries"
            return _values(recipe, "agreement") | _vocabularies(recipe, words)


def _of_embeddings(step: Step, recipe: Recipe) -> Values:
    names = ["window", "negative", "learning_rate", "sample", "min_count", "buckets", "max_sentences"]
    # Where one block is all, vectors are what they always were.
    names += ["blocks"] if recipe.embeddings.blocks > 1 else []
    shared = _values(recipe, "embeddings", *names)
    if step.name == JOINT:
        own = _values(recipe, "embeddings", "width", "epochs")
        return shared | own | _vocabularies(recipe, "texts", "summaries", "joint")
    own = _values(recipe, "embeddings", "procrustes_width") | _values(recipe, "pr_thr", "vector_epochs", "vector_words")
    return shared | own | _vocabularies(recipe, "texts" if step.name == OF_TEXTS else "summaries")


def _of_initializer(step: Step, recipe: Recipe) -> Values:
    system = SYSTEMS[step.chain]
    values = system.values(recipe) | ({} if step.chain in INITIALIZERS else {"version": system.version})
    # Where forms share nothing, mu1-0 is what it always was.
    return {name: value for name, value in values.items() if name != "mu1.forms" or value}


def _of_pairs(step: Step, recipe: Recipe) -> Values:
    if step.model == FOUND:
        # Where any pair may be found, and as it is, the step makes what it always made.
        names = ["max_lead", "again_min_score"] if recipe.near.max_lead < 1 else []
        names += ["adapt"] if recipe.near.adapt else []
        return _values(recipe, "near", "min_score", "max_uses", *names)
    if step.model and step.model.finds:
        names = ["max_uses", "again_min_score", "again_pairs", "summarizer_weight", "expander_weight"]
        return _values(recipe, "near", *names) | _values(recipe, "training", "shortlist")
    names = ["sentences_per_chain"]
    # Whole parts make the same sentences in chunks of any size; the key is then that of the default size.
    size = recipe.generation.chunk
    chunk: Values = {"generation.chunk": _DEFAULT_CHUNK if size % _PART == 0 else size}
    # Where nothing is put into other words, pairs are what they always were.
    if step.model and (step.model.teacher or not is_seq2seq(step.model)):
        names += [name for name in ("reword", "mend") if getattr(recipe.generation, name)]
        if recipe.generation.mend:
            chunk["mending"] = MENDING
            names += [] if step.model.teacher else ["initial_words"]
    if step.model and step.model.teacher:
        searched = _values(recipe, "decoding", without=("beam", "shorter", "trim", "prefer_true", "faithful"))
        shortlist = _values(recipe, "training", "shortlist")
        return _values(recipe, "generation", *names) | chunk | _values(recipe, "teaching") | searched | shortlist
    if step.model and is_seq2seq(step.model):
        side = "text" if step.expands else "summary"
        names += ["top_k", "batch", "output_words", f"min_{side}_words", f"max_{side}_words"]
    if step.expands:
        names.append("repeat_top_words")
    return _values(recipe, "generation", *names) | chunk


def _of_seq2seq(step: Step, recipe: Recipe) -> Values:
    training = recipe.training
    names = ["batch", "warmup", "decay", "clip", "shortlist", "held_out", "validate_every", "patience"]
    makers = [ModelName.of_pairs(name) for name in step.pairs]
    taught = any(maker.teacher for maker in makers)  # from real texts, and each pair once
    if step.kind is Kind.SUMMARIZER and ALIGNED not in step.needs and not taught:
        names.append("min_coverage")
    if training.shards > 1:  # a single one makes what was always made
        names.append("shards")
    values = _values(recipe, "training", *names)
    if step.kind is Kind.SUMMARIZER and any(map(learns_initial, makers)):
        values |= _values(recipe, "generation", "max_summary_words")
    if step.kind is Kind.SUMMARIZER and any(maker.finds for maker in makers) and not taught:
        values |= _values(recipe, "near", "repeat")
    values["steps"] = training_steps(step, training, step.aligned_limit)
    values["rate"] = learning_rate(step, training)
    if not step.start:  # else the shape is that of the model it starts from
        words = ("joint",) if recipe.seq2seq.copy else ("texts", "summaries")
        values |= _values(recipe, "seq2seq") | _vocabularies(recipe, *words)
    return values


def _vocabularies(recipe: Recipe, *sides: str) -> Values:
    return _values(recipe, "text", *(f"{side}_vocabulary" for side in sides))


def _values(recipe: Recipe, section: str, *names: str, without: Sequence[str] = ()) -> Values:
    """Return some values of a section, or all except a few."""
    values = asdict(getattr(recipe, section))
    return {f"{section}.{name}": values[name] for name in names or values if name not in without}


def _digests(step: Step, recipe: Recipe, inputs: Inputs) -> list[str]:
    """Return the digests of the files that a step reads."""
    if step.kind in (Kind.TEXT, Kind.CASING):
        return [inputs.texts.digest, inputs.summaries.digest]
    if step.kind is Kind.ALIGNED:
        return [inputs.aligned.digest] if inputs.aligned else []
    if step.kind is Kind.INITIALIZER and inputs.valid and eta_is_tuned(step.chain, recipe):
        return [inputs.valid.digest]
    return []


def eta_is_tuned(chain: str, recipe: Recipe) -> bool:
    """Whether the threshold of an initializer is chosen, and not given by the recipe."""
    return AUTO in {"pr-thr": (recipe.pr_thr.eta,), "mu1": (recipe.mu1.eta,)}.get(chain, ())
