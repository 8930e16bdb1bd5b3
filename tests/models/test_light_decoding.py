"""numpy gives what torch gives: the same probabilities and the same sentences, with every option."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import torch

from nutgraf.learning.beam import NEVER, Beam, DecodingState, Floats, beam
from nutgraf.learning.search import ArrayDecoder
from nutgraf.models import decoding as decoding_module
from nutgraf.models import light_decoding as light_module
from nutgraf.models.decoding import ConvDecoder
from nutgraf.models.light import LightModel
from nutgraf.models.light_decoding import Forbid, LightDecoder
from nutgraf.models.seq2seq import Seq2seq
from nutgraf.models.storage import load, weights_of
from nutgraf.models.weights import PACKS, Pack, keep_float32
from nutgraf.text.lexicon import EOS, Ids
from tests.toys import toy_model

CPU = torch.device("cpu")
SOURCES: list[Ids] = [np.array(s, dtype=np.int32) for s in ([3, 15, 5, 15, 6], [7, 17], [4], [18, 19], [])]
SEARCH = Beam(4, 1, 7, 0, 1.0, batch=3)


def forbid(source: Ids) -> Ids:
    return np.array([8, 99] if 7 in source else [5, 6], dtype=np.int32)


@dataclass(frozen=True)
class Options:
    output_words: int = 0
    only_copied: Sequence[bool] = ()
    forbid: Forbid | None = None
    related_words: int = 0


@cache
def store(copy: bool, pack: Pack) -> tuple[LightModel, Seq2seq]:
    """Store a model, and load it with numpy and with torch; decoders do not change it."""
    with TemporaryDirectory() as folder:
        weights_of(toy_model(copy)).save(Path(folder), pack)
        return LightModel.load(Path(folder)), load(Path(folder), CPU)


def both(copy: bool, options: Options, pack: Pack = keep_float32) -> tuple[ArrayDecoder, LightDecoder]:
    """The same stored model, decoded by torch and by numpy."""
    light, other = store(copy, pack)
    marked = np.array(options.only_copied) if options.only_copied else None
    rest = options.forbid, options.related_words
    in_torch = ConvDecoder(other, options.output_words, None if marked is None else torch.from_numpy(marked), *rest)
    return ArrayDecoder(in_torch), LightDecoder(light, options.output_words, marked, *rest)


def by_word(state: DecodingState, scores: Floats, row: int) -> dict[int, float]:
    columns = np.flatnonzero(scores[row] > NEVER)
    words = state.words(np.full((1, 1), row), columns[None])[0].tolist()
    assert len(set(words)) == len(words)
    return dict(zip(words, np.exp(scores[row, columns]).tolist(), strict=True))


OPTIONS = {
    "plain": Options(),
    "few words": Options(output_words=6),
    "facts": Options(only_copied=[False] * 5 + [True] * 4),
    "forbidden": Options(forbid=forbid),
    "related": Options(related_words=2),
    "all together": Options(8, [False] * 7 + [True] * 2, forbid, 3),
}


@pytest.fixture(autouse=True)
def _one_free_word(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (decoding_module, light_module):
        monkeypatch.setattr(module, "FREE_WORDS", 1)  # of nine words, six are then related or not


@pytest.mark.parametrize("copy", [False, True])
@pytest.mark.parametrize("options", OPTIONS)
def test_steps_have_the_same_probabilities(copy: bool, options: str) -> None:
    states = [decoder.start(SOURCES, False, top_words=99) for decoder in both(copy, OPTIONS[options])]
    previous = np.full(len(SOURCES), EOS)
    for rows in ([0, 1, 2, 3, 4], [2, 2, 0, 0], [3, 1, 1], [2]):  # rows come more than once, and leave
        for state in states:
            state.select(np.array(rows))
        previous = previous[rows]
        scores = [state.step(previous) for state in states]
        for row in range(len(rows)):
            expected, found = (by_word(state, s, row) for state, s in zip(states, scores, strict=True))
            assert found == pytest.approx(expected, abs=1e-5)
            assert sum(found.values()) == pytest.approx(1.0, abs=1e-5)
        assert states[0].weights == pytest.approx(states[1].weights, abs=1e-6)
        previous = np.arange(len(rows)) + 4


SEARCHES = {
    "as it is": SEARCH,
    "exact length": replace(SEARCH, min_words=5, max_words=5),
    "no bigram twice": replace(SEARCH, no_repeat_ngram=2),
    "rare words once": replace(SEARCH, repeat_top_words=2),
    "both": replace(SEARCH, no_repeat_ngram=2, repeat_top_words=2),
    "no UNK": replace(SEARCH, unk=False),
    "wide": replace(SEARCH, beam=9, length_penalty=0.0),
    "greedy": replace(SEARCH, beam=1),
}


@pytest.mark.parametrize("copy", [False, True])
@pytest.mark.parametrize("pack", [keep_float32, *PACKS.values()])
@pytest.mark.parametrize("search", SEARCHES)
def test_searches_find_the_same_sentences(copy: bool, pack: Pack, search: str) -> None:
    for options in OPTIONS.values():
        decoders = both(copy, options, pack)
        hypotheses = [[*chain(*beam(decoder, SOURCES, SEARCHES[search]))] for decoder in decoders]
        expected, found = ([(h.words.tolist(), h.score) for h in each] for each in hypotheses)
        assert [words for words, _ in found] == [words for words, _ in expected]
        assert [score for _, score in found] == pytest.approx([score for _, score in expected], abs=1e-5)
