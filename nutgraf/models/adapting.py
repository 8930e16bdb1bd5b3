"""Real summaries of other texts, made to fit a text: with its names and numbers in place of theirs (not in the paper).

Much of what summaries say of one, others say of another: "Acme quarterly profit rises 8 percent". So a summary that is
near a text, names and numbers apart, is turned into one of the text:

- Names that the text lacks, one or several in a row, give way to the first name of the text that the summary lacks and
  that is like them (the cosine of mean vectors is at least LIKE). Of a name that the text has in part, that part stays.
  Words of names that summaries leave out, such as "Inc" or "Tuesday", are not put in.
- A number that the text lacks gives way to the first number of the text before the same word: "8 percent".
- Where there is no such name or number, the summary does not fit. Nor does it where another word is neither in the
  text nor near one of its words (cosine at least SUPPORT), where the text has less than half of those words, or where
  it contradicts a direction of the text or loses a negation.

The score of a summary that fits as it was found is near(x, s). Of another it is ADAPTED times the geometric mean of
near(x, s) and of near(x, s) without names and numbers: names that were put in are in the text by construction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from nutgraf import recipe
from nutgraf.models.near import NONE, Match, Near, Places, Vectors, Words, is_lead, take_best
from nutgraf.progress import Progress, Report, ignore
from nutgraf.text.corpus import Corpus
from nutgraf.text.directions import find_contradictions
from nutgraf.text.lexicon import SPECIALS, Ids, Lexicon
from nutgraf.text.negations import find_lost_negations

LIKE = 0.5
SUPPORT = 0.6
ADAPTED = 0.85
MOST_NAMES = 2  # that give way in one summary
LEAST_WORDS = 4  # of a summary that is worth learning
LEFT_OUT = 0.08  # a word is left out by summaries if mu_S / mu_F is below this, where all names together have 1
USUAL = 60  # most frequent words of texts, which need no support
PAIRS = 512  # scored at once
BLOCK = 2_048  # texts at once

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Text:
    """What a text offers to summaries."""

    words: list[int]
    present: frozenset[int]
    content: Vectors  # the vectors of its words, names, numbers and usual words apart
    names: list[list[int]]  # in a row, without words that summaries leave out
    vectors: list[Vectors]  # of the names
    numbers: list[tuple[int, int]]  # with the word behind each
    supports: dict[int, bool] = field(
        default_factory=dict
    )  # whether a word is near one of its words, once it was asked


@dataclass(frozen=True)
class Candidate:
    """A summary that is tried with several texts."""

    words: list[int]
    content: list[int]  # what it says, apart from names, numbers and usual words


class Adapter:
    """Makes summaries fit texts."""

    def __init__(self, words: Words, texts: Corpus, summaries: Corpus, lexicon: Lexicon):
        self._vectors, self._lexicon = words.vectors, lexicon
        self._names, self._numbers = words.names.tolist(), words.numbers.tolist()
        self._left_out = left_out(words.names, texts, summaries).tolist()
        content = ~words.names & ~words.numbers
        content[np.argsort(-texts.counts(len(lexicon)), kind="stable")[:USUAL]] = False
        content[: len(SPECIALS)] = False
        self._content = content.tolist()

    def read(self, text: Ids) -> Text:
        """Look for names and numbers in a text."""
        words = text.tolist()
        rows = [[word for word in words[start:end] if not self._left_out[word]] for start, end in self._rows(words)]
        names = [row for row in rows if row]
        after = [*words[1:], -1]
        numbers = [(word, unit) for word, unit in zip(words, after, strict=True) if self._numbers[word]]
        content = self._vectors[[word for word in words if self._content[word]]]
        return Text(words, frozenset(words), content, names, [self._mean(name) for name in names], numbers)

    def read_candidate(self, summary: Ids) -> Candidate:
        """Look for what a summary says apart from names and numbers."""
        words = summary.tolist()
        return Candidate(words, [word for word in words if self._content[word]])

    def fit(self, text: Text, candidate: Candidate) -> list[int] | None:
        """Return the summary with the names and numbers of the text; None where it does not fit."""
        named = self._put_names(text, candidate.words) if self._is_supported(text, candidate.content) else None
        fitted = self._put_numbers(text, named) if named else None
        return fitted if fitted and len(fitted) >= LEAST_WORDS else None

    def is_true(self, text: Text, summary: list[int]) -> bool:
        """Whether a summary contradicts no direction of the text and keeps its negations."""
        said, known = ([self._lexicon.words[word] for word in words] for words in (summary, text.words))
        return not any(find_contradictions(said, known)) and not any(find_lost_negations(said, known))

    def _put_names(self, text: Text, summary: list[int]) -> list[int] | None:
        free = [place for place, name in enumerate(text.names) if not any(word in summary for word in name)]
        fitted: list[int] = []
        done = replaced = 0
        for start, end in self._rows(summary):
            name = [word for word in summary[start:end] if word in text.present]
            if not name:
                like = self._mean(summary[start:end])
                place = next((place for place in free if float(like @ text.vectors[place]) >= LIKE), None)
                replaced += 1
                if place is None or replaced > MOST_NAMES:
                    return None
                name, free = text.names[place], [other for other in free if other > place]
            fitted += [*summary[done:start], *name]
            done = end
        return [*fitted, *summary[done:]]

    def _put_numbers(self, text: Text, summary: list[int]) -> list[int] | None:
        fitted, after = summary.copy(), [*summary[1:], -1]
        for place, word in enumerate(summary):
            if self._numbers[word] and word not in text.present:
                new = (number for number, unit in text.numbers if unit == after[place] and number not in fitted)
                fitted[place] = next(new, NONE)
        return None if NONE in fitted else fitted

    def _is_supported(self, text: Text, content: list[int]) -> bool:
        """Whether the text has, in the same or in other words, what a summary says apart from names and numbers."""
        lacking = [word for word in content if word not in text.present]
        if not content or 2 * len(lacking) > len(content):
            return False
        if new := [word for word in lacking if word not in text.supports]:
            near = (self._vectors[new] @ text.content.T).max(1) >= SUPPORT
            text.supports.update(zip(new, near.tolist(), strict=True))
        return all(text.supports[word] for word in lacking)

    def _rows(self, words: list[int]) -> Iterator[tuple[int, int]]:
        """Yield where names in a row start and end."""
        start = None
        for place, word in enumerate([*words, NONE]):
            is_name = word != NONE and self._names[word]
            if is_name and start is None:
                start = place
            elif not is_name and start is not None:
                yield start, place
                start = None

    def _mean(self, words: list[int]) -> Vectors:
        """Return the mean direction of some words."""
        total = self._vectors[words].sum(0)
        return np.asarray(total / max(1e-6, float(np.linalg.norm(total))))


def left_out(names: Flags, texts: Corpus, summaries: Corpus) -> Flags:
    """Return the names that texts have and summaries hardly ever: mu_S / mu_F is far below that of all names."""
    mu_F, mu_S = (corpus.sentence_counts(len(names)) / max(1, len(corpus)) for corpus in (texts, summaries))
    usual = mu_S[names].sum() / max(1e-9, mu_F[names].sum())
    return np.asarray(names & (mu_S < LEFT_OUT * usual * mu_F))


def nameless(model: Near) -> Near:
    """Return a search in which names and numbers do not count."""
    words = model.words
    facts = words.names | words.numbers
    none = np.zeros_like(facts)
    idf = np.where(facts, 0, words.idf).astype(np.float32)
    return Near(model.summaries, replace(words, idf=idf, names=none, numbers=none), model.settings)


@dataclass(frozen=True)
class Fitted:
    """Summaries that fit: the text of each, the place of the summary that it was, its words, and the score."""

    texts: Places
    places: Places
    summaries: Corpus
    scores: Vectors

    def take(self, numbers: Places) -> Fitted:
        """Return some of them."""
        return Fitted(self.texts[numbers], self.places[numbers], self.summaries.take(numbers), self.scores[numbers])

    def best(self, texts: Corpus, settings: recipe.Near) -> Fitted:
        """Return one for each text that has one: the best pairs first, a summary `max_uses` times, none a mere lead."""
        free = self
        if settings.max_lead < 1:
            rows = zip(self.summaries, self.texts.tolist(), strict=True)
            leads = [is_lead(summary, texts[text], settings.max_lead) for summary, text in rows]
            free = self.take(np.flatnonzero(~np.array(leads, dtype=bool)))
        return free.take(np.sort(take_best(free.texts, free.places, free.scores, settings.max_uses)))


def fit_candidates(
    model: Near, match: Match, texts: Corpus, adapter: Adapter, min_score: float, report: Report = ignore
) -> Fitted:
    """Make the candidates of texts fit: those in `match`, and those that are near without names and numbers.

    What scores less than `min_score` is left out. The model's own settings may be of an earlier recipe.
    """
    search = nameless(model)
    found = [Fitted(np.zeros(0, np.int64), np.zeros(0, np.int64), Corpus.of([]), np.zeros(0, np.float32))]
    for start in range(0, len(texts), BLOCK):
        part = texts.take(np.arange(start, min(start + BLOCK, len(texts))))
        candidates = np.concatenate([match.places[start : start + BLOCK], search.search(part)], axis=1)
        fitted = _fit_block(model, search, part, candidates, adapter, min_score)
        found.append(replace(fitted, texts=fitted.texts + start))
        report(Progress(start + len(part), len(texts), "texts", "made to fit"))
    corpus, scores = Corpus.join([one.summaries for one in found]), np.concatenate([one.scores for one in found])
    return Fitted(
        np.concatenate([one.texts for one in found]), np.concatenate([one.places for one in found]), corpus, scores
    )


def _fit_block(
    model: Near, search: Near, texts: Corpus, candidates: Places, adapter: Adapter, min_score: float
) -> Fitted:
    """Fit the candidates of some texts (texts, candidates), and keep what scores enough and is true."""
    read = [adapter.read(text) for text in texts]
    places = np.unique(candidates[candidates != NONE]).tolist()
    known = {place: adapter.read_candidate(model.summaries[place]) for place in places}
    rows: dict[tuple[int, int], list[int]] = {}
    for row, rank in np.argwhere(candidates != NONE).tolist():
        pair = row, int(candidates[row, rank])
        if pair not in rows and (fitted := adapter.fit(read[row], known[pair[1]])):
            rows[pair] = fitted
    of_texts, found = np.array([*rows], dtype=np.int64).reshape(-1, 2).T
    summaries = Corpus.of(rows.values())
    near, alike = (_score_pairs(words, texts, of_texts, summaries, model) for words in (model.words, search.words))
    changed = [fitted != known[place].words for (_, place), fitted in rows.items()]
    scores = np.where(changed, ADAPTED * np.sqrt(near * alike), near)
    good = [
        i
        for i in np.flatnonzero(scores >= min_score).tolist()
        if adapter.is_true(read[of_texts[i]], summaries[i].tolist())
    ]
    return Fitted(of_texts, found, summaries, scores).take(np.array(good, dtype=np.int64))


def _score_pairs(words: Words, texts: Corpus, of_texts: Places, summaries: Corpus, model: Near) -> Vectors:
    """Return near(x, s) of summaries, each with the text of its row."""
    scorer, scores = Near(summaries, words, model.settings), [np.zeros(0, np.float32)]
    for start in range(0, len(summaries), PAIRS):
        numbers = np.arange(start, min(start + PAIRS, len(summaries)))
        scores.append(scorer.score(texts.take(of_texts[numbers]), numbers[:, None])[:, 0])
    return np.concatenate(scores)
