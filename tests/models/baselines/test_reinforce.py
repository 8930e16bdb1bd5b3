from itertools import product

import numpy as np
import torch

from nutgraf.learning.batches import pad_batch
from nutgraf.models.baselines.reinforce import (
    Drawn,
    discount,
    draw,
    draw_best,
    mean_log_probs,
    never_write,
    policy_loss,
)
from nutgraf.models.seq2seq import Seq2seq
from nutgraf.text.lexicon import Ids
from tests.toys import toy_model

LONGEST = 2
SOURCE: Ids = np.array([3, 7, 5], dtype=np.int32)
CPU = torch.device("cpu")


def small_model() -> Seq2seq:
    """A model of six words that never writes PAD or UNK, which are never drawn either."""
    model = toy_model(copy=True, target=6).eval()
    never_write(model)
    return model


def every_summary() -> list[Ids]:
    """All that can be drawn: no, one or two words of 3, 4, 5 and 7, which only the source has."""
    found = [words for length in (0, 1, 2) for words in product([3, 4, 5, 7], repeat=length)]
    return [np.array(words, dtype=np.int32) for words in found]


def reward(words: Ids) -> float:
    return float(sum(words[:1])) - 0.7 * float(sum(words[-1:])) + 2.0 * (len(words) == 1)


def gradient(model: Seq2seq, value: torch.Tensor) -> torch.Tensor:
    model.zero_grad()
    value.backward()  # type: ignore[no-untyped-call]
    return torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])


def expected_reward(model: Seq2seq) -> torch.Tensor:
    """The reward of every possible summary, by its probability; after two words the end is forced, not chosen."""
    summaries = every_summary()
    drawn = Drawn.of(summaries, LONGEST, CPU)
    sources = pad_batch([SOURCE] * len(summaries))
    probabilities = ((model.log_probs(sources, drawn.words) * drawn.chosen).sum(1)).exp()
    torch.testing.assert_close(probabilities.sum(), torch.tensor(1.0), atol=1e-4, rtol=0)
    rewards = torch.tensor([reward(words) for words in summaries])
    return (probabilities * rewards).sum()


def test_what_was_chosen_by_hand() -> None:
    drawn = Drawn.of([np.array([3], dtype=np.int32), np.array([4, 5], dtype=np.int32)], LONGEST, CPU)
    assert drawn.words.tolist() == [[3, 1, 0], [4, 5, 1]]
    assert drawn.chosen.tolist() == [[1, 1, 0], [1, 1, 0]]  # the second's end was forced


def test_returns_are_discounted_by_hand() -> None:
    rewards = torch.tensor([[1.0, 2.0, 4.0], [0.0, 0.0, 1.0]])
    assert discount(rewards, 0.5).tolist() == [[3.0, 4.0, 4.0], [0.25, 0.5, 1.0]]


def test_the_gradient_is_that_of_the_expected_reward_over_all_summaries() -> None:
    model = small_model()
    exact = gradient(model, -expected_reward(model))
    # The estimate for each summary, weighted by its probability, is the expectation of the estimate.
    summaries = every_summary()
    drawn = Drawn.of(summaries, LONGEST, CPU)
    log_probs = model.log_probs(pad_batch([SOURCE] * len(summaries)), drawn.words)
    weights = (log_probs * drawn.chosen).sum(1).exp() * len(summaries)
    rewards = torch.tensor([reward(words) for words in summaries])
    estimated = gradient(model, policy_loss(log_probs, drawn, (weights * rewards)[:, None].expand_as(log_probs)))
    torch.testing.assert_close(estimated, exact, atol=1e-4, rtol=1e-3)


def test_drawn_summaries_give_that_gradient_too() -> None:
    model = small_model()
    exact = gradient(model, -expected_reward(model))
    sources = [SOURCE] * 20_000
    drawn = draw(model, sources, LONGEST, 0, seed=1)
    rewards = torch.tensor([reward(words) for words in drawn.sentences])
    baseline = rewards.mean()  # changes nothing but the noise
    log_probs = model.log_probs(pad_batch(sources), drawn.words)
    estimated = gradient(model, policy_loss(log_probs, drawn, (rewards - baseline)[:, None].expand_as(log_probs)))
    assert torch.cosine_similarity(estimated, exact, dim=0) > 0.98
    assert 0.9 < float(estimated.norm() / exact.norm()) < 1.1


def test_the_best_words_are_drawn_one_after_the_other() -> None:
    model = small_model()
    best = draw_best(model, [SOURCE], LONGEST, 0).sentences[0]
    candidates = {tuple(words.tolist()): words for words in every_summary()}
    first = max((3, 4, 5, 7), key=lambda word: float(log_prob(model, candidates[(word,)])[0]))
    assert best[0] == first
    assert tuple(best.tolist()) in candidates


def log_prob(model: Seq2seq, words: Ids) -> list[float]:
    found: list[float] = model.log_probs(pad_batch([SOURCE]), pad_batch([words]))[0].tolist()
    return found


def test_mean_log_probs_count_the_end() -> None:
    model = small_model()
    found = mean_log_probs(model, [SOURCE, SOURCE], [SOURCE[:1], SOURCE[:2]], 0)
    assert torch.allclose(found[0], torch.tensor(log_prob(model, SOURCE[:1])).mean())
    assert torch.allclose(found[1], torch.tensor(log_prob(model, SOURCE[:2])).mean())
