"""The best summaries of sentences, in word ids, as long as was asked for: the model searches, the rest is cleaned."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

from nutgraf.models.proposals import Proposal
from nutgraf.progress import Report, ShouldStop
from nutgraf.recipe import Decoding
from nutgraf.summarizing.backends import Backend, Initial, SearchRequest
from nutgraf.summarizing.cleaning import Cleaner
from nutgraf.summarizing.codec import Codec
from nutgraf.summarizing.results import SummaryOptions
from nutgraf.text.directions import forbidden_words
from nutgraf.text.lexicon import Ids

RETRIES = 8  # to meet the word limit: the model counts punctuation as words, a reader does not


@dataclass(frozen=True)
class Search:
    """A model with what is asked of it."""

    model: Backend
    cleaner: Cleaner
    options: SummaryOptions
    report: Report
    should_stop: ShouldStop

    def __call__(self, sentences: Sequence[Ids], decoding: Decoding) -> list[list[Proposal]]:
        """Return the best summaries of each sentence; an empty one has none."""
        # A text that is no longer than a summary is not stretched to one, unless that was asked for.
        enough = decoding.min_words if self.options.min_words is None else 0
        long = [place for place, sentence in enumerate(sentences) if len(sentence) > enough]
        short = [place for place, sentence in enumerate(sentences) if 0 < len(sentence) <= enough]
        result: list[list[Proposal]] = [[] for _ in sentences]
        for places, bounds in ((long, decoding), (short, replace(decoding, min_words=1))):
            if places:
                found = self._search([sentences[place] for place in places], bounds)
                for place, summaries in zip(places, found, strict=True):
                    result[place] = summaries[: self.options.n_best]
        return result

    def _search(self, sentences: Sequence[Ids], decoding: Decoding) -> list[list[Proposal]]:
        if self.options.max_words is None and self.options.min_words is None:
            wanted = max(self.options.n_best, decoding.beam) if decoding.prefer_true else self.options.n_best
            return self._ask(sentences, decoding, wanted, decoding.max_words, any_length=True)
        return self._search_to_length(sentences, decoding)

    def _search_to_length(self, sentences: Sequence[Ids], decoding: Decoding) -> list[list[Proposal]]:
        """Return the best summaries that have the number of words that was asked for.

        The model counts punctuation as words, a reader does not. So a summary with too few words is searched for once
        more with a higher limit, up to RETRIES times.
        """
        codec, least = self.cleaner.codec, self.options.min_words or 1
        result: list[list[Proposal]] = [[] for _ in sentences]
        left = list(range(len(sentences)))
        for more in range(count_tries(self.model, decoding)):
            most = decoding.max_words + more
            bounds = replace(decoding, min_words=min(decoding.min_words + more, most), max_words=most)
            wanted = max(self.options.n_best, decoding.beam)
            found = self._ask([sentences[place] for place in left], bounds, wanted, sys.maxsize)
            for place, kept in zip(left, found, strict=True):
                fitting = [one for one in kept if least <= codec.count(one.words) <= decoding.max_words]
                result[place] = fitting or result[place] or [cut(one, codec, decoding.max_words) for one in kept]
            left = [place for place in left if codec.count(result[place][0].words) < least]
            if not left:
                break
        return result

    def _ask(
        self, sentences: Sequence[Ids], decoding: Decoding, n_best: int, most: int, any_length: bool = False
    ) -> list[list[Proposal]]:
        """Return up to `n_best` clean summaries of each sentence, cut to `most` words."""
        request = SearchRequest(decoding, n_best, self._forbid, self.report, self.should_stop, any_length)
        found = self.model(sentences, request)
        return [
            self.cleaner.clean_all(proposals, sentence, decoding, most)
            for proposals, sentence in zip(found, sentences, strict=True)
        ]

    def _forbid(self, sentence: Ids) -> Ids:
        """Return the words that would contradict a sentence."""
        codec = self.cleaner.codec
        return codec.lexicon.encode(sorted(forbidden_words(codec.decode([sentence])[0])))


def cut(proposal: Proposal, codec: Codec, most: int) -> Proposal:
    """Return a summary without what is beyond `most` words."""
    return replace(proposal, words=codec.cut(proposal.words, most))


def count_tries(model: Backend, decoding: Decoding) -> int:
    """Return how often summaries may be searched for: a higher limit helps up to the model's own."""
    return 1 if isinstance(model, Initial) else min(RETRIES, model.longest - decoding.max_words + 1)
