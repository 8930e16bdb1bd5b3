"""What several summarizers agree on for a text, weighed by trigrams, mu1-0 and an expander (not in the paper).

Each of them proposes the summaries of its beam. Of all of them, s is best for the text x by

    mean over the other proposals r of (ROUGE-1 + ROUGE-2 + ROUGE-L)(s, r) / 3      minimum Bayes risk
    + a * log p(x | s) / |x|                                                        the expander: s tells x from others
    + b * log p(s) / |s|                                                            trigrams of the summaries: fluency
    - d * places where s joins what x has apart                                     soundness: broken lines
    + c * 2 sum of f(x, v) over v in s / (|s| + sum of f(x, v) over v in x)         mu1-0: the words that it expects

ROUGE is F1 on word ids without stemming, and lengths count a sentence's end. The second and third term are a noisy
channel, the first stands for log p(s | x). The last is the ROUGE-1 that mu1-0 expects of s: its f(x, v) is the
probability that v of x is in the summary; a word counts once. p(s) is the product of max(p(w | the two words before),
t [w follows the word before it in x, too]): trigrams know little of rare names, and what a text says in a row is well
said.

all-N learns from what its teachers agree on, and agreed-N is what its members agree on when they summarize.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nutgraf import recipe
from nutgraf.models.mending import Mender
from nutgraf.models.mu1 import Mu1
from nutgraf.models.proposals import Proposal, Score
from nutgraf.models.scoring import Estimate, PairScorer, Side, mean_log_probs
from nutgraf.models.soundness import Soundness
from nutgraf.models.wording import Wording
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import Ids
from nutgraf.text.phrases import Phrases
from nutgraf.text.trigrams import Trigrams, sum_by_sentence

COMPARED = 64  # texts at once
FREQUENT = Estimate(1000)  # enough to compare summaries: 4,000 words choose the same for 98 % of texts
DIGITS = 9  # of a likeness that count: how sums are rounded depends on the other texts

Table = NDArray[np.int64]
Floats = NDArray[np.float64]
Proposals = Sequence[Sequence[Ids]]  # of each text


@dataclass(frozen=True)
class Weighed:
    """Proposals for texts: the one at a place is for the text whose number is there in `rows`."""

    texts: Sequence[Ids]
    rows: Table
    proposals: Corpus


@dataclass(frozen=True)
class Agreement:
    """What orders the proposals of several summarizers."""

    expander: PairScorer | None  # none: not weighed
    fluency: Trigrams
    weights: recipe.Agreement
    wording: Wording | None = None  # puts proposals into the words of real summaries
    mender: Mender | None = None  # makes whole lines of proposals
    cutter: Mu1 | None = None  # mu1-0, which knows what words to expect

    def edit(self, texts: Sequence[Ids], proposed: Proposals, decoding: recipe.Decoding) -> Proposals:
        """Return the proposals for each text as real summaries would say them, as whole lines.

        Those that cannot be right are left out.
        """
        if self.wording is not None:
            reworded = iter(self.wording([words for group in proposed for words in group]))
            proposed = [[*itertools.islice(reworded, len(group))] for group in proposed]
        return [self._mend(text, group, decoding) for text, group in zip(texts, proposed, strict=True)]

    def _mend(self, text: Ids, summaries: Sequence[Ids], decoding: recipe.Decoding) -> list[Ids]:
        """Return those of the summaries of a text that are sound, as whole lines."""
        if self.mender is None:
            return list(summaries)
        soundness = Soundness(self.mender.phrases)
        sound = soundness.choose(text, summaries)
        whole = [self.mender(text, words, decoding.min_words, decoding.max_words) for words in sound]
        return soundness.choose_whole(text, whole)  # "Acme build", with "to", turns out to be "Acme to build"

    def rank(
        self, texts: Sequence[Ids], proposed: Proposals, estimate: Estimate = FREQUENT, kept: int | None = None
    ) -> list[list[Proposal]]:
        """Return the distinct proposals for each text with their scores, best first.

        Only the `kept` that are most alike are weighed by expander and trigrams (None: all). The others follow, the
        most alike first, and have no score.
        """
        alike = most_alike(proposed)
        weighed = Corpus.of(words for group, _ in alike for words in group[:kept])
        rows = np.repeat(np.arange(len(alike)), [len(group[:kept]) for group, _ in alike])
        likeness = np.concatenate([*(values[:kept] for _, values in alike), np.zeros(0)])
        scores = self._score(likeness, Weighed(texts, rows, weighed), estimate)
        best: list[list[Proposal]] = [[] for _ in texts]
        for place in sorted(range(len(scores)), key=lambda place: -scores[place].total):
            best[rows[place]].append(Proposal(np.array(weighed[place]), scores[place]))
        return [
            [*first, *(Proposal(words) for words in group[len(first) :])]
            for first, (group, _) in zip(best, alike, strict=True)
        ]

    def _score(self, likeness: Floats, of: Weighed, estimate: Estimate) -> list[Score]:
        """Return the scores of proposals."""
        if len(of.proposals) == 0:
            return []
        weights = self.weights
        fluency = sum_by_sentence(np.log(self._probabilities(of)), of.proposals) / (of.proposals.lengths + 1)
        totals = likeness + weights.fluency_weight * fluency
        expected = content = breaks = None
        if self.cutter is not None and weights.initial_weight:
            expected = expected_overlap(of, self.cutter.probabilities(of.texts))
            totals = totals + weights.initial_weight * expected
        if self.expander is not None and weights.expander_weight:
            sides = Side(of.proposals, np.arange(len(of.proposals))), Side(Corpus.of(of.texts), of.rows)
            log_probs = mean_log_probs(self.expander, *sides, estimate)
            totals, content = totals + weights.expander_weight * log_probs, np.exp(log_probs)
        if self.mender is not None and weights.break_weight:
            breaks = self._count_breaks(of, self.mender.phrases)
            totals = totals - weights.break_weight * breaks
        columns = totals, likeness, np.exp(fluency), expected, content, breaks
        none = itertools.repeat(None)
        return [Score(*row) for row in zip(*(none if c is None else c.tolist() for c in columns), strict=False)]

    def _count_breaks(self, of: Weighed, phrases: Phrases) -> Table:
        soundness = Soundness(phrases)
        pairs = zip(of.rows.tolist(), of.proposals, strict=True)
        return np.array([soundness.count_breaks(of.texts[row], words) for row, words in pairs], dtype=np.int64)

    def _probabilities(self, of: Weighed) -> Floats:
        """Return p(w | before) of each word and end: with `text_pairs`, what follows in the text may follow here."""
        known = self.fluency.probabilities(of.proposals)
        if not self.weights.text_pairs:
            return known
        pairs, start = [frozenset(itertools.pairwise(text.tolist())) for text in of.texts], 0
        for row, words in zip(of.rows.tolist(), of.proposals, strict=True):
            for place, pair in enumerate(itertools.pairwise(words.tolist()), start + 1):
                if pair in pairs[row]:
                    known[place] = max(known[place], self.weights.text_pairs)
            start += len(words) + 1
        return known


def expected_overlap(of: Weighed, likely: Sequence[NDArray[np.float32]]) -> Floats:
    """Return ROUGE-1 of each proposal, if each word of its text is in the real summary as likely as is said."""
    expected = []
    for text, probabilities in zip(of.texts, likely, strict=True):
        best: dict[int, float] = {}
        for word, probability in zip(text.tolist(), probabilities.tolist(), strict=True):
            best[word] = max(probability, best.get(word, 0.0))
        expected.append((best, sum(best.values())))
    found = []
    for row, words in zip(of.rows.tolist(), of.proposals, strict=True):
        best, total = expected[row]
        found.append(2 * sum(best.get(word, 0.0) for word in {*words.tolist()}) / max(len(words) + total, 1.0))
    return np.array(found)


def most_alike(groups: Proposals) -> list[tuple[list[Ids], Floats]]:
    """Return the distinct sentences of each group and how like the others each is, on average, best first."""
    result = []
    for start in range(0, len(groups), COMPARED):
        part = groups[start : start + COMPARED]
        for group, likeness in zip(part, np.round(mean_likeness(part), DIGITS), strict=True):
            order = np.argsort(-likeness[: len(group)], kind="stable").tolist()
            places: dict[tuple[int, ...], int] = {}
            for place in order:
                places.setdefault(tuple(group[place].tolist()), place)
            result.append(([group[place] for place in places.values()], likeness[[*places.values()]]))
    return result


def mean_likeness(groups: Sequence[Sequence[Ids]]) -> Floats:
    """Return (groups, sentences): how like the others of its group each sentence is, on average."""
    shape = (len(groups), max((len(group) for group in groups), default=0))
    lengths = np.zeros(shape, dtype=np.int64)
    table = np.full((*shape, max((len(words) for group in groups for words in group), default=0)), -1, dtype=np.int64)
    for row, group in enumerate(groups):
        for column, words in enumerate(group):
            lengths[row, column] = len(words)
            table[row, column, : len(words)] = words
    one, other = table[:, :, None], np.where(table < 0, -2, table)[:, None]  # (groups, sentences, sentences, words)
    words = lengths[:, :, None] + lengths[:, None]
    r1 = 2 * _overlap(one, other) / np.maximum(1, words)
    r2 = 2 * _overlap(_bigrams(one), _bigrams(other)) / np.maximum(1, words - 2)
    rl = 2 * _subsequence(one, other) / np.maximum(1, words)
    likeness = (r1 + r2 + rl) / 3 * (lengths > 0)[:, None]
    likeness[:, np.arange(shape[1]), np.arange(shape[1])] = 0  # all are like themselves
    others = np.maximum(1, (lengths > 0).sum(1) - 1)
    return np.asarray(likeness.sum(2) / others[:, None])


def _bigrams(table: Table) -> Table:
    """Return pairs of neighbours as one number, the filling of the table where either is."""
    first, second = table[..., :-1], table[..., 1:]
    return np.where((first < 0) | (second < 0), np.minimum(first, second), first * 2**31 + second)


def _overlap(one: Table, other: Table) -> Table:
    """Return how many places of `one` can be matched with places of `other` that have the same number."""
    same = one[..., :, None] == other[..., None, :]
    # The n-th occurrence of a word matches the n-th of the other side: clipped counts.
    nth_one, nth_other = _occurrence(one), _occurrence(other)
    return np.asarray((same & (nth_one[..., :, None] == nth_other[..., None, :])).any(-1).sum(-1))


def _occurrence(table: Table) -> Table:
    same = table[..., :, None] == table[..., None, :]
    return np.asarray(np.tril(same, -1).sum(-1))


def _subsequence(one: Table, other: Table) -> Table:
    """Return the length of the longest common subsequence of each two rows."""
    shape = np.broadcast_shapes(one.shape[:-1], other.shape[:-1])
    best = np.zeros((other.shape[-1] + 1, *shape), dtype=np.int64)
    for i in range(one.shape[-1]):
        diagonal = np.zeros(shape, dtype=np.int64)
        for j in range(other.shape[-1]):
            above = best[j + 1].copy()
            best[j + 1] = np.where(one[..., i] == other[..., j], diagonal + 1, np.maximum(above, best[j]))
            diagonal = above
    return np.asarray(best[-1])
