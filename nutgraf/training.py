"""Training as one call, with its report: `nutgraf.train` is this."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from nutgraf import recipe as recipes
from nutgraf.backtranslation.engine import Listener, unheard
from nutgraf.backtranslation.hardware import Hardware
from nutgraf.backtranslation.inputs import spooled
from nutgraf.backtranslation.run import Run
from nutgraf.backtranslation.train import Request, carry_out, resolve, warn_caller
from nutgraf.report import reporting
from nutgraf.tensorboard import charting, writer


def train(
    texts: str,
    summaries: str,
    out: str | Path,
    recipe: str | recipes.Recipe = "cpu",
    settings: Sequence[str] = (),
    seed: int | None = None,
    valid: str | None = None,
    aligned: str | None = None,
    aligned_limits: Sequence[int] = (),
    texts_limit: int = 0,
    summaries_limit: int = 0,
    device: str = "cpu",
    threads: int = 0,
    only: Sequence[str] = (),
    stop_after: str | None = None,
    tensorboard: bool = False,
    listener: Listener = unheard,
    warn: Callable[[str], None] = warn_caller,
) -> Run:
    """Learn to summarise from two files that were never paired; go on where an earlier call with the same `out` ended.

    texts, summaries  one sequence a line, UTF-8; plain, .gz, .xz, or - for standard input
    out               the run folder; report.html in it is written anew after every step
    recipe            "paper", "cpu", "quick", a TOML file, or a Recipe; `settings` ("training.steps=500") change it
    valid             pairs (text, tab, summary) that thresholds are tuned on; no other code sees them
    aligned           pairs for the supervised row `seq2seq`; `aligned_limits` adds fine-tuned rows such as all-2+10000
    only, stop_after  do these steps and what they need; do all steps up to one
    tensorboard       also write event files to out/tensorboard

    >>> nutgraf.train("articles.txt", "titles.txt", out="run/", recipe="quick")
    >>> nutgraf.Summarizer.load("run/")(["France took an important step toward power market liberalization ..."])
    """
    events = writer() if tensorboard else None
    resolved = resolve(recipe, settings, seed)
    with spooled(texts, summaries, valid, aligned) as files:
        request = Request(
            files[0] or "",
            files[1] or "",
            resolved,
            files[2],
            files[3],
            tuple(aligned_limits),
            texts_limit,
            summaries_limit,
        )
        reported = reporting(Path(out), listener, warn)
        if events:
            reported = charting(Path(out), reported, warn, events)
        return carry_out(request, Path(out), Hardware.of(device, threads), reported, warn, only, stop_after)
