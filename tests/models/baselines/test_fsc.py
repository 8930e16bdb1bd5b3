from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch

from nutgraf import recipe
from nutgraf.learning.batches import pad_batch
from nutgraf.learning.loop import Job
from nutgraf.models import storage
from nutgraf.models.baselines.fsc import Compression, Lesson, Sources, learn_all, normalise, pointer_of, signal
from nutgraf.models.baselines.reinforce import Drawn, draw, policy_loss
from nutgraf.models.seq2seq import Seq2seq
from nutgraf.progress import Progress, ignore
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import SPECIALS, Ids, Lexicon
from nutgraf.text.trigrams import Trigrams
from tests.toys import LEXICON, toy_model

SETTINGS = recipe.Fsc(steps=8, batch=4)
TEXT: Ids = np.array([5, 11, 7, 5], dtype=np.int32)  # 11 is not in the vocabulary
CPU = torch.device("cpu")


def compression() -> Compression:
    return Compression(toy_model(copy=True, seed=1), toy_model(copy=True, seed=2))


def sources() -> Sources:
    rng = np.random.default_rng(0)
    texts, summaries = (Corpus.of([rng.integers(3, 9, n).tolist() for _ in range(30)]) for n in (6, 3))
    lexicon = Lexicon([*SPECIALS, *(f"w{i}" for i in range(3, LEXICON))])
    return Sources(texts, (texts, summaries), Trigrams.train(summaries, lexicon), longest=4, shortlist=0)


def probability(model: Seq2seq, words: list[int]) -> torch.Tensor:
    target = pad_batch([np.array(words, dtype=np.int32)])
    return model.log_probs(pad_batch([TEXT]), target)[0].exp()


def test_the_pointer_chooses_only_words_of_the_text_or_its_end() -> None:
    pointer = pointer_of(toy_model(copy=True, seed=1).eval()).eval()
    first = [float(probability(pointer, [word])[0].detach()) for word in (5, 11, 7)]
    end = float(probability(pointer, [])[0].detach())
    assert sum(first) + end == pytest.approx(1, abs=1e-5)
    assert float(probability(pointer, [8])[0].detach()) == pytest.approx(0, abs=1e-6)
    drawn = draw(pointer, [TEXT] * 300, 3, 0, seed=1)
    assert {word for words in drawn.sentences for word in words.tolist()} == {5, 7, 11}


def test_the_pointer_has_the_models_own_weights() -> None:
    model = compression()
    assert model.pointer.encoder is model.compressor.encoder
    assert len({tensor.data_ptr() for tensor in model.state_dict().values()}) == len(model.state_dict())
    gate = model.compressor.gate
    assert gate is not None
    assert model.pointer.gate is not gate
    source, target = pad_batch([TEXT]), pad_batch([TEXT[:2]])
    # Where the model itself would always copy, both say the same.
    with torch.no_grad():
        gate.gain.zero_()
        gate.bias.fill_(-40)
    model.eval()
    torch.testing.assert_close(model.pointer.log_probs(source, target), model.compressor.log_probs(source, target))


def test_the_signal_by_hand() -> None:
    restored, written, prior = (torch.tensor([value]) for value in (-20.0, -3.0, -8.0))
    # log p(s|c) = -20, log q(c|s) = -3, log p(c) = -8: -20 - 0.1 (-3 + 8) = -20.5
    assert signal(restored, written, prior, weight=0.1).tolist() == [-20.5]


def test_signals_are_normalised_only_where_they_vary_much() -> None:
    assert normalise(torch.tensor([1.0, 3.0, 5.0, 3.0])).tolist() == pytest.approx([-(2**0.5), 0, 2**0.5, 0])
    assert normalise(torch.tensor([1.0, 1.5])).tolist() == [-0.25, 0.25]


def test_the_prior_and_the_reconstructor_make_the_signal() -> None:
    lesson = Lesson(compression().eval(), sources(), SETTINGS, "k")
    sentences = [np.array([3, 4], dtype=np.int32), np.array([5], dtype=np.int32)]
    drawn = Drawn.of(sentences, 4, CPU)
    log_probs = torch.tensor([[-1.0, -2.0, -0.5], [-3.0, -0.25, 9.0]])  # the last is of PAD
    found = lesson.signals(log_probs, torch.tensor([-30.0, -40.0]), drawn)
    prior = -np.log(2) * lesson.sources.prior.bits(sentences)
    expected = [-30 - 0.1 * (-3.5 - prior[0]), -40 - 0.1 * (-3.25 - prior[1])]
    assert found.tolist() == pytest.approx(expected, rel=1e-5)


def test_the_gradient_is_that_of_the_lower_bound_over_all_compressions() -> None:
    model = compression().eval()
    prior = sources().prior
    found = [np.array(words, dtype=np.int32) for length in (1, 2) for words in product([5, 7, 11], repeat=length)]
    drawn = Drawn.of(found, 2, CPU)
    texts = pad_batch([TEXT] * len(found))
    restored = model.reconstructor.log_probs(drawn.words, texts).sum(1).detach()
    log_prior = torch.from_numpy(-np.log(2) * prior.bits(found)).float()

    def gradient(value: torch.Tensor) -> torch.Tensor:
        model.zero_grad()
        value.backward()  # type: ignore[no-untyped-call]
        return torch.cat([p.grad.flatten() for p in model.compressor.parameters() if p.grad is not None])

    def log_q() -> torch.Tensor:
        return model.pointer.log_probs(texts, drawn.words)

    written = (log_q() * drawn.chosen).sum(1)
    probabilities = written.exp()
    bound = (probabilities * (restored - 0.1 * (written - log_prior))).sum()
    exact = gradient(-bound)
    signals = signal(restored, written.detach(), log_prior, 0.1) * probabilities.detach() * len(found)
    estimated = gradient(policy_loss(log_q(), drawn, signals[:, None].expand(-1, drawn.words.shape[1])))
    # The first end is not drawn, so that the probabilities sum to a little less than 1: where that changes, so does
    # the entropy, and the two differ by the gradient of the sum.
    missing = gradient(0.1 * (log_q() * drawn.chosen).sum(1).exp().sum())
    torch.testing.assert_close(estimated + missing, exact, atol=1e-4, rtol=1e-3)


def test_pairs_teach_both_directions() -> None:
    lesson = Lesson(compression().eval(), sources(), SETTINGS, "k")
    texts, summaries = lesson.pairs(0)
    source, target = pad_batch(texts), pad_batch(summaries)
    expected = lesson.model.compressor.loss(source, target) + lesson.model.reconstructor.loss(target, source)
    torch.testing.assert_close(lesson.pairs_loss(texts, summaries), expected)


def test_the_reward_of_texts_is_a_part_of_the_loss() -> None:
    lesson = Lesson(compression(), sources(), SETTINGS, "k")
    whole = lesson(np.array([2]))
    texts = lesson.texts_loss(lesson.texts(2), 2)
    pairs = lesson.pairs_loss(*lesson.pairs(2))
    torch.testing.assert_close(whole, pairs + SETTINGS.reward_weight * texts)


class KilledError(Exception):
    pass


def test_a_killed_training_ends_with_the_same_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = compression()
    learn_all(whole, sources(), SETTINGS, Job("k"))

    def kill(progress: Progress) -> None:
        if progress.done == 6:
            raise KilledError

    monkeypatch.setattr("nutgraf.learning.loop.CHECKPOINT_SECONDS", 0)
    with pytest.raises(KilledError):
        learn_all(compression(), sources(), SETTINGS, Job("k", tmp_path / "work", kill))
    resumed = compression()
    learn_all(resumed, sources(), SETTINGS, Job("k", tmp_path / "work", ignore))
    for name, tensor in whole.state_dict().items():
        assert torch.equal(tensor, resumed.state_dict()[name]), name
    storage.save(resumed.compressor, tmp_path)
    loaded = storage.load(tmp_path, "cpu")
    source, target = pad_batch([TEXT]), pad_batch([TEXT[:2]])
    torch.testing.assert_close(loaded.log_probs(source, target), resumed.compressor.eval().log_probs(source, target))
