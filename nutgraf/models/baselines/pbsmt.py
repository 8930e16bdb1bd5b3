"""PBSMT: phrase-based translation from texts to summaries, learned without pairs (Lample et al. 2018), Table 2.

The phrase table comes from the vectors of texts and of summaries, trained separately and aligned as those of Pr-Thr
(`phrase_table`); a Kneser-Ney language model of summaries and a stack decoder (`stack_decoder`) choose among
translations. A word that has no translation is copied. The summary is the first N words of what is written, so words
that cannot be among these are not translated. PAPER.md says what differs from the original.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from nutgraf.files import naming, read_json
from nutgraf.models.arrays import Arrays, read_arrays
from nutgraf.models.baselines import Material, Seconds
from nutgraf.models.baselines.phrase_table import make_phrases
from nutgraf.models.baselines.stack_decoder import Options, StackDecoder
from nutgraf.models.pr_thr import MIN_SELF_MATCH, explain_failure
from nutgraf.recipe import Pbsmt, Recipe
from nutgraf.run.sizes import Sizes
from nutgraf.run.systems import OF_SUMMARIES, OF_TEXTS
from nutgraf.seeds import seed_of
from nutgraf.text.kneser_ney import KneserNey
from nutgraf.text.lexicon import EOS, UNK, Ids, Vocab

if TYPE_CHECKING:
    from nutgraf.learning.loop import Job
    from nutgraf.models.alignment import Side

FIGURES, PHRASES, LANGUAGE = "pbsmt.json", "phrases.safetensors", "language.safetensors"
_COUNTED = 3e5  # words per second that the language model is trained on
_MATCHED = 7e-8  # seconds for each pair of a text's and a summary's word that may be a phrase
_TRIED = 3.5e-7, 2e-4  # seconds of a stack: for each hypothesis and option, and for all of them


@dataclass(frozen=True)
class Table:
    """The translations of each word of V^F: row i has those from starts[i] to starts[i + 1]."""

    vocab: Vocab
    starts: NDArray[np.int64]
    targets: Ids
    scores: NDArray[np.float32]  # the sum of both logarithms, weighted

    def look_up(self, word: int) -> tuple[list[int], list[float]]:
        """Return the translations of a word of V^F (a local id), and their scores."""
        own = slice(int(self.starts[word]), int(self.starts[word + 1]))
        return self.targets[own].tolist(), self.scores[own].tolist()


class Translator:
    """A summarizer that translates the first words of a text."""

    def __init__(self, table: Table, language: KneserNey, settings: Pbsmt):
        self.table, self.language, self.settings = table, language, settings
        self._decode = StackDecoder(language, settings)

    @property
    def lexicon_size(self) -> int:
        """The number of words of the lexicon that it was made for."""
        return len(self.table.vocab.table)

    @property
    def work(self) -> int:
        """How much work a sentence is, in steps of a beam search's hypothesis: one takes as long as two of ours."""
        return max(1, (self.settings.max_words + self.settings.distortion_limit) * self.settings.stack // 2)

    def __call__(self, sentences: Sequence[Ids]) -> list[Ids]:
        """Summarize sentences."""
        return [self._summarize(np.asarray(sentence, dtype=np.int32)) for sentence in sentences]

    def _summarize(self, sentence: Ids) -> Ids:
        # The first N words written are among these, for no jump leads farther.
        read = sentence[: self.settings.max_words + self.settings.distortion_limit]
        if len(read) == 0:
            return read
        written = self._decode(self.options(read), whole=len(read) == len(sentence))
        return np.array(written[: self.settings.max_words], dtype=np.int32)

    def options(self, sentence: Ids) -> Options:
        """Return how each word may be translated: one without translations by itself, at no cost."""
        found = []
        for word, local in zip(sentence.tolist(), self.table.vocab.local(sentence).tolist(), strict=True):
            own = self.table.look_up(local) if local > UNK else ([], [])
            found.append(own if own[0] else ([word], [0.0]))
        width = max(len(words) for words, _ in found)
        targets = np.full((len(found), width), UNK, dtype=np.int64)
        scores = np.full((len(found), width), -np.inf)
        for row, (words, values) in enumerate(found):
            targets[row, : len(words)], scores[row, : len(words)] = words, values
        classes = self.language.classes_of(targets.astype(np.int32).ravel()).reshape(targets.shape)
        return Options(targets, classes, scores)

    def save(self, folder: Path) -> None:
        """Write the phrase table, the language model and the settings."""
        table = self.table
        arrays: Arrays = {"vocabulary": table.vocab.ids, "starts": table.starts, "targets": table.targets}
        save_file(arrays | {"scores": table.scores}, folder / PHRASES)
        self.language.save(folder / LANGUAGE)
        figures = {"settings": asdict(self.settings), "lexicon": self.lexicon_size}
        (folder / FIGURES).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def train(material: Material, job: Job) -> Translator:
    """Align the vectors, score the phrases and count the n-grams of the summaries."""
    from nutgraf.models.alignment import align_words

    settings, prepared = material.recipe.pbsmt, material.prepared
    vocab_F, vocab_S = material.vocabularies["F"], material.vocabularies["S"]
    vectors = material.vectors(OF_TEXTS, vocab_F), material.vectors(OF_SUMMARIES, vocab_S)
    aligned = align_words(vocab_F, vocab_S, *vectors, material.recipe.pr_thr, seed_of(job.key), job.report)
    if aligned.self_match < MIN_SELF_MATCH:
        job.warn(explain_failure("PBSMT", aligned.self_match))
    texts, summaries = (_leave_out_end(side) for side in (aligned.texts, aligned.summaries))
    phrases = make_phrases(texts.vectors, summaries.vectors, settings).best(settings.options)
    rows = vocab_F.local(texts.ids)[phrases.sources]
    order = np.argsort(rows, kind="stable")
    counts = np.bincount(rows, minlength=len(vocab_F))
    table = Table(
        vocab_F,
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        summaries.ids[phrases.targets[order]],
        (settings.translation_weight * (phrases.direct + phrases.inverse)[order]).astype(np.float32),
    )
    language = KneserNey.train(prepared.summaries, prepared.lexicon, settings.order, settings.min_count)
    return Translator(table, language, settings)


def _leave_out_end(side: Side) -> Side:
    """Return the words without the end of a sentence, which has a vector, too."""
    words = side.ids != EOS
    return replace(side, ids=side.ids[words], vectors=side.vectors[words])


def load(folder: Path) -> Translator:
    """Read what `save` wrote; a RunError names a file that is something else."""
    with naming(folder / FIGURES):
        figures = read_json(folder / FIGURES)
        settings, lexicon = Pbsmt(**figures["settings"]), int(figures["lexicon"])
    with naming(folder / PHRASES):
        arrays = read_arrays(folder / PHRASES)
        table = Table(Vocab(arrays["vocabulary"], lexicon), arrays["starts"], arrays["targets"], arrays["scores"])
        _check(table, lexicon)
    with naming(folder / LANGUAGE):
        language = KneserNey.load(folder / LANGUAGE)
        if len(language.classes) != lexicon:
            raise ValueError("a language model of other words")
    return Translator(table, language, settings)


def _check(table: Table, lexicon: int) -> None:
    """Raise a ValueError where a row is missing, or a word that the lexicon lacks is a translation."""
    starts, targets, scores = table.starts, table.targets, table.scores
    if starts.dtype != np.int64 or targets.dtype != np.int32 or scores.dtype != np.float32:
        raise ValueError("phrases of another kind")
    if starts.shape != (len(table.vocab) + 1,) or starts[0] != 0 or (np.diff(starts) < 0).any():
        raise ValueError("these are not the starts of the words' phrases")
    if not targets.shape == scores.shape == (int(starts[-1]),):
        raise ValueError("phrases without scores")
    if len(targets) and not 0 <= int(targets.min()) <= int(targets.max()) < lexicon:
        raise ValueError("translations that the lexicon lacks")


def estimate(recipe: Recipe, sizes: Sizes) -> Seconds:
    """Return how long it may take: phrases by the sizes of the vocabularies, summaries by the stacks."""
    from nutgraf.models import alignment

    settings, (hypothesis, stack) = recipe.pbsmt, _TRIED
    pairs = recipe.text.texts_vocabulary * recipe.text.summaries_vocabulary
    words = min(sizes.text_words, settings.max_words + settings.distortion_limit)
    tried = settings.stack * settings.options * (settings.distortion_limit + 1) / 2
    return Seconds(
        alignment.estimate(recipe.pr_thr) + pairs * _MATCHED + sizes.summaries * sizes.summary_words / _COUNTED,
        words * (stack + hypothesis * tried),
    )
