"""What is read of a text that is longer than a model reads: its first sentences, at least the beginning of one."""

from __future__ import annotations

from nutgraf.text.sentences import split_sentences
from nutgraf.text.tokens import Tokenizer, detokenize


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


def count_read(text: str, most: int, tokenizer: Tokenizer) -> tuple[int, int]:
    """Return how many words of a text are read and how many it has, between blanks, as people count.

    A model's `most` words are tokens: punctuation counts, too.
    """
    beginning = take_beginning(text, most, tokenizer)
    tokens = tokenizer.tokenize(beginning)
    read = beginning if len(tokens) <= most else detokenize(tokens[:most])
    return len(read.split()), len(text.split())
