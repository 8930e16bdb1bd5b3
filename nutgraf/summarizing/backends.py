"""The three kinds of model behind a Summarizer, in word ids: initializers, seq2seq models that are searched, and what
several of these agree on.

All give the best summaries of sentences, and say where each word of a summary comes from. Raw text is the Summarizer's
business.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from nutgraf import recipe as recipes
from nutgraf.learning.beam import LEAST_BATCH, NEVER, Beam, Decoder, DecodingState, beam
from nutgraf.models.agreement import Agreement, Proposals
from nutgraf.models.light import LightModel
from nutgraf.models.light_decoding import Forbid, LightDecoder
from nutgraf.models.proposals import Proposal
from nutgraf.progress import Progress, Report, ShouldStop, check_stop, ignore, never
from nutgraf.text.lexicon import EOS, UNK, Ids

if TYPE_CHECKING:
    from nutgraf.models.seq2seq import Seq2seq


class Attribution:
    """Where each word of a summary comes from: (words, source places) weights, and (words,) probabilities.

    `end` is the probability that the summary ends where it does, `nearness` the score of a real summary that was found.
    """

    def __init__(
        self,
        weights: NDArray[np.float32],
        probabilities: NDArray[np.float32] | None,
        nearness: float | None = None,
        end: float | None = None,
    ):
        self.weights, self.probabilities, self.nearness, self.end = weights, probabilities, nearness, end


@dataclass(frozen=True)
class SearchRequest:
    """What is asked of a backend, beside the sentences; `forbid` gives the words that would contradict one."""

    decoding: recipes.Decoding
    n_best: int
    forbid: Forbid
    report: Report = ignore
    should_stop: ShouldStop = never
    any_length: bool = False  # whether a summary may be shorter than `decoding.min_words`, if that is better


class Backend(Protocol):
    """Turns sentences into summaries."""

    longest: int  # words that it can write

    def __call__(self, sentences: Sequence[Ids], request: SearchRequest) -> list[list[Proposal]]:
        """Return the best summaries of each sentence, best first: at least one, at most `n_best`."""

    def count_work(self, sentences: int, decoding: recipes.Decoding, n_best: int) -> int:
        """Return how much work a call may be, in steps of one hypothesis."""

    def explain(self, sentence: Ids, summaries: Sequence[Ids]) -> list[Attribution]:
        """Say where the words of summaries of one sentence come from."""


@runtime_checkable
class Finder(Protocol):
    """An initializer that answers with real summaries."""

    def nearness(self, sentence: Ids) -> float:
        """Return the score of the nearest one."""


@runtime_checkable
class Slow(Protocol):
    """An initializer that takes its time over each sentence, one after the other."""

    @property
    def work(self) -> int:
        """How much work a sentence may be, in steps of one hypothesis of a beam search."""


class Initial:
    """An initializer, or Lead-N: one summary per sentence."""

    longest = sys.maxsize

    def __init__(self, apply: Callable[[Sequence[Ids]], list[Ids]]):
        self.apply = apply

    def __call__(self, sentences: Sequence[Ids], request: SearchRequest) -> list[list[Proposal]]:
        """Return one summary each. It knows of nothing that is forbidden: the Summarizer leaves that out."""
        if not isinstance(self.apply, Slow):
            return [[Proposal(summary)] for summary in self.apply(sentences)]
        found = []
        for done, sentence in enumerate(sentences, 1):
            check_stop(request.should_stop)
            found.append([Proposal(summary) for summary in self.apply([sentence])])
            request.report(Progress(done, len(sentences), "sentences"))
        return found

    def count_work(self, sentences: int, decoding: recipes.Decoding, n_best: int) -> int:
        """Each sentence counts as one step, unless the initializer says more."""
        return sentences * (self.apply.work if isinstance(self.apply, Slow) else 1)

    def explain(self, sentence: Ids, summaries: Sequence[Ids]) -> list[Attribution]:
        """A word comes from its own occurrences; the initializers have no probability of a summary."""
        nearness = self.apply.nearness(sentence) if isinstance(self.apply, Finder) else None
        same = [(summary[:, None] == sentence[None, :]).astype(np.float32) for summary in summaries]
        return [Attribution(weights, None, nearness) for weights in same]


class SteppedState(DecodingState, Protocol):
    """A batch being decoded, whose attention can be seen."""

    @property
    def weights(self) -> NDArray[np.float32]:
        """The (rows, places) attention over the source, of the last step."""


class SteppedDecoder(Decoder, Protocol):
    """A model that can be searched, and asked about a summary that is there."""

    def start(self, sources: Sequence[Ids], replace_unk: bool, top_words: int) -> SteppedState:
        """Read the sources, one row each."""


class Searched:
    """A seq2seq model, by beam search. `facts` marks names and numbers, which faithful output only copies.

    The model is one of numpy or one of torch; both give the same summaries.
    """

    def __init__(self, model: LightModel | Seq2seq, output_words: int, facts: NDArray[np.bool_]):
        self.model = model
        self.longest = model.settings.positions - 1
        self._output_words, self._facts = output_words, facts

    def __call__(self, sentences: Sequence[Ids], request: SearchRequest) -> list[list[Proposal]]:
        """Return the best of the last search."""
        found = self.search(sentences, request)[-1]
        return [[Proposal(words) for words in summaries[: request.n_best]] for summaries in found]

    def search(self, sentences: Sequence[Ids], request: SearchRequest) -> list[list[list[Ids]]]:
        """Return what the beam finds and, where more is asked for than it is wide, what a wider one finds.

        The best of the first search stays the best.
        """
        decoding = request.decoding
        only_copied, forbid = (self._facts, request.forbid) if decoding.faithful else (None, None)
        decoder = make_decoder(self.model, self._output_words, only_copied, forbid, decoding.related_words)
        found = [self._search(decoder, sentences, request, decoding.beam)]
        if request.n_best > decoding.beam:
            wider = _keep_best(found[0], self._search(decoder, sentences, request, request.n_best))
            found.append([summaries[: request.n_best] for summaries in wider])
        return found

    def _search(
        self, decoder: Decoder, sentences: Sequence[Ids], request: SearchRequest, width: int
    ) -> list[list[Ids]]:
        settings = Beam.of(request.decoding, width, unk=not self.model.settings.copy)
        found = beam(decoder, sentences, settings, request.report, request.should_stop)
        return [[h.words for h in hypotheses] or [np.zeros(0, np.int32)] for hypotheses in found]

    def count_work(self, sentences: int, decoding: recipes.Decoding, n_best: int) -> int:
        """Few sentences take about as long as LEAST_BATCH; a search for more alternatives is a second one."""
        widths = decoding.beam + (n_best if n_best > decoding.beam else 0)
        return max(sentences, LEAST_BATCH) * (decoding.max_words + 1) * widths

    def explain(self, sentence: Ids, summaries: Sequence[Ids]) -> list[Attribution]:
        """Read the attention and the probabilities off the model, with the summaries given, a row each."""
        if not summaries:
            return []
        state = make_decoder(self.model).start([sentence], replace_unk=False, top_words=len(self.model.target))
        rows, previous = np.arange(len(summaries)), np.full(len(summaries), EOS)
        state.select(np.zeros_like(rows))
        given = np.full((len(rows), 1 + max(map(len, summaries))), EOS)  # each with its end
        for row, summary in enumerate(summaries):
            given[row, : len(summary)] = summary
        weights, probabilities = [], []
        for words in given.T:
            log_probs = state.step(previous)
            columns = np.tile(np.arange(log_probs.shape[1]), (len(rows), 1))
            own = (log_probs > NEVER) & (state.words(rows[:, None], columns) == words[:, None])
            column = np.where(own.any(1), own.argmax(1), UNK)
            probabilities.append(np.exp(log_probs[rows, column], dtype=np.float32))
            weights.append(state.weights[:, : len(sentence)])  # without the end
            previous = words
        read = zip(summaries, np.stack(weights, 1), np.stack(probabilities, 1), strict=True)
        return [
            Attribution(shown[: len(summary)], probable[: len(summary)], end=float(probable[len(summary)]))
            for summary, shown, probable in read
        ]


class Agreed:
    """What several seq2seq models agree on: all proposals of their beams, in the order of an agreement.

    The agreement's cutter, mu1-0, proposes lines, too: words of the text in their order, which are made whole.
    """

    def __init__(
        self,
        members: Sequence[Searched],
        agreement: Agreement,
        beams: Sequence[int] = (),
    ):
        self.members, self.agreement = members, agreement
        self._beams = beams or [agreement.weights.beam] * len(members)  # proposals of each member
        self.longest = min(member.longest for member in members)

    def __call__(self, sentences: Sequence[Ids], request: SearchRequest) -> list[list[Proposal]]:
        """Search with all members, and rank what they found; as there, the best of the first search stays the best."""
        decoding = _allow_shorter(request.decoding) if request.any_length else request.decoding
        cut = self._cut(sentences, request.decoding.min_words, decoding)
        request = replace(request, decoding=decoding)
        found = [member.search(sentences, self._part(request, number)) for number, member in enumerate(self.members)]
        check_stop(request.should_stop)
        found += [cut] if cut else []
        searches = max(map(len, found))  # members whose beam is wide enough have made one
        rounds = zip(*([*own, *own[-1:] * (searches - len(own))] for own in found), strict=True)
        first, *wider = [self.agreement.edit(sentences, _join_proposals(of_one), decoding) for of_one in rounds]
        ranked = self._rank(sentences, first)
        if wider:
            ranked = self._rank_wider(sentences, [group[0].words for group in ranked], wider[0])
        return [proposals[: request.n_best] for proposals in ranked]

    def _cut(self, sentences: Sequence[Ids], usual: int, decoding: recipes.Decoding) -> list[list[list[Ids]]]:
        """Return the cutter's lines for each sentence, as those of one search, each as often as it counts."""
        cutter = self.agreement.cutter
        if cutter is None:
            return []
        lengths = (round(share * usual) for share in self.agreement.weights.initial_lengths)
        bounded = [min(max(words, decoding.min_words, 1), decoding.max_words) for words in lengths]
        longest = cutter.with_eta(cutter.eta, max(bounded))(sentences)
        votes = self.agreement.weights.initial_votes
        return [[[line[:words] for words in bounded] * votes for line in longest]]

    def _part(self, request: SearchRequest, before: int) -> SearchRequest:
        """Return the same for one member, with its own beam; its progress is a part, behind that of `before` others."""

        def report(progress: Progress) -> None:
            done = (before * progress.total + progress.done) // len(self.members)
            request.report(replace(progress, done=done))

        decoding = replace(request.decoding, beam=self._beams[before])
        return replace(request, report=report, decoding=decoding)

    def _rank(self, sentences: Sequence[Ids], proposed: Proposals) -> list[list[Proposal]]:
        """Return the proposals for each sentence, best first; at least an empty one."""
        ranked = self.agreement.rank(sentences, proposed)
        return [proposals or [Proposal(np.zeros(0, np.int32))] for proposals in ranked]

    def _rank_wider(self, sentences: Sequence[Ids], best: Sequence[Ids], wider: Proposals) -> list[list[Proposal]]:
        """Return the proposals of a wider search behind the best one of the first, which is weighed with them."""
        proposed = [
            group if not len(one) or any(np.array_equal(words, one) for words in group) else [*group, one]
            for one, group in zip(best, wider, strict=True)
        ]
        ranked = self._rank(sentences, proposed)
        return [_put_first(one, proposals) for one, proposals in zip(best, ranked, strict=True)]

    def count_work(self, sentences: int, decoding: recipes.Decoding, n_best: int) -> int:
        """All members search, and weighing takes about as long as one of them."""
        counted = zip([*self.members, self.members[0]], [*self._beams, self._beams[0]], strict=True)
        return sum(member.count_work(sentences, replace(decoding, beam=beam), n_best) for member, beam in counted)

    def explain(self, sentence: Ids, summaries: Sequence[Ids]) -> list[Attribution]:
        """Say what the first member attends to, and how probable it finds each word."""
        return self.members[0].explain(sentence, summaries)


def _join_proposals(of_members: Sequence[list[list[Ids]]]) -> list[list[Ids]]:
    """Return what all members found for each sentence, without empty summaries."""
    return [[words for own in of_one for words in own if len(words)] for of_one in zip(*of_members, strict=True)]


def _put_first(summary: Ids, proposals: Sequence[Proposal]) -> list[Proposal]:
    return sorted(proposals, key=lambda proposal: not np.array_equal(proposal.words, summary))


def _allow_shorter(decoding: recipes.Decoding) -> recipes.Decoding:
    """Return how the members of agreed-N search where any length will do.

    One model alone would stop too soon, so it pads a line that has said all. Several choose a length that is right.
    """
    least = round(decoding.shorter * decoding.min_words)
    return replace(decoding, min_words=least or decoding.min_words)


def _keep_best(found: Sequence[list[Ids]], wider: Sequence[list[Ids]]) -> list[list[Ids]]:
    """Return the summaries of a wider search, behind the best one of the usual search."""
    return [
        [first[0], *(summary for summary in more if list(summary) != list(first[0]))]
        for first, more in zip(found, wider, strict=True)
    ]


def make_decoder(
    model: LightModel | Seq2seq,
    output_words: int = 0,
    only_copied: NDArray[np.bool_] | None = None,
    forbid: Forbid | None = None,
    related_words: int = 0,
) -> SteppedDecoder:
    """Return a model that is ready for the search; the arguments are those of `LightDecoder`."""
    if isinstance(model, LightModel):
        return LightDecoder(model, output_words, only_copied, forbid, related_words)
    import torch

    from nutgraf.learning.search import ArrayDecoder
    from nutgraf.models.decoding import ConvDecoder

    marked = None if only_copied is None else torch.from_numpy(only_copied)
    return ArrayDecoder(ConvDecoder(model, output_words, marked, forbid, related_words))
