"""The training loop: what a batch holds, and that a killed run ends with the same weights."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nutgraf.errors import InputError, NutgrafError
from nutgraf.learning import loop
from nutgraf.learning.batches import Batches
from nutgraf.learning.beam import Beam
from nutgraf.learning.loop import Fit, Job, fit
from nutgraf.learning.search import beam
from nutgraf.models.decoding import ConvDecoder
from nutgraf.models.learn import fit_of, learn
from nutgraf.models.seq2seq import Seq2seq
from nutgraf.models.storage import load, save
from nutgraf.models.weights import WEIGHTS
from nutgraf.progress import Progress, ignore
from nutgraf.recipe import Training
from nutgraf.seeds import seed_of
from nutgraf.text.corpus import Corpus
from tests.toys import toy_model


def test_batches_cover_an_epoch_once_and_depend_on_the_step_alone() -> None:
    batches = Batches(np.arange(100), 10, "k")
    epoch = [batches(step) for step in range(10)]
    assert sorted(np.concatenate(epoch).tolist()) == list(range(100))
    again = Batches(np.arange(100), 10, "k")
    assert again(13).tolist() == batches(13).tolist()
    assert again(3).tolist() == epoch[3].tolist()
    assert Batches(np.arange(100), 10, "other")(3).tolist() != epoch[3].tolist()


def test_batches_hold_sentences_of_like_length() -> None:
    lengths = np.random.default_rng(0).integers(1, 50, 1000)
    batches = Batches(lengths, 10, "k")
    spreads = [int(np.ptp(lengths[batches(step)])) for step in range(100)]
    assert np.mean(spreads) < 3


def test_learning_rate_rises_and_falls() -> None:
    settings = Fit(steps=110, learning_rate=1.0, clip=1.0, warmup=10, decay=True)
    assert [settings.rate(s) for s in (0, 9, 10, 60, 110)] == pytest.approx([0.1, 1.0, 1.0, 0.55, 0.1])


def test_batches_are_those_of_an_obvious_version() -> None:
    lengths, epoch = np.random.default_rng(1).integers(1, 9, size=(1_234, 2)), 1
    rng = np.random.default_rng(seed_of("k", "epoch", epoch))
    order, expected = rng.permutation(1_234)[:1_230].tolist(), list[list[int]]()
    for start in range(0, len(order), 500):
        pool = sorted(order[start : start + 500], key=lambda i: tuple(lengths[i]))
        expected += [pool[i : i + 10] for i in range(0, len(pool), 10)]
    batches = Batches(lengths, 10, "k")
    found = [batches(step).tolist() for step in range(epoch * 123, (epoch + 1) * 123)]
    assert found == [expected[i] for i in rng.permutation(len(expected))]


def test_early_stopping_ends_with_the_best_weights() -> None:
    module = nn.Linear(1, 1, bias=False)
    values = iter([3.0, 2.0, 4.0, 5.0, 1.0])
    kept: list[float] = []

    def validate() -> float:
        kept.append(float(module.weight.detach()))
        return next(values)

    settings = Fit(steps=100, learning_rate=0.1, clip=1.0, validate_every=1, patience=2)
    batches = Batches(np.arange(4), 2, "k")
    history = fit(module, lambda _: module.weight.sum(), batches, settings, Job("k"), validate)
    assert [point.held_out for point in history] == [3.0, 2.0, 4.0, 5.0]
    assert float(module.weight.detach()) == kept[1]


def test_submodules_have_their_own_rates_and_clipping() -> None:
    fast, slow = nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)
    for part in (fast, slow):
        nn.init.constant_(part.weight, 1.0)
    module = nn.ModuleDict({"fast": fast, "slow": slow})
    settings = Fit(steps=1, learning_rate=0.5, clip=0.1)

    def loss(_: NDArray[np.int64]) -> Tensor:
        return 1000 * fast.weight.sum() + slow.weight.sum()

    fit(module, loss, lambda step: np.array([step]), settings, Job("k"), factors={"slow": 0.1})
    # Adam's first step is the rate, whatever the gradient.
    assert [float(part.weight.detach()) for part in (fast, slow)] == pytest.approx([0.5, 0.95])
    assert [float(part.weight.grad) for part in (fast, slow) if part.weight.grad is not None] == pytest.approx(
        [0.1] * 2
    )


class KilledError(Exception):
    pass


def pairs() -> tuple[Corpus, Corpus]:
    """Copy the words of a sentence that are above 5, in order."""
    rng = np.random.default_rng(0)
    sources = [rng.integers(3, 9, rng.integers(3, 8)).astype(np.int32) for _ in range(300)]
    return Corpus.of(sources), Corpus.of([s[s > 5] for s in sources])


def trained(
    folder: Path | None,
    die_at: int = 0,
    patience: int = 0,
    warn: Callable[[str], None] = ignore,
    seen: list[int] | None = None,
    steps: int = 40,
) -> Seq2seq:
    """Train this many steps; `seen` collects those that were reported."""
    model = toy_model(copy=True, dropout=0.2)
    settings = Training(
        batch=16, learning_rate=5e-3, clip=1.0, shortlist=4, validate_every=10, patience=patience, held_out=20
    )

    def report(progress: Progress) -> None:
        if seen is not None:
            seen.append(progress.done)
        if progress.done == die_at:
            raise KilledError

    learn(model, *pairs(), settings, fit_of(settings, steps, settings.learning_rate), Job("key", folder, report, warn))
    return model


@cache
def undisturbed(patience: int = 0, steps: int = 40) -> Seq2seq:
    """The model of a run that nothing ends, trained once for all tests; they must not change it."""
    return trained(None, patience=patience, steps=steps)


@pytest.mark.parametrize("die_at", [7, 20, 33])
@pytest.mark.parametrize("patience", [0, 1])
def test_a_killed_run_goes_on_to_the_same_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, die_at: int, patience: int
) -> None:
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", -1.0)
    expected = undisturbed(patience).state_dict()
    with pytest.raises(KilledError):
        trained(tmp_path, die_at, patience)
    resumed = trained(tmp_path, patience=patience).state_dict()
    assert all(torch.equal(expected[name], resumed[name]) for name in expected)


def saved_bytes(model: Seq2seq, folder: Path) -> bytes:
    folder.mkdir()
    save(model, folder)
    return (folder / WEIGHTS).read_bytes()


@pytest.mark.parametrize("damage", ["truncated", "zeros"])
def test_a_damaged_checkpoint_warns_and_training_starts_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", -1.0)
    with pytest.raises(KilledError):
        trained(tmp_path, die_at=8, steps=12)
    checkpoint = tmp_path / loop.CHECKPOINT
    whole = checkpoint.read_bytes()
    checkpoint.write_bytes(whole[: len(whole) // 2] if damage == "truncated" else b"\0" * 100)
    warnings: list[str] = []
    seen: list[int] = []
    restarted = trained(tmp_path, warn=warnings.append, seen=seen, steps=12)
    assert len(warnings) == 1
    assert str(checkpoint) in warnings[0]
    assert "damaged" in warnings[0]
    assert seen[0] == 1  # from the beginning, and after the warning
    assert saved_bytes(restarted, tmp_path / "a") == saved_bytes(undisturbed(steps=12), tmp_path / "b")


def test_a_lack_of_memory_does_not_throw_a_checkpoint_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", -1.0)
    with pytest.raises(KilledError):
        trained(tmp_path, die_at=20)

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr(loop, "safe_open", fail)
    with pytest.raises(RuntimeError, match="allocate"):
        trained(tmp_path)
    assert (tmp_path / loop.CHECKPOINT).exists()


def test_a_flipped_bit_of_a_checkpoint_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", -1.0)
    with pytest.raises(KilledError):
        trained(tmp_path, die_at=8, steps=12)
    checkpoint = tmp_path / loop.CHECKPOINT
    whole, expected = checkpoint.read_bytes(), saved_bytes(undisturbed(steps=12), tmp_path / "b")
    for place in range(len(whole) // 16, len(whole), len(whole) // 8):
        checkpoint.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        warnings: list[str] = []
        restarted = trained(tmp_path, warn=warnings.append, steps=12)
        assert [str(checkpoint) in warning for warning in warnings] == [True]
        assert saved_bytes(restarted, tmp_path / f"{place}") == expected


def test_the_checkpoint_of_another_model_is_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", -1.0)
    with pytest.raises(KilledError):
        trained(tmp_path, die_at=20)
    other, warnings = torch.nn.Linear(2, 3), list[str]()
    before = other.weight.detach().clone()
    loop._Descent(other, Fit(30, 0.1, 1.0)).restore(tmp_path / loop.CHECKPOINT, warnings.append)
    assert "another model" in warnings[0]
    assert torch.equal(other.weight, before)


def test_an_intact_checkpoint_warns_of_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", -1.0)
    with pytest.raises(KilledError):
        trained(tmp_path, die_at=20)
    warnings: list[str] = []
    steps: list[int] = []
    trained(tmp_path, warn=warnings.append, seen=steps)
    assert warnings == []
    assert steps[0] == 20  # the checkpoint of step 19 was the last


def test_the_global_random_state_is_left_alone() -> None:
    before = torch.random.get_rng_state()
    trained(None)
    assert torch.equal(before, torch.random.get_rng_state())


def test_a_model_learns_to_copy_and_survives_its_files(tmp_path: Path) -> None:
    sources, targets = pairs()
    model = toy_model(copy=True)
    settings = Training(batch=32, learning_rate=5e-3, clip=1.0, validate_every=100, patience=0)
    history = learn(model, sources, targets, settings, fit_of(settings, 200, 5e-3), Job("key"))
    assert history[-1].held_out is not None
    assert history[-1].held_out < 0.5 * history[0].loss
    save(model, tmp_path)
    copy = load(tmp_path, torch.device("cpu"))
    found, again = (beam(ConvDecoder(m), sources[:20], Beam(3, 1, 9, 0, 1.0, 8)) for m in (model, copy))
    assert [h[0].words.tolist() for h in found] == [h[0].words.tolist() for h in again]


def test_no_usable_pair_is_an_error() -> None:
    empty = Corpus.of([[], []])
    with pytest.raises(InputError, match="0 usable"):
        learn(toy_model(True), empty, Corpus.of([[3], [4]]), Training(), Fit(1, 1e-3, 1.0), Job("k"))


def test_a_loss_that_is_no_number_is_an_error() -> None:
    module = nn.Linear(1, 1)

    def loss(_: NDArray[np.int64]) -> Tensor:
        return module.weight.sum() * float("nan")

    with pytest.raises(NutgrafError, match="learning rate"):
        fit(module, loss, Batches(np.arange(4), 2, "k"), Fit(3, 0.1, 1.0), Job("k"))
