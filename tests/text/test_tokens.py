from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from subprocess import PIPE, Popen, run

import pytest

from nutgraf.errors import NutgrafError
from nutgraf.text import tokens
from nutgraf.text.lexicon import SPECIALS
from nutgraf.text.tokens import Tokenizer, detokenize, tokenize_all

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


def test_the_cache_changes_nothing_when_it_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_CACHED", 3)
    tokenizer = Tokenizer()
    for line, expected in list(EXAMPLES.items()) * 2:
        assert tokenizer.tokenize(line) == expected.split()


@pytest.mark.parametrize("size", [0, 5, 61, 100])
def test_order_does_not_depend_on_the_number_of_workers(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_PARCEL", 7)
    monkeypatch.setattr(tokens, "_ALONE", 20)
    examples = [*EXAMPLES, "", "two\nlines", "Zoë pays €3"]
    lines = [f"{examples[i % len(examples)]} {i}" if i % 9 else "" for i in range(size)]
    alone = list(tokenize_all(lines, "#", workers=1))
    assert alone == [Tokenizer("#").words(line) for line in lines]
    assert list(tokenize_all(lines, "#", workers=2)) == alone
    assert list(tokenize_all(iter(lines), "#", workers=3)) == alone


def test_workers_read_only_a_little_ahead_and_stop_when_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_PARCEL", 5)
    monkeypatch.setattr(tokens, "_ALONE", 10)
    read: list[int] = []
    sentences = tokenize_all((f"line {read.append(i) or i}" for i in range(10_000)), "keep", workers=2)  # type: ignore[func-returns-value]
    assert next(sentences) == ["line", "0"]
    assert len(read) < 50
    sentences.close()  # type: ignore[attr-defined]


def test_a_killed_worker_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_PARCEL", 5)
    monkeypatch.setattr(tokens, "_ALONE", 10)
    started: list[Popen[bytes]] = []

    def start(digits: str) -> Popen[bytes]:
        started.append(start_worker(digits))
        return started[-1]

    start_worker = tokens._start_worker
    monkeypatch.setattr(tokens, "_start_worker", start)
    found = tokenize_all((f"line {i}" for i in range(100)), "keep", workers=2)
    assert next(found) == ["line", "0"]
    started[1].kill()
    with pytest.raises(NutgrafError, match=r"a tokenising process ended early \(exit code -9\)"):
        list(found)
    assert all(process.returncode is not None for process in started)


SCRIPT = """
import itertools, sys
from nutgraf.text import tokens
print("started")
lines = itertools.count() if "endless" in sys.argv else range(30_000)
for words in tokens.tokenize_all((f"line {i}" for i in lines), "keep", workers=2):
    if words == ["line", "0"]:
        print("running", flush=True)
print(*words, "torch" in sys.modules)
"""


def test_a_script_without_a_main_guard_runs_once(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = run([sys.executable, tmp_path / "script.py"], env=environment, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("started\nrunning\nline 29999 False\n", "")


@pytest.mark.skipif(os.name == "nt", reason="sends POSIX signals")
def test_ctrl_c_ends_the_workers_without_a_word_from_them() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", SCRIPT, "endless"]
    with Popen(command, env=environment, stdout=PIPE, stderr=PIPE, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(2)] == ["started\n", "running\n"]
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all processes of the group
        _, said = process.communicate(timeout=30)
    assert said.count("KeyboardInterrupt") == 1
    assert said.count("Traceback") == 1


def test_marks_without_end_take_no_time_without_end() -> None:
    tokens = Tokenizer().tokenize
    assert tokens("(((so)))" + "." * 9) == ["(", "(", "(", "so", ")", ")", ")", "." * 9]
    assert tokens("x" + ")" * 20_000) == ["x", *[")"] * 20_000]  # seconds, if every mark were sought from the start
