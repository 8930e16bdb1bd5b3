"""Recipes: every figure that a run depends on, one frozen dataclass a stage, read and written as TOML.

Shipped: `paper` (the appendix's figures), `cpu` (the default: two cores), `quick` (minutes). A recipe file of your own
may name one to start from (`base = "cpu"`) and give only what differs. An unknown key is an error that names the
nearest known one.
"""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import asdict, dataclass, field, fields, replace
from importlib import resources
from pathlib import Path
from typing import Any, get_type_hints

from nutgraf.errors import RecipeError

SHIPPED = ("paper", "cpu", "quick")
AUTO = "auto"  # chosen on --valid pairs by ROUGE-L, or, without any, so that the mean length is the summaries'
INITIALIZERS = ("pr-thr", "dbae", "mu1")


def _check(condition: bool, message: str) -> None:
    if not condition:
        raise RecipeError(message)


@dataclass(frozen=True)
class Text:
    """How raw text becomes word ids."""

    digits: str = "keep"  # "keep", or the character that stands for every digit ("N" in the paper, "#" in Gigaword)
    texts_vocabulary: int = 50_000  # |V^F|: so many of the texts' most frequent words are known
    summaries_vocabulary: int = 15_000  # |V^S|: likewise for summaries
    joint_vocabulary: int = 16_000  # one list for both sides, used where the seq2seq copies
    max_text_words: int = 80  # longer texts are cut
    max_summary_words: int = 30  # longer summaries are cut

    def __post_init__(self) -> None:
        visible = len(self.digits) == 1 and self.digits.isprintable() and not self.digits.isspace()
        _check(self.digits == "keep" or visible, 'text.digits: "keep" or one visible character')
        for name in ("texts_vocabulary", "summaries_vocabulary", "joint_vocabulary"):
            _check(getattr(self, name) >= 10, f"text.{name}: at least 10")
        for name in ("max_text_words", "max_summary_words"):
            _check(2 <= getattr(self, name) <= 1000, f"text.{name}: from 2 to 1000")


@dataclass(frozen=True)
class Embeddings:
    """FastText skip-gram (gensim)."""

    width: int = 512  # of vectors learned jointly on D^F and D^S, for the models
    procrustes_width: int = 256  # of vectors learned separately on D^F and D^S, for Pr-Thr
    epochs: int = 5  # how often the corpora are read for the joint vectors
    window: int = 5  # words on each side that a word predicts, at most
    negative: int = 5  # random words that each true one is told apart from
    min_count: int = 2  # rarer words get no vector of their own
    buckets: int = 200_000  # hash buckets of the character n-grams
    max_sentences: int = 0  # at most so many sentences of each side are read (0: all)

    def __post_init__(self) -> None:
        for name in ("width", "procrustes_width", "epochs", "window", "negative", "min_count", "buckets"):
            _check(getattr(self, name) >= 1, f"embeddings.{name}: at least 1")
        _check(self.max_sentences >= 0, "embeddings.max_sentences: 0 (all) or more")


@dataclass(frozen=True)
class PrThr:
    """Procrustes Thresholded Alignment; the alignment's figures are those of Grave et al. 2018."""

    eta: float | str = 0.9  # a word farther than this from its nearest neighbour is skipped, or "auto"
    max_words: int = 12  # N, the most words of a summary
    vector_epochs: int = 5  # of skip-gram on each corpus alone: poor vectors do not align
    vector_words: int = 3_000_000  # a corpus is read as often as it takes to read so many words
    init: str = "relaxation"  # the paper's convex relaxation, or "shared": the words that both corpora spell alike
    init_words: int = 2_500  # so many of the most frequent words start the alignment
    init_steps: int = 100  # of the convex relaxation
    words_aligned: int = 20_000  # most frequent words of each side that the refinement looks at
    epochs: int = 5  # of the refinement (Sinkhorn, rotation); 0: none
    iterations: int = 5_000  # of the first epoch; a quarter of that in each next one
    batch: int = 500  # words of each side that are matched at once; doubled each epoch
    learning_rate: float = 500.0  # of the refinement
    regularisation: float = 0.05  # of the Sinkhorn matching

    def __post_init__(self) -> None:
        _check(
            self.eta == AUTO or (not isinstance(self.eta, str) and 0 < self.eta <= 2), 'pr-thr.eta: (0, 2] or "auto"'
        )
        _check(self.max_words >= 1 and self.vector_epochs >= 1, "pr-thr.max_words, pr-thr.vector_epochs: at least 1")
        _check(self.vector_words >= 0, "pr-thr.vector_words: 0 or more")
        _check(self.init in ("relaxation", "shared"), 'pr-thr.init: "relaxation" or "shared"')
        _check(self.init_words >= 2 and self.words_aligned >= 2, "pr-thr.init_words, .words_aligned: at least 2")
        _check(self.epochs >= 0 and self.iterations >= 1, "pr-thr.epochs: 0 or more; pr-thr.iterations: at least 1")
        _check(self.batch >= 2, "pr-thr.batch: at least 2")
        _check(self.learning_rate > 0, "pr-thr.learning_rate: above 0")
        _check(self.regularisation > 0, "pr-thr.regularisation: above 0")

    def epochs_for(self, words: int) -> int:
        """Return how often a corpus of so many words is read for its vectors."""
        return max(self.vector_epochs, -(-self.vector_words // max(1, words)))


@dataclass(frozen=True)
class Dbae:
    """Denoising Bag-of-Words Auto-Encoder."""

    noise: float = 0.5  # p: each word is removed with p/2, and a random word is added with p
    width: int = 256  # of the GRU
    weights: str = "min"  # w_v = min(mu_S/mu_F, 1); "max" is what the paper prints
    copy_bias: float = 2.0  # lambda: added to the score of the input's words
    beam: int = 5  # hypotheses kept in beam search
    max_words: int = 15  # N, the most words of a summary
    output_words: int = 0  # a summary may use so many of the most frequent words, and its text's own; 0: all of V^S
    steps: int = 30_000  # of training
    batch: int = 64  # summaries a step
    learning_rate: float = 5e-4  # of Adam
    clip: float = 5.0  # the gradient is scaled down to this norm
    shortlist: int = 0  # sampled words of the output layer in training; 0: the full softmax

    def __post_init__(self) -> None:
        _check(0 <= self.noise <= 1, "dbae.noise: from 0 to 1")
        _check(self.weights in ("min", "max"), 'dbae.weights: "min" or "max"')
        for name in ("width", "beam", "max_words", "steps", "batch"):
            _check(getattr(self, name) >= 1, f"dbae.{name}: at least 1")
        _check(
            self.output_words == 0 or self.output_words >= 4,
            "dbae.output_words: 0 (all), or at least 4 (three are special words)",
        )
        _check(self.batch >= 2, "dbae.batch: at least 2 (batch normalisation)")
        _check(self.learning_rate > 0 and self.clip > 0, "dbae.learning_rate, dbae.clip: above 0")


@dataclass(frozen=True)
class Mu1:
    """First-order word moments matching."""

    eta: float | str = 0.3  # words with at least this probability are kept, or "auto"
    max_words: int = 12  # N, the most words of a summary
    width: int = 256  # of the encoder
    steps: int = 5_000  # of training
    batch: int = 256  # texts a step
    learning_rate: float = 5e-4  # of Adam
    clip: float = 5.0  # the gradient is scaled down to this norm

    def __post_init__(self) -> None:
        _check(self.eta == AUTO or (not isinstance(self.eta, str) and 0 <= self.eta < 1), 'mu1.eta: [0, 1) or "auto"')
        for name in ("max_words", "width", "steps"):
            _check(getattr(self, name) >= 1, f"mu1.{name}: at least 1")
        _check(self.batch >= 2, "mu1.batch: at least 2 (batch normalisation)")
        _check(self.learning_rate > 0 and self.clip > 0, "mu1.learning_rate, mu1.clip: above 0")


@dataclass(frozen=True)
class Seq2seq:
    """The convolutional model: fairseq's fconv_iwslt_de_en, with an optional copy distribution."""

    width: int = 256  # channels of a layer
    encoder_layers: int = 4  # convolutions that read the source
    decoder_layers: int = 3  # convolutions that write, each with attention
    kernel: int = 3  # words that a convolution sees at once; odd
    dropout: float = 0.1  # share of values that are zeroed in training
    positions: int = 256  # longest sequence, in words, with its end
    copy: bool = False  # a pointer over the source, and one joint word list for both sides

    def __post_init__(self) -> None:
        for name in ("width", "encoder_layers", "decoder_layers", "positions"):
            _check(getattr(self, name) >= 1, f"seq2seq.{name}: at least 1")
        _check(self.kernel >= 1 and self.kernel % 2 == 1, "seq2seq.kernel: an odd number")
        _check(0 <= self.dropout < 1, "seq2seq.dropout: [0, 1)")


@dataclass(frozen=True)
class Training:
    """How a seq2seq model is trained. It stops after `steps`, or earlier where the held-out loss no longer falls."""

    summarizer_steps: int = 200_000  # for summarizers of one chain
    expander_steps: int = 200_000  # for expanders
    all_steps: int = 200_000  # for the summarizers of the three chains' pairs together, and for seq2seq
    finetune_steps: int = 200_000  # for models that go on from an earlier one
    finetune_rate: float = 1e-4  # their learning rate
    batch: int = 64  # pairs a step
    learning_rate: float = 5e-4  # of Adam
    warmup: int = 0  # steps of linear rise
    decay: bool = False  # then a linear fall to a tenth over the step budget
    clip: float = 0.1  # the gradient is scaled down to this norm
    shortlist: int = 0  # sampled words of the output layer; 0: the full softmax
    min_coverage: float = 0.0  # a summarizer learns from texts that say at least this share of their summary, in order
    held_out: int = 1_000  # artificial pairs kept apart for the held-out loss
    validate_every: int = 2_000  # steps between two looks at the held-out loss
    patience: int = 5  # validations without progress before it stops; 0: never

    def __post_init__(self) -> None:
        for name in ("summarizer_steps", "expander_steps", "all_steps", "finetune_steps", "batch", "validate_every"):
            _check(getattr(self, name) >= 1, f"training.{name}: at least 1")
        for name in ("warmup", "shortlist", "held_out", "patience"):
            _check(getattr(self, name) >= 0, f"training.{name}: 0 or more")
        for name in ("learning_rate", "finetune_rate"):
            _check(getattr(self, name) > 0, f"training.{name}: above 0")
        _check(self.clip > 0, "training.clip: above 0")
        _check(0 <= self.min_coverage < 1, "training.min_coverage: [0, 1)")


@dataclass(frozen=True)
class Generation:
    """How artificial pairs are made: top-k sampling, one sample a sentence."""

    top_k: int = 15  # each word is drawn from so many of the likeliest
    min_text_words: int = 16  # of an artificial text
    max_text_words: int = 60  # of an artificial text
    min_summary_words: int = 1  # of an artificial summary
    max_summary_words: int = 12  # of an artificial summary
    batch: int = 256  # sentences at once
    chunk: int = 4_096  # sentences a file: what a kill can cost
    sentences_per_chain: int = (
        0  # at most so many real sentences for each chain, different ones where there are enough (0: all)
    )
    output_words: int = 0  # words that are said without being copied: so many of the most frequent ones (0: all)
    repeat_top_words: int = 0  # words that an artificial text may say twice: so many of the most frequent ones (0: all)

    def __post_init__(self) -> None:
        for name in ("top_k", "batch", "chunk", "min_summary_words", "min_text_words"):
            _check(getattr(self, name) >= 1, f"generation.{name}: at least 1")
        _check(self.sentences_per_chain >= 0, "generation.sentences_per_chain: 0 (all) or more")
        _check(
            self.output_words == 0 or self.output_words >= 10, "generation.output_words: 0 (all words), or 10 or more"
        )
        _check(
            self.repeat_top_words == 0 or self.repeat_top_words >= 10,
            "generation.repeat_top_words: 0 (all words), or 10 or more",
        )
        _check(self.min_text_words <= self.max_text_words, "generation.min_text_words: at most max_text_words")
        _check(
            self.min_summary_words <= self.max_summary_words, "generation.min_summary_words: at most max_summary_words"
        )


@dataclass(frozen=True)
class Decoding:
    """How summaries are made for people and for ROUGE: beam search."""

    beam: int = 5  # hypotheses kept
    min_words: int = 1  # 0: the summaries' mean length, rounded; a text that is no longer than that may have less
    max_words: int = 20  # of a summary
    no_repeat_ngram: int = 3  # no n-gram of this length twice; 0: allowed
    repeat_top_words: int = 0  # words that a summary may say twice: so many of the most frequent ones (0: all)
    length_penalty: float = 1.0  # scores are divided by length ** this
    output_words: int = 0  # words that are said without being copied: so many of the most frequent ones (0: all)
    batch: int = 64  # texts at once
    faithful: bool = False  # names and numbers are only copied

    def __post_init__(self) -> None:
        for name in ("beam", "batch", "max_words"):
            _check(getattr(self, name) >= 1, f"decoding.{name}: at least 1")
        _check(0 <= self.min_words <= self.max_words, "decoding.min_words: 0 (as the summaries) to max_words")
        _check(self.no_repeat_ngram >= 0, "decoding.no_repeat_ngram: 0 or more")
        _check(
            self.repeat_top_words == 0 or self.repeat_top_words >= 10,
            "decoding.repeat_top_words: 0 (all words), or 10 or more",
        )
        _check(self.output_words == 0 or self.output_words >= 10, "decoding.output_words: 0 (all words), or 10 or more")


@dataclass(frozen=True)
class Plan:
    """Which models are trained."""

    initializers: tuple[str, ...] = INITIALIZERS  # the chains: pr-thr, dbae, mu1
    iterations: int = 6  # the last summarizers are x-<iterations>; even
    train_all: bool = True  # all-2, all-4 ... from the pairs of all chains
    warm_start: bool = False  # one expander before the chains part, and models that go on from earlier ones

    def __post_init__(self) -> None:
        unknown = [name for name in self.initializers if name not in INITIALIZERS]
        _check(not unknown, f"plan.initializers: {', '.join(unknown)} is none of {', '.join(INITIALIZERS)}")
        _check(len(self.initializers) > 0, "plan.initializers: at least one")
        _check(len(set(self.initializers)) == len(self.initializers), "plan.initializers: each at most once")
        _check(self.iterations >= 0 and self.iterations % 2 == 0, "plan.iterations: an even number, 0 or more")


@dataclass(frozen=True)
class Recipe:
    """Everything that a run depends on, but for its two files and the machine."""

    seed: int = 1
    text: Text = field(default_factory=Text)
    embeddings: Embeddings = field(default_factory=Embeddings)
    pr_thr: PrThr = field(default_factory=PrThr)
    dbae: Dbae = field(default_factory=Dbae)
    mu1: Mu1 = field(default_factory=Mu1)
    seq2seq: Seq2seq = field(default_factory=Seq2seq)
    training: Training = field(default_factory=Training)
    generation: Generation = field(default_factory=Generation)
    decoding: Decoding = field(default_factory=Decoding)
    plan: Plan = field(default_factory=Plan)

    def __post_init__(self) -> None:
        _check(0 <= self.seed < 2**32, "seed: from 0 to 4294967295")
        longest = max(self.text.max_text_words, self.generation.max_text_words, self.decoding.max_words) + 1
        _check(
            self.seq2seq.positions >= longest,
            f"seq2seq.positions: at least {longest}, the longest sequence and its end",
        )

    def to_toml(self) -> str:
        """Return the recipe as TOML that `parse` reads back to an equal recipe."""
        lines = [f"seed = {self.seed}"]
        for section, values in asdict(self).items():
            if isinstance(values, dict):
                lines += ["", f"[{section}]", *(f"{key} = {_toml(value)}" for key, value in values.items())]
        return "\n".join(lines) + "\n"


def load(name_or_path: str) -> Recipe:
    """Read a shipped recipe by name, or a TOML file."""
    if name_or_path in SHIPPED:
        return parse(
            resources.files("nutgraf").joinpath("recipes", f"{name_or_path}.toml").read_text("utf-8"), name_or_path
        )
    path = Path(name_or_path)
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
    except tomllib.TOMLDecodeError as error:
        raise RecipeError(f"recipe {where}: {error}") from error
    base = table.pop("base", None)
    if base is not None and base not in SHIPPED:
        raise RecipeError(f"recipe {where}: base = {base!r} is none of {', '.join(SHIPPED)}")
    return merged(load(base) if base else Recipe(), table, where)


def override(recipe: Recipe, settings: list[str]) -> Recipe:
    """Apply `section.key=value` settings, as given on the command line."""
    for setting in settings:
        name, sign, value = setting.partition("=")
        if not sign:
            raise RecipeError(f"--set {setting}: expected section.key=value, such as training.batch=32")
        section, _, key = name.strip().rpartition(".")
        try:
            parsed = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            parsed = value.strip()
        recipe = merged(recipe, {section: {key: parsed}} if section else {key: parsed}, f"--set {setting}")
    return recipe


def merged(recipe: Recipe, table: dict[str, Any], where: str) -> Recipe:
    """Return the recipe with the table's values in place of its own."""
    changes: dict[str, Any] = {}
    for name, value in table.items():
        section = name.replace("-", "_")
        _known(section, [f.name for f in fields(recipe)], f"recipe {where}")
        current = getattr(recipe, section)
        if isinstance(value, dict) and not isinstance(current, int):
            changes[section] = _section(current, value, f"recipe {where}: {name}")
        elif isinstance(current, int) and isinstance(value, int) and not isinstance(value, bool):
            changes[section] = value
        else:
            raise RecipeError(
                f"recipe {where}: {name} = {value!r} is not {'a number' if section == 'seed' else 'a table'}"
            )
    return replace(recipe, **changes)


def _section(current: Any, table: dict[str, Any], where: str) -> Any:
    hints = get_type_hints(type(current))
    for key, value in table.items():
        _known(key, list(hints), where)
        if not _fits(value, hints[key]):
            raise RecipeError(f"{where}.{key} = {value!r}: expected {getattr(hints[key], '__name__', hints[key])}")
    return replace(current, **{k: tuple(v) if isinstance(v, list) else v for k, v in table.items()})


def _fits(value: Any, hint: Any) -> bool:
    if hint == tuple[str, ...]:
        return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
    if isinstance(value, bool):
        return hint is bool
    if isinstance(value, int):
        return hint is int or hint is float or hint == float | str
    return isinstance(value, hint)


def _known(key: str, known: list[str], where: str) -> None:
    if key not in known:
        near = difflib.get_close_matches(key, known, n=1, cutoff=0.0)
        raise RecipeError(f"{where}: unknown key {key!r}; did you mean {near[0]!r}? Known: {', '.join(known)}")


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, tuple):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    return repr(value)
