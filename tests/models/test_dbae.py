import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from nutgraf import recipe
from nutgraf.learning.loop import Job
from nutgraf.models import dbae
from nutgraf.models.bow import Bags, average
from nutgraf.models.dbae import AutoEncoder, Dbae, DbaeState, add_noise
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import EOS, PAD, UNK, Ids, Vocab

VOCAB = Vocab(np.array([0, 1, 2, 5, 6, 7, 8, 9, 10], dtype=np.int32), lexicon_size=14)
VECTORS = np.random.default_rng(0).normal(size=(9, 6)).astype(np.float32)
SETTINGS = recipe.Dbae(width=8, max_words=5, steps=3, batch=8, beam=3)


def ids(*words: int) -> Ids:
    return np.array(words, dtype=np.int32)


def untrained(copy_bias: float = 0.0, weights: torch.Tensor | None = None) -> Dbae:
    module = AutoEncoder(VECTORS, 8, torch.Generator().manual_seed(1)).eval()
    weights = torch.ones(9) if weights is None else weights
    return Dbae(module, VOCAB, weights, replace(SETTINGS, copy_bias=copy_bias))


def output_words(state: DbaeState, previous: int, row: int = 0) -> dict[int, float]:
    """The probability of each next word that is possible at all."""
    found = state.step(torch.full((len(state.common),), previous)).exp()
    columns = torch.arange(found.shape[1])[None]
    words = state.words(torch.full_like(columns, row), columns)[0].tolist()
    possible = [(word, p) for word, p in zip(words, found[row].tolist(), strict=True) if p > 0]
    assert len(dict(possible)) == len(possible)  # no word has two columns
    return dict(possible)


def test_huge_vectors_of_a_stranger_leave_nothing_on_the_terminal() -> None:
    AutoEncoder(VECTORS * np.float32(1e38), 8, torch.Generator().manual_seed(1))  # a warning would be an error


def test_noise_has_the_right_frequencies() -> None:
    torch.manual_seed(1)
    n, p = 40_000, 0.4
    bags = Bags(torch.full((n,), 3), torch.arange(n) % 10, 10)
    noised = add_noise(bags, p, vocabulary=9)
    added = noised.words[noised.words != 3]
    # A removed word: 20 %. An added one: 40 %, uniform over the words 3..8, so 1 in 6 is word 3 itself.
    assert len(added) / n == pytest.approx(0.4 * 5 / 6, abs=0.01)
    assert len(noised.words) / n == pytest.approx(0.8 + 0.4, abs=0.01)
    counts = torch.bincount(added, minlength=9)[4:] / len(added)
    assert (counts - 1 / 5).abs().max() < 0.02
    assert torch.bincount(noised.rows).float().std() < 200  # in every bag alike
    assert noised.count == 10


def test_no_noise_changes_nothing() -> None:
    bags = Bags.of([ids(3, 4), ids(), ids(5)])
    noised = add_noise(bags, 0.0, vocabulary=9)
    assert noised.words.tolist() == [3, 4, 5]
    assert noised.rows.tolist() == [0, 0, 2]
    assert add_noise(Bags.of([ids()]), 1.0, vocabulary=3).words.tolist() == []


def test_both_layers_start_from_the_encoder() -> None:
    module = untrained().module
    states = module.initial_states(torch.eye(6)[:2])
    assert states.shape == (2, 2, 8)
    encoded = module.encoder(torch.eye(6)[:2])
    for layer in range(2):
        joined = torch.cat([module.initial[layer].expand(2, -1), encoded], 1)
        torch.testing.assert_close(states[layer], module.join[layer](joined))
        assert not torch.equal(states[layer][0], states[layer][1])


def test_loss_is_that_of_the_words_and_of_the_end() -> None:
    module = untrained().module
    local = torch.tensor([[3, 2, 4, EOS], [5, EOS, PAD, PAD]])
    bags = Bags.of_table(local)
    loss = module.loss(local, bags, sampled=0)
    states, _ = module.gru(
        module.embed(torch.tensor([[EOS, 3, 2, 4], [EOS, 5, EOS, PAD]])),
        module.initial_states(average(module.vectors, bags)),
    )
    logits = module.leave(states) @ module.vectors.t() + module.bias
    logits[..., EOS] = module.leave(states) @ module.end + module.bias[EOS]
    log_probs = logits.log_softmax(-1)
    # UNK is no target; PAD neither.
    wanted = [(0, 0, 3), (0, 2, 4), (0, 3, EOS), (1, 0, 5), (1, 1, EOS)]
    expected = -sum(log_probs[row, column, word].item() for row, column, word in wanted) / 5
    assert loss.item() == pytest.approx(expected, rel=1e-5)


def test_gradients_reach_everything_but_the_embeddings() -> None:
    module = AutoEncoder(VECTORS, 8, torch.Generator().manual_seed(1))
    local = torch.tensor([[3, 4, EOS], [5, 6, EOS], [7, EOS, PAD]])
    module.loss(local, Bags.of_table(local), sampled=0).backward()  # type: ignore[no-untyped-call]
    for name, parameter in module.named_parameters():
        assert parameter.grad is not None, name
        # Batch normalisation takes the encoder's constant away again.
        assert parameter.grad.abs().sum() > 1e-6 or name == "encoder.linear.bias", name
    assert not module.vectors.requires_grad


def test_decoding_step_by_step_is_the_models_own_probability() -> None:
    model = untrained()
    text = ids(5, 7, 13)
    decoding = model.start([text], replace_unk=True, top_words=99)
    module = model.module
    states, _ = module.gru(
        module.embed(torch.tensor([[EOS, 4, 6]])),
        module.initial_states(average(module.vectors, Bags.of([VOCAB.local(text)]), model.weights)),
    )
    logits = module.project(states[0]) @ module.output_matrix().t() + module.bias
    logits[:, [PAD, UNK]] = -math.inf
    expected = logits.softmax(-1)
    for place, previous in enumerate((EOS, 6, 8)):  # lexicon ids of local EOS, 4, 6
        probabilities = dict(zip(VOCAB.ids.tolist(), expected[place].tolist(), strict=True))
        del probabilities[PAD], probabilities[UNK]
        assert output_words(decoding, previous) == pytest.approx(probabilities, rel=1e-4)


def test_lambda_is_added_to_the_input_words_before_the_softmax() -> None:
    text = ids(5, 7, 7, 12)
    plain = output_words(untrained(0.0).start([text], replace_unk=True, top_words=99), EOS)
    biased = output_words(untrained(2.0).start([text], replace_unk=True, top_words=99), EOS)
    # Each of the input's words in V^S, 5 and 7, gains a factor e^2, the one that is there twice too; then all sum to 1.
    grown = {word: p * (math.e**2 if word in (5, 7) else 1) for word, p in plain.items()}
    total = sum(grown.values())
    assert biased == pytest.approx({word: p / total for word, p in grown.items()}, rel=1e-4)
    assert biased.keys() == {EOS, 5, 6, 7, 8, 9, 10}
    assert sum(biased.values()) == pytest.approx(1, rel=1e-5)


def test_only_frequent_words_and_the_texts_own_are_written() -> None:
    # Local ids 3..5 are frequent: words 5, 6, 7. The first text has 9 twice besides, the second 8 and 10.
    model = untrained(2.0)
    texts = [ids(9, 5, 9), ids(8, 6, 10)]
    some = replace(model, settings=replace(model.settings, output_words=6))
    for row, allowed in enumerate(({EOS, 5, 6, 7, 9}, {EOS, 5, 6, 7, 8, 10})):
        everything = output_words(model.start(texts, replace_unk=True, top_words=99), EOS, row)
        kept = {word: p for word, p in everything.items() if word in allowed}
        expected = {word: p / sum(kept.values()) for word, p in kept.items()}
        assert output_words(some.start(texts, replace_unk=True, top_words=99), EOS, row) == pytest.approx(
            expected, rel=1e-4
        )


def test_weights_change_what_is_read() -> None:
    weights = torch.ones(9)
    weights[3] = 0.0
    ignoring, reading = untrained(weights=weights), untrained()
    both, one = ids(5, 6), ids(6)
    torch.testing.assert_close(
        ignoring.start([both], True, top_words=99).hidden, reading.start([one], True, top_words=99).hidden
    )
    assert not torch.equal(
        reading.start([both], True, top_words=99).hidden, reading.start([one], True, top_words=99).hidden
    )


def test_rows_are_selected_together() -> None:
    decoding = untrained(2.0).start([ids(5), ids(6, 7), ids(8)], replace_unk=True, top_words=99)
    alone = untrained(2.0).start([ids(8)], replace_unk=True, top_words=99)
    decoding.select(torch.tensor([2, 0, 2]))
    found, expected = decoding.step(torch.full((3,), EOS)), alone.step(torch.tensor([EOS]))
    torch.testing.assert_close(found[0], expected[0])
    torch.testing.assert_close(found[2], expected[0])
    assert not torch.allclose(found[1], expected[0])


def test_summaries_are_known_words_at_most_n_none_twice() -> None:
    outputs = untrained(2.0)([ids(5, 7, 13, 99), ids(6, 8, 10), ids(5)])
    for output in outputs:
        assert 1 <= len(output) <= 5
        assert set(output.tolist()) <= set(VOCAB.ids[3:].tolist())
        assert len(set(output.tolist())) == len(output)
        assert output.dtype == np.int32


def test_empty_and_unknown_sentences_have_empty_summaries() -> None:
    outputs = untrained()([ids(), ids(13, 2), ids(1_000_000), ids(5)])
    assert [len(output) for output in outputs[:3]] == [0, 0, 0]
    assert len(outputs[3]) > 0
    assert untrained()([]) == []


def corpora() -> tuple[Corpus, Corpus]:
    rng = np.random.default_rng(1)
    texts = Corpus.of(rng.permutation(np.arange(3, 14))[:6] for _ in range(60))
    summaries = Corpus.of(np.sort(rng.permutation(np.arange(5, 11))[:2]) for _ in range(300))
    return texts, summaries


def test_a_summary_is_written_back_from_its_bag() -> None:
    settings = replace(SETTINGS, noise=0.1, width=32, steps=250, batch=32, learning_rate=0.01, copy_bias=0.0)
    texts, summaries = corpora()
    model = dbae.train(texts, summaries, VOCAB, VECTORS, settings, Job("key"))
    bags = [ids(9, 6), ids(10, 5), ids(8, 7)]  # out of order: real summaries are sorted
    plain = replace(model, weights=torch.ones(9))
    assert [output.tolist() for output in plain(bags)] == [[6, 9], [5, 10], [7, 8]]
    torch.testing.assert_close(model.module.vectors[3:], torch.from_numpy(VECTORS[3:]))


def test_training_is_a_function_of_the_key_also_with_a_shortlist() -> None:
    settings = replace(SETTINGS, shortlist=4)
    first, again, other = (dbae.train(*corpora(), VOCAB, VECTORS, settings, Job(key)) for key in "aab")
    assert torch.equal(first.module.leave.weight, again.module.leave.weight)
    assert not torch.equal(first.module.leave.weight, other.module.leave.weight)


def test_saved_and_loaded_it_is_the_same(tmp_path: Path) -> None:
    model = dbae.train(*corpora(), VOCAB, VECTORS, SETTINGS, Job("key"))
    model.save(tmp_path)
    loaded = Dbae.load(tmp_path)
    assert loaded.settings == SETTINGS
    assert torch.equal(loaded.weights, model.weights)
    assert len(loaded.vocab.table) == 14
    for name, tensor in model.module.state_dict().items():
        assert torch.equal(tensor, loaded.module.state_dict()[name]), name
    texts = [ids(5, 9, 7), ids(6, 13)]
    assert [o.tolist() for o in loaded(texts)] == [o.tolist() for o in model(texts)]
