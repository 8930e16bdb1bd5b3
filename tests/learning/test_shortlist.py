"""The estimated normaliser is right on average, and exact where nothing is left to estimate."""

from __future__ import annotations

import pytest
import torch

from nutgraf.learning.shortlist import Frequent, Shortlist


def target_log_probs(
    hidden: torch.Tensor, targets: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, sampled: int
) -> torch.Tensor:
    return Shortlist(weight, bias, targets, sampled).log_probs(hidden, targets)


def test_full_softmax_by_hand() -> None:
    hidden, weight = torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 0.0], [0.0, 5.0], [2.0, 0.0]])
    bias = torch.tensor([0.0, 1.0, 0.0])
    # scores 1, 1, 2: log softmax of the last is 2 - log(e + e + e^2)
    found = target_log_probs(hidden, torch.tensor([2]), weight, bias, 0)
    assert float(found) == pytest.approx(-0.5514, abs=1e-4)


def test_the_normaliser_is_unbiased() -> None:
    generator = torch.Generator().manual_seed(0)
    hidden, weight = torch.randn(4, 5, generator=generator), torch.randn(60, 5, generator=generator) * 0.4
    bias, targets = torch.randn(60, generator=generator) * 0.5, torch.tensor([50, 3, 17, 50])
    exact = target_log_probs(hidden, targets, weight, bias, 0)
    scores = (hidden @ weight.t() + bias).gather(1, targets[:, None]).squeeze(1)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        draws = torch.stack([(scores - target_log_probs(hidden, targets, weight, bias, 20)).exp() for _ in range(2000)])
    assert draws.std(0).min() > 0
    assert draws.mean(0).tolist() == pytest.approx((scores - exact).exp().tolist(), rel=0.03)


def test_as_many_as_there_are_is_exact() -> None:
    hidden, weight, targets = torch.randn(3, 4), torch.randn(8, 4), torch.tensor([7, 0, 7])
    found = target_log_probs(hidden, targets, weight, torch.zeros(8), 8)
    assert torch.allclose(found, (hidden @ weight.t()).log_softmax(1).gather(1, targets[:, None]).squeeze(1))


def test_gradients_reach_only_the_words_scored() -> None:
    weight = torch.randn(1000, 4, requires_grad=True)
    target_log_probs(torch.randn(2, 4), torch.tensor([900, 901]), weight, torch.zeros(1000), 10).sum().backward()  # type: ignore[no-untyped-call]
    assert weight.grad is not None
    assert 7 <= int((weight.grad.abs().sum(1) > 0).sum()) <= 12
    assert weight.grad[900].abs().sum() > 0


def test_words_that_are_only_read_are_embedded_and_not_scored() -> None:
    weight = torch.randn(1000, 4, requires_grad=True)
    read, targets = torch.tensor([[950, 3], [951, 900]]), torch.tensor([900, 901])
    with torch.random.fork_rng():
        torch.manual_seed(0)
        words = Shortlist(weight, torch.zeros(1000), targets, 10, read)
        torch.manual_seed(0)
        without = Shortlist(weight, torch.zeros(1000), targets, 10)
    hidden = torch.randn(2, 4)
    assert torch.equal(words.embed(read), weight[read])
    assert torch.equal(words.log_probs(hidden, targets), without.log_probs(hidden, targets))
    words.embed(read).sum().backward()  # type: ignore[no-untyped-call]
    assert weight.grad is not None
    assert weight.grad.abs().sum(1).nonzero().squeeze(1).tolist() == [3, 900, 950, 951]


def test_frequent_words_and_the_target_by_hand() -> None:
    hidden, weight = torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 0.0], [0.0, 5.0], [2.0, 0.0], [3.0, 0.0]])
    words = Frequent(weight, torch.tensor([0.0, 1.0, 0.0, 0.0]), 2)
    # scores 1, 1 | 2, 3: of the last two only the target's own counts
    found = [float(words.log_probs(hidden, torch.tensor([target]))) for target in (0, 2, 3)]
    assert found == pytest.approx([-0.6931, -0.5514, -0.2395], abs=1e-4)
    assert torch.equal(words.embed(torch.tensor([3, 1])), weight[[3, 1]])
