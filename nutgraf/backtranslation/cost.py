"""What a plan will cost: an estimate in seconds a step, from the sizes of the corpora and the recipe.

Matrix products are counted and divided by a rate that two cores of a common CPU reach with these models; the rest is
sentences or words by measured rates. It is an estimate: machines differ by a factor of two and more. While a plan runs,
the engine corrects it by what the steps before took.
"""

from __future__ import annotations

from collections.abc import Sequence

from nutgraf.models import alignment, baselines
from nutgraf.models.arithmetic import GENERATION_FLOPS, TRAINING_FLOPS, forward
from nutgraf.recipe import INITIALIZERS, Recipe
from nutgraf.run.names import FOUND, NEAR, ModelName
from nutgraf.run.plan import ALIGNED, OWN_WAY, Kind, Step, training_steps
from nutgraf.run.sizes import Sizes
from nutgraf.run.systems import JOINT

# Measured with one thread, all of them.
TOKENISED_WORDS = 300e3  # a second
CASED_WORDS = 4e6  # are looked at
COUNTED_WORDS = 5e6  # a second
EMBEDDED_WORDS = 90e3  # a second, for width 128, 5 negative words, one epoch
MERGED_WORDS = 10e6  # a second, of parts of the text that become one corpus
JOINED = 2e6  # sentences a second, of chunks that become one corpus
COVERED = 80e3  # pairs a second whose summary is compared with its text
RESCORED = 2.5  # candidates per text that models score again
LOADING = 3.0  # seconds: to start, read, write and check
THRESHOLDS = 40.0  # seconds: to try values of eta and N
_ONE_THREAD = (Kind.TEXT, Kind.CASING, Kind.ALIGNED, Kind.EMBEDDINGS)
SEARCHED = 1.8e-9  # seconds for each text and summary that may be a pair
REWORDED = 1e-3  # seconds for each initial summary in the words of real ones
MENDED = 3e-4  # seconds to make one whole
ADAPTED = 2e-3  # seconds for each text whose candidates are made to fit, and a second search


def estimate(steps: Sequence[Step], recipe: Recipe, sizes: Sizes, threads: int) -> dict[str, float]:
    """Return the seconds that each step may take."""
    return {
        step.name: LOADING + _seconds(step, recipe, sizes) / (1 if step.kind in _ONE_THREAD else max(1, threads))
        for step in steps
    }


def _seconds(step: Step, recipe: Recipe, sizes: Sizes) -> float:
    """Return the seconds of one thread."""
    words_F, words_S = sizes.texts * sizes.text_words, sizes.summaries * sizes.summary_words
    match step.kind:
        case Kind.TEXT:
            return (words_F + words_S) / TOKENISED_WORDS
        case Kind.CASING:
            return 2 * min(words_F + words_S, CASED_WORDS) / TOKENISED_WORDS
        case Kind.ALIGNED:
            return sizes.aligned * (sizes.text_words + sizes.summary_words) / TOKENISED_WORDS
        case Kind.EMBEDDINGS:
            most = recipe.embeddings.max_sentences or 10**12
            words_F, words_S = (
                min(sizes.texts, most) * sizes.text_words,
                min(sizes.summaries, most) * sizes.summary_words,
            )
            words = {JOINT: words_F + words_S, "embeddings-F": words_F, "embeddings-S": words_S}[step.name]
            joint = step.name == JOINT
            width = recipe.embeddings.width if joint else recipe.embeddings.procrustes_width
            epochs = recipe.embeddings.epochs if joint else recipe.pr_thr.epochs_for(int(words))
            return words * epochs * (0.4 + 0.6 * width / 128) / EMBEDDED_WORDS
        case Kind.INITIALIZER:
            return _initializer(step.chain, recipe, sizes)
        case Kind.PAIRS:
            return _pairs(step, recipe, sizes)
        case Kind.EXPANDER | Kind.SUMMARIZER:
            return _training(step, recipe, sizes)
        case Kind.AGREED:
            return words_S / COUNTED_WORDS


def _initializer(chain: str, recipe: Recipe, sizes: Sizes) -> float:
    if chain not in INITIALIZERS:
        return baselines.of(chain).estimate(recipe, sizes).training
    if chain == "pr-thr":
        return alignment.estimate(recipe.pr_thr) + THRESHOLDS
    if chain == NEAR:
        return sizes.summaries * sizes.summary_words / COUNTED_WORDS
    if chain == "dbae":
        settings_d = recipe.dbae
        output = settings_d.shortlist or recipe.text.summaries_vocabulary
        flops = sizes.summary_words * (2 * 6 * 2 * settings_d.width**2 + 2 * recipe.embeddings.width * output)
        return 3 * settings_d.steps * settings_d.batch * flops / TRAINING_FLOPS
    flops = recipe.embeddings.width * (recipe.mu1.width + sizes.text_words) * 2
    # The moments of all of V^S are compared in every batch.
    vocabulary = 40 * recipe.text.summaries_vocabulary
    return recipe.mu1.steps * 3 * (recipe.mu1.batch * flops + vocabulary) / TRAINING_FLOPS * 4 + THRESHOLDS


def count_pairs(step: Step, recipe: Recipe, sizes: Sizes) -> int:
    """Return how many sentences a model is applied to."""
    limit = recipe.generation.sentences_per_chain or 10**12
    return min(limit, sizes.summaries if step.expands else sizes.texts)


def _pairs(step: Step, recipe: Recipe, sizes: Sizes) -> float:
    """Return the cost of applying a model to one corpus."""
    if step.model == FOUND:
        searched = sizes.texts * sizes.summaries * SEARCHED
        return 2 * searched + sizes.texts * ADAPTED if recipe.near.adapt else searched
    if step.model and step.model.finds:
        both = [(sizes.text_words, sizes.summary_words), (sizes.summary_words, sizes.text_words)]
        flops = sum(forward(recipe, *words, recipe.training.shortlist) for words in both)
        return RESCORED * sizes.texts * flops / TRAINING_FLOPS
    count = count_pairs(step, recipe, sizes)
    if step.expands:
        words = min(recipe.generation.max_text_words, sizes.text_words)
        return count * forward(recipe, sizes.summary_words, words, recipe.generation.output_words) / GENERATION_FLOPS
    if step.model and step.model.teacher:
        teachers, kept = len(step.needs) - 2, recipe.teaching.kept
        searched = recipe.teaching.beam * forward(
            recipe, sizes.text_words, sizes.summary_words, recipe.decoding.output_words
        )
        weighed = kept * forward(recipe, sizes.summary_words, sizes.text_words, recipe.training.shortlist)
        return count * (teachers * searched / GENERATION_FLOPS + weighed / TRAINING_FLOPS)
    if step.iteration:
        flops = forward(recipe, sizes.text_words, sizes.summary_words, recipe.generation.output_words)
        return count * flops / GENERATION_FLOPS
    reworded = count * (REWORDED * recipe.generation.reword + MENDED * recipe.generation.mend)
    if step.chain == "dbae":
        beams = recipe.dbae.beam * recipe.dbae.max_words
        output_words = recipe.dbae.output_words or recipe.text.summaries_vocabulary
        flops = beams * (2 * 6 * 2 * recipe.dbae.width**2 + 2 * recipe.embeddings.width * output_words)
        return reworded + count * flops / GENERATION_FLOPS
    if step.chain not in INITIALIZERS:
        return reworded + count * baselines.of(step.chain).estimate(recipe, sizes).summary
    return reworded + count / 10_000


def _training(step: Step, recipe: Recipe, sizes: Sizes) -> float:
    lengths = (sizes.text_words, sizes.summary_words)
    source, target = reversed(lengths) if step.kind is Kind.EXPANDER else lengths
    settings = recipe.training
    steps = training_steps(step, settings, step.aligned_limit)
    more = step.chain in OWN_WAY and ALIGNED in step.needs
    own = baselines.of(step.chain).estimate(recipe, sizes).training if more else 0
    flops = steps * settings.batch * 3 * forward(recipe, source, target, settings.shortlist)
    return own + _comparing(step, recipe, sizes) + flops / TRAINING_FLOPS


def _comparing(step: Step, recipe: Recipe, sizes: Sizes) -> float:
    """Return the cost of `training.min_coverage`, which looks at all artificial pairs of a summarizer."""
    makers = [ModelName.of_pairs(name) for name in step.pairs]
    if step.expands or not recipe.training.min_coverage or any(maker.teacher for maker in makers):
        return 0
    chains = sum(maker.expands for maker in makers)
    return chains * min(recipe.generation.sentences_per_chain or 10**12, sizes.summaries) / COVERED
