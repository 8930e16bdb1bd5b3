from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

from nutgraf import recipe
from nutgraf.learning.batches import pad_batch
from nutgraf.learning.loop import Fit, Job
from nutgraf.models import storage
from nutgraf.models.baselines.nmt import BLANKED, DROPPED, MOVED, Languages, Lesson, TwoWay, jitter, learn_both
from nutgraf.progress import Progress, ignore
from nutgraf.seeds import seed_of
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import UNK, Ids
from tests.toys import toy_model

GENERATION = recipe.Generation(min_text_words=1, max_text_words=8, max_summary_words=4)


def two_way(copy: bool = True) -> TwoWay:
    return TwoWay(toy_model(copy, seed=1, source=9), toy_model(copy, seed=2, source=9))


def languages(count: int = 40) -> Languages:
    rng = np.random.default_rng(0)
    texts = Corpus.of([*(rng.integers(3, 9, 6).tolist() for _ in range(count)), []])
    return Languages(texts, Corpus.of([rng.integers(3, 9, 3).tolist() for _ in range(count)]), GENERATION, 0, 8, "k")


@pytest.mark.parametrize("seed", range(5))
def test_noise_moves_words_a_little_and_adds_none(seed: int) -> None:
    rng = np.random.default_rng(seed)
    words = np.arange(10, 10 + 500, dtype=np.int32)
    noised = jitter(words, rng)
    known = noised[noised != UNK]
    assert not Counter(known.tolist()) - Counter(words.tolist())
    # Where two words change places, they were at most 3 apart.
    falls = np.maximum.accumulate(known) - known
    assert 0 < falls.max() <= MOVED
    assert len(noised) / len(words) == pytest.approx(1 - DROPPED, abs=0.05)
    assert (noised == UNK).mean() == pytest.approx(BLANKED, abs=0.06)


def test_a_noised_sentence_is_never_empty() -> None:
    rng = np.random.default_rng(1)
    one: Ids = np.array([7], dtype=np.int32)
    assert {len(jitter(one, rng)) for _ in range(200)} == {1}


@pytest.mark.parametrize("copy", [True, False])
def test_both_models_read_with_one_encoder(copy: bool) -> None:
    model = two_way(copy)
    assert model.expander.encoder is model.summarizer.encoder
    assert model.expander.source_table is model.summarizer.source_table
    assert model.expander.decoder is not model.summarizer.decoder
    both = {id(p) for p in [*model.summarizer.parameters(), *model.expander.parameters()]}
    registered = [id(p) for p in model.parameters()]
    assert sorted(registered) == sorted(both)  # each weight is trained, once
    assert len({tensor.data_ptr() for tensor in model.state_dict().values()}) == len(model.state_dict())


def test_denoising_is_each_sides_own_until_there_is_back_translation() -> None:
    data = languages()
    lesson = Lesson(two_way(), data, steps=30)
    texts, summaries = [data.texts[0], data.texts[1]], [data.summaries[0]]
    denoised = lesson.denoising_loss(texts, summaries, 4)
    rng = np.random.default_rng(seed_of("k", "noise", 4))
    noised = [[jitter(words, rng) for words in side] for side in (texts, summaries)]
    expected = lesson.model.expander.loss(pad_batch(noised[0]), pad_batch(texts))
    expected += lesson.model.summarizer.loss(pad_batch(noised[1]), pad_batch(summaries))
    torch.testing.assert_close(denoised, expected)
    torch.testing.assert_close(lesson(np.array([9])), lesson.denoising_loss(*batches_of(lesson, 9), 9))
    both = lesson(np.array([29]))
    parts = [0.1 * lesson.denoising_loss(*batches_of(lesson, 29), 29)]
    parts.append(lesson.translation_loss(*batches_of(lesson, 29)))
    torch.testing.assert_close(both, parts[0] + parts[1])
    assert [lesson.weight(step) for step in (0, 10, 29)] == pytest.approx([1, 1, 0.1])


def batches_of(lesson: Lesson, step: int) -> tuple[list[Ids], list[Ids]]:
    return lesson.texts(step), lesson.summaries(step)


def test_back_translation_learns_to_get_the_real_sentence_back() -> None:
    data = languages()
    lesson = Lesson(two_way(), data, steps=30)
    texts, summaries = data.texts[:2], data.summaries[:3]
    short, long = lesson.translate(lesson.model.summarizer, texts), lesson.translate(lesson.model.expander, summaries)
    assert max(map(len, short)) <= 4
    assert max(map(len, long)) <= 8
    expected = lesson.model.expander.loss(pad_batch(short), pad_batch(texts))
    expected += lesson.model.summarizer.loss(pad_batch(long), pad_batch(summaries))
    torch.testing.assert_close(lesson.translation_loss(texts, summaries), expected)
    assert lesson.model.training
    assert lesson.model.expander.decoder.training


class KilledError(Exception):
    pass


def test_a_killed_training_ends_with_the_same_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fitting = Fit(steps=9, learning_rate=1e-2, clip=1.0)
    whole = two_way()
    history = learn_both(whole, languages(), fitting, Job("k"))
    assert len(history) == 1

    def kill(progress: Progress) -> None:
        if progress.done == 6:
            raise KilledError

    monkeypatch.setattr("nutgraf.learning.loop.CHECKPOINT_SECONDS", 0)
    with pytest.raises(KilledError):
        learn_both(two_way(), languages(), fitting, Job("k", tmp_path, kill))
    resumed = two_way()
    learn_both(resumed, languages(), fitting, Job("k", tmp_path, ignore))
    for name, tensor in whole.state_dict().items():
        assert torch.equal(tensor, resumed.state_dict()[name]), name


def test_the_summarizer_is_a_model_as_any_other(tmp_path: Path) -> None:
    model = two_way()
    learn_both(model, languages(), Fit(steps=3, learning_rate=1e-2, clip=1.0), Job("k"))
    storage.save(model.summarizer, tmp_path)
    loaded = storage.load(tmp_path, "cpu")
    source, target = pad_batch(languages().texts[:2]), pad_batch(languages().summaries[:2])
    torch.testing.assert_close(loaded.log_probs(source, target), model.summarizer.eval().log_probs(source, target))


def test_it_learns_to_restore_both_sides() -> None:
    model, data = two_way(), languages(200)
    lesson = Lesson(model, data, 120)
    before = lesson.denoising_loss(*batches_of(lesson, 0), 0)
    learn_both(model, data, Fit(steps=120, learning_rate=1e-2, clip=1.0), Job("k"))
    assert lesson.denoising_loss(*batches_of(lesson, 0), 0) < 0.8 * before
