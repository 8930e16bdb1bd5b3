from __future__ import annotations

import re
import tracemalloc
from typing import SupportsIndex

import pytest

from nutgraf.text import tokens
from nutgraf.text.lexicon import SPECIALS
from nutgraf.text.tokens import Tokenizer, detokenize

EXAMPLES = {
    "Acme's 2017 profit misses estimates": "Acme 's 2017 profit misses estimates",
    "It paid $3.5 billion (HK$27.3 billion), up 12.5% on 1,000 jobs.": (
        "It paid $ 3.5 billion ( HK$ 27.3 billion ) , up 12.5 % on 1,000 jobs ."
    ),
    "U.S. firm AT&T and K+S AG of the U.K. sue A/S Bryg": "U.S. firm AT&T and K+S AG of the U.K. sue A/S Bryg",
    'He called it "a joke" and left.': "He called it `` a joke '' and left .",
    "Minister says 'things moving' on analysts' forecasts": "Minister says ` things moving ' on analysts ' forecasts",
    "Don't ask why they can't, we'll see": "Do n't ask why they ca n't , we 'll see",
    "Ministers mull a well-known deal -source": "Ministers mull a well-known deal -source",
    "C$ falls as US$ softens": "C$ falls as US$ softens",
    "OSLO/BERLIN Two firms merge": "OSLO / BERLIN Two firms merge",
    "N.J.'s governor, at 10:30 a.m., met Mr. Gray": "N.J. 's governor , at 10:30 a.m. , met Mr. Gray",
    "Oslo St. regulators wait... (no. 5)": "Oslo St. regulators wait ... ( no. 5 )",
    "L'Avion's rock 'n' roll of the '90s": "L'Avion 's rock ` n ' roll of the '90s",
    "What now? Nothing! See http://example.org/a,b": "What now ? Nothing ! See http://example.org/a,b",
    "Rise of 5%; fall of £2 - more: later": "Rise of 5 % ; fall of £ 2 - more : later",
}


@pytest.mark.parametrize(("line", "expected"), EXAMPLES.items())
def test_words_and_the_way_back(line: str, expected: str) -> None:
    found = Tokenizer().tokenize(line)
    assert found == expected.split()
    assert detokenize(found) == line


@pytest.mark.parametrize("line", EXAMPLES)
def test_text_that_is_tokenised_already_stays_as_it_is(line: str) -> None:
    words = Tokenizer().words(line)
    assert Tokenizer().words(" ".join(words)) == words


def test_models_see_lower_case_and_mapped_digits() -> None:
    assert Tokenizer().words("Acme Paid $3.5") == ["acme", "paid", "$", "3.5"]
    mapped = Tokenizer("N").words("Acme Paid $3.5 in 2017")
    assert mapped == ["acme", "paid", "$", "N.N", "in", "NNNN"]
    assert detokenize(mapped) == "acme paid $N.N in NNNN"
    assert Tokenizer("\\").words("42") == ["\\\\"]


def test_the_full_stop_depends_on_what_follows_and_not_on_what_came_before() -> None:
    tokenizer = Tokenizer()
    assert tokenizer.tokenize("Acme Corp. said") == ["Acme", "Corp.", "said"]
    assert tokenizer.tokenize("said Acme Corp.") == ["said", "Acme", "Corp", "."]
    assert tokenizer.tokenize("It ended. Then") == ["It", "ended", ".", "Then"]
    assert tokenizer.tokenize("It ended.") == ["It", "ended", "."]
    assert tokenizer.tokenize("Acme Corp. said") == ["Acme", "Corp.", "said"]


def test_quotation_marks_between_blanks_find_their_direction() -> None:
    assert detokenize(Tokenizer().tokenize('a " bold " plan')) == 'a "bold" plan'
    assert detokenize(Tokenizer().tokenize("a “bold” plan, Zoë’s ‘own’")) == "a \"bold\" plan, Zoë's 'own'"


def test_no_word_is_one_of_the_special_ones() -> None:
    found = Tokenizer().words(" ".join(SPECIALS) + " a<unk>b <PAD>")
    assert not set(found) & set(SPECIALS)
    assert {"pad", "unk"} <= set(found)


def test_odd_lines() -> None:
    tokenizer = Tokenizer()
    assert tokenizer.words("") == []
    assert tokenizer.words(" \u2028\u00a0 ") == []
    assert detokenize([]) == ""
    for line in ("'", '"', "''", "...", "$", "(", "'s", "n't", "-", "--", ".", "%", "\"'(", "'.'", "😀 e\u0301"):
        words = tokenizer.words(line)
        assert words
        assert all(word.split() == [word] for word in words)
        assert tokenizer.words(" ".join(words)) == words


def test_the_cache_changes_nothing_when_it_is_full() -> None:
    tokenizer = Tokenizer(cached_bytes=2_000)
    for line, expected in list(EXAMPLES.items()) * 2:
        assert tokenizer.tokenize(line) == expected.split()


def test_the_cache_is_bounded_in_bytes() -> None:
    tokenizer = Tokenizer(cached_bytes=100_000)
    tracemalloc.start()
    for number in range(20):  # 2 MB of pieces that no text has twice
        tokenizer.words(" ".join(f"{'é' * 900}{number}.{place}" for place in range(100)))
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert used < 200_000


class Watched:
    """A pattern that notes in how many letters it was sought: at most, and in all."""

    def __init__(self, pattern: re.Pattern[str]):
        self.pattern, self.most, self.all = pattern, 0, 0

    def search(self, text: str, start: int, end: int) -> re.Match[str] | None:
        self.most = max(self.most, end - start)
        self.all += end - start
        return self.pattern.search(text, start, end)


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> dict[str, Watched]:
    patterns = {name: Watched(getattr(tokens, name)) for name in ("_CLOSING", "_SUFFIX")}
    for name, pattern in patterns.items():
        monkeypatch.setattr(tokens, name, pattern)
    return patterns


def test_marks_without_end_take_no_time_without_end(watched: dict[str, Watched]) -> None:
    assert Tokenizer().tokenize("(((so)))" + "." * 9) == ["(", "(", "(", "so", ")", ")", ")", "." * 9]
    for pattern in watched.values():
        pattern.most = 0
    assert Tokenizer().tokenize("x" + ")" * 2_000) == ["x", *[")"] * 2_000]
    assert Tokenizer().tokenize("x" * 2_000) == ["x" * 2_000]
    assert all(0 < pattern.most < 5 for pattern in watched.values())  # none is sought from the start


class Copied(str):
    """A piece that notes how many letters are copied from it, and from what is copied."""

    copied = 0

    def __getitem__(self, key: SupportsIndex | slice) -> Copied:
        found = Copied(super().__getitem__(key))
        Copied.copied += len(found)
        return found


@pytest.mark.parametrize("start", ["", "x"])  # all marks but the last are opening ones, or closing ones
@pytest.mark.parametrize(
    "mark", ["(", ",", ")", '"', "'", "`", ".", "a.", "$", "-", "/", "''", "n't", "@", "a@a.", ".,"]
)
def test_the_work_grows_with_the_length_of_a_piece_and_not_with_its_square(
    mark: str, start: str, watched: dict[str, Watched], monkeypatch: pytest.MonkeyPatch
) -> None:
    split = tokens._split
    monkeypatch.setattr(tokens, "_split", lambda piece, kept: split(Copied(piece), kept))
    monkeypatch.setattr(Copied, "copied", 0)
    piece = start + mark * (3_000 // len(mark))
    words = Tokenizer().words(piece)
    assert sum(map(len, words)) == len(piece) or mark == '"'
    assert 0 < Copied.copied + sum(pattern.all for pattern in watched.values()) < 10 * len(piece)


def test_a_word_of_two_letters_at_the_end_of_a_sentence_is_no_acronym() -> None:
    assert Tokenizer().words("They will do it.") == ["they", "will", "do", "it", "."]
    assert Tokenizer().words("He left St. Louis in the U.S.") == ["he", "left", "st.", "louis", "in", "the", "u.s."]
