"""near: the nearest real summary of a text, and pairs that two piles hold without anyone knowing (not in the paper).

Two large piles on the same subjects hold real pairs: another report of the same event, or of one just like it. A text
and a summary are near when the words that they share are rare and come early in the text, and when the text covers what
the summary says, in the same or in other words:

    near(x, s) = cos(x, s) * coverage(x, s) * penalty ** (names that s has and x lacks); 0 if x lacks a number of s

cos is the cosine of tf-idf vectors, where the word at place p of a text weighs 1 / (1 + p / `early`). coverage is the
share of the summary's idf that the text covers: fully by the same word, by (c - 0.3) / 0.7 where the nearest word of
the text has cosine c to it ("acquires" is near "buys").

The search is a sparse matrix product that keeps the best few per text; words in more than `common` of the summaries do
not take part in it, but count in near(x, s).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file
from scipy.sparse import csr_matrix, vstack
from sparse_dot_topn import sp_matmul_topn
from torch import Tensor

from nutgraf import recipe
from nutgraf.files import check_regular, naming, read_json
from nutgraf.learning.batches import gather_batch
from nutgraf.progress import Progress, Report, ignore
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import SPECIALS, UNK, Ids
from nutgraf.text.subsequence import common_subsequence

WORDS, FIGURES = "near.safetensors", "near.json"
NONE = -1  # the place of no summary
BATCH = 64  # texts whose candidates are scored at once
BLOCK = 2_048  # texts searched for at once
NOT_COMMON = 1_000  # summaries: words in so few are searched for in any case
LEAST_SIMILAR = 0.3  # words with a lower cosine have nothing to do with each other

Places = NDArray[np.int64]
Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Words:
    """What is known of each word of the lexicon."""

    idf: Vectors  # (words,): log(summaries / summaries with the word)
    vectors: Vectors  # (words, width), of length 1, or 0 where a word has none
    names: NDArray[np.bool_]
    numbers: NDArray[np.bool_]

    @classmethod
    def of(cls, summaries: Corpus, vectors: Vectors, names: NDArray[np.bool_], numbers: NDArray[np.bool_]) -> Words:
        """Count the words of the summaries; `vectors` may have any length."""
        counts = summaries.sentence_counts(len(names))
        idf = np.log(max(1, len(summaries)) / np.maximum(1, counts))
        idf[: len(SPECIALS)] = 0.0
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return cls(idf.astype(np.float32), vectors / np.maximum(lengths, 1e-6), names, numbers)


@dataclass(frozen=True)
class Match:
    """The candidates of texts, best first: places among the summaries, with NONE at the end, and their scores."""

    places: Places  # (texts, candidates)
    scores: Vectors  # (texts, candidates)

    @classmethod
    def ranked(cls, places: Places, scores: Vectors) -> Match:
        """Put candidates in the order of their scores; those that score 0 are none."""
        order = np.argsort(-scores, axis=1, kind="stable")
        scores = np.take_along_axis(scores, order, 1)
        return cls(np.where(scores > 0, np.take_along_axis(places, order, 1), NONE), scores)


class Near:
    """A summarizer that answers with the nearest real summary."""

    def __init__(self, summaries: Corpus, words: Words, settings: recipe.Near):
        self.summaries, self.words, self.settings = summaries, words, settings
        self._idf, self._vectors = torch.from_numpy(words.idf), torch.from_numpy(words.vectors)
        self._names, self._numbers = torch.from_numpy(words.names), torch.from_numpy(words.numbers)

    @property
    def lexicon_size(self) -> int:
        """The number of words of the lexicon that it was made for."""
        return len(self.words.idf)

    def __call__(self, sentences: Sequence[Ids]) -> list[Ids]:
        """Summarize sentences; one that shares no word with any summary gets an empty one."""
        best = self.match(Corpus.of(sentences)).places[:, 0].tolist()
        return [self.summaries[place] if place != NONE else np.zeros(0, dtype=np.int32) for place in best]

    def nearness(self, sentence: Ids) -> float:
        """Return the score of the nearest summary of a sentence."""
        return float(self.match(Corpus.of([sentence])).scores[0, 0])

    def match(self, texts: Corpus, report: Report = ignore) -> Match:
        """Return the nearest summaries of texts with their scores; summaries that score 0 are none."""
        found = []
        for start in range(0, len(texts), BLOCK):
            block = texts.take(np.arange(start, min(start + BLOCK, len(texts))))
            candidates = self.search(block)
            for place in range(0, len(block), BATCH):
                part = np.arange(place, min(place + BATCH, len(block)))
                found.append(Match.ranked(candidates[part], self.score(block.take(part), candidates[part])))
            report(Progress(start + len(block), len(texts), "texts"))
        empty = np.zeros((0, self.settings.candidates))
        places = np.concatenate([empty.astype(np.int64), *(match.places for match in found)])
        return Match(places, np.concatenate([empty.astype(np.float32), *(match.scores for match in found)]))

    def score(self, texts: Corpus, candidates: Places) -> Vectors:
        """Return near(x, s) of each text and each of its candidates (texts, candidates)."""
        x = self._known(gather_batch(texts, np.arange(len(texts))))  # (texts, words)
        s = gather_batch(self.summaries, np.maximum(candidates, 0).ravel())
        shape = (*candidates.shape, s.shape[1])
        s = s.view(len(texts), -1)  # (texts, candidates * words)
        of_x, of_s = self._idf[x] * _is_first(x), self._idf[s] * _is_first(s.view(-1, shape[2])).view(s.shape)
        early = of_x / (1 + torch.arange(x.shape[1]) / self.settings.early)
        same = (s[:, :, None] == x[:, None]) & (of_x > 0)[:, None]
        shared = same.any(2)
        lengths = of_s.view(shape).square().sum(2).sqrt() * early.square().sum(1, keepdim=True).sqrt()
        cosine = (of_s * (same * early[:, None]).sum(2)).view(shape).sum(2) / lengths.clamp(min=1e-6)
        similar = torch.bmm(self._vectors[s], self._vectors[x].transpose(1, 2)).amax(2)
        covered = torch.where(shared, 1.0, ((similar - LEAST_SIMILAR) / (1 - LEAST_SIMILAR)).clamp(min=0))
        coverage = (of_s * covered).view(shape).sum(2) / of_s.view(shape).sum(2).clamp(min=1e-6)
        lacking = ~shared & (of_s > 0)
        names, numbers = ((lacking & facts[s]).view(shape).sum(2) for facts in (self._names, self._numbers))
        scores = cosine * coverage * self.settings.name_penalty**names * (numbers == 0)
        return np.where(candidates == NONE, 0, scores.numpy()).astype(np.float32)

    def _known(self, words: Tensor) -> Tensor:
        """Put UNK in the place of words past the lexicon's end."""
        return torch.where(words < len(self._idf), words, UNK)

    def search(self, texts: Corpus) -> Places:
        """Return the summaries whose shared rare words weigh most (texts, candidates), NONE where there are fewer."""
        candidates = self.settings.candidates
        wanted = self._matrix(texts, self.settings.early)
        product = sp_matmul_topn(wanted, self._index, candidates, n_threads=torch.get_num_threads(), sort=True)
        places = np.full((len(texts), candidates), NONE, dtype=np.int64)
        inside = np.arange(candidates) < np.diff(product.indptr)[:, None]
        places[inside] = product.indices
        return places

    @cached_property
    def _index(self) -> csr_matrix:
        """The summaries of each word, with its weight there (words, summaries)."""
        return self._matrix(self.summaries).T.tocsr()

    def _matrix(self, corpus: Corpus, early: float = np.inf) -> csr_matrix:
        """Return the tf-idf vectors of sentences, of length 1, without words that are too common to search for."""
        blocks = [self._weigh(block, early) for block in corpus.blocks()]
        return vstack(blocks, format="csr") if blocks else self._weigh(corpus, early)

    def _weigh(self, corpus: Corpus, early: float) -> csr_matrix:
        """Return the same of a few sentences: it takes ten times the memory of what it returns."""
        rows = np.repeat(np.arange(len(corpus)), corpus.lengths)
        places = np.arange(len(corpus.tokens)) - np.repeat(corpus.offsets[:-1], corpus.lengths)
        words = np.where(corpus.tokens < len(self.words.idf), corpus.tokens, UNK)
        _, first = np.unique(rows * len(self.words.idf) + words, return_index=True)
        rows, words, places = rows[first], words[first], places[first]
        weights = self.words.idf[words] / (1 + places / early)
        lengths = np.sqrt(np.bincount(rows, weights**2, minlength=len(corpus)))
        count = max(1, len(self.summaries))
        rare = self.words.idf[words] >= np.log(count / max(self.settings.common * count, NOT_COMMON))
        values = (weights / np.maximum(lengths[rows], 1e-6)).astype(np.float32)[rare]
        return csr_matrix((values, (rows[rare], words[rare])), shape=(len(corpus), len(self.words.idf)))

    def save(self, folder: Path) -> None:
        """Write the summaries and what is known of their words."""
        self.summaries.save(folder, "summaries")
        save_file(asdict(self.words), folder / WORDS)
        figures = asdict(self.settings)
        del figures["max_lead"], figures["adapt"]  # of the choice of pairs, which is another step's
        (folder / FIGURES).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Near:
        """Read what `save` wrote; a RunError names a file that is something else."""
        with naming(folder / FIGURES):
            settings = recipe.Near(**read_json(folder / FIGURES))
        summaries = Corpus.open(folder, "summaries")
        with naming(folder / WORDS):
            check_regular(folder / WORDS, (folder / WORDS).lstat().st_mode)
            words = Words(**load_file(folder / WORDS))
            if any(len(array) != len(words.idf) or not np.isfinite(array).all() for array in asdict(words).values()):
                raise ValueError("figures that are not finite, or not of each word")
        summaries.check(folder, len(words.idf))
        return cls(summaries, words, settings)


def _is_first(sentences: Tensor) -> Tensor:
    """Return where a word shared for the first time in its sentence (sentences, words); a second one adds nothing."""
    return ~(sentences[:, :, None] == sentences[:, None]).tril(-1).any(2)


def is_lead(summary: Ids, text: Ids, max_lead: float) -> bool:
    """Whether the share `max_lead` of a summary's words or more are, in this order, among the text's first ones.

    Of these, as many count as the summary has, and one more.
    """
    words = summary.tolist()
    return common_subsequence(words, text[: len(words) + 1].tolist()) >= max_lead * len(words)


def without_leads(match: Match, texts: Corpus, summaries: Corpus, settings: recipe.Near) -> Match:
    """Leave out candidates that are little more than the beginning of their text: they teach to cut, not to summarize.

    Candidates that are too weak to be chosen are not looked at.
    """
    scores = match.scores.copy()
    least = max(min(settings.min_score, settings.again_min_score), 1e-6)
    for text, rank in np.argwhere(scores >= least).tolist():
        if is_lead(summaries[int(match.places[text, rank])], texts[text], settings.max_lead):
            scores[text, rank] = 0
    return Match.ranked(match.places, scores)


def choose(match: Match, min_score: float, max_uses: int) -> Places:
    """Return one summary per text, NONE where no good one is left: the best pairs first, a summary `max_uses` times."""
    texts, ranks = np.nonzero((match.scores >= min_score) & (match.scores > 0))
    places = match.places[texts, ranks]
    taken = take_best(texts, places, match.scores[texts, ranks], max_uses)
    chosen = np.full(len(match.places), NONE, dtype=np.int64)
    chosen[texts[taken]] = places[taken]
    return chosen


def take_best(texts: Places, places: Places, scores: Vectors, max_uses: int) -> Places:
    """Return which pairs to take: the best first, one for each text, a summary `max_uses` times."""
    taken, paired = [], set()
    uses: Counter[int] = Counter()
    for pair in np.argsort(-scores, kind="stable").tolist():
        text, place = int(texts[pair]), int(places[pair])
        if text not in paired and uses[place] < max_uses:
            taken.append(pair)
            paired.add(text)
            uses[place] += 1
    return np.array(taken, dtype=np.int64)
