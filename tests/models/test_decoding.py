"""Incremental decoding equals full decoding."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nutgraf.learning.batches import gather_batch, pad_batch
from nutgraf.learning.beam import NEVER
from nutgraf.models import decoding as decoding_module
from nutgraf.models.decoding import ConvDecoder, ConvState
from nutgraf.models.light_decoding import SPECIAL
from nutgraf.models.seq2seq import Seq2seq
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import EOS, PAD, UNK, Ids
from tests.toys import toy_model

SOURCES: list[Ids] = [np.array(s, dtype=np.int32) for s in ([3, 15, 5, 15, 6], [7, 17], [4])]


def test_gathered_equals_padded() -> None:
    corpus = Corpus.of(SOURCES)
    assert torch.equal(gather_batch(corpus, np.array([2, 0])), pad_batch([SOURCES[2], SOURCES[0]]))
    assert pad_batch([SOURCES[2], SOURCES[1]]).tolist() == [[4, 1, 0], [7, 17, 1]]


def by_word(state: ConvState, scores: torch.Tensor, row: int) -> dict[int, float]:
    """The probability of each word that has one; no word may have two."""
    possible = (scores[row] > NEVER).nonzero().squeeze(1)
    words = state.words(torch.full_like(possible, row), possible).tolist()
    assert len(set(words)) == len(words)
    return dict(zip(words, scores[row, possible].exp().tolist(), strict=True))


@pytest.mark.parametrize("copy", [False, True])
def test_incremental_equals_full(copy: bool) -> None:
    model = toy_model(copy).eval()
    targets = (
        [[5, 15, 4, EOS], [8, 8, 3, EOS], [6, 4, 4, EOS]] if copy else [[5, 3, 4, EOS], [8, 8, 3, EOS], [6, 4, 4, EOS]]
    )
    decoding = ConvDecoder(model).start(SOURCES, replace_unk=False, top_words=99)
    full = model.log_probs(pad_batch(SOURCES), torch.tensor(targets)).detach()
    previous = torch.full((3,), EOS)
    for time, words in enumerate(torch.tensor(targets).t()):
        scores = decoding.step(previous)
        for row in range(3):
            found = by_word(decoding, scores, row)
            assert found[int(words[row])] == pytest.approx(float(full[row, time].exp()), abs=1e-5)
            assert sum(found.values()) == pytest.approx(1.0, abs=1e-5)
        previous = words


@pytest.mark.parametrize("copy", [False, True])
def test_a_few_columns_hold_the_most_probable_words(copy: bool) -> None:
    model, start = toy_model(copy).eval(), torch.full((3,), EOS)
    decoder = ConvDecoder(model)
    everything, few = decoder.start(SOURCES, False, top_words=99), decoder.start(SOURCES, False, top_words=2)
    scores, some = everything.step(start), few.step(start)
    assert some.shape[1] == 3 + 2 + (SOURCES[0].size + 1 if copy else 0)
    for row in range(3):
        found, expected = by_word(few, some, row), by_word(everything, scores, row)
        assert found == pytest.approx({word: expected[word] for word in found}, abs=1e-6)
        assert set(sorted(expected, key=lambda word: -expected[word])[:2]) <= set(found)


@pytest.mark.parametrize("copy", [False, True])
def test_words_outside_the_output_words_can_only_be_copied(copy: bool) -> None:
    model, start = toy_model(copy).eval(), torch.full((3,), EOS)
    sources = [np.array(s, dtype=np.int32) for s in ([3, 15, 7, 7], [7, 17], [4])]
    whole, part = (ConvDecoder(model, output_words).start(sources, False, top_words=99) for output_words in (0, 5))
    full, found = by_word(whole, whole.step(start), 0), by_word(part, part.step(start), 0)
    assert sum(found.values()) == pytest.approx(1.0, abs=1e-5)
    if not copy:
        output_words = {word: full[word] for word in range(5)}
        assert found == pytest.approx(
            {word: p / sum(output_words.values()) for word, p in output_words.items()}, abs=1e-5
        )
        return
    assert set(found) == {0, 1, 2, 3, 4, 7, 15}
    # Word 7 stands at places 2 and 3, and has the probability of both.
    gate = torch.sigmoid(model.gate(_state(model, sources)))[0].detach()  # type: ignore[misc]
    assert found[7] == pytest.approx(float((1 - gate) * part.weights[0, 2:4].sum()), abs=1e-5)


def test_words_marked_as_only_copied_are_never_generated() -> None:
    model, start = toy_model(copy=True).eval(), torch.full((3,), EOS)
    only_copied = torch.tensor([False] * 5 + [True] * 4)
    decoding = ConvDecoder(model, only_copied=only_copied).start(SOURCES, replace_unk=False, top_words=99)
    scores = decoding.step(start)
    for row, source in enumerate(SOURCES):
        found = by_word(decoding, scores, row)
        assert {word for word in found if word >= 5} == {int(word) for word in source if word >= 5}
        assert sum(found.values()) == pytest.approx(1.0, abs=1e-5)


def test_what_is_forbidden_of_a_source_is_not_generated_for_it() -> None:
    model, start = toy_model(copy=True).eval(), torch.full((3,), EOS)
    # Word 6 is the first source's own, and 99 is in no vocabulary.
    forbidden = dict(zip(map(tuple, SOURCES), ([6, 7, 8], [], [5, 99]), strict=True))
    removed = [{7, 8}, set(), {5}]
    decoder = ConvDecoder(model, forbid=lambda source: np.array(forbidden[tuple(source)], dtype=np.int32))
    free = ConvDecoder(model).start(SOURCES, replace_unk=False, top_words=99)
    bound = decoder.start(SOURCES, replace_unk=False, top_words=99)
    for rows in (torch.arange(3), torch.tensor([2, 2, 0, 0])):  # also once sentences have several rows
        free.select(rows)
        bound.select(rows)
        before, after = free.step(start[:1].expand(len(rows))), bound.step(start[:1].expand(len(rows)))
        for row, sentence in enumerate(rows.tolist()):
            possible, left = (set(by_word(*pair, row)) - {PAD} for pair in ((free, before), (bound, after)))
            assert possible - left == removed[sentence]
            assert sum(by_word(bound, after, row).values()) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("forbidden", [[], [7]])
def test_only_the_words_nearest_to_the_source_are_generated(
    monkeypatch: pytest.MonkeyPatch, forbidden: list[int]
) -> None:
    monkeypatch.setattr(decoding_module, "FREE_WORDS", 1)  # word 3
    model, related = toy_model(copy=True).eval(), 3
    vectors = model.target_table.detach()
    forbid = (lambda _: np.array(forbidden, dtype=np.int32)) if forbidden else None
    bound = ConvDecoder(model, forbid=forbid, related_words=related).start(SOURCES, replace_unk=False, top_words=99)
    free = ConvDecoder(model).start(SOURCES, replace_unk=False, top_words=99)
    removed = 0
    for rows in (torch.arange(3), torch.tensor([2, 2, 0, 0])):  # also once sentences have several rows
        free.select(rows)
        bound.select(rows)
        start = torch.full((len(rows),), EOS)
        before, after = free.step(start), bound.step(start)
        for row, sentence in enumerate(rows.tolist()):
            own = [int(word) for word in SOURCES[sentence] if SPECIAL <= word < len(model.target)]

            def nearness(word: int, own: list[int] = own) -> float:
                return max(float(torch.cosine_similarity(vectors[word], vectors[other], 0)) for other in own)

            others = range(SPECIAL + 1, len(model.target))
            nearest = sorted(others, key=nearness, reverse=True)[:related] if own else []
            possible, left = (set(by_word(*pair, row)) - {PAD} for pair in ((free, before), (bound, after)))
            allowed = {*range(SPECIAL + 1), *nearest} - set(forbidden)
            assert left == {word for word in possible if word in allowed or word in SOURCES[sentence]}
            assert sum(by_word(bound, after, row).values()) == pytest.approx(1.0, abs=1e-5)
            removed += len(possible - left)
            new, old = by_word(bound, after, row), by_word(free, before, row)
            ratios = [new[word] / old[word] for word in left - {EOS, UNK, *SOURCES[sentence].tolist()}]
            assert ratios == pytest.approx(ratios[:1] * len(ratios), rel=1e-4)  # they share what the removed ones had
    assert removed
    paper = toy_model(copy=False).eval()  # its two sides have vectors of their own: nothing can be compared
    everything = ConvDecoder(paper, related_words=related).start(SOURCES, replace_unk=False, top_words=99)
    assert everything.output.words.tolist() == list(range(len(paper.target)))


def _state(model: Seq2seq, sources: list[Ids]) -> torch.Tensor:
    encoded = model.encode(pad_batch(sources))
    states: torch.Tensor = model.decoder(model.target_table[torch.full((len(sources), 1), EOS)], encoded)[1]
    return states[:, 0]


@pytest.mark.parametrize("rows", [[1, 1], [2, 1], [0, 0, 2, 2], [0, 1, 1], [2]])
def test_rows_can_leave_and_come_twice(rows: list[int]) -> None:
    decoder = ConvDecoder(toy_model(copy=True).eval())
    together = decoder.start(SOURCES, False, top_words=99)
    together.step(torch.full((3,), EOS))
    together.select(torch.tensor(rows))
    words = torch.arange(len(rows)) + 4
    scores = together.step(words)
    together.select(torch.arange(len(rows)).flip(0))  # and once more, in another order
    flipped = together.step(words)
    for place, row in enumerate(rows):
        alone = decoder.start([SOURCES[row]], False, top_words=99)
        alone.step(torch.full((1,), EOS))
        expected = by_word(alone, alone.step(words[[place]]), 0)
        other = alone.step(words[[len(rows) - 1 - place]])
        assert by_word(together, flipped, len(rows) - 1 - place) == pytest.approx(by_word(alone, other, 0), abs=1e-5)
        assert scores[place].exp().sum() == pytest.approx(1.0, abs=1e-5)
        assert sorted(scores[place].exp().tolist())[-5:] == pytest.approx(sorted(expected.values())[-5:], abs=1e-5)


def test_unk_becomes_the_most_attended_source_word() -> None:
    model = toy_model(copy=False).eval()
    decoding = ConvDecoder(model).start(SOURCES, replace_unk=True, top_words=99)
    decoding.step(torch.full((3,), EOS))
    words = decoding.words(torch.arange(3)[:, None], torch.tensor([[2]] * 3))
    for row, source in enumerate(SOURCES):
        attended = decoding.weights[row, : len(source)].argmax()
        assert words[row].tolist() == [int(source[attended])]


def test_unk_stays_where_the_source_has_no_word() -> None:
    decoding = ConvDecoder(toy_model(copy=False)).start([np.zeros(0, dtype=np.int32)], replace_unk=True, top_words=99)
    decoding.step(torch.full((1,), EOS))
    assert decoding.words(torch.tensor([[0]]), torch.tensor([[2]])).tolist() == [[2]]
