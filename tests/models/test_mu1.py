import math
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from nutgraf.errors import RunError
from nutgraf.models.bow import Bags
from nutgraf.models.moment_matching import Moments, arrays_of
from nutgraf.models.mu1 import WEIGHTS, Mu1
from nutgraf.models.weights import pack_int8
from nutgraf.text.lexicon import UNK, Ids, Vocab

VOCAB = Vocab(np.array([0, 1, 2, 5, 6, 7, 8], dtype=np.int32), lexicon_size=12)
VECTORS = np.random.default_rng(0).normal(size=(7, 4)).astype(np.float32)


def ids(*words: int) -> Ids:
    return np.array(words, dtype=np.int32)


def some_module() -> Moments:
    """A module as training leaves it: no value is 0, and the normalisation has seen texts."""
    module = Moments(VECTORS, 3, torch.Generator().manual_seed(1))
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_(generator=generator)
        module.encoder.norm.running_mean.normal_(generator=generator)  # type: ignore[union-attr]
        module.encoder.norm.running_var.uniform_(0.5, 2, generator=generator)  # type: ignore[union-attr]
    return module.eval()


def some_model() -> Mu1:
    return Mu1(arrays_of(some_module()), VOCAB, eta=0.17, max_words=5)


def scored(**probability: float) -> Mu1:
    """A model whose probabilities are these, whatever the text: by word, and `unk`."""
    module = Moments(VECTORS, 4, torch.Generator().manual_seed(1))
    with torch.no_grad():
        module.bias.fill_(-20)
        for name, value in probability.items():
            local = UNK if name == "unk" else int(VOCAB.local(ids(int(name[1:])))[0])
            module.bias[local] = math.log(value / (1 - value))
    return Mu1(arrays_of(module), VOCAB, eta=0.3, max_words=3)


def test_probabilities_are_those_of_the_module() -> None:
    sentences = [ids(5, 6, 9, 7), ids(), ids(8, 100, 8), ids(9, 10)]
    local = [VOCAB.local(sentence) for sentence in sentences]
    rows = torch.tensor([0, 0, 0, 0, 2, 2, 2, 3, 3])
    with torch.no_grad():
        wanted = some_module()(Bags.of(local), rows, torch.from_numpy(np.concatenate(local)).long()).numpy()
    found = some_model().probabilities(sentences)
    assert [len(f) for f in found] == [4, 0, 3, 2]
    np.testing.assert_allclose(np.concatenate(found), wanted, rtol=1e-5)


def test_probabilities_do_not_depend_on_the_other_sentences() -> None:
    rng = np.random.default_rng(3)
    sentences = [rng.integers(3, 12, size=length).astype(np.int32) for length in (1, 30, 0, 7, 12)]
    for sentence, together in zip(sentences, some_model().probabilities(sentences), strict=True):
        np.testing.assert_array_equal(some_model().probabilities([sentence])[0], together)


def test_words_at_or_above_eta_are_kept_in_order() -> None:
    model = scored(w5=0.4, w6=0.2, w7=0.9, w8=0.35)
    assert model([ids(8, 6, 7, 5)])[0].tolist() == [8, 7, 5]
    assert model.with_eta(0.1)([ids(8, 6, 7, 5)])[0].tolist() == [8, 6, 7]  # N = 3
    assert model.with_eta(0.1, 4)([ids(8, 6, 7, 5)])[0].tolist() == [8, 6, 7, 5]
    assert model.with_eta(0.5)([ids(8, 6, 7, 5)])[0].tolist() == [7]


def test_a_word_is_kept_once() -> None:
    assert scored(w5=0.4, w7=0.9)([ids(7, 5, 7, 7, 5)])[0].tolist() == [7, 5]


def test_words_outside_the_vocabulary_share_the_probability_of_unk() -> None:
    text = ids(9, 5, 11, 1_000_000)
    assert scored(w5=0.4, unk=0.6)([text])[0].tolist() == [9, 5, 11]
    assert scored(w5=0.4, unk=0.2)([text])[0].tolist() == [5]


def test_empty_and_unknown_sentences() -> None:
    outputs = scored(unk=0.1)([ids(), ids(9, 10), ids(2)])
    assert [output.tolist() for output in outputs] == [[], [], []]
    assert all(output.dtype == np.int32 for output in outputs)
    assert scored()([]) == []


def test_saved_and_loaded_it_is_the_same(tmp_path: Path) -> None:
    model = some_model()
    model.save(tmp_path)
    loaded = Mu1.load(tmp_path)
    assert (loaded.eta, loaded.max_words) == (0.17, 5)
    np.testing.assert_array_equal(loaded.vocab.ids, VOCAB.ids)
    assert len(loaded.vocab.table) == 12
    check_same(model, loaded, [ids(5, 6, 9, 7), ids(8, 100)])


def check_same(one: Mu1, other: Mu1, sentences: list[Ids], within: float = 0.0) -> None:
    for before, after in zip(one.probabilities(sentences), other.probabilities(sentences), strict=True):
        np.testing.assert_allclose(before, after, rtol=0, atol=within)


def test_of_words_that_it_shall_not_know_all_are_unk() -> None:
    model, few = some_model(), some_model().knowing(ids(0, 1, 2, 5, 7, 11))
    check_same(model, few, [ids(5, 7), ids(7, 9, 5, 5)])
    # 6 and 8 are what 9, which it never knew, is
    np.testing.assert_array_equal(few.probabilities([ids(5, 6, 7, 8)])[0], few.probabilities([ids(5, 9, 7, 9)])[0])
    np.testing.assert_array_equal(few.probabilities([ids(5, 6, 7, 8)])[0], model.probabilities([ids(5, 9, 7, 9)])[0])


def test_in_a_smaller_lexicon_words_have_other_numbers() -> None:
    model = some_model()
    smaller = model.only(ids(0, 1, 2, 5, 6, 7, 8, 10))
    assert smaller.lexicon_size == 8
    np.testing.assert_array_equal(
        model.probabilities([ids(5, 6, 8, 10)])[0], smaller.probabilities([ids(3, 4, 6, 7)])[0]
    )


def test_packed_it_is_nearly_the_same(tmp_path: Path) -> None:
    model = some_model().knowing(VOCAB.ids)
    model.save(tmp_path, pack_int8)
    stored = load_file(tmp_path / WEIGHTS)
    assert {str(stored[name].dtype) for name in ("vectors", "weight", "bias")} == {"uint8", "int8", "float16"}
    check_same(model, Mu1.load(tmp_path), [ids(5, 6, 9, 7), ids(8, 100)], within=0.03)


@pytest.mark.parametrize("name", ["weight", "vectors", "bias", "encoder.norm.running_var", "encoder.linear.weight"])
def test_sizes_that_do_not_fit_are_refused(tmp_path: Path, name: str) -> None:
    some_model().save(tmp_path)
    stored = load_file(tmp_path / WEIGHTS)
    save_file(stored | {name: np.ones((9, 9), dtype=np.float32)}, tmp_path / WEIGHTS)
    with pytest.raises(RunError, match=WEIGHTS):
        Mu1.load(tmp_path)


def test_a_negative_variance_is_refused(tmp_path: Path) -> None:
    some_model().save(tmp_path)
    stored = load_file(tmp_path / WEIGHTS)
    save_file(stored | {"encoder.norm.running_var": np.array([1, -1, 1], dtype=np.float32)}, tmp_path / WEIGHTS)
    with pytest.raises(RunError, match="running_var is negative"):
        Mu1.load(tmp_path)


def test_without_its_encoder_the_weights_must_fit_the_vectors(tmp_path: Path) -> None:
    some_model().save(tmp_path)
    stored = load_file(tmp_path / WEIGHTS)
    save_file({name: array for name, array in stored.items() if not name.startswith("encoder")}, tmp_path / WEIGHTS)
    with pytest.raises(RunError, match="no encoder between them"):
        Mu1.load(tmp_path)
