from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from nutgraf.errors import InputError
from nutgraf.progress import Progress
from nutgraf.recipe import Text
from nutgraf.text.prepare import Prepared, check_vocabularies
from tests.text.preparing import prepare

TEXTS = ["Acme said on Monday that profit rose .", "Bolt said profit fell on Monday .", "...", "A B C D"]
SUMMARIES = ["Acme profit up", "Bolt profit down", "one two three four five six seven"]


def prepared(folder: Path, texts: list[str], summaries: list[str], settings: Text | None = None) -> Prepared:
    prepare(texts, summaries, settings or Text(), folder)
    return Prepared.open(folder)


def sentences(found: Prepared) -> list[list[str]]:
    return [found.lexicon.decode(ids) for ids in [*found.texts, *found.summaries]]


def test_numbers_follow_the_joint_frequency_and_then_the_first_sight(tmp_path: Path) -> None:
    found = prepared(tmp_path, TEXTS, SUMMARIES)
    # profit: 4 times; acme, said, on, monday, ".", bolt: twice, in the order seen; then those seen once.
    expected = ["profit", "acme", "said", "on", "monday", ".", "bolt", "that", "rose", "fell", "...", "a", "b", "c"]
    assert found.lexicon.words[3 : 3 + len(expected)] == expected
    assert found.texts[0].tolist() == [4, 5, 6, 7, 10, 3, 11, 8]
    assert sentences(found)[0] == ["acme", "said", "on", "monday", "that", "profit", "rose", "."]
    assert isinstance(found.texts.tokens.base, np.memmap)


def test_long_lines_are_cut_and_lines_without_words_left_out(tmp_path: Path) -> None:
    found = prepared(tmp_path, [*TEXTS, " "], ["", *SUMMARIES, "so long"], Text(max_text_words=6, max_summary_words=4))
    assert len(found.texts) == 4
    assert found.texts.lengths.tolist() == [6, 6, 1, 4]
    assert found.summaries.lengths.tolist() == [3, 3, 4, 2]
    assert sentences(found)[-2] == ["one", "two", "three", "four"]


def test_a_share_of_the_summaries_is_set_aside(tmp_path: Path) -> None:
    lines = [f"line number{n} of many" for n in range(1, 46)]
    found = prepared(tmp_path, TEXTS, lines, Text(judge_share=0.05))
    names = [[found.lexicon.words[ids[1]] for ids in corpus] for corpus in (found.judge, found.summaries)]
    assert names[0] == ["number20", "number40"]
    assert names[1] == [f"number{n}" for n in range(1, 46) if n not in (20, 40)]
    # The two are all that there was, also for shares that no whole number divides.
    for share, count in ((0.3, 13), (0.99, 44)):
        found = prepared(tmp_path / str(share), TEXTS, lines, Text(judge_share=share))
        assert (len(found.judge), len(found.judge) + len(found.summaries)) == (count, 45)


def test_nothing_is_set_aside_where_the_share_is_0(tmp_path: Path) -> None:
    assert len(prepared(tmp_path, TEXTS, SUMMARIES).judge) == 0
    assert {path.name for path in tmp_path.iterdir()} == {
        "lexicon.txt",
        *(f"{name}.{part}.npy" for name in ("texts", "summaries") for part in ("tokens", "offsets")),
    }


def test_words_spelled_like_special_ones_stay_words(tmp_path: Path) -> None:
    found = prepared(tmp_path, [*TEXTS, "<pad> </s> <unk>"], SUMMARIES)
    assert min(ids.min() for ids in [*found.texts, *found.summaries]) == 3
    assert found.texts.tokens.max() < len(found.lexicon)


def test_digits_are_mapped(tmp_path: Path) -> None:
    found = prepared(tmp_path, [*TEXTS, "In 2017 and 2018"], SUMMARIES, Text(digits="#"))
    assert ["in", "####", "and", "####"] in sentences(found)


def test_vocabularies_of_each_side_and_of_both(tmp_path: Path) -> None:
    texts = ["a a a a a a b b b b b b b c c c", "d e f g h i j k"] * 10
    summaries = ["x x y c z z z", "d e f g h i j k"]
    found = prepared(tmp_path, texts, summaries)
    settings = Text(texts_vocabulary=10, summaries_vocabulary=10, joint_vocabulary=10)
    assert found.lexicon.decode(found.vocab_F(settings).ids)[3:6] == ["b", "a", "c"]
    assert found.lexicon.decode(found.vocab_S(settings).ids)[3:5] == ["z", "x"]
    # Relative frequencies: b 7/24, a 6/24; z 3/15; c 3/24 + 1/15; x 2/15: the large corpus crowds nobody out.
    assert found.lexicon.decode(found.joint(settings).ids)[3:8] == ["b", "a", "z", "c", "x"]


def test_a_vocabulary_larger_than_the_corpus_is_warned_of(tmp_path: Path) -> None:
    found = prepared(tmp_path, TEXTS, SUMMARIES)
    warnings = check_vocabularies(found, Text(texts_vocabulary=10, summaries_vocabulary=500, joint_vocabulary=10))
    assert len(warnings) == 1
    assert "text.summaries_vocabulary is 500, but there are only 15 distinct words" in warnings[0]
    assert len(check_vocabularies(found, Text())) == 3


@pytest.mark.parametrize(("texts", "summaries", "name"), [(["a b"], SUMMARIES, "texts"), (TEXTS, [], "summaries")])
def test_a_corpus_with_hardly_a_word_is_refused(
    tmp_path: Path, texts: list[str], summaries: list[str], name: str
) -> None:
    with pytest.raises(InputError, match=f"{name}: .*at least 10 distinct words"):
        prepare(texts, summaries, Text(), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_progress_and_streams(tmp_path: Path) -> None:
    def endless() -> Iterator[str]:
        for i in range(12_000):
            yield f"word{i % 50} again"

    seen: list[Progress] = []
    prepare(endless(), iter(SUMMARIES), Text(), tmp_path, seen.append)
    assert [(progress.done, progress.note) for progress in seen] == [
        (0, "texts"),
        (5_000, "texts"),
        (5_000, "texts"),
        (0, "summaries"),
    ]
    assert len(Prepared.open(tmp_path).texts) == 12_000
