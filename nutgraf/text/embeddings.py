"""Word vectors: FastText skip-gram (gensim), jointly on both corpora or on one alone (Section 4 and the appendix).

One thread, so that the same corpora, settings and seed give the same bytes. A word too rare for a vector of its own
has the mean of its character n-grams' vectors; PAD, EOS and UNK, which are no words, have zeros. It saves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
from gensim.models import FastText
from numpy.typing import NDArray

from nutgraf import recipe
from nutgraf.progress import Progress, Report
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import SPECIALS, Ids, Lexicon

_MOST_WORDS = 200_000  # with vectors of their own: a bound on memory
_OFTEN = 5_000  # sentences between reports


def train_embeddings(
    corpora: Sequence[Corpus],
    lexicon: Lexicon,
    ids: Ids,
    width: int,
    settings: recipe.Embeddings,
    seed: int,
    report: Report,
) -> NDArray[np.float32]:
    """Train on the corpora together; return the vectors of these lexicon ids, one a row: (len(ids), width)."""
    sentences = _Sentences(corpora, lexicon, settings.max_sentences, settings.epochs, report)
    model = FastText(
        sg=1,
        vector_size=width,
        window=settings.window,
        negative=settings.negative,
        min_count=settings.min_count,
        bucket=settings.buckets,
        max_final_vocab=_MOST_WORDS,
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
    return _vectors(model, lexicon, ids, width)


def _vectors(model: FastText, lexicon: Lexicon, ids: Ids, width: int) -> NDArray[np.float32]:
    vectors = np.zeros((len(ids), width), dtype=np.float32)
    for row, word in enumerate(lexicon.decode(ids)):
        # A word of one character has no n-gram of three, unless "<" and ">" around it are counted: gensim counts them.
        if ids[row] >= len(SPECIALS):
            vectors[row] = model.wv.get_vector(word)
    return vectors


class _Sentences:
    """The corpora as lists of words, again at each epoch; the first time is the count of the words.

    gensim reads them in a thread of its own and waits for ever if that thread fails. So an error of the report, a full
    disk or an interrupt, ends the sentences, and is raised by `check`.
    """

    def __init__(self, corpora: Sequence[Corpus], lexicon: Lexicon, limit: int, epochs: int, report: Report):
        self.corpora = corpora
        self.words = lexicon.words
        self.limit = limit
        self.total = len(self) * (epochs + 1)
        self.done = 0
        self.report = report
        self.error: BaseException | None = None

    def check(self) -> None:
        """Raise what ended the sentences before their end."""
        if self.error is not None:
            raise self.error

    def __len__(self) -> int:
        return sum(min(len(corpus), self.limit or len(corpus)) for corpus in self.corpora)

    def __iter__(self) -> Iterator[list[str]]:
        for corpus in self.corpora:
            for sentence in islice(corpus, self.limit or None):
                if self.done % _OFTEN == 0:
                    self._tell()
                if self.error is not None:
                    return
                self.done += 1
                yield [self.words[i] for i in sentence.tolist()]

    def _tell(self) -> None:
        try:
            self.report(Progress(self.done, self.total, "sentences"))
        except BaseException as error:
            self.error = error
