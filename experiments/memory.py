"""The most memory that each step of a plan takes, on as many generated lines as you like; Linux only.

    python -m experiments.memory FOLDER --lines 1000000

writes that many texts and summaries to FOLDER, unless they are there, and trains up to mu1-2 with narrow models and few
steps, so that handling the data is most of the work. All sentences of both files are used. Words are drawn from a
vocabulary as in Zipf's law: nothing can be learned from them.

    python -m experiments.memory FOLDER --lines 1000000 --texts texts.txt.xz --summaries titles.txt.xz --whole

takes real lines instead, and the recipe `cpu` as it is, but mu1's chain alone and all sentences. Where the files have
too few lines, the first half of one line and the second half of another make a new one. Memory is that of the process,
memory-mapped files included. BENCHMARKS.md has what came of it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from nutgraf import recipe as recipes
from nutgraf.backtranslation.train import Request, run_training
from nutgraf.files import replacing
from nutgraf.run.events import Event, State
from nutgraf.text.reading import read_lines

VOCABULARY = 400_000
EXPONENT = 1.05
BLOCK = 10_000  # lines drawn at once
SIDES = {"texts": (28, 60), "summaries": (9, 20)}  # mean and most words of a line
# Narrow and short: what is learned does not matter.
SETTINGS = """
embeddings.max_sentences=20000 embeddings.width=32 embeddings.epochs=1 embeddings.buckets=20000
mu1.width=32 mu1.steps=50 seq2seq.width=32 seq2seq.encoder_layers=1 seq2seq.decoder_layers=1
training.summarizer_steps=20 training.expander_steps=20 training.finetune_steps=20 training.min_coverage=0.0
generation.sentences_per_chain=0 generation.chunk=65536 generation.batch=512 generation.output_words=500
generation.min_text_words=5 generation.max_text_words=8 plan.initializers=["mu1"]
"""
WHOLE = 'generation.sentences_per_chain=0 plan.initializers=["mu1"]'

app = typer.Typer(add_completion=False)


def write_lines(path: Path, lines: int, mean: int, most: int, seed: int) -> None:
    """Write lines of words that are drawn by Zipf's law."""
    rng = np.random.default_rng(seed)
    chances = np.arange(1, VOCABULARY + 1) ** -EXPONENT
    upto = np.cumsum(chances / chances.sum())
    names = [_spell(number) for number in range(VOCABULARY)]
    with path.open("w") as file:
        for start in range(0, lines, BLOCK):
            lengths = np.clip(rng.poisson(mean, size=min(BLOCK, lines - start)), 3, most)
            drawn = np.searchsorted(upto[:-1], rng.random(lengths.sum())).tolist()
            words, end = [names[number] for number in drawn], np.cumsum(lengths).tolist()
            file.writelines(" ".join(words[a:b]) + " .\n" for a, b in zip([0, *end], end, strict=False))


def write_real_lines(path: Path, lines: int, sources: Sequence[str], seed: int) -> None:
    """Write the lines of some files, as many as are wanted; if they have too few, also halves of two that are drawn."""
    real = [line for source in sources for line in read_lines(source)]
    words, rng = [line.split() for line in real], np.random.default_rng(seed)
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in real[:lines])
        for first, second in rng.integers(len(real), size=(max(0, lines - len(real)), 2)).tolist():
            one, other = words[first], words[second]
            file.write(" ".join([*one[: (len(one) + 1) // 2], *other[len(other) // 2 :]]) + "\n")


def _spell(number: int) -> str:
    """Return a number in letters."""
    letters = []
    while True:
        number, letter = divmod(number, 26)
        letters.append(chr(ord("a") + letter))
        if number == 0:
            return "".join(letters)


class Peaks:
    """Hears of the steps of a plan and prints, for each, the most memory and the time that it took."""

    def __init__(self) -> None:
        self.began = self.worked = 0.0

    def __call__(self, event: Event) -> None:
        """Hear of what happened to a step."""
        if event.state is State.STARTED:
            Path("/proc/self/clear_refs").write_text("5")  # sets VmHWM to what is used now
            self.began, self.worked = time.monotonic(), time.process_time()
        elif event.state is State.DONE:
            seconds, worked = time.monotonic() - self.began, time.process_time() - self.worked
            print(f"| {event.step.name} | {_peak():,} | {worked:.0f} | {seconds:.0f} |", flush=True)


def _peak() -> int:
    """Return the most megabytes since it was last set."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return round(int(status["VmHWM"].split()[0]) / 1024)


@app.command()
def main(
    folder: Annotated[Path, typer.Argument(help="For the lines and the run.")],
    lines: Annotated[int, typer.Option(help="Of each file.")] = 1_000_000,
    texts: Annotated[list[str] | None, typer.Option(help="Real texts, instead of generated ones.")] = None,
    summaries: Annotated[list[str] | None, typer.Option(help="Real summaries.")] = None,
    whole: Annotated[bool, typer.Option("--whole", help="Models and steps of the recipe cpu.")] = False,
    settings: Annotated[str, typer.Option("--set", help="Settings on top of our own, with blanks between.")] = "",
) -> None:
    """Write two files, train on them, and print a row per step."""
    folder.mkdir(parents=True, exist_ok=True)
    for seed, (side, real) in enumerate({"texts": texts, "summaries": summaries}.items(), 1):
        if (path := folder / f"{side}.txt").exists():
            continue
        with replacing(path) as unfinished:
            if real:
                write_real_lines(unfinished, lines, real, seed)
            else:
                write_lines(unfinished, lines, *SIDES[side], seed)
    request = Request(
        texts=str(folder / "texts.txt"),
        summaries=str(folder / "summaries.txt"),
        out=folder / "run",
        recipe=recipes.override(recipes.load("cpu"), [*(WHOLE if whole else SETTINGS).split(), *settings.split()]),
        only=("mu1-2",),
        threads=1,
    )
    print("| step | peak MB | CPU seconds | seconds |\n| --- | ---: | ---: | ---: |", flush=True)
    run_training(request, Peaks(), lambda warning: typer.echo(warning, err=True))


if __name__ == "__main__":
    app()
