"""Incremental decoding equals full decoding."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nutgraf.seq2seq.batch import gathered, padded
from nutgraf.seq2seq.decoding import ConvDecoder
from nutgraf.seq2seq.model import Seq2seq
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import EOS, Ids
from tests.seq2seq.toys import toy_model

SOURCES: list[Ids] = [np.array(s, dtype=np.int32) for s in ([3, 15, 5, 15, 6], [7, 17], [4])]


def test_gathered_equals_padded() -> None:
    corpus = Corpus.of(SOURCES)
    assert torch.equal(gathered(corpus, np.array([2, 0])), padded([SOURCES[2], SOURCES[0]]))
    assert padded([SOURCES[2], SOURCES[1]]).tolist() == [[4, 1, 0], [7, 17, 1]]


@pytest.mark.parametrize("copy", [False, True])
def test_incremental_equals_full(copy: bool) -> None:
    model = toy_model(copy).eval()
    targets = (
        [[5, 15, 4, EOS], [8, 8, 3, EOS], [6, 4, 4, EOS]] if copy else [[5, 3, 4, EOS], [8, 8, 3, EOS], [6, 4, 4, EOS]]
    )
    decoding = ConvDecoder(model).start(SOURCES, replace_unk=False)
    full = model.log_probs(padded(SOURCES), torch.tensor(targets)).detach()
    previous = torch.full((3,), EOS)
    for time, words in enumerate(torch.tensor(targets).t()):
        scores = decoding.step(previous)
        for row in range(3):
            ids = decoding.words(torch.full((scores.shape[1],), row), torch.arange(scores.shape[1]))
            columns = (ids == words[row]).nonzero().squeeze(1)
            # A source place that is no word's first occurrence has no probability, so the best column is the word's.
            assert float(scores[row, columns].max()) == pytest.approx(float(full[row, time]), abs=1e-4)
        previous = words
    assert scores.exp().sum(1).tolist() == pytest.approx([1.0] * 3, abs=1e-5)


@pytest.mark.parametrize("copy", [False, True])
def test_words_that_are_not_spoken_can_only_be_copied(copy: bool) -> None:
    model, start = toy_model(copy).eval(), torch.full((3,), EOS)
    sources = [np.array(s, dtype=np.int32) for s in ([3, 15, 7, 7], [7, 17], [4])]
    whole, part = (ConvDecoder(model, spoken).start(sources, replace_unk=False) for spoken in (0, 5))
    full, scores = whole.step(start), part.step(start)
    if not copy:
        assert torch.allclose(scores, full[:, :5] - full[:, :5].logsumexp(1, keepdim=True), atol=1e-5)
        return
    assert scores.exp().sum(1).tolist() == pytest.approx([1.0] * 3, abs=1e-5)
    ids = part.words(torch.zeros(scores.shape[1], dtype=torch.long), torch.arange(scores.shape[1])).tolist()
    assert ids[:5] == [0, 1, 2, 3, 4]
    # Word 7 stands at places 2 and 3: it has the column of place 2, and the probability of both places.
    gate = torch.sigmoid(model.gate(_state(model, sources)))[0].detach()  # type: ignore[misc]
    assert ids[5 + 2] == 7
    assert float(scores[0, 5 + 2].exp()) == pytest.approx(float((1 - gate) * part.weights[0, 2:4].sum()), abs=1e-5)


def test_unsaid_words_can_only_be_copied() -> None:
    model, start = toy_model(copy=True).eval(), torch.full((3,), EOS)
    unsaid = torch.tensor([False] * 5 + [True] * 4)
    scores = ConvDecoder(model, unsaid=unsaid).start(SOURCES, replace_unk=False).step(start)
    for row, source in enumerate(SOURCES):
        for word in range(5, 9):
            assert (float(scores[row, word]) > -20) == (word in source)
    assert scores.exp().sum(1).tolist() == pytest.approx([1.0] * 3, abs=1e-5)


def _state(model: Seq2seq, sources: list[Ids]) -> torch.Tensor:
    encoded = model.encode(padded(sources))
    states: torch.Tensor = model.decoder(model.target_table[torch.full((len(sources), 1), EOS)], encoded)[1]
    return states[:, 0]


def test_rows_can_leave_and_come_twice() -> None:
    model = toy_model(copy=True).eval()
    decoder = ConvDecoder(model)
    both, alone = decoder.start(SOURCES, False), decoder.start([SOURCES[1]], False)
    first = [both.step(torch.full((3,), EOS))[1], alone.step(torch.full((1,), EOS))[0]]
    assert torch.allclose(first[0][:9], first[1][:9], atol=1e-5)
    both.select(torch.tensor([1, 1]))
    after = both.step(torch.tensor([5, 6]))
    assert torch.allclose(after[0, :9], alone.step(torch.tensor([5]))[0, :9], atol=1e-5)
    assert not torch.allclose(after[0, :9], after[1, :9], atol=1e-5)


def test_unk_becomes_the_most_attended_source_word() -> None:
    model = toy_model(copy=False).eval()
    decoding = ConvDecoder(model).start(SOURCES, replace_unk=True)
    decoding.step(torch.full((3,), EOS))
    words = decoding.words(torch.arange(3)[:, None], torch.tensor([[2, 4]] * 3))
    for row, source in enumerate(SOURCES):
        attended = decoding.weights[row, : len(source)].argmax()
        assert words[row].tolist() == [int(source[attended]), 4]


def test_unk_stays_where_the_source_has_no_word() -> None:
    decoding = ConvDecoder(toy_model(copy=False)).start([np.zeros(0, dtype=np.int32)], replace_unk=True)
    decoding.step(torch.full((1,), EOS))
    assert decoding.words(torch.tensor([[0]]), torch.tensor([[2]])).tolist() == [[2]]
