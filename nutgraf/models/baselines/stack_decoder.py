"""A stack decoder for phrases of one word (Koehn et al. 2003, as in Moses): every word of a text is translated once.

A hypothesis has translated some of the words, in the order in which it writes. Hypotheses that have translated the same
number of words are in one stack, which keeps the best. A hypothesis is worth

    its translation scores + a * log p(its words) - b * the words jumped over + the future cost of words to come

where the future cost of a word is the best that it could score by itself. Of hypotheses that translated the same words,
ended at the same one and are the same to the language model, only the best is kept (recombination). No jump is longer
than the limit, nor leads so far ahead that the first word left out could not be reached any more.

Every text has as many phrases as words, so a word penalty, a phrase penalty and one for unknown words are the same for
all hypotheses and are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nutgraf.recipe import Pbsmt
from nutgraf.text.kneser_ney import NONE, KneserNey
from nutgraf.text.trigrams import END, Floats, Longs

MOST_WORDS = 62  # of a text: which ones are translated is kept in the bits of a number


@dataclass(frozen=True)
class Options:
    """How each word of a text may be translated: (words, options), with a score of -inf where there are fewer."""

    targets: Longs  # whatever stands for a translation
    classes: Longs  # the same for the language model
    scores: Floats  # weighted logarithms


@dataclass(frozen=True)
class _Stack:
    """Hypotheses that have translated the same number of words, one row each."""

    covered: Longs  # bits
    last: Longs  # the word translated last
    contexts: Longs  # of the language model
    scores: Floats
    rest: Floats  # the future cost
    parents: Longs  # rows of the stack before
    targets: Longs  # the translation written last

    @classmethod
    def first(cls, model: KneserNey, rest: float) -> _Stack:
        """Return the stack of nothing translated."""
        zero = np.zeros(1, dtype=np.int64)
        return cls(zero, zero - 1, model.first(), np.zeros(1), np.full(1, rest), zero, zero)


class StackDecoder:
    """Finds the best translation of a text."""

    def __init__(self, model: KneserNey, settings: Pbsmt):
        self.model, self.settings = model, settings

    def __call__(self, options: Options, whole: bool = True) -> list[int]:
        """Return the translations of all words in the order in which they are written.

        Where it is not the `whole` text, the end of the sentence does not count.
        """
        count = len(options.targets)
        if not 0 < count <= MOST_WORDS:
            raise ValueError(f"{count} words; expected 1 to {MOST_WORDS}")
        future = self.future_costs(options)
        stacks = [_Stack.first(self.model, float(future.sum()))]
        for number in range(count):
            stacks.append(self._expand(stacks[-1], options, future, ends=whole and number == count - 1))
        return _trace(stacks)

    def future_costs(self, options: Options) -> Floats:
        """Return the best that each word could score by itself: its translation and that word's own probability."""
        none = np.full((options.classes.size, self.model.order - 1), NONE, dtype=np.int64)
        alone = self.model.extend(none, options.classes.ravel())[0].reshape(options.classes.shape)
        return np.asarray((options.scores + self.settings.language_weight * np.log(alone)).max(1))

    def _expand(self, stack: _Stack, options: Options, future: Floats, ends: bool) -> _Stack:
        """Return the next stack: every hypothesis with one more word."""
        rows, words, jumps = self._continue(stack, len(future))
        pairs, option = np.nonzero(options.scores[words] > -np.inf)
        rows, words, jumps = rows[pairs], words[pairs], jumps[pairs]
        probabilities, contexts = self.model.extend(stack.contexts[rows], options.classes[words, option])
        fluency = np.log(probabilities)
        if ends:
            fluency += np.log(self.model.extend(contexts, np.full(len(rows), END))[0])
        scores = stack.scores[rows] + options.scores[words, option] + self.settings.language_weight * fluency
        scores -= self.settings.distortion_weight * jumps
        rest, covered = stack.rest[rows] - future[words], stack.covered[rows] | (1 << words)
        kept = self._keep(scores + rest, np.column_stack([covered, words, contexts]))
        return _Stack(
            covered[kept],
            words[kept],
            contexts[kept],
            scores[kept],
            rest[kept],
            rows[kept],
            options.targets[words[kept], option[kept]],
        )

    def _continue(self, stack: _Stack, count: int) -> tuple[Longs, Longs, Longs]:
        """Return which words each hypothesis may translate next: its row, the word and the words jumped over."""
        places, limit = np.arange(count), self.settings.distortion_limit
        left = (stack.covered[:, None] >> places) & 1 == 0
        gaps = left.argmax(1)[:, None]  # the first word left out
        jumps = np.abs(places - (stack.last[:, None] + 1))
        reachable = (places == gaps) | (np.abs(gaps - (places + 1)) <= limit)
        rows, words = np.nonzero(left & reachable & (jumps <= limit))
        return rows, words, jumps[rows, words]

    def _keep(self, values: Floats, states: NDArray[np.int64]) -> Longs:
        """Return the rows of the best hypotheses, one of each state."""
        kept: list[int] = []
        seen: set[bytes] = set()
        for row in np.argsort(-values, kind="stable").tolist():
            state = states[row].tobytes()
            if state not in seen:
                seen.add(state)
                kept.append(row)
                if len(kept) == self.settings.stack:
                    break
        return np.array(kept, dtype=np.int64)


def _trace(stacks: list[_Stack]) -> list[int]:
    """Return what the best hypothesis of the last stack has written."""
    row, written = int(stacks[-1].scores.argmax()), []
    for stack in reversed(stacks[1:]):
        written.append(int(stack.targets[row]))
        row = int(stack.parents[row])
    return written[::-1]
