"""The one training loop: Adam over batches that are a function of the step number, resumable to the last bit.

Step n uses batch n, and random numbers seeded by (key, n). So a checkpoint is weights, optimiser and n: a run that was
killed and resumed ends with the same weights as one that was not. The loop knows no model: it minimises what `loss`
returns. Choosing data, saving the finished model and printing are done elsewhere.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from nutgraf.errors import NutgrafError, lacks_memory
from nutgraf.files import check_regular, naming, read_json, replacing
from nutgraf.hardware import ALONE, Rank
from nutgraf.learning.shards import add_gradients, check_same, joining
from nutgraf.progress import Progress, Report, ignore
from nutgraf.seeds import seed_of

CHECKPOINT_SECONDS = 60.0
CHECKPOINT, HISTORY = "checkpoint.safetensors", "history.json"


@dataclass(frozen=True)
class Fit:
    """How long and how fast to descend."""

    steps: int
    learning_rate: float
    clip: float
    warmup: int = 0
    decay: bool = False
    validate_every: int = 0
    patience: int = 0
    shards: int = 1  # of a batch; more than one can be computed by several processes

    def rate(self, step: int) -> float:
        """Return the learning rate of a step: a linear rise, then constant or a linear fall to a tenth."""
        if step < self.warmup:
            return self.learning_rate * (step + 1) / self.warmup
        if not self.decay:
            return self.learning_rate
        return self.learning_rate * (1 - 0.9 * (step - self.warmup) / max(1, self.steps - self.warmup))


@dataclass(frozen=True)
class Job:
    """What a training needs besides its data and settings."""

    key: str  # all its randomness comes from this
    checkpoint: Path | None = None  # a folder to save to and to resume from; None: no checkpoints
    report: Report = ignore
    warn: Callable[[str], None] = ignore
    rank: Rank = ALONE  # this process among those that train the model together


@dataclass(frozen=True)
class Point:
    """One point of the learning curve; `loss` is the mean since the last point."""

    step: int
    loss: float
    held_out: float | None


def save_history(history: Sequence[Point], folder: Path) -> None:
    """Write a learning curve."""
    (folder / HISTORY).write_text(json.dumps([asdict(point) for point in history], indent=1) + "\n", encoding="utf-8")


def load_history(folder: Path) -> list[Point]:
    """Read what `save_history` wrote."""
    with naming(folder / HISTORY):
        return [Point(**point) for point in read_json(folder / HISTORY)]


def fit(
    module: nn.Module,
    loss: Callable[[NDArray[np.int64]], Tensor],
    batches: Callable[[int], NDArray[np.int64]],
    settings: Fit,
    job: Job,
    validate: Callable[[], float] | None = None,
    factors: Mapping[str, float] | None = None,
) -> list[Point]:
    """Minimise `loss` over `settings.steps` batches, and return the learning curve.

    `batches` gives the examples of each step, as `nutgraf.learning.batches.Batches` does.

    With `settings.patience` the loop stops after that many validations in a row without progress, and the module ends
    with the weights of the best one. With `job.checkpoint` the loop resumes from the last checkpoint. `factors` are of
    the learning rate, for direct submodules by their names; the gradients of each such submodule are clipped alone.
    """
    with joining(job.rank):
        return _fit(_Descent(module, settings, factors), loss, batches, job, validate)


def _fit(
    descent: _Descent,
    loss: Callable[[NDArray[np.int64]], Tensor],
    batches: Callable[[int], NDArray[np.int64]],
    job: Job,
    validate: Callable[[], float] | None,
) -> list[Point]:
    module, settings = descent.module, descent.settings
    checkpoint = job.checkpoint / CHECKPOINT if job.checkpoint else None
    if checkpoint:
        descent.restore(checkpoint, job.warn)
    check_same(descent.step, job.rank)
    saved, losses = time.monotonic(), descent.losses
    module.train()
    while descent.step < settings.steps and not descent.exhausted:
        with torch.random.fork_rng(devices=_devices(module)):
            if settings.shards == 1:
                torch.manual_seed(seed_of(job.key, "step", descent.step))
                losses.append(descent.descend(loss(batches(descent.step))))
            else:
                losses.append(descent.descend_in_shards(loss, batches(descent.step), job))
        if settings.validate_every and (descent.step % settings.validate_every == 0 or descent.step == settings.steps):
            module.eval()
            descent.record(validate() if validate else None)
            module.train()
        recent = losses[-50:] or [descent.history[-1].loss]
        mean = sum(recent) / len(recent)
        job.report(Progress(descent.step, settings.steps, "steps", f"loss {mean:.3f}", mean))
        if checkpoint and job.rank.number == 0 and time.monotonic() - saved > CHECKPOINT_SECONDS:
            descent.save(checkpoint)
            saved = time.monotonic()
    if losses:
        descent.record(None)
    descent.finish()
    module.eval()
    return descent.history


class _Descent:
    """What changes from step to step: weights, optimiser, position, learning curve."""

    def __init__(self, module: nn.Module, settings: Fit, factors: Mapping[str, float] | None = None):
        self.module = module
        factors = factors or {}
        self.settings = settings
        self.groups: dict[str, list[nn.Parameter]] = {"": []}
        for name, parameter in module.named_parameters():
            if parameter.requires_grad:
                child = name.partition(".")[0]
                self.groups.setdefault(child if child in factors else "", []).append(parameter)
        self.factors = {name: factors.get(name, 1.0) for name, group in self.groups.items() if group}
        self.parameters = [parameter for name in self.factors for parameter in self.groups[name]]
        groups = [{"params": self.groups[name]} for name in self.factors]
        self.optimizer = torch.optim.Adam(groups, lr=settings.learning_rate, fused=True)
        self.step = 0
        self.losses: list[float] = []
        self.history: list[Point] = []
        self.best: dict[str, Tensor] = {}
        self.best_loss = float("inf")
        self.stale = 0

    @property
    def exhausted(self) -> bool:
        return self.settings.patience > 0 and self.stale >= self.settings.patience

    def descend(self, value: Tensor) -> float:
        self.optimizer.zero_grad(set_to_none=True)
        value.backward()  # type: ignore[no-untyped-call]
        return self._take_step(float(value.detach()))

    def descend_in_shards(
        self, loss: Callable[[NDArray[np.int64]], Tensor], batch: NDArray[np.int64], job: Job
    ) -> float:
        shards = self.settings.shards

        def loss_of(shard: int) -> Tensor:
            torch.manual_seed(seed_of(job.key, "step", self.step, "shard", shard))
            return loss(batch[shard::shards])

        return self._take_step(add_gradients(self.parameters, loss_of, shards, min(shards, len(batch)), job.rank))

    def _take_step(self, number: float) -> float:
        for group, factor in zip(self.optimizer.param_groups, self.factors.values(), strict=True):
            nn.utils.clip_grad_norm_(group["params"], self.settings.clip)
            group["lr"] = factor * self.settings.rate(self.step)
        self.optimizer.step()
        self.step += 1
        if not np.isfinite(number):
            raise NutgrafError(f"the loss became {number} at step {self.step}; try a lower learning rate")
        return number

    def record(self, held_out: float | None) -> None:
        mean = sum(self.losses) / max(1, len(self.losses))
        self.history.append(Point(self.step, mean, held_out))
        self.losses.clear()
        if held_out is None or self.settings.patience == 0:
            return
        self.stale += 1
        if held_out < self.best_loss:
            self.best = {name: tensor.clone() for name, tensor in self.module.state_dict().items()}
            self.best_loss, self.stale = held_out, 0

    def finish(self) -> None:
        if self.best:
            self.module.load_state_dict(self.best)

    def save(self, path: Path) -> None:
        tensors = {f"module.{name}": tensor for name, tensor in self.module.state_dict().items()}
        tensors |= {f"best.{name}": tensor for name, tensor in self.best.items()}
        for number, parameter in enumerate(self.parameters):
            for name, tensor in self.optimizer.state[parameter].items():
                tensors[f"adam.{number}.{name}"] = tensor
        position = {
            "step": self.step,
            "losses": self.losses,
            "history": [asdict(point) for point in self.history],
            "best_loss": self.best_loss,
            "stale": self.stale,
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        contiguous = {name: tensor.detach().contiguous() for name, tensor in tensors.items()}
        written = json.dumps(position)
        with replacing(path) as partial:
            save_file(contiguous, partial, {"position": written, "sha256": _checksum(written, contiguous)})

    def restore(self, path: Path, warn: Callable[[str], None]) -> None:
        if not path.exists():
            return
        try:
            check_regular(path, path.lstat().st_mode)
            with safe_open(path, framework="pt") as file:
                written, checksum = file.metadata()["position"], file.metadata().get("sha256")
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            if _checksum(written, tensors) != checksum:
                raise ValueError("its checksum is not the one that was written")
            self._resume(json.loads(written), tensors)
        except (SafetensorError, ValueError, KeyError, TypeError, RuntimeError) as error:
            if lacks_memory(error):
                raise
            reason = " ".join(str(error).split())[:200]
            warn(f"{path}: damaged ({reason}); training starts again from the first step; only time is lost")

    def _resume(self, position: dict[str, Any], tensors: dict[str, Tensor]) -> None:
        state: dict[int, dict[str, Tensor]] = {}
        for name, tensor in tensors.items():
            if name.startswith("adam."):
                _, number, field = name.split(".")
                state.setdefault(int(number), {})[field] = tensor
        self._check_fits(_strip_prefix(tensors, "module."), state, position)
        self.module.load_state_dict(_strip_prefix(tensors, "module."))
        self.optimizer.load_state_dict({"state": state, "param_groups": self.optimizer.state_dict()["param_groups"]})
        self.best = _strip_prefix(tensors, "best.")
        self.step, self.losses = position["step"], position["losses"]
        self.history = [Point(**point) for point in position["history"]]
        self.best_loss, self.stale = position["best_loss"], position["stale"]

    def _check_fits(
        self, weights: Mapping[str, Tensor], state: Mapping[int, Mapping[str, Tensor]], position: Mapping[str, Any]
    ) -> None:
        """Raise a ValueError, before anything is changed, if a checkpoint is another training's."""
        own = {name: tensor.shape for name, tensor in self.module.state_dict().items()}
        moments = {number: [t.shape for t in fields.values() if t.ndim] for number, fields in state.items()}
        wanted = {number: parameter.shape for number, parameter in enumerate(self.parameters)}
        if own != {name: tensor.shape for name, tensor in weights.items()}:
            raise ValueError("the weights of another model")
        if moments.keys() - wanted or any(shape != wanted[n] for n, shapes in moments.items() for shape in shapes):
            raise ValueError("the optimiser of another model")
        if not 0 <= int(position["step"]) <= self.settings.steps:
            raise ValueError("a step that this training does not have")


def _checksum(position: str, tensors: Mapping[str, Tensor]) -> str:
    """Return the checksum of everything in a checkpoint."""
    digest = hashlib.sha256(position.encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def _strip_prefix(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _devices(module: nn.Module) -> list[int]:
    indices = {p.device.index or 0 for p in module.parameters() if p.device.type == "cuda"}
    return sorted(indices)
