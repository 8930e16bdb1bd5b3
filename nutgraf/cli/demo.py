"""The command `demo`: everything once, on a corpus of its own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nutgraf.cli.evaluating import evaluate
from nutgraf.cli.options import Threads
from nutgraf.cli.output import say
from nutgraf.cli.training import train
from nutgraf.extras import need_extra

if TYPE_CHECKING:
    from nutgraf.evaluation.samples import Sample


def demo(
    folder: Annotated[Path, typer.Option("--out", help="The folder for the corpus and the run.")] = Path("demo"),
    offline: Annotated[bool, typer.Option("--offline", help="Download nothing: use generated newswire.")] = False,
    threads: Threads = 0,
) -> None:
    """Train on real newswire in minutes. It is downloaded; the tables and ten summaries are printed at the end.

    Example: `nutgraf demo`
    """
    need_extra("train", "nutgraf demo")
    from nutgraf.demo.corpus import prepare_demo
    from nutgraf.terminal.tables import show_samples

    corpus = prepare_demo(folder / "corpus", say, offline)
    run = folder / "run"
    train(str(corpus.texts), str(corpus.summaries), run, "quick", threads=threads)
    evaluate(run, str(corpus.test), threads=threads)
    show_samples("Ten held-out sentences", "Text", _summarize_ten(run, corpus.test))
    say(f"The corpus is in {corpus.texts.parent}, the run in {run}. More: nutgraf samples {run}")


def _summarize_ten(run: Path, test: Path) -> list[Sample]:
    from nutgraf.evaluation.samples import Sample
    from nutgraf.summarizing.summarizer import Summarizer
    from nutgraf.text.reading import read_pairs

    summarizer = Summarizer.load(run)
    pairs = read_pairs(str(test), 10)
    outputs = summarizer([text for text, _ in pairs])
    return [
        Sample(text, ((summarizer.name, output), ("Title", title)))
        for (text, title), output in zip(pairs, outputs, strict=True)
    ]
