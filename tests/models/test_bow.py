import numpy as np
import torch

from nutgraf.models.bow import Bags, BowEncoder, average, input_weights, moments, ratio
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import Ids, Vocab


def ids(*words: int) -> Ids:
    return np.array(words, dtype=np.int32)


def test_moments_are_shares_of_sentences() -> None:
    vocab = Vocab(ids(0, 1, 2, 5, 4, 6), lexicon_size=9)
    corpus = Corpus.of([[4, 4, 5], [4, 8], [], [7, 8, 4]])
    mu = moments(corpus, vocab)
    # 5 is in one of four sentences, 4 in three (twice in the first counts once), 6 in none; 7 and 8 are UNK, in two.
    assert mu[3:].tolist() == [1 / 4, 3 / 4, 0]
    assert mu[2] == 2 / 4


def test_moments_of_a_corpus_that_ends_with_an_empty_sentence() -> None:
    vocab = Vocab(ids(0, 1, 2, 3), lexicon_size=5)
    mu = moments(Corpus.of([[], [4], []]), vocab)
    assert mu[2:].tolist() == [1 / 3, 0]
    assert moments(Corpus.of([]), vocab).tolist() == [0, 0, 0, 0]


def test_weights_lower_words_that_are_rarer_in_summaries() -> None:
    mu_S, mu_F = np.array([0.1, 0.3, 0.2, 0.0]), np.array([0.4, 0.1, 0.0, 0.5])
    # Ratios: 1/4; 3; unknown, as no text has it: 1; 0.
    np.testing.assert_allclose(ratio(mu_S, mu_F), [0.25, 3, 1, 0])
    np.testing.assert_allclose(input_weights(mu_S, mu_F, "min"), [0.25, 1, 1, 0])
    np.testing.assert_allclose(input_weights(mu_S, mu_F, "max"), [1, 3, 1, 1])


def test_average_plain_weighted_and_of_nothing() -> None:
    vectors = torch.tensor([[9.0, 9], [9, 9], [9, 9], [1, 0], [0, 2], [4, 4]])
    bags = Bags.of([ids(3, 4, 2, 0), ids(), ids(1, 2), ids(3, 3, 4)])
    plain = average(vectors, bags)
    # Special words are in no bag; a word twice counts twice.
    torch.testing.assert_close(plain, torch.tensor([[0.5, 1.0], [0, 0], [0, 0], [2 / 3, 2 / 3]]))
    weights = torch.tensor([1.0, 1, 1, 0.25, 0.75, 1])
    weighted = average(vectors, bags, weights)
    torch.testing.assert_close(weighted[0], torch.tensor([0.25, 1.5]))
    torch.testing.assert_close(weighted[3], torch.tensor([0.5 / 1.25, 1.5 / 1.25]))


def test_words_that_all_weigh_nothing_average_to_nothing() -> None:
    vectors = torch.ones(4, 2)
    assert average(vectors, Bags.of([ids(3)]), torch.zeros(4)).tolist() == [[0.0, 0.0]]


def test_bags_of_a_table_are_bags_of_its_sentences() -> None:
    table = Bags.of_table(torch.tensor([[3, 4, 1, 0], [2, 1, 0, 0], [5, 5, 3, 1]]))
    sentences = Bags.of([ids(3, 4), ids(2), ids(5, 5, 3)])
    assert table.words.tolist() == sentences.words.tolist() == [3, 4, 5, 5, 3]
    assert table.rows.tolist() == sentences.rows.tolist() == [0, 0, 2, 2, 2]
    assert table.count == sentences.count == 3


def test_encoder_normalises_a_batch_and_learns() -> None:
    encoder = BowEncoder(3, 4, torch.Generator().manual_seed(1))
    encoded = encoder(torch.randn(16, 3, generator=torch.Generator().manual_seed(2)))
    torch.testing.assert_close(encoded.mean(0), torch.zeros(4), atol=1e-5, rtol=0)
    torch.testing.assert_close(encoded.std(0, correction=0), torch.ones(4), atol=1e-2, rtol=0)
    encoded.pow(3).sum().backward()
    assert encoder.linear.weight.grad is not None
    assert encoder.linear.weight.grad.abs().sum() > 0
    again = BowEncoder(3, 4, torch.Generator().manual_seed(1))
    assert torch.equal(encoder.linear.weight, again.linear.weight)
