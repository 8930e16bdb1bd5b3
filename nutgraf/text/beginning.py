"""What is read of a text: without what is skimmed over and, if it is longer than a model reads, its first sentences."""

from __future__ import annotations

from collections.abc import Sequence

from nutgraf import recipe
from nutgraf.text.sentences import split_sentences
from nutgraf.text.skimming import skim
from nutgraf.text.tokens import Tokenizer, detokenize

SEEN = 2  # times as many words as are read may be skimmed: rules look back, and a line may be very long


def find_read(words: Sequence[str], settings: recipe.Text) -> list[int]:
    """Return the places of the words of a text that models read; words are in lower case."""
    near = words[: SEEN * settings.max_text_words]
    places = skim(near) if settings.skim else range(len(near))
    return [*places[: settings.max_text_words]]


def take_beginning(text: str, most: int, tokenizer: Tokenizer) -> str:
    """Return a text, or as many of its first sentences as have at most this many words; at least one."""
    if len(text.split()) <= most:
        return text
    first, *others = split_sentences(text)
    for sentence in others:
        if len(tokenizer.words(f"{first} {sentence}")) > most:
            break
        first = f"{first} {sentence}"
    return first


def count_read(text: str, settings: recipe.Text, tokenizer: Tokenizer) -> tuple[int, int]:
    """Return how many words of a text are read and how many it has, between blanks, as people count.

    What is skimmed over counts as read. The most words of the settings are tokens: punctuation counts, too.
    """
    beginning = take_beginning(text, settings.max_text_words, tokenizer)
    tokens = tokenizer.tokenize(beginning)
    places, most = find_read([token.lower() for token in tokens], settings), settings.max_text_words
    all_read = len(places) < most and len(tokens) <= SEEN * most
    read = beginning if all_read else detokenize(tokens[: places[-1] + 1])
    return len(read.split()), len(text.split())
