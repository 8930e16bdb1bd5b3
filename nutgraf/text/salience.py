"""Which sentences of a document matter: those early in it whose words come back in many others.

The salience of the i-th sentence (from 0) is

    sum of n(w) / (N - 1) over its distinct content words w  /  sqrt(number of these words * (i + 1))

where n(w) of the other N - 1 sentences have the word w, too. The root keeps long sentences from winning by length
alone. It needs no model, and knows nothing of meaning.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

_WORD = re.compile(r"\w[\w'’-]*")
_LIST = """
a about after all also an and any are as at be been before but by can could did do does for from had has have he her him
his how i if in into is it its it's more most no not of on one or other our out over said say says she so some such than
that the their them then there these they this those to two up was we were what when which who will with would you your
"""
_FUNCTION_WORDS = frozenset(_LIST.split())


def content_words(sentence: str) -> frozenset[str]:
    """Return the words of a sentence that say what it is about, in lower case."""
    return frozenset(_WORD.findall(sentence.lower())) - _FUNCTION_WORDS


def score_sentences(sentences: Sequence[str]) -> list[float]:
    """Return the salience of each sentence of a document."""
    contents = [content_words(sentence) for sentence in sentences]
    counts = Counter(word for words in contents for word in words)
    others = max(1, len(sentences) - 1)
    return [
        sum(counts[word] - 1 for word in words) / others / math.sqrt(max(1, len(words)) * (place + 1))
        for place, words in enumerate(contents)
    ]


def order_sentences(sentences: Sequence[str], first: int, most: int) -> list[int]:
    """Return the places of at most this many sentences in the order to take them, starting with `first`.

    The next is always the one with the highest salience, times the share of its words that those before do not have.
    """
    scores, contents = score_sentences(sentences), [content_words(sentence) for sentence in sentences]
    order, known, left = [first], set(contents[first]), [i for i in range(len(sentences)) if i != first]
    while left and len(order) < most:
        best = max(left, key=lambda i: scores[i] * len(contents[i] - known) / max(1, len(contents[i])))
        order.append(best)
        known |= contents[best]
        left.remove(best)
    return order


def share_words(line: str, others: Sequence[str]) -> float:
    """Return the largest share of a line's content words that one of the others has."""
    words = content_words(line)
    return max((len(words & content_words(other)) / len(words) for other in others), default=0.0) if words else 1.0
