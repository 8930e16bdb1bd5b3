"""Word vectors by many workers: blocks of the corpora are trained apart, and averaged after each epoch.

The mean of a word's vector is weighted by how often each block has the word, so a word that one block alone has keeps
what it learned there. The recipe says how many blocks there are (`embeddings.blocks`), so vectors have the same bytes
whoever trains the blocks. A block is a file with its checksum, written when it is trained: a run that was killed
resumes there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load, save

from nutgraf import recipe
from nutgraf.errors import RunError
from nutgraf.files import read_sealed, write_sealed
from nutgraf.progress import Progress, Report
from nutgraf.seeds import seed_of
from nutgraf.text.corpus import BLOCK, Corpus
from nutgraf.text.embeddings import FINAL_RATE, SkipGram, Spans, WordLists, read_spans
from nutgraf.text.lexicon import EOS, Ids, Lexicon

WORDS, NGRAMS, OUTPUTS = "words", "ngrams", "outputs"  # the weights of a model
_COUNTS = {WORDS: "word_counts", NGRAMS: "ngram_counts", OUTPUTS: "word_counts"}
_MOST_BYTES = 1 << 36  # of a file
Weights = dict[str, NDArray[np.float32]]
Stored = dict[str, NDArray[Any]]  # weights, and how often each row of them was read


@dataclass(frozen=True)
class Block:
    """One part of the corpora in one epoch."""

    epoch: int
    number: int

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"epoch-{self.epoch:03d}-block-{self.number:03d}"


@dataclass(frozen=True)
class Blocks:
    """Vectors under way: `work` has the blocks that are trained, and the mean of the last whole epoch."""

    corpora: Sequence[Corpus]
    lexicon: Lexicon
    width: int
    settings: recipe.Embeddings
    seed: int
    with_end: bool
    work: Path

    @property
    def sentences(self) -> int:
        """How many are read, in all epochs together."""
        return self.settings.epochs * sum(len(places) for _, places in self._spans())

    def train(self, map_blocks: Callable[[Sequence[Block]], object]) -> None:
        """Train all epochs; `map_blocks` has blocks trained, here or by others."""
        done = next((epoch for epoch in range(self.settings.epochs, 0, -1) if self._read(_mean(epoch))), 0)
        for epoch in range(done, self.settings.epochs):
            blocks = [Block(epoch, number) for number in range(self.settings.blocks)]
            map_blocks([block for block in blocks if self._read(block.name) is None])
            write_sealed(self.work / _mean(epoch + 1), save(weighted_mean(self._need(one.name) for one in blocks)))
            for name in [_mean(epoch), *(block.name for block in blocks)]:
                (self.work / name).unlink(missing_ok=True)

    def train_block(self, block: Block, report: Report) -> None:
        """Train one block for one epoch and put its file in place; of two attempts, either leaves the same file."""
        spans, model, told = self._spans(block.number, self.settings.blocks), self._model(block.epoch), 0

        def add(progress: Progress) -> None:
            nonlocal told
            report(Progress(progress.done - told, 0, progress.unit))
            told = progress.done

        model.random = np.random.RandomState(seed_of(self.seed, block.name))
        if model.wv.key_to_index and any(places for _, places in spans):
            sentences = WordLists(spans, self.lexicon, 1, add, self.with_end)
            model.fit(sentences, 1, self._rate(block.epoch), self._rate(block.epoch + 1))
        words = self._count(spans)[self.lexicon.encode(model.wv.index_to_key)]
        counts = {_COUNTS[WORDS]: words, _COUNTS[NGRAMS]: _count_ngrams(model, words)}
        write_sealed(self.work / block.name, save(_weights_of(model) | counts))

    def vectors(self, ids: Ids) -> NDArray[np.float32]:
        """Return the vectors of these lexicon ids, one a row, once all epochs are trained."""
        model = self._model(self.settings.epochs)
        if not model.wv.key_to_index:
            return np.zeros((len(ids), self.width), dtype=np.float32)
        model.wv.adjust_vectors()
        return model.look_up(self.lexicon, ids, self.with_end)

    def _model(self, epoch: int) -> SkipGram:
        """Return the model that an epoch begins with: before the first one, that of the seed."""
        counts = self._count(self._spans())
        known = np.flatnonzero(counts)
        model = SkipGram.of(self.width, self.settings, self.seed)
        frequencies = dict(zip(self.lexicon.decode(known), counts[known].tolist(), strict=True))
        model.build_vocab_from_freq(frequencies)
        if epoch:
            weights = self._need(_mean(epoch))
            for name, own in _weights_of(model).items():
                own[:] = weights[name]
        return model

    def _spans(self, number: int = 0, count: int = 1) -> Spans:
        return read_spans(self.corpora, self.settings.max_sentences, number, count)

    def _count(self, spans: Spans) -> NDArray[np.int64]:
        """Return how often each word of the lexicon is read."""
        total = np.zeros(len(self.lexicon), dtype=np.int64)
        for corpus, places in spans:
            for start in places[::BLOCK]:
                stop = min(start + BLOCK, places.stop)
                tokens = corpus.tokens[corpus.offsets[start] : corpus.offsets[stop]]
                total += np.bincount(tokens, minlength=len(total))
            total[EOS] += len(places) * self.with_end
        return total

    def _rate(self, epoch: int) -> float:
        """Return the learning rate at the beginning of an epoch: it falls linearly, as without blocks."""
        return self.settings.learning_rate * (1 - (1 - FINAL_RATE) * epoch / self.settings.epochs)

    def _read(self, name: str) -> Stored | None:
        """Return what a file has; None where it is missing or damaged, and must be made again."""
        path = self.work / name
        content = read_sealed(path, _MOST_BYTES) if path.exists() else None
        return None if content is None else load(content)

    def _need(self, name: str) -> Stored:
        weights = self._read(name)
        if weights is None:
            raise RunError(f"{self.work / name}: damaged since it was written. The same command makes it again")
        return weights


def weighted_mean(blocks: Iterable[Stored]) -> Weights:
    """Return the mean of the blocks' weights, each row weighted by how often a block read it; unread rows stay."""
    mean, totals = Weights(), Stored()
    for block in blocks:
        for name, count in _COUNTS.items():
            if name not in mean:
                mean[name], totals[name] = block[name].copy(), block[count].copy()
                continue
            totals[name] += block[count]
            share = block[count] / np.maximum(1, totals[name])
            mean[name] += (block[name] - mean[name]) * share[:, None].astype(np.float32)
    return mean


def _weights_of(model: SkipGram) -> Weights:
    """Return the arrays that training changes; to write to them changes the model."""
    return {WORDS: model.wv.vectors_vocab, NGRAMS: model.wv.vectors_ngrams, OUTPUTS: model.syn1neg}


def _count_ngrams(model: SkipGram, words: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how often each bucket of character n-grams is read, from how often each word is."""
    counts = np.zeros(len(model.wv.vectors_ngrams), dtype=np.int64)
    for buckets, count in zip(model.wv.buckets_word, words, strict=True):
        np.add.at(counts, buckets, count)
    return counts


def _mean(epoch: int) -> str:
    return f"mean-{epoch:03d}"
