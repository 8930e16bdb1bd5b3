"""Word vectors: FastText skip-gram (gensim), jointly on both corpora or on one alone (Section 4 and the appendix).

One thread, so that the same corpora, settings and seed give the same bytes; vector_blocks has a way for many workers. A
word too rare for a vector of its own has the mean of its character n-grams' vectors. PAD and UNK have zeros, and so has
EOS unless sentences are read with their ends. Nothing is saved here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from queue import Queue
from typing import Any, Self

import numpy as np
from gensim.models import FastText
from numpy.typing import NDArray

from nutgraf import recipe
from nutgraf.progress import Progress, Report
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import EOS, SPECIALS, Ids, Lexicon

MAX_WORDS = 200_000  # with vectors of their own: a bound on memory
_REPORT_EVERY = 5_000  # sentences
FINAL_RATE = 1 / 250  # of the first learning rate: gensim's own ratio; fastText goes down to 0
Spans = Sequence[tuple[Corpus, range]]  # the places of sentences that are read


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
    spans = read_spans(corpora, settings.max_sentences)
    sentences = WordLists(spans, lexicon, settings.epochs + 1, report, with_end)
    model = SkipGram.of(width, settings, seed)
    model.build_vocab(corpus_iterable=sentences)
    sentences.check()
    if not model.wv.key_to_index:
        return np.zeros((len(ids), width), dtype=np.float32)
    model.fit(sentences, settings.epochs)
    return model.look_up(lexicon, ids, with_end)


def read_spans(corpora: Sequence[Corpus], limit: int, number: int = 0, count: int = 1) -> Spans:
    """Return which sentences of each corpus are read: up to a limit (0: all), and of those one of so many blocks."""
    sizes = [min(len(corpus), limit or len(corpus)) for corpus in corpora]
    return [
        (corpus, range(size * number // count, size * (number + 1) // count))
        for corpus, size in zip(corpora, sizes, strict=True)
    ]


class SkipGram(FastText):  # type: ignore[misc]  # gensim has no types
    """gensim's model of one thread.

    gensim waits for ever for a thread that fails, as for lack of memory: here, such a one tells others to end.
    """

    error: BaseException | None = None

    @classmethod
    def of(cls, width: int, settings: recipe.Embeddings, seed: int) -> Self:
        """Return a model without words."""
        return cls(
            sg=1,
            vector_size=width,
            window=settings.window,
            negative=settings.negative,
            min_count=settings.min_count,
            bucket=settings.buckets,
            max_final_vocab=MAX_WORDS,
            alpha=settings.learning_rate,
            min_alpha=settings.learning_rate * FINAL_RATE,
            sample=settings.sample,
            epochs=settings.epochs,
            seed=seed,
            workers=1,
        )

    def fit(self, sentences: WordLists, epochs: int, first: float | None = None, last: float | None = None) -> None:
        """Train on sentences; the rate falls from the first to the last, by default those of the settings."""
        count = len(sentences)
        self.train(corpus_iterable=sentences, total_examples=count, epochs=epochs, start_alpha=first, end_alpha=last)
        sentences.check()
        if self.error is not None:
            raise self.error

    def look_up(self, lexicon: Lexicon, ids: Ids, with_end: bool) -> NDArray[np.float32]:
        """Return the vectors of these lexicon ids, one a row."""
        vectors = np.zeros((len(ids), self.vector_size), dtype=np.float32)
        for row, word in enumerate(lexicon.decode(ids)):
            # A word of one character has an n-gram of three, for gensim counts "<" and ">" around it.
            if ids[row] >= len(SPECIALS) or (with_end and ids[row] == EOS):
                vectors[row] = self.wv.get_vector(word)
        return vectors

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


class WordLists:
    """Sentences as lists of words: gensim reads them once an epoch, and once before to count the words.

    gensim reads them in a thread of its own and waits for ever if that thread fails. So an error of the report, such as
    a full disk or an interrupt, ends the sentences, and `check` raises it.
    """

    def __init__(self, spans: Spans, lexicon: Lexicon, passes: int, report: Report, with_end: bool):
        self.spans = spans
        self.words = lexicon.words
        self.end = [SPECIALS[EOS]] if with_end else []
        self.total = len(self) * passes
        self.done = 0
        self.report = report
        self.error: BaseException | None = None

    def check(self) -> None:
        """Raise the error that ended the sentences early, if there was one."""
        if self.error is not None:
            raise self.error

    def __len__(self) -> int:
        return sum(len(places) for _, places in self.spans)

    def __iter__(self) -> Iterator[list[str]]:
        for corpus, places in self.spans:
            for place in places:
                if self.done % _REPORT_EVERY == 0:
                    self._report()
                if self.error is not None:
                    return
                self.done += 1
                yield [self.words[i] for i in corpus[place].tolist()] + self.end

    def _report(self) -> None:
        try:
            self.report(Progress(self.done, self.total, "sentences"))
        except BaseException as error:
            self.error = error
