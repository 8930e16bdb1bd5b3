import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from nutgraf import recipe
from nutgraf.learning.batches import pad_batch
from nutgraf.learning.loop import Job
from nutgraf.models.baselines.adversarial import Critic, Game, Lesson, Sources, play, word_rewards
from nutgraf.models.baselines.reinforce import Drawn, draw, draw_best, mean_log_probs
from nutgraf.progress import Progress, ignore
from nutgraf.text.corpus import Corpus
from tests.toys import toy_model, vocab

SETTINGS = recipe.Adversarial(steps=8, batch=4, critic_width=5, alone=0.5)


def critic(seed: int = 3) -> Critic:
    vectors = np.random.default_rng(seed).normal(size=(9, 6)).astype(np.float32)
    return Critic(vocab(9), vectors, 5, torch.Generator().manual_seed(seed))


def game() -> Game:
    return Game(toy_model(copy=True, seed=1), toy_model(copy=True, seed=2), critic())


def sources(pairs: bool = False) -> Sources:
    rng = np.random.default_rng(0)
    texts, summaries = (Corpus.of([rng.integers(3, 9, n).tolist() for _ in range(30)]) for n in (6, 3))
    return Sources(texts, summaries, (texts, summaries) if pairs else None, longest=4, shortlist=0)


def test_the_critic_reads_no_further_than_a_word() -> None:
    words = torch.tensor([[3, 4, 5, 1]])
    found = critic()(words)
    assert found.shape == (1, 4)
    changed = critic()(torch.tensor([[3, 4, 8, 1]]))
    assert torch.equal(found[:, :2], changed[:, :2])
    assert not torch.equal(found[:, 2:], changed[:, 2:])


def test_the_critics_loss_by_hand() -> None:
    judge = critic()
    real, made = torch.tensor([[3, 1, 0]]), torch.tensor([[4, 5, 1]])
    d = [torch.sigmoid(judge(words))[0].tolist() for words in (real, made)]
    expected = -sum(math.log(p) for p in d[0][:2]) / 2 - sum(math.log(1 - p) for p in d[1]) / 3
    assert float(judge.loss(real, made).detach()) == pytest.approx(expected, rel=1e-4)


def test_rewards_are_centred_at_each_place_by_hand() -> None:
    logits = torch.log(torch.tensor([[3.0, 1.0], [1.0, 9.0], [1 / 3, 5.0]]))  # D: 3/4 1/2, 1/2 9/10, 1/4 -
    chosen = torch.tensor([[1.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    # 2 D - 1 is 0.5 0, 0 0.8, -0.5 -; the means are 0 and 0.4.
    expected = torch.tensor([[0.5, -0.4], [0.0, 0.4], [-0.5, 0.0]])
    torch.testing.assert_close(word_rewards(logits, chosen), expected)


def test_returns_are_the_critics_and_the_reconstructors() -> None:
    lesson = Lesson(game().eval(), sources(), replace(SETTINGS, reconstruction_weight=2.0), "k")
    texts = sources().texts[:2]
    drawn = draw(lesson.game.generator, texts, 4, 0, seed=5)
    best = draw_best(lesson.game.generator, texts, 4, 0)
    told = mean_log_probs(lesson.game.reconstructor, best.sentences, texts, 0)
    found = lesson.returns(texts, drawn, told)
    rewards = word_rewards(lesson.game.critic(drawn.words), drawn.chosen)
    gained = mean_log_probs(lesson.game.reconstructor, drawn.sentences, texts, 0) - told
    gained = gained - gained.mean()
    assert gained.abs().max() > 0.01
    last = drawn.words.shape[1] - 1
    torch.testing.assert_close(found[:, last], rewards[:, last] + 2 * gained)
    torch.testing.assert_close(found[:, last - 1], rewards[:, last - 1] + 0.3 * rewards[:, last] + 2 * gained)


def test_a_summary_that_is_the_most_probable_one_earns_nothing_from_the_reconstructor() -> None:
    lesson = Lesson(game().eval(), sources(), SETTINGS, "k")
    texts = sources().texts[:3]
    best = draw_best(lesson.game.generator, texts, 4, 0)
    told = mean_log_probs(lesson.game.reconstructor, best.sentences, texts, 0)
    same = Drawn.of(best.sentences, 4, best.words.device)
    plain = replace(SETTINGS, reconstruction_weight=0.0)
    without = Lesson(lesson.game, sources(), plain, "k").returns(texts, same, told)
    torch.testing.assert_close(lesson.returns(texts, same, told), without)


def gradients(lesson: Lesson, step: int) -> dict[str, bool]:
    lesson.game.zero_grad()
    lesson(np.array([step])).backward()  # type: ignore[no-untyped-call]
    parts = {"generator": lesson.game.generator, "critic": lesson.game.critic, "rest": lesson.game.reconstructor}
    return {name: any(p.grad is not None for p in part.parameters()) for name, part in parts.items()}


def test_the_generator_waits_and_pairs_teach_it_where_there_are_some() -> None:
    lesson = Lesson(game(), sources(), SETTINGS, "k")
    assert gradients(lesson, 3) == {"generator": False, "critic": True, "rest": True}
    assert gradients(lesson, 4) == {"generator": True, "critic": True, "rest": True}
    taught = Lesson(game(), sources(pairs=True), SETTINGS, "k")
    assert gradients(taught, 3)["generator"]
    sides = taught.pairs(3) if taught.pairs else ([], [])
    expected = taught.game.generator.loss(pad_batch(sides[0]), pad_batch(sides[1]))
    torch.testing.assert_close(taught(np.array([3])) - lesson(np.array([3])), expected)


class LikesFours(Critic):
    def forward(self, words: torch.Tensor) -> torch.Tensor:
        return torch.where(words == 4, 3.0, -3.0)


def test_the_generator_comes_to_write_what_the_critic_likes() -> None:
    players = game()
    players.critic = LikesFours(vocab(9), np.zeros((9, 6), dtype=np.float32), 5, torch.Generator())
    settings = replace(SETTINGS, steps=40, alone=0.0, batch=16, generator_rate=1e-2, reconstruction_weight=0.0)

    def share_of_fours() -> float:
        drawn = draw(players.generator, sources().texts[:30] * 10, 4, 0, seed=1)
        return float((drawn.words == 4).sum() / drawn.chosen.sum())

    before = share_of_fours()
    play(players, sources(), settings, Job("k"))
    assert share_of_fours() > before + 0.2


class KilledError(Exception):
    pass


def test_a_killed_game_ends_with_the_same_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = game()
    play(whole, sources(pairs=True), SETTINGS, Job("k"))

    def kill(progress: Progress) -> None:
        if progress.done == 6:
            raise KilledError

    monkeypatch.setattr("nutgraf.learning.loop.CHECKPOINT_SECONDS", 0)
    with pytest.raises(KilledError):
        play(game(), sources(pairs=True), SETTINGS, Job("k", tmp_path, kill))
    resumed = game()
    play(resumed, sources(pairs=True), SETTINGS, Job("k", tmp_path, ignore))
    for name, tensor in whole.state_dict().items():
        assert torch.equal(tensor, resumed.state_dict()[name]), name
