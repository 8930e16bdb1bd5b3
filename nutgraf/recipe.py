"""Recipes: every setting of a run, one frozen dataclass per section, read and written as TOML.

Shipped: `paper` (the settings of the appendix), `cpu` (the default: two cores), `quick` (minutes). A recipe file of
your own may name one to start from (`base = "cpu"`) and give only what differs. Constructing a section checks it:
types, bounds, unknown keys. The descriptions here are those of docs/reference.md.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Callable
from dataclasses import asdict, fields, replace
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar, get_type_hints

import tomli_w
from pydantic import AfterValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic.dataclasses import dataclass
from pydantic.functional_validators import ModelWrapValidatorHandler
from pydantic_core import ErrorDetails, PydanticCustomError

from nutgraf.errors import RecipeError

SHIPPED = ("paper", "cpu", "quick")
PAPER_INITIALIZERS = ("pr-thr", "dbae", "mu1")
INITIALIZERS = (*PAPER_INITIALIZERS, "near")
BASELINES = (
    "pbsmt",
    "pre-dae",
    "nmt",
    "adversarial",
    "hc",
)  # other systems, to compare with: those of the paper's tables in their order, then those since
WITH_PAIRS = ("mass", "fsc")  # others, that summarize only once they have learned from aligned pairs
AUTO = "auto"  # chosen by ROUGE-L on --valid pairs, or, without any, so that outputs are most like real summaries

RENAMED = {  # keys of version 0.1, in whichever section has the new one
    "joint_sentences": "max_sentences",
    "lam": "copy_bias",
    "limit": "sentences_per_chain",
    "no_repeat": "no_repeat_ngram",
    "repeatable": "repeat_top_words",
    "spoken": "output_words",
    "start": "init",
    "start_steps": "init_steps",
    "start_words": "init_words",
    "steps": "summarizer_steps",
    "together": "train_all",
    "told": "min_coverage",
    "tuning_rate": "finetune_rate",
    "tuning_steps": "finetune_steps",
    "warm": "warm_start",
    "words": "max_words",
}
RETIRED = (("agreement", "cut", 0),)  # keys that are no more, with the value that did nothing: run folders have it

T = TypeVar("T")


def default(value: T, description: str) -> T:
    """Return a field with its default, typed as the default so that type checkers see a plain dataclass."""
    return Field(default=value, description=description)


def _check(accepts: Callable[[Any], bool], expected: str) -> AfterValidator:
    """Return a check for what the bounds of a Field cannot say."""

    def check(value: T) -> T:
        if accepts(value):
            return value
        raise PydanticCustomError("unexpected", f"Input should be {expected}")

    return AfterValidator(check)


def _check_names(known: tuple[str, ...], least: int = 0) -> AfterValidator:
    """Return a check for different names, this many at least. (Such a Field is not strict, for TOML has lists.)"""
    return _check(lambda names: least <= len(names) == len({*names} & {*known}), f"different ones of {known}")


Auto = Literal["auto"]
# Upper bounds are far above anything sensible: a recipe that comes from a stranger allocates no more than this.
Positive = Annotated[int, Field(ge=1)]
Width = Annotated[int, Field(ge=1, le=1 << 14)]
Layers = Annotated[int, Field(ge=1, le=100)]
Words = Annotated[int, Field(ge=1, le=1_000)]
Hypotheses = Annotated[int, Field(ge=1, le=1_000)]
Batch = Annotated[int, Field(ge=1, le=1_000_000)]
Shards = Annotated[int, Field(ge=1, le=16)]
ZeroOrMore = Annotated[int, Field(ge=0)]
TwoOrMore = Annotated[int, Field(ge=2, le=1_000_000)]
AboveZero = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(ge=0, lt=1)]
Probability = Annotated[float, Field(ge=0, le=1)]
Lengths = Annotated[tuple[Annotated[float, Field(gt=0, le=10)], ...], Field(strict=False, max_length=10)]
Distance = Annotated[float, Field(gt=0, le=2)]
Vocabulary = Annotated[int, Field(ge=10, le=20_000_000)]
Length = Annotated[int, Field(ge=2, le=1000)]
Odd = Annotated[int, Field(ge=1, le=99), _check(lambda number: number % 2 == 1, "an odd number")]
TopWords = Annotated[int, _check(lambda words: words == 0 or words >= 10, "0 (all) or at least 10")]
Digits = Literal["keep"] | Annotated[str, Field(pattern=r"^[^\p{C}\p{Z}]$")]
Chains = Annotated[tuple[str, ...], Field(strict=False), _check_names((*INITIALIZERS, *BASELINES), least=1)]
SomeChains = Annotated[tuple[str, ...], Field(strict=False), _check_names((*INITIALIZERS, *BASELINES))]
Baselines = Annotated[tuple[str, ...], Field(strict=False), _check_names((*BASELINES, *WITH_PAIRS))]

CONFIG = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
_EXPECTED = {  # where pydantic's own words would mislead who writes TOML
    "dataclass_exact_type": "a table",
    "string_pattern_mismatch": "one visible character",
    "tuple_type": "a list",
}


@dataclass(frozen=True, config=CONFIG)
class Section:
    """Settings that are checked whenever they are constructed; what is wrong with them is a RecipeError."""

    @model_validator(mode="wrap")
    @classmethod
    def _explain(cls, values: Any, validate: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return validate(values)
        except ValidationError as error:
            by_key = groupby(error.errors(), key=lambda found: found["loc"][:1])
            raise RecipeError("; ".join(cls._describe(list(found)) for _, found in by_key)) from None

    @classmethod
    def _describe(cls, errors: list[ErrorDetails]) -> str:
        """Return what is wrong with one key; a union of types has an error for each."""
        section = [name for name, kind in get_type_hints(Recipe).items() if kind is cls]
        key, known = [str(part) for part in errors[0]["loc"][:1]], [field.name for field in fields(cls)]
        name = ".".join(section + key)
        if errors[0]["type"] == "unexpected_keyword_argument":
            if (new := RENAMED.get(key[0])) in known:
                return f"{name} is now {section[0]}.{new}"
            near = difflib.get_close_matches(key[0][:100], known, n=1, cutoff=0.0)
            return f"{_shorten(name)}: unknown key; did you mean {near[0]!r}? Known: {', '.join(known)}"
        expected = dict.fromkeys(_EXPECTED.get(e["type"], e["msg"].removeprefix("Input should be ")) for e in errors)
        return f"{name} = {_show(errors[0]['input'])} should be {' or '.join(expected)}"


@dataclass(frozen=True, config=CONFIG)
class Text(Section):
    """How raw text becomes word ids."""

    digits: Digits = default("keep", '"keep", or the character that replaces every digit (paper: "N", Gigaword: "#")')
    texts_vocabulary: Vocabulary = default(50_000, "size of V^F, the most frequent words of the texts")
    summaries_vocabulary: Vocabulary = default(15_000, "size of V^S, the most frequent words of the summaries")
    joint_vocabulary: Vocabulary = default(16_000, "size of the vocabulary of both sides, used when the seq2seq copies")
    skim: bool = default(False, "texts are read without brackets, days, sources and asides, which no summary tells")
    max_text_words: Length = default(80, "longer texts are cut")
    max_summary_words: Length = default(30, "longer summaries are cut")
    judge_share: Share = default(0.0, "share of the summaries that no model sees: evaluation measures fluency by them")


@dataclass(frozen=True, config=CONFIG)
class Embeddings(Section):
    """Skip-gram with character n-grams (gensim's FastText); except for the widths, the defaults are fastText's own."""

    width: Width = default(512, "size of the vectors trained jointly on D^F and D^S, for the models")
    procrustes_width: Width = default(256, "size of the vectors trained on D^F and on D^S separately, for Pr-Thr")
    epochs: Positive = default(5, "passes over the corpora for the joint vectors")
    window: Positive = default(5, "context words on each side, at most")
    negative: Positive = default(5, "negative samples per word")
    learning_rate: AboveZero = default(0.05, "learning rate at the start, from which it falls linearly")
    sample: Probability = default(1e-4, "share of the corpus above which a word is randomly skipped; 0: never")
    min_count: Positive = default(5, "rarer words get no vector of their own")
    buckets: Annotated[int, Field(ge=1, le=100_000_000)] = default(2_000_000, "hash buckets of the character n-grams")
    max_sentences: ZeroOrMore = default(0, "sentences read per side; 0: all")
    blocks: Annotated[int, Field(ge=1, le=1_000)] = default(
        1, "parts of the corpora that workers read side by side; their vectors are averaged after each epoch"
    )


@dataclass(frozen=True, config=CONFIG)
class PrThr(Section):
    """Procrustes Thresholded Alignment; the alignment's defaults are those of Grave et al. 2018."""

    eta: Distance | Auto = default(0.9, 'words farther than this from their nearest neighbour are dropped, or "auto"')
    max_words: Words = default(12, "N, the longest summary, in words")
    vector_epochs: Positive = default(5, "passes over each corpus for its own vectors, at least")
    vector_words: ZeroOrMore = default(3_000_000, "small corpora are read again until this many words have been read")
    init: Literal["relaxation", "shared"] = default(
        "relaxation",
        'start of the alignment: convex relaxation (the paper), or "shared": the words that both sides have',
    )
    init_words: TwoOrMore = default(2_500, "most frequent words that are used to start the alignment")
    init_steps: ZeroOrMore = default(100, "steps of the convex relaxation")
    words_aligned: TwoOrMore = default(20_000, "most frequent words of each side that are used to refine the alignment")
    epochs: ZeroOrMore = default(5, "epochs of refinement (Sinkhorn matching, then rotation); 0: none")
    iterations: Positive = default(5_000, "iterations of the first epoch; each later epoch has a quarter of the last")
    batch: TwoOrMore = default(500, "words of each side that are matched at once; doubled each epoch")
    learning_rate: AboveZero = default(500.0, "learning rate of the refinement")
    regularisation: AboveZero = default(0.05, "entropic regularisation of the Sinkhorn matching")

    def epochs_for(self, words: int) -> int:
        """Return how many passes are made over a corpus of this many words to train its vectors."""
        return max(self.vector_epochs, -(-self.vector_words // max(1, words)))


@dataclass(frozen=True, config=CONFIG)
class Dbae(Section):
    """Denoising Bag-of-Words Auto-Encoder."""

    noise: Probability = default(0.5, "p: each word is removed with probability p/2, a random one added with p")
    width: Width = default(256, "size of the GRU")
    weights: Literal["min", "max"] = default("min", 'w_v = min(mu_S/mu_F, 1); "max": as printed in the paper')
    copy_bias: float = default(2.0, "lambda, added to the scores of the input's words")
    beam: Hypotheses = default(5, "hypotheses kept in beam search")
    max_words: Words = default(15, "N, the longest summary, in words")
    output_words: Annotated[int, _check(lambda words: words == 0 or words >= 4, "0 (all) or at least 4")] = default(
        0, "most frequent words that a summary may use, besides its text's own; 0: all of V^S"
    )
    steps: Positive = default(30_000, "training steps")
    batch: TwoOrMore = default(64, "summaries per step; batch normalisation needs two")
    learning_rate: AboveZero = default(5e-4, "learning rate of Adam")
    clip: AboveZero = default(5.0, "largest norm of a gradient; larger ones are scaled down")
    shortlist: ZeroOrMore = default(0, "words sampled for the output layer in training; 0: full softmax")


@dataclass(frozen=True, config=CONFIG)
class Mu1(Section):
    """First-order word moments matching."""

    eta: Share | Auto = default(0.3, 'words with at least this probability are kept, or "auto"')
    max_words: Words = default(12, "N, the longest summary, in words")
    width: Width = default(256, "size of the encoder")
    steps: Positive = default(5_000, "training steps")
    batch: TwoOrMore = default(256, "texts per step; batch normalisation needs two")
    learning_rate: AboveZero = default(5e-4, "learning rate of Adam")
    clip: AboveZero = default(5.0, "largest norm of a gradient; larger ones are scaled down")
    forms: bool = default(False, "forms of one word share their moments (not in the paper)")


@dataclass(frozen=True, config=CONFIG)
class Near(Section):
    """The nearest real summary of a text, and the pairs found in this way (not in the paper)."""

    candidates: Hypotheses = default(32, "summaries per text that are looked at closely")
    common: Annotated[float, Field(gt=0, le=1)] = default(
        0.01, "words in more than this share of the summaries are not searched for"
    )
    early: AboveZero = default(40.0, "the word at place p of a text counts 1 / (1 + p / early)")
    name_penalty: Probability = default(0.8, "factor for each name that the summary has and the text lacks")
    min_score: Probability = default(0.3, "pairs with a lower score are left out")
    max_uses: Positive = default(2, "texts that one summary may be paired with")
    max_lead: Annotated[float, Field(gt=0, le=1)] = default(
        1.0, "no pair in which this share of the summary's words are the text's first ones; 1: any pair"
    )
    adapt: bool = default(False, "summaries of others are made to fit a text: its names and numbers replace theirs")
    again_min_score: Probability = default(0.2, "candidates with a lower score are not scored again by models")
    again_pairs: AboveZero = default(1.5, "pairs chosen then, as a multiple of those found first")
    summarizer_weight: AboveZero = default(0.4, "weight of the summarizer's mean log-probability in the new score")
    expander_weight: AboveZero = default(0.7, "weight of the expander's mean log-probability in the new score")
    repeat: Positive = default(2, "times that a found pair counts among artificial ones, for summarizers")


@dataclass(frozen=True, config=CONFIG)
class Pbsmt(Section):
    """A baseline: phrase-based translation from texts to summaries, with phrases from vectors (Lample et al. 2018)."""

    max_words: Annotated[int, Field(ge=1, le=40)] = default(15, "N, the longest summary, in words")
    order: Annotated[int, Field(ge=2, le=7)] = default(5, "words of the language model's n-grams")
    min_count: Positive = default(2, "n-grams of three words or more that occur less often are left out")
    neighbours: Hypotheses = default(10, "nearest words that CSLS averages over")
    candidates: Hypotheses = default(100, "nearest words of each word, among which a pair must have each other")
    options: Hypotheses = default(20, "translations of a word that the decoder tries")
    temperature: AboveZero = default(45.0, "factor of the cosines in the softmax of translation scores")
    translation_weight: NotNegative = default(0.2, "weight of the translation score of either direction")
    language_weight: NotNegative = default(0.5, "weight of the language model's log-probability")
    distortion_weight: NotNegative = default(0.3, "cost of each word that the decoder jumps over")
    distortion_limit: Annotated[int, Field(ge=0, le=20)] = default(6, "farthest jump of the decoder, in words")
    stack: Hypotheses = default(100, "hypotheses kept for each number of words translated")


@dataclass(frozen=True, config=CONFIG)
class Nmt(Section):
    """A baseline: one encoder for both sides, denoising, then back-translation on the fly (Lample et al. 2018)."""

    steps: Positive = default(2_000, "training steps; batch and learning rate are those of [training]")


@dataclass(frozen=True, config=CONFIG)
class Adversarial(Section):
    """A baseline: a generator that is to fool a critic, and whose text can be got back (Wang and Lee 2018)."""

    steps: Positive = default(2_000, "training steps")
    batch: TwoOrMore = default(64, "texts, and real summaries, per step; rewards are centred over them")
    generator_rate: AboveZero = default(1e-4, "learning rate of the generator")
    critic_rate: AboveZero = default(2e-3, "learning rate of the critic")
    reconstructor_rate: AboveZero = default(1e-3, "learning rate of the reconstructor")
    critic_width: Width = default(128, "size of the critic's LSTM")
    alone: Share = default(0.25, "share of the steps in which the generator does not learn from rewards yet")
    discount: Share = default(0.3, "factor by which a critic's reward counts less for each word before")
    reconstruction_weight: NotNegative = default(1.0, "weight of the reconstructor's reward beside the critic's")


@dataclass(frozen=True, config=CONFIG)
class Mass(Section):
    """A baseline: pre-training on masked spans, before aligned pairs (Song et al. 2019)."""

    steps: Positive = default(5_000, "steps of pre-training; batch and learning rate are those of [training]")


@dataclass(frozen=True, config=CONFIG)
class Fsc(Section):
    """A baseline: forced-attention compression with a language model as prior (Miao and Blunsom 2016)."""

    steps: Positive = default(1_000, "training steps after those on pairs alone")
    batch: TwoOrMore = default(64, "texts, and aligned pairs, per step")
    learning_rate: AboveZero = default(5e-4, "learning rate of Adam in these steps")
    prior_weight: NotNegative = default(0.1, "weight of the divergence from the language model of summaries")
    reward_weight: NotNegative = default(0.1, "weight of what texts without summaries teach, beside the pairs")


@dataclass(frozen=True, config=CONFIG)
class Hc(Section):
    """A baseline: hill climbing over the choice of a text's words (Schumann et al. 2020)."""

    words: Annotated[int, Field(ge=0, le=1_000)] = default(0, "length of a summary; 0: the summaries' mean length")
    similarity_weight: NotNegative = default(12.0, "power of the similarity to the text; that of the fluency is 1")
    restarts: Hypotheses = default(100, "random choices of words that the search starts from")
    steps: Annotated[int, Field(ge=1, le=10_000)] = default(
        250, "exchanges of a word for another that are tried from each start"
    )


@dataclass(frozen=True, config=CONFIG)
class Seq2seq(Section):
    """The convolutional model: fairseq's fconv_iwslt_de_en, with an optional copy distribution."""

    width: Width = default(256, "channels per layer")
    encoder_layers: Layers = default(4, "convolutions of the encoder")
    decoder_layers: Layers = default(3, "convolutions of the decoder, each with attention")
    kernel: Odd = default(3, "words that a convolution sees at once; odd")
    dropout: Share = default(0.1, "share of values set to zero in training")
    positions: Annotated[int, Field(ge=1, le=10_000)] = default(
        256, "longest sequence, in words, including its end mark"
    )
    copy: bool = default(False, "can copy words of the source; both sides then share one vocabulary")


@dataclass(frozen=True, config=CONFIG)
class Training(Section):
    """How a seq2seq model is trained: for its number of steps, or until the held-out loss stops falling."""

    summarizer_steps: Positive = default(200_000, "steps for a summarizer of one chain")
    expander_steps: Positive = default(200_000, "steps for an expander")
    all_steps: Positive = default(200_000, "steps for the summarizers all-N and for the supervised seq2seq")
    finetune_steps: Positive = default(200_000, "steps for a model that starts from an earlier one")
    finetune_rate: AboveZero = default(1e-4, "learning rate of a model that starts from an earlier one")
    batch: Batch = default(64, "pairs per step")
    learning_rate: AboveZero = default(5e-4, "learning rate of Adam")
    warmup: ZeroOrMore = default(0, "steps over which the learning rate rises linearly")
    decay: bool = default(False, "after the warmup it falls linearly, to a tenth at the last step")
    clip: AboveZero = default(0.1, "largest norm of a gradient; larger ones are scaled down")
    shortlist: ZeroOrMore = default(0, "words sampled for the output layer; 0: full softmax")
    min_coverage: Share = default(0.0, "summarizers learn from texts with at least this share of the summary, in order")
    held_out: ZeroOrMore = default(1_000, "artificial pairs held out for validation")
    validate_every: Positive = default(2_000, "steps between two validations")
    patience: ZeroOrMore = default(5, "validations without improvement before training stops; 0: never stops early")
    shards: Shards = default(1, "parts of a batch that a cluster's workers can compute side by side: 1, 2, 4, 8 or 16")

    def __post_init__(self) -> None:
        if self.shards.bit_count() != 1:
            raise RecipeError(f"training.shards = {self.shards} should be 1, 2, 4, 8 or 16")


@dataclass(frozen=True, config=CONFIG)
class Generation(Section):
    """How artificial pairs are made: top-k sampling, one sample per sentence."""

    top_k: Hypotheses = default(15, "each word is sampled from this many of the most probable")
    min_text_words: Positive = default(16, "shortest artificial text")
    max_text_words: Words = default(60, "longest artificial text")
    min_summary_words: Positive = default(1, "shortest artificial summary")
    max_summary_words: Words = default(12, "longest artificial summary")
    batch: Batch = default(256, "sentences at once")
    chunk: Batch = default(4_096, "sentences per file, or task: the most that is lost when a worker is killed")
    sentences_per_chain: ZeroOrMore = default(0, "real sentences per chain, different ones if there are enough; 0: all")
    output_words: TopWords = default(0, "most frequent words that can be generated; others can only be copied; 0: all")
    repeat_top_words: TopWords = default(0, "most frequent words that may occur twice in an artificial text; 0: all")
    reword: bool = default(
        False, "initial and taught summaries have the forms of verbs, and small words, that real ones have"
    )
    mend: bool = default(False, "initial and taught summaries are whole lines: no word that joins others is missing")
    initial_words: ZeroOrMore = default(
        12, "with `mend`: an initial summary has this many words before it is made whole; 0: the mean and one more"
    )

    def __post_init__(self) -> None:
        for least, most in (("min_text_words", "max_text_words"), ("min_summary_words", "max_summary_words")):
            if getattr(self, least) > getattr(self, most):
                raise RecipeError(f"generation.{least} = {getattr(self, least)} should be at most {most}")


@dataclass(frozen=True, config=CONFIG)
class Agreement(Section):
    """How agreed-N chooses among the proposals of its models (not in the paper)."""

    expander_weight: NotNegative = default(0.8, "weight of the expander's mean log-probability of the text's words")
    fluency_weight: NotNegative = default(0.2, "weight of the trigrams' mean log-probability of the summary's words")
    text_pairs: Probability = default(
        0.0, "least probability of a word that follows the word before it in the text, too"
    )
    initial_weight: NotNegative = default(
        0.0, "weight of the share of a real summary that mu1-0 expects in a line; where it proposes lines, too"
    )
    beam: Hypotheses = default(5, "summaries that each model proposes, in place of `decoding.beam`")
    initial_beam: Hypotheses = default(5, "summaries that members of `plan.learn_initial` propose")
    initial_lengths: Lengths = default(
        (),
        "lengths of the lines that mu1-0 proposes, if mu1 is in `plan.learn_initial`: shares of `decoding.min_words`",
    )
    initial_votes: Annotated[int, Field(ge=1, le=100)] = default(
        1, "how much each of these lines counts in what the proposals agree on, where one of a beam counts 1"
    )
    break_weight: NotNegative = default(
        0.0, "how much a line's score is lowered by each place where it joins what its text has apart, with `mend`"
    )
    reword: bool = default(False, "verbs of proposals become present, where summaries would say them so")
    mend: bool = default(False, "lines are made whole: words that join others come back, and phrases are ended")


@dataclass(frozen=True, config=CONFIG)
class Teaching(Section):
    """How all-N's teachers, with `plan.teachers`, choose a summary for a text (not in the paper)."""

    beam: Hypotheses = default(5, "summaries that a teacher, and near-N, propose")
    kept: Hypotheses = default(6, "of those of all teachers, the most alike, which are weighed")
    expander_weight: NotNegative = default(0.8, "weight of the expander's mean log-probability of the text's words")
    fluency_weight: NotNegative = default(0.2, "weight of the trigrams' mean log-probability of the summary's words")

    @property
    def weights(self) -> Agreement:
        """How proposals are weighed."""
        return Agreement(self.expander_weight, self.fluency_weight)


@dataclass(frozen=True, config=CONFIG)
class Decoding(Section):
    """How summaries are made for readers and for ROUGE: beam search."""

    beam: Hypotheses = default(5, "hypotheses kept")
    min_words: ZeroOrMore = default(1, "shortest summary, unless the text is that short; 0: the summaries' mean length")
    max_words: Words = default(20, "longest summary")
    shorter: Share = default(0.0, "agreed-N may choose as few words as this share of `min_words`; 0: no fewer")
    no_repeat_ngram: ZeroOrMore = default(3, "no n-gram of this length occurs twice; 0: no such rule")
    repeat_top_words: TopWords = default(0, "most frequent words that may occur twice in a summary; 0: all")
    length_penalty: float = default(1.0, "scores are divided by length to the power of this")
    output_words: TopWords = default(0, "most frequent words that can be generated; others can only be copied; 0: all")
    batch: Batch = default(64, "texts at once")
    related_words: ZeroOrMore = default(
        0, "words that models which copy may choose from, the nearest to those of the text; 0: any word"
    )
    trim: bool = default(False, 'a summary does not end in a comma, or in a word such as "of" that wants another')
    prefer_true: bool = default(
        False, "of the beam, those with nothing unsupported, contradicted or no longer denied go first"
    )
    faithful: bool = default(False, "names and numbers can only be copied, and no direction contradicts the text")

    def __post_init__(self) -> None:
        if self.min_words > self.max_words:
            raise RecipeError(f"decoding.min_words = {self.min_words} should be at most max_words")


@dataclass(frozen=True, config=CONFIG)
class Plan(Section):
    """Which models are trained."""

    initializers: Chains = default(PAPER_INITIALIZERS, "the chains: pr-thr, dbae, mu1, near, or baselines")
    iterations: Annotated[int, Field(ge=0, le=100, multiple_of=2)] = default(
        6, "the last summarizers are x-<iterations>; even"
    )
    train_all: bool = default(True, "also train all-2, all-4 ... on the pairs of all chains")
    all_chains: SomeChains = default(
        (), "with near: whose artificial texts all-N learns from; [], or none of them trained: all"
    )
    find_again: bool = default(
        True, "with near: all-N learns from pairs found again by models, not from the first ones"
    )
    teachers: Annotated[int, Field(ge=0, le=9)] = default(
        0, "all-N learns from this many summarizers, one taught by the other (see [teaching]); 0: from the pairs"
    )
    learn_initial: SomeChains = default(
        (), "chains whose x-N also learns to write x-0's summaries of real texts, and is a member of agreed-N"
    )
    agreed: bool = default(
        False,
        "with near, or a single chain of `learn_initial`: also agreed-N, what its members agree on (see [agreement])",
    )
    warm_start: bool = default(False, "the chains share their first expander, and later models start from earlier ones")
    baselines: Baselines = default(
        (),
        f"other systems to compare with, as `--with` adds them: {', '.join(BASELINES)};"
        f" with aligned pairs also {', '.join(WITH_PAIRS)}",
    )
    min_summaries_for_near: Annotated[float, Field(ge=0)] = default(
        0.0, "summaries per text, below which near is left out: too few to find good pairs among"
    )


@dataclass(frozen=True, config=CONFIG)
class Recipe(Section):
    """Everything that a run depends on, except its two files and the machine."""

    seed: Annotated[int, Field(ge=0, lt=2**32)] = default(1, "the source of all randomness")
    text: Text = Text()
    embeddings: Embeddings = Embeddings()
    pr_thr: PrThr = PrThr()
    dbae: Dbae = Dbae()
    mu1: Mu1 = Mu1()
    near: Near = Near()
    pbsmt: Pbsmt = Pbsmt()
    nmt: Nmt = Nmt()
    adversarial: Adversarial = Adversarial()
    mass: Mass = Mass()
    fsc: Fsc = Fsc()
    hc: Hc = Hc()
    seq2seq: Seq2seq = Seq2seq()
    training: Training = Training()
    generation: Generation = Generation()
    teaching: Teaching = Teaching()
    agreement: Agreement = Agreement()
    decoding: Decoding = Decoding()
    plan: Plan = Plan()

    def __post_init__(self) -> None:
        longest = max(self.text.max_text_words, self.generation.max_text_words, self.decoding.max_words) + 1
        if self.seq2seq.positions < longest:
            found = self.seq2seq.positions
            raise RecipeError(f"seq2seq.positions = {found} should be at least {longest}, the longest text and its end")

    def to_toml(self) -> str:
        """Return the recipe as TOML that `parse` reads back to an equal recipe."""
        return tomli_w.dumps(asdict(self))


def load(name_or_path: str) -> Recipe:
    """Read a shipped recipe by name, or a TOML file."""
    shipped = resources.files("nutgraf").joinpath("recipes", f"{name_or_path}.toml")
    path = shipped if name_or_path in SHIPPED else Path(name_or_path)
    if not path.is_file():
        raise RecipeError(f"recipe {name_or_path}: neither a file nor one of {', '.join(SHIPPED)}")
    try:
        return parse(path.read_text("utf-8"), name_or_path)
    except UnicodeDecodeError as error:
        raise RecipeError(f"recipe {name_or_path}: not UTF-8 ({error})") from error


def parse(toml: str, where: str) -> Recipe:
    """Make a recipe of TOML text; `base` names the shipped recipe that it starts from."""
    try:
        table = tomllib.loads(toml)
    except ValueError as error:  # no TOML, or a number of thousands of digits
        raise RecipeError(f"recipe {where}: {_shorten(str(error))}") from error
    except RecursionError:
        raise RecipeError(f"recipe {where}: nested too deeply") from None
    base = table.pop("base", None)
    if base is not None and base not in SHIPPED:
        raise RecipeError(f"recipe {where}: base = {_show(base)} is none of {', '.join(SHIPPED)}")
    return _merge(load(base) if base else Recipe(), table, f"recipe {where}")


def override(recipe: Recipe, settings: list[str]) -> Recipe:
    """Apply `section.key=value` settings, as given on the command line."""
    for setting in settings:
        name, sign, value = setting.partition("=")
        shown = _shorten(setting)
        if not sign:
            raise RecipeError(f"--set {shown}: expected section.key=value, such as training.batch=32")
        section, _, key = name.strip().rpartition(".")
        try:
            parsed = tomllib.loads(f"value = {value}")["value"]
        except (ValueError, RecursionError):  # no TOML, or a number of thousands of digits
            parsed = value.strip()
        recipe = _merge(recipe, {section: {key: parsed}} if section else {key: parsed}, f"--set {shown}")
    return recipe


def _show(value: object) -> str:
    """Return how a value is written, or its beginning."""
    try:
        return _shorten(repr(value))
    except ValueError:  # Python does not write numbers of thousands of digits
        return "a very long number"


def _shorten(text: str) -> str:
    """Return the first letters of something that may be very long."""
    return text if len(text) <= 200 else f"{text[:200]}..."


def _merge(recipe: Recipe, table: dict[str, Any], where: str) -> Recipe:
    """Return the recipe with the table's values in place of its own."""
    changes: dict[str, Any] = {}
    try:
        for name, value in table.items():
            section = name.replace("-", "_")
            current = getattr(recipe, section, None)
            if isinstance(current, Section) and isinstance(value, dict):
                known = {key: new for key, new in value.items() if (section, key, new) not in RETIRED}
                value = replace(current, **known)
            changes[section] = value
        return replace(recipe, **changes)
    except RecipeError as error:
        raise RecipeError(f"{where}: {error}") from None
