from __future__ import annotations

import pytest

from nutgraf.text.sentences import keeps_full_stop, split_sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One ends. Two ends! Three?", ["One ends.", "Two ends!", "Three?"]),
        ("Acme Inc. paid $3. It said so.", ["Acme Inc. paid $3.", "It said so."]),
        ("The U.S. economy grew 2.5 pct. in May.", ["The U.S. economy grew 2.5 pct. in May."]),
        ('He said "Stop." Then he left.', ['He said "Stop."', "Then he left."]),
        ("Mr. Smith left at 5 p.m. on Monday", ["Mr. Smith left at 5 p.m. on Monday"]),
        ("  ", []),
        ("It fell in the U.S. The euro rose.", ["It fell in the U.S.", "The euro rose."]),
        ("It fell in the U.S. It's over.", ["It fell in the U.S.", "It's over."]),
        ("It sued Acme Corp. However, Acme won.", ["It sued Acme Corp.", "However, Acme won."]),
        ("The U.S. Senate met J. P. Gray.", ["The U.S. Senate met J. P. Gray."]),
        ("A Japan-U.S. Trade row in Tarvo-St. Paul", ["A Japan-U.S. Trade row in Tarvo-St. Paul"]),
        (
            'He left Kelm\'s. Mr. Ost of St. Paul, Minn., sold No. 5 on Dec. 8. "Why?" The U.S. market fell.',
            ["He left Kelm's.", "Mr. Ost of St. Paul, Minn., sold No. 5 on Dec. 8.", '"Why?"', "The U.S. market fell."],
        ),
        ("He did it. Then he gave up. Why?", ["He did it.", "Then he gave up.", "Why?"]),
        ("He said no. Five left. See No. 5 there.", ["He said no.", "Five left.", "See No. 5 there."]),
        ("Ost of Springfield, Ill. Bank fell ill. Then", ["Ost of Springfield, Ill. Bank fell ill.", "Then"]),
        (
            "Of Boston, Mass. Acme, on Mar. 5 it (was) mass. Now",
            ["Of Boston, Mass. Acme, on Mar. 5 it (was) mass.", "Now"],
        ),
        ("Wait... (Now it ends.) “Zoë left.” Élan rose.", ["Wait...", "(Now it ends.)", "“Zoë left.”", "Élan rose."]),
        ('"Why?" he asked. ("No!" she said.)', ['"Why?" he asked.', '("No!" she said.)']),
    ],
)
def test_where_sentences_end(text: str, expected: list[str]) -> None:
    assert split_sentences(text) == expected


@pytest.mark.parametrize(
    ("piece", "following", "expected"),
    [
        ("Corp.", "said", True),
        ("Corp.", "", False),
        ("(U.S.)", "", True),
        ("ended.", "Then", False),
        ("ended.", "then", True),
        ("No.", "5", True),
        ("Nos.", "5", True),
        ("Nos.", "Five", False),
        ("Mass.", "Bank", False),  # may be a word: the tokenizer splits it
    ],
)
def test_full_stops_of_abbreviations(piece: str, following: str, expected: bool) -> None:
    assert keeps_full_stop(piece, following) is expected
