"""Any parts of two corpora give the bytes of the obvious way: number all words in one go, in memory."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from nutgraf.demo.newswire import newswire
from nutgraf.recipe import Text
from nutgraf.text import numbering
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import SPECIALS, Lexicon
from nutgraf.text.tokens import Tokenizer
from tests.text.preparing import prepare_parts

PAIRS = newswire(300, 1)
LINES = {"texts": [text for text, _ in PAIRS], "summaries": ["", *(summary for _, summary in PAIRS[::-1])]}
SETTINGS = Text(max_text_words=15, max_summary_words=8, judge_share=0.07)


def prepare_at_once(folder: Path) -> None:
    """The obvious way."""
    limits = {"texts": SETTINGS.max_text_words, "summaries": SETTINGS.max_summary_words}
    tokenizer = Tokenizer(SETTINGS.digits)
    sides = {name: [tokenizer.words(line)[: limits[name]] for line in lines] for name, lines in LINES.items()}
    words = Counter(chain.from_iterable(chain.from_iterable(sides.values())))  # in the order seen, as sorting keeps
    lexicon = Lexicon([*SPECIALS, *sorted(words, key=lambda word: -words[word])])
    lexicon.save(folder / "lexicon.txt")
    texts, summaries = ([lexicon.encode(words) for words in side if words] for side in sides.values())
    number = np.arange(len(summaries) + 1) * SETTINGS.judge_share
    aside = np.diff(np.floor(number)) > 0
    Corpus.of(texts).save(folder, "texts")
    Corpus.of(summaries[i] for i in np.flatnonzero(~aside)).save(folder, "summaries")
    Corpus.of(summaries[i] for i in np.flatnonzero(aside)).save(folder, "judge")


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_the_same_bytes_for_any_number_of_parts(tmp_path: Path, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbering, "_WRITTEN_EVERY", 40)
    places = [len(PAIRS) * n // count for n in range(1, count)]
    bounds = [*zip([0, *places], [*places, None], strict=True)]
    cut = {name: [lines[start:stop] for start, stop in bounds] for name, lines in LINES.items()}
    prepare_parts(cut["texts"], cut["summaries"], SETTINGS, tmp_path / "parts")
    (tmp_path / "once").mkdir()
    prepare_at_once(tmp_path / "once")
    assert len(Corpus.open(tmp_path / "once", "judge")) == 21
    found, expected = ({path.name: path.read_bytes() for path in (tmp_path / n).iterdir()} for n in ("parts", "once"))
    assert found == expected


def test_texts_are_skimmed_and_summaries_are_not(tmp_path: Path) -> None:
    line = "Acme will close a plant in Ohio on Monday ."
    prepare_parts([[line, *LINES["texts"]]], [[line, *LINES["summaries"]]], Text(skim=True), tmp_path / "parts")
    lexicon = Lexicon.load(tmp_path / "parts" / "lexicon.txt")
    texts, summaries = (Corpus.open(tmp_path / "parts", side)[0] for side in ("texts", "summaries"))
    assert " ".join(lexicon.decode(texts)) == "acme will close a plant in ohio ."
    assert " ".join(lexicon.decode(summaries)) == line.lower()


def test_a_part_without_words_changes_nothing(tmp_path: Path) -> None:
    for name, texts in (("with", [LINES["texts"], []]), ("without", [LINES["texts"]])):
        prepare_parts(texts, [[" "], LINES["summaries"]], SETTINGS, tmp_path / name)
    found, expected = ({path.name: path.read_bytes() for path in (tmp_path / n).iterdir()} for n in ("with", "without"))
    assert found == expected
