"""A run small enough for tests: generated newswire, models of 16 units, seconds for the whole plan."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from nutgraf.backtranslation.train import Request, resolve, run_training
from nutgraf.demo.newswire import unaligned
from nutgraf.progress import ignore
from nutgraf.run.events import Event, Listener
from nutgraf.run.folder import Run

# On its own: the shipped recipes may change.
RECIPE = """
[text]
texts_vocabulary = 300
summaries_vocabulary = 200
joint_vocabulary = 300
[embeddings]
width = 16
procrustes_width = 8
epochs = 1
buckets = 500
learning_rate = 0.025
sample = 1e-3
min_count = 2
[pr_thr]
vector_epochs = 1
vector_words = 0
eta = "auto"
init_words = 50
init_steps = 3
iterations = 5
epochs = 1
batch = 50
[dbae]
width = 16
beam = 2
max_words = 6
steps = 12
batch = 16
[mu1]
eta = "auto"
width = 16
steps = 12
batch = 32
[near]
candidates = 32
common = 0.01
early = 40.0
name_penalty = 0.8
min_score = 0.1
max_uses = 2
again_min_score = 0.05
again_pairs = 1.5
summarizer_weight = 0.4
expander_weight = 0.7
repeat = 2
[nmt]
steps = 6
[mass]
steps = 8
[adversarial]
steps = 8
batch = 8
critic_width = 8
[fsc]
steps = 4
batch = 8
[seq2seq]
copy = true
width = 16
encoder_layers = 2
decoder_layers = 2
[training]
summarizer_steps = 12
expander_steps = 12
all_steps = 12
finetune_steps = 12
batch = 16
validate_every = 5
held_out = 10
warmup = 2
decay = true
shortlist = 50
patience = 0
[generation]
min_text_words = 4
max_text_words = 12
batch = 32
chunk = 40
sentences_per_chain = 100
repeat_top_words = 20
[agreement]
beam = 2

[decoding]
beam = 2
max_words = 10
[plan]
iterations = 2
warm_start = true
"""

WITH_NEAR = 'plan.initializers=["pr-thr", "dbae", "mu1", "near"]'


@dataclass(frozen=True)
class Corpus:
    """Files to train and to test on."""

    folder: Path

    @property
    def texts(self) -> str:
        return str(self.folder / "texts.txt")

    @property
    def summaries(self) -> str:
        return str(self.folder / "summaries.txt")

    @property
    def pairs(self) -> str:
        return str(self.folder / "pairs.tsv")

    @property
    def recipe(self) -> str:
        return str(self.folder / "tiny.toml")


def write_corpus(folder: Path) -> Corpus:
    """Write 150 texts, 150 summaries of other stories, 20 pairs and the recipe."""
    texts, summaries, pairs = unaligned(150, 150, 20, seed=1)
    corpus = Corpus(folder)
    Path(corpus.texts).write_text("\n".join(texts) + "\n")
    Path(corpus.summaries).write_text("\n".join(summaries) + "\n")
    Path(corpus.pairs).write_text("".join(f"{text}\t{summary}\n" for text, summary in pairs))
    Path(corpus.recipe).write_text(RECIPE)
    return corpus


def request(corpus: Corpus, out: Path, *settings: str) -> Request:
    """Ask for the tiny recipe, or what settings make of it."""
    recipe = resolve(corpus.recipe, settings)
    return Request(texts=corpus.texts, summaries=corpus.summaries, out=out, recipe=recipe, threads=1)


def train_tiny(
    corpus: Corpus,
    out: Path,
    *settings: str,
    listener: Listener = ignore,
    warn: Callable[[str], None] = ignore,  # a tiny corpus has small vocabularies
) -> Run:
    """Train the tiny recipe, or what settings make of it."""
    return run_training(request(corpus, out, *settings), listener, warn)


def add_near(corpus: Corpus, finished: Run, out: Path) -> Run:
    """Copy a finished run and add the chain `near`: all but All stay as they are."""
    shutil.copytree(finished.folder, out)
    shutil.rmtree(out / "steps" / "all-2")
    return train_tiny(corpus, out, WITH_NEAR)


def add_agreed(corpus: Corpus, with_near: Run, out: Path) -> Run:
    """Copy a run with near and add agreed-2: nothing is trained for it."""
    shutil.copytree(with_near.folder, out)
    return train_tiny(corpus, out, WITH_NEAR, "plan.agreed=true")


def ended(events: list[Event]) -> dict[str, str]:
    """What became of each step in the end."""
    return {event.step.name: str(event.state) for event in events if event.state in ("kept", "done")}


def checksums(folder: Path) -> dict[str, str]:
    """Everything that steps made, but for the manifests: they hold times."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.glob("steps/**/*"))
        if path.is_file() and path.name != "manifest.json"
    }


def sign(folder: Path) -> None:
    """Make the checksums of a step or an export right, as a stranger can."""
    path = folder / "manifest.json"
    table = json.loads(path.read_text())
    for name in table["files"]:
        content = (folder / name).read_bytes()
        table["files"][name] = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    path.write_text(json.dumps(table))
