"""How summaries read, on texts small enough to check."""

from __future__ import annotations

from pathlib import Path

import pytest

from nutgraf.demo.newswire import newswire
from nutgraf.evaluation.readability import LEAST, Fluency, Reader
from nutgraf.evaluation.scores import score
from nutgraf.recipe import Text
from nutgraf.text.casing import Casing
from nutgraf.text.prepare import Prepared
from nutgraf.text.tokens import Tokenizer
from tests.text.preparing import prepare

PAIRS = newswire(500, seed=3)
REFERENCES = [Tokenizer().words(headline) for _, headline in PAIRS[:60]]


def prepared(folder: Path, share: float) -> Prepared:
    texts, summaries = ([pair[side] for pair in PAIRS] for side in (0, 1))
    prepare(texts, summaries, Text(judge_share=share), folder)
    return Prepared.open(folder)


def test_references_are_as_fluent_as_themselves_and_shuffled_ones_less(tmp_path: Path) -> None:
    fluency = Fluency.learn(prepared(tmp_path, 0.5), REFERENCES)
    assert fluency is not None
    assert fluency.ratio(REFERENCES) == 1
    assert fluency.ratio([sorted(words) for words in REFERENCES]) > 1.2


def test_the_model_knows_only_what_was_set_aside(tmp_path: Path) -> None:
    found = prepared(tmp_path, 0.5)
    fluency = Fluency.learn(found, REFERENCES)
    assert fluency is not None
    aside = [found.lexicon.decode(words) for words in found.judge]
    learned = [found.lexicon.decode(words) for words in found.summaries]
    assert fluency.ratio(aside) < fluency.ratio(learned)


@pytest.mark.parametrize("share", [0.0, (LEAST - 1) / len(PAIRS)])
def test_too_few_held_out_summaries_judge_nothing(tmp_path: Path, share: float) -> None:
    assert Fluency.learn(prepared(tmp_path, share), REFERENCES) is None
    assert Reader(Casing(), None).bits(REFERENCES) is None


def test_shares_by_hand() -> None:
    reader = Reader(Casing({}, {"acme": "Acme"}), None)
    outputs = ["acme profit up NN", "profit up", "sales down", ""]
    inputs = ["acme profit rose by NN", "profit of NN fell", "acme sales fell", "nothing"]
    row = score("x", outputs, inputs, inputs, seed=1, reader=reader)
    assert (row.bits, row.unsupported, row.contradicted) == (None, 0, 1 / 4)
    row = score("x", outputs, inputs[::-1], inputs, seed=1, reader=reader)
    # In this order, acme and NN are unsupported; "up" meets "fell" once.
    assert (row.unsupported, row.contradicted) == (1 / 4, 1 / 4)
