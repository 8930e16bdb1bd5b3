import math

import numpy as np
import pytest
import torch

from nutgraf import recipe
from nutgraf.learning.batches import gather_batch
from nutgraf.learning.loop import Job
from nutgraf.models import moment_matching
from nutgraf.models.bow import Bags, moments, ratio
from nutgraf.models.moment_matching import (
    Moments,
    arrays_of,
    batch_loss,
    distinct_words,
    match_moments,
    start_at_ratios,
)
from nutgraf.models.mu1 import Mu1
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import Ids, Vocab

VOCAB = Vocab(np.array([0, 1, 2, 5, 6, 7, 8], dtype=np.int32), lexicon_size=12)
VECTORS = np.random.default_rng(0).normal(size=(7, 4)).astype(np.float32)


def ids(*words: int) -> Ids:
    return np.array(words, dtype=np.int32)


def bce(predicted: float, target: float) -> float:
    return -(target * math.log(predicted) + (1 - target) * math.log(1 - predicted))


def test_loss_of_a_batch_of_two_by_hand() -> None:
    # Texts {3, 4} and {3}: hat mu_F is 1 and 1/2.
    words, f = torch.tensor([3, 4, 3]), torch.tensor([0.2, 0.6, 0.4])
    ratios = torch.tensor([1.0, 1, 1, 0.5, 0.1])
    # Predicted moments (0.2 + 0.4) / 2 and 0.6 / 2; targets 1 * 0.5 and 1/2 * 0.1.
    loss = batch_loss(f, words, 2, ratios)
    assert loss.item() == pytest.approx(bce(0.3, 0.5) + bce(0.3, 0.05), rel=1e-5)


def test_target_is_at_most_one() -> None:
    # Both texts have the word, and summaries have it twice as often: hat mu_S would be 2.
    loss = batch_loss(torch.tensor([0.5, 0.7]), torch.tensor([3, 3]), 2, torch.full((4,), 2.0))
    assert loss.item() == pytest.approx(-math.log(0.6), rel=1e-5)


def test_certain_words_give_a_finite_loss_and_gradient() -> None:
    f = torch.tensor([1.0, 0.0], requires_grad=True)
    loss = batch_loss(f, torch.tensor([3, 4]), 1, torch.full((5,), 0.5))
    loss.backward()  # type: ignore[no-untyped-call]
    assert torch.isfinite(loss)
    assert f.grad is not None
    assert torch.isfinite(f.grad).all()
    assert f.grad[0] > 0 > f.grad[1]  # the probability that is too high falls, the other rises


def test_a_word_counts_once_a_text() -> None:
    rows, words = distinct_words(torch.tensor([[3, 3, 2, 1, 0], [2, 4, 3, 2, 1]]), size=7)
    assert list(zip(rows.tolist(), words.tolist(), strict=True)) == [(0, 2), (0, 3), (1, 2), (1, 3), (1, 4)]


def test_probability_depends_on_the_text_and_has_a_gradient() -> None:
    module = Moments(VECTORS, 4, torch.Generator().manual_seed(1))
    with torch.no_grad():
        module.weight.normal_(generator=torch.Generator().manual_seed(2))
    bags = Bags.of([ids(3, 4), ids(3, 5), ids(6)])
    f = module(bags, torch.tensor([0, 1]), torch.tensor([3, 3]))
    assert f[0] != f[1]
    f.sum().backward()
    for parameter in (module.encoder.linear.weight, module.weight, module.bias):
        assert parameter.grad is not None
        assert parameter.grad.abs().sum() > 0
    assert module.bias.grad is not None
    assert module.bias.grad.nonzero().tolist() == [[3]]


def corpora() -> tuple[Corpus, Corpus]:
    rng = np.random.default_rng(1)
    texts = [rng.permutation([5, 6, 7, 8])[:3] for _ in range(200)]  # each word is in 3 of 4 texts
    summaries = [ids(*([5] if i % 4 else []), *([6] if i % 4 == 0 else []), 9) for i in range(200)]
    return Corpus.of(texts), Corpus.of(summaries)


def test_training_matches_the_moments() -> None:
    texts, summaries = corpora()
    settings = recipe.Mu1(eta="auto", width=4, steps=150, batch=50, learning_rate=0.02)
    model = moment_matching.train(texts, summaries, VOCAB, VECTORS, settings, Job("key"))
    f = np.concatenate(model.probabilities(list(texts)))
    means = [f[texts.tokens == word].mean() for word in (5, 6, 7, 8)]
    # mu_S / mu_F: 3/4 by 3/4, 1/4 by 3/4, 0, 0
    np.testing.assert_allclose(means, [1, 1 / 3, 0, 0], atol=0.06)
    assert model.eta == 0.3  # the paper's, until one is chosen


def test_forms_of_a_verb_share_their_moments() -> None:
    texts, summaries = corpora()
    settings = recipe.Mu1(eta="auto", width=4, steps=150, batch=50, learning_rate=0.02)
    five, seven = (int(local) for local in VOCAB.local(ids(5, 7)))
    forms = {five: [five, seven], seven: [five, seven]}
    model = moment_matching.train(texts, summaries, VOCAB, VECTORS, settings, Job("key"), forms)
    f = np.concatenate(model.probabilities(list(texts)))
    means = [f[texts.tokens == word].mean() for word in (5, 6, 7, 8)]
    # (3/4 + 0) by (3/4 + 3/4), 1/4 by 3/4, the same as the first, 0
    np.testing.assert_allclose(means, [1 / 2, 1 / 3, 1 / 2, 0], atol=0.06)


def test_forms_outside_the_vocabulary_are_left_out() -> None:
    words = ["pad", "eos", "unk", "", "", "names", "chief", "named", "of", "", "name", "naming"]
    five, seven = (int(local) for local in VOCAB.local(ids(5, 7)))
    assert moment_matching.forms_in(VOCAB, words) == {five: [five, seven], seven: [five, seven]}


def loss_over_all(module: Moments, texts: Corpus, ratios: torch.Tensor) -> float:
    """The loss of one batch of all texts."""
    local = torch.from_numpy(VOCAB.table).long()[gather_batch(texts, np.arange(len(texts)))]
    rows, words = distinct_words(local, len(VOCAB))
    with torch.no_grad():
        return float(batch_loss(module.eval()(Bags.of_table(local), rows, words), words, len(texts), ratios))


def test_a_random_start_comes_to_match_the_moments() -> None:
    texts, summaries = corpora()
    ratios = torch.from_numpy(ratio(moments(summaries, VOCAB), moments(texts, VOCAB))).float()
    analytic, module = (Moments(VECTORS, 4, torch.Generator().manual_seed(1)) for _ in range(2))
    start_at_ratios(analytic, ratios)
    with torch.no_grad():
        for parameter in (module.weight, module.bias):
            parameter.normal_(generator=torch.Generator().manual_seed(2))
    best, before = (loss_over_all(each, texts, ratios) for each in (analytic, module))
    settings = recipe.Mu1(width=4, steps=300, batch=50, learning_rate=0.05)
    match_moments(module, texts, VOCAB, ratios, settings, Job("key"))
    assert before > best + 0.5
    assert loss_over_all(module, texts, ratios) == pytest.approx(best, abs=0.05)
    f = np.concatenate(Mu1(arrays_of(module), VOCAB, eta=0.3, max_words=3).probabilities(list(texts)))
    means = [f[texts.tokens == word].mean() for word in (5, 6, 7, 8)]
    np.testing.assert_allclose(means, [1, 1 / 3, 0, 0], atol=0.06)


def test_training_is_a_function_of_the_key() -> None:
    settings = recipe.Mu1(width=4, steps=3, batch=8)
    first, again, other = (moment_matching.train(*corpora(), VOCAB, VECTORS, settings, Job(key)) for key in "aab")
    assert all(np.array_equal(first.arrays[name], again.arrays[name]) for name in first.arrays)
    assert not np.array_equal(first.arrays["encoder.linear.weight"], other.arrays["encoder.linear.weight"])
