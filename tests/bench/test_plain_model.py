"""The reference computes the same function as the shipped model: else the benchmark would compare different things."""

import numpy as np
import pytest
import torch

from nutgraf.bench import plain_model as reference
from nutgraf.bench.plain_model import PlainModel
from nutgraf.learning.batches import pad_batch
from nutgraf.learning.beam import Beam
from nutgraf.learning.search import Sampling, beam, sample
from nutgraf.models.decoding import ConvDecoder
from nutgraf.seeds import generator_of
from nutgraf.text.lexicon import Ids
from tests.toys import toy_model

VOCABULARY = 9


def sentences(*lengths: int) -> list[Ids]:
    """Sentences of words past the special ones, some of them past the vocabulary: those can only be copied."""
    rng = np.random.default_rng(3)
    return [rng.integers(3, VOCABULARY + 4, size=length).astype(np.int32) for length in lengths]


def both(copy: bool) -> tuple[PlainModel, ConvDecoder]:
    shipped = toy_model(copy, source=VOCABULARY, target=VOCABULARY).eval()
    return PlainModel(shipped).eval(), ConvDecoder(shipped)


@pytest.mark.parametrize("copy", [False, True])
def test_the_same_log_probabilities_and_gradients(copy: bool) -> None:
    plain, decoder = both(copy)
    source, target = pad_batch(sentences(6, 3, 5)), pad_batch(sentences(4, 2, 6))
    torch.testing.assert_close(plain.log_probs(source, target), decoder.model.log_probs(source, target))
    for model in (plain, decoder.model):
        model.loss(source, target).backward()  # type: ignore[no-untyped-call]
    for ours, theirs in (
        (plain.target_words.weight, decoder.model.target_table),
        (plain.source_words.weight, decoder.model.source_table),
        (plain.source_positions.weight, decoder.model.encoder.positions),
        (plain.target_positions.weight, decoder.model.decoder.positions),
        (plain.output.bias, decoder.model.bias),
    ):
        torch.testing.assert_close(ours.grad, theirs.grad)


@pytest.mark.parametrize("copy", [False, True])
def test_the_same_samples(copy: bool) -> None:
    plain, decoder = both(copy)
    sources = sentences(5, 5, 5, 5)
    shipped = sample(decoder, sources, Sampling(4, 7, 7, 4, unk=False), 5)
    drawn = reference.sample(plain, pad_batch(sources), 4, 7, generator_of("batch", 5, 0))
    assert drawn.tolist() == [words.tolist() for words in shipped]


@pytest.mark.parametrize("copy", [False, True])
def test_the_same_beams(copy: bool) -> None:
    plain, decoder = both(copy)
    sources = sentences(5, 5, 5)
    shipped = beam(decoder, sources, Beam(3, 6, 6, 0, 1.0, 3, unk=False))
    found = reference.beam(plain, pad_batch(sources), 3, 6)
    assert found.tolist() == [[hypothesis.words.tolist() for hypothesis in each] for each in shipped]
