"""The two kinds of model behind a Summarizer, in word ids: initializers, and seq2seq models that are searched.

Both give the best summaries of sentences, and say where each word of a summary comes from. Raw text is the Summarizer's
business.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nutgraf import recipe as recipes
from nutgraf.learning.batches import pad_batch
from nutgraf.learning.search import beam
from nutgraf.models.decoding import ConvDecoder, Forbid, attend, beam_settings
from nutgraf.models.seq2seq import Seq2seq
from nutgraf.progress import Report
from nutgraf.text.lexicon import Ids


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


class Backend(Protocol):
    """Turns sentences into summaries."""

    longest: int  # words that it can write

    def __call__(
        self, sentences: Sequence[Ids], decoding: recipes.Decoding, n_best: int, report: Report, forbid: Forbid
    ) -> list[list[Ids]]:
        """Return the best summaries of each sentence, best first: at least one, at most `n_best`.

        `forbid` gives the words that would contradict a sentence, for faithful output.
        """

    def explain(self, sentence: Ids, summary: Ids) -> Attribution:
        """Say where the words of a summary come from."""


@runtime_checkable
class Finder(Protocol):
    """An initializer that answers with real summaries."""

    def nearness(self, sentence: Ids) -> float:
        """Return the score of the nearest one."""


class Initial:
    """An initializer, or Lead-N: one summary per sentence."""

    longest = sys.maxsize

    def __init__(self, apply: Callable[[Sequence[Ids]], list[Ids]]):
        self.apply = apply

    def __call__(
        self, sentences: Sequence[Ids], decoding: recipes.Decoding, n_best: int, report: Report, forbid: Forbid
    ) -> list[list[Ids]]:
        """Return one summary each. It knows of nothing that is forbidden: the Summarizer leaves that out."""
        return [[summary] for summary in self.apply(sentences)]

    def explain(self, sentence: Ids, summary: Ids) -> Attribution:
        """A word comes from its own occurrences; the initializers have no probability of a summary."""
        nearness = self.apply.nearness(sentence) if isinstance(self.apply, Finder) else None
        return Attribution((summary[:, None] == sentence[None, :]).astype(np.float32), None, nearness)


class Searched:
    """A seq2seq model, by beam search. `facts` marks names and numbers, which faithful output only copies."""

    def __init__(self, model: Seq2seq, output_words: int, facts: Tensor):
        self.model = model
        self.longest = model.settings.positions - 1
        self._output_words, self._facts = output_words, facts

    def __call__(
        self, sentences: Sequence[Ids], decoding: recipes.Decoding, n_best: int, report: Report, forbid: Forbid
    ) -> list[list[Ids]]:
        """Search; for more alternatives than the beam is wide, once more with a wider one. The best stays the best."""
        only_copied, forbidden = (self._facts, forbid) if decoding.faithful else (None, None)
        decoder = ConvDecoder(self.model, self._output_words, only_copied, forbidden, decoding.related_words)
        found = self._search(decoder, sentences, decoding, decoding.beam, report)
        if n_best > decoding.beam:
            wider = self._search(decoder, sentences, decoding, n_best, report)
            found = [
                [first[0], *(h for h in more if list(h) != list(first[0]))]
                for first, more in zip(found, wider, strict=True)
            ]
        return [summaries[:n_best] for summaries in found]

    def _search(
        self,
        decoder: ConvDecoder,
        sentences: Sequence[Ids],
        decoding: recipes.Decoding,
        width: int,
        report: Report,
    ) -> list[list[Ids]]:
        settings = beam_settings(self.model, decoding, width)
        found = beam(decoder, sentences, settings, report)
        return [[h.words for h in hypotheses] or [np.zeros(0, np.int32)] for hypotheses in found]

    def explain(self, sentence: Ids, summary: Ids) -> Attribution:
        """Read the attention and the probabilities off the model, with the summary given."""
        device = self.model.bias.device
        log_probs, weights = attend(self.model, pad_batch([sentence]).to(device), pad_batch([summary]).to(device))
        shown = weights[0, : len(summary), : len(sentence)].cpu().numpy()  # without the ends
        *words, end = torch.exp(log_probs[0, : len(summary) + 1]).tolist()
        return Attribution(shown, np.array(words, dtype=np.float32), end=end)
