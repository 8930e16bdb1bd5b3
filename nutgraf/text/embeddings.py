"""Word vectors: FastText skip-gram (gensim), jointly on both corpora or on one alone (Section 4 and the appendix).

One thread, so that the same corpora, settings and seed give the same bytes. A word too rare for a vector of its own
has the mean of its character n-grams' vectors. PAD and UNK have zeros, and so has EOS unless sentences are read with
their ends. Nothing is saved here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from queue import Queue
from typing import Any

import numpy as np
from gensim.models import FastText
from numpy.typing import NDArray

from nutgraf import recipe
from nutgraf.progress import Progress, Report
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import EOS, SPECIALS, Ids, Lexicon

MAX_WORDS = 200_000  # with vectors of their own: a bound on memory
_REPORT_EVERY = 5_000  # sentences
_FINAL_RATE = 1 / 250  # of the first learning rate: gensim's own ratio; fastText goes down to 0


def train_embeddings(
    corpora: Sequence[Corpus],
    lexicon: Lexicon,
    ids: Ids,
    width: int,
    settings: recipe.Embeddings,
    seed: int,
    report: Report,
    with_end: bool = False,
) -> NDArray[np.float32]:
    """Train on the corpora together; return the vectors of these lexicon ids, one a row: (len(ids), width).

    `with_end` ends each sentence with EOS, as fastText ends every line with </s>, so that EOS gets a vector.
    """
    sentences = _Sentences(corpora, lexicon, settings.max_sentences, settings.epochs, report, with_end)
    model = _FastText(
        sg=1,
        vector_size=width,
        window=settings.window,
        negative=settings.negative,
        min_count=settings.min_count,
        bucket=settings.buckets,
        max_final_vocab=MAX_WORDS,
        alpha=settings.learning_rate,
        min_alpha=settings.learning_rate * _FINAL_RATE,
        sample=settings.sample,
        epochs=settings.epochs,
        seed=seed,
        workers=1,
    )
    model.build_vocab(corpus_iterable=sentences)
    sentences.check()
    if not model.wv.key_to_index:
        return np.zeros((len(ids), width), dtype=np.float32)
    model.train(corpus_iterable=sentences, total_examples=len(sentences), epochs=settings.epochs)
    sentences.check()
    model.check()
    return _look_up(model, lexicon, ids, with_end)


class _FastText(FastText):  # type: ignore[misc]  # gensim has no types
    """gensim waits for ever for a thread that fails, as for lack of memory: here, such a one tells others to end."""

    error: BaseException | None = None

    def check(self) -> None:
        """Raise the error that ended a thread, if there was one."""
        if self.error is not None:
            raise self.error

    def _worker_loop(self, job_queue: Queue[Any], progress_queue: Queue[Any]) -> None:
        try:
            super()._worker_loop(job_queue, progress_queue)
        except BaseException as error:
            self.error = error
            progress_queue.put(None)

    def _job_producer(self, sentences: Iterable[list[str]], job_queue: Queue[Any], **counts: Any) -> None:
        try:
            super()._job_producer(sentences, job_queue, **counts)
        except BaseException as error:
            self.error = error
            job_queue.put(None)  # for the one worker


def _look_up(model: FastText, lexicon: Lexicon, ids: Ids, with_end: bool) -> NDArray[np.float32]:
    vectors = np.zeros((len(ids), model.vector_size), dtype=np.float32)
    for row, word in enumerate(lexicon.decode(ids)):
        # A word of one character has no n-gram of three, unless "<" and ">" around it are counted: gensim counts them.
        if ids[row] >= len(SPECIALS) or (with_end and ids[row] == EOS):
            vectors[row] = model.wv.get_vector(word)
    return vectors


class _Sentences:
    """The corpora as lists of words: gensim reads them once to count the words, then once an epoch.

    gensim reads them in a thread of its own and waits for ever if that thread fails. So an error of the report, such as
    a full disk or an interrupt, ends the sentences, and `check` raises it.
    """

    def __init__(
        self, corpora: Sequence[Corpus], lexicon: Lexicon, limit: int, epochs: int, report: Report, with_end: bool
    ):
        self.corpora = corpora
        self.words = lexicon.words
        self.limit = limit
        self.end = [SPECIALS[EOS]] if with_end else []
        self.total = len(self) * (epochs + 1)
        self.done = 0
        self.report = report
        self.error: BaseException | None = None

    def check(self) -> None:
        """Raise the error that ended the sentences early, if there was one."""
        if self.error is not None:
            raise self.error

    def __len__(self) -> int:
        return sum(min(len(corpus), self.limit or len(corpus)) for corpus in self.corpora)

    def __iter__(self) -> Iterator[list[str]]:
        for corpus in self.corpora:
            for sentence in islice(corpus, self.limit or None):
                if self.done % _REPORT_EVERY == 0:
                    self._report()
                if self.error is not None:
                    return
                self.done += 1
                yield [self.words[i] for i in sentence.tolist()] + self.end

    def _report(self) -> None:
        try:
            self.report(Progress(self.done, self.total, "sentences"))
        except BaseException as error:
            self.error = error
