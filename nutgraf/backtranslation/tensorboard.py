"""A training as TensorBoard shows it, live: RUN/tensorboard/<model>/, a point every few steps.

The package `tensorboard` is optional. A training that was killed resumes from its last checkpoint: what it had written
past that is hidden by torch's writer, so that each step has one point.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from nutgraf.errors import InputError
from nutgraf.run.events import Event, Listener, State
from nutgraf.run.folder import TENSORBOARD

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

EVERY = 10  # steps between points
Warn = Callable[[str], None]


def charting(run: Path, listener: Listener, warn: Warn) -> Charts:
    """Return a listener that passes every event on, and writes the losses of models as they are trained."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise InputError(
            "--tensorboard: needs the package tensorboard, which is not installed. "
            "`pip install tensorboard`, or leave the option out"
        ) from error
    folder = run / TENSORBOARD
    return Charts(lambda name, step: SummaryWriter(folder / name, purge_step=step, flush_secs=10), listener, warn)


class Charts:
    """Event files of the models under way; a model whose file cannot be written is warned about, once."""

    def __init__(self, open_file: Callable[[str, int], SummaryWriter], listener: Listener, warn: Warn):
        self._open, self._listener, self._warn = open_file, listener, warn
        self._writers: dict[str, SummaryWriter | None] = {}

    def __call__(self, event: Event) -> None:
        """Hear an event."""
        self._listener(event)
        name = event.step.name
        try:
            self._write(event)
        except Exception as error:
            self._writers[name] = None
            self._warn(f"{TENSORBOARD}/{name}: not written ({type(error).__name__}: {error})")

    def flush(self) -> None:
        """Write to the disk what is known so far."""
        for writer in filter(None, self._writers.values()):
            writer.flush()

    def _write(self, event: Event) -> None:
        name, progress = event.step.name, event.progress
        if event.state is State.DONE and (ended := self._writers.pop(name, None)):
            ended.close()
        if event.state is not State.RUNNING or progress is None or progress.loss is None:
            return
        if name not in self._writers:
            self._writers[name] = self._open(name, progress.done)
        writer = self._writers[name]
        if writer and (progress.done % EVERY == 0 or progress.done == progress.total):
            writer.add_scalar("loss", progress.loss, progress.done)
            writer.add_scalar("steps a second", event.rate, progress.done)
