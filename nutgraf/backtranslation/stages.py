"""What each kind of step does: reads the folders of its needs, calls the room whose work it is, writes its own folder.

Back-translation itself is here (Section 3): pairs from a model, and the next model from pairs. Steps are deterministic
functions of their key and their needs; all randomness is seeded by the key. When a step is done, and what becomes of a
killed one, is the engine's and the manifest's business.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from nutgraf.backtranslation import initializers, pairs
from nutgraf.backtranslation.generation import full_stop_of, sampler
from nutgraf.backtranslation.hardware import Hardware
from nutgraf.backtranslation.inputs import Source
from nutgraf.backtranslation.plan import (
    ALIGNED,
    JOINT,
    OF_SUMMARIES,
    OF_TEXTS,
    TEXT,
    Kind,
    Step,
    trained_as,
)
from nutgraf.backtranslation.run import Run
from nutgraf.initial import dbae, moments, procrustes, thresholds
from nutgraf.progress import Progress, Report
from nutgraf.randomness import generator_of, seed_of
from nutgraf.recipe import AUTO
from nutgraf.seq2seq import storage
from nutgraf.seq2seq.model import Seq2seq
from nutgraf.seq2seq.pairs import learn
from nutgraf.seq2seq.training import Point
from nutgraf.text import casing
from nutgraf.text.corpus import Corpus
from nutgraf.text.embeddings import train_embeddings
from nutgraf.text.lexicon import Vocab
from nutgraf.text.prepare import Prepared, check_vocabularies, prepare
from nutgraf.text.reading import read_lines, read_pairs
from nutgraf.text.tokens import tokenize_all

HISTORY = "history.json"
CASED_LINES = 100_000  # of each corpus: enough to know how words are written
Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Task:
    """One step under way."""

    step: Step
    folder: Path  # what the step makes
    work: Path  # chunks and checkpoints
    key: str
    report: Report


class Stages:
    """Makes any step of a run."""

    def __init__(self, run: Run, hardware: Hardware):
        self.run, self.recipe, self.hardware = run, run.recipe, hardware

    def make(self, task: Task) -> None:
        """Write the step's files to its folder."""
        makers: dict[Kind, Callable[[Task], None]] = {
            Kind.TEXT: self._text,
            Kind.CASING: self._casing,
            Kind.EMBEDDINGS: self._embeddings,
            Kind.ALIGNED: self._aligned,
            Kind.INITIALIZER: self._initializer,
            Kind.PAIRS: self._pairs,
            Kind.EXPANDER: self._seq2seq,
            Kind.SUMMARIZER: self._seq2seq,
        }
        makers[task.step.kind](task)

    def warnings(self, step: Step) -> list[str]:
        """Return what the user should know about what a step made."""
        return check_vocabularies(self.prepared, self.recipe.text) if step.kind is Kind.TEXT else []

    @cached_property
    def prepared(self) -> Prepared:
        """The two corpora and their lexicon."""
        return Prepared.open(self.run.step_folder(TEXT))

    @cached_property
    def vocabularies(self) -> dict[str, Vocab]:
        """V^F, V^S and the joint list, by F, S and joint."""
        text = self.recipe.text
        return {"F": self.prepared.vocab_F(text), "S": self.prepared.vocab_S(text), "joint": self.prepared.joint(text)}

    def _text(self, task: Task) -> None:
        inputs = self.run.inputs
        totals = {"texts": inputs.texts.lines, "summaries": inputs.summaries.lines}

        def report(progress: Progress) -> None:
            task.report(Progress(progress.done, totals.get(progress.note, 0), "lines", progress.note))

        lines = [read_lines(source.path, source.limit) for source in (inputs.texts, inputs.summaries)]
        prepare(lines[0], lines[1], self.recipe.text, task.folder, self.hardware.threads, report)

    def _casing(self, task: Task) -> None:
        sources = (self.run.inputs.texts, self.run.inputs.summaries)
        limits = [min(source.limit or CASED_LINES, CASED_LINES) for source in sources]
        total = sum(min(source.lines, limit) for source, limit in zip(sources, limits, strict=True))
        count = itertools.count(1)

        def told(line: str) -> str:
            if (done := next(count)) % 5_000 == 0:
                task.report(Progress(done, total, "lines"))
            return line

        lines = [map(told, read_lines(source.path, limit)) for source, limit in zip(sources, limits, strict=True)]
        casing.Casing.learn(*lines).save(task.folder / casing.FILE)

    def _aligned(self, task: Task) -> None:
        source = self.run.inputs.aligned
        assert source is not None, "a plan with aligned pairs has a file of them"
        aligned = self._encoded(source)
        Corpus.of(aligned.texts).save(task.folder, "texts")
        Corpus.of(aligned.summaries).save(task.folder, "summaries")

    def _encoded(self, source: Source, limit: int = 0) -> initializers.Pairs:
        """Return pairs as ids; words that neither corpus has get numbers past the lexicon's end, and can be copied."""
        settings = self.recipe.text
        sides = zip(*read_pairs(source.path, limit), strict=True)
        tokens = [list(tokenize_all(side, settings.digits, self.hardware.threads)) for side in sides]
        lexicon = self.prepared.lexicon.extended(sentence for side in tokens for sentence in side)
        texts = [lexicon.encode(sentence[: settings.max_text_words]) for sentence in tokens[0]]
        summaries = [lexicon.encode(sentence[: settings.max_summary_words]) for sentence in tokens[1]]
        return initializers.Pairs(texts, summaries, lexicon)

    def _embeddings(self, task: Task) -> None:
        """Train skip-gram vectors: of both corpora for the models, of each apart for Pr-Thr (appendix)."""
        texts, summaries = self.prepared.texts, self.prepared.summaries
        known = self.vocabularies
        everything = np.unique(np.concatenate([vocab.ids for vocab in known.values()]))
        corpora, ids = {
            JOINT: ([texts, summaries], everything),
            OF_TEXTS: ([texts], known["F"].ids),
            OF_SUMMARIES: ([summaries], known["S"].ids),
        }[task.step.name]
        settings = self.recipe.embeddings
        width = settings.width
        if task.step.name != JOINT:
            epochs = self.recipe.pr_thr.epochs_for(len(corpora[0].tokens))
            settings, width = replace(settings, epochs=epochs), settings.procrustes_width
        lexicon, seed = self.prepared.lexicon, seed_of(task.key)
        vectors = train_embeddings(corpora, lexicon, ids, width, settings, seed, task.report)
        save_file({"ids": ids, "vectors": vectors}, task.folder / "vectors.safetensors")

    def vectors(self, name: str, vocab: Vocab) -> Vectors:
        """Return the vectors of a vocabulary's words, row by row, from an embeddings step."""
        stored = load_file(self.run.step_folder(name) / "vectors.safetensors")
        rows = np.zeros(len(vocab.table), dtype=np.int64)
        rows[stored["ids"]] = np.arange(len(stored["ids"]))
        return np.asarray(stored["vectors"][rows[vocab.ids]], dtype=np.float32)

    def _initializer(self, task: Task) -> None:
        trainers: dict[str, Callable[[Task], initializers.Initializer]] = {
            "pr-thr": self._pr_thr,
            "dbae": self._dbae,
            "mu1": self._mu1,
        }
        trainers[task.step.chain](task).save(task.folder)

    def _pr_thr(self, task: Task) -> initializers.Initializer:
        vocab_F, vocab_S = self.vocabularies["F"], self.vocabularies["S"]
        vectors = self.vectors(OF_TEXTS, vocab_F), self.vectors(OF_SUMMARIES, vocab_S)
        settings = self.recipe.pr_thr
        model = procrustes.train(vocab_F, vocab_S, *vectors, settings, seed_of(task.key), task.report)
        return self._thresholded(model, task.step.chain) if settings.eta == AUTO else model

    def _dbae(self, task: Task) -> initializers.Initializer:
        vocab = self.vocabularies["S"]
        return dbae.train(
            self.prepared.texts,
            self.prepared.summaries,
            vocab,
            self.vectors(JOINT, vocab),
            self.recipe.dbae,
            task.key,
            task.work / "checkpoint",
            task.report,
        )

    def _mu1(self, task: Task) -> initializers.Initializer:
        vocab, settings = self.vocabularies["S"], self.recipe.mu1
        model = moments.train(
            self.prepared.texts,
            self.prepared.summaries,
            vocab,
            self.vectors(JOINT, vocab),
            settings,
            task.key,
            task.work / "checkpoint",
            task.report,
        )
        return self._thresholded(model, task.step.chain) if settings.eta == AUTO else model

    def _thresholded(self, model: thresholds.Model, chain: str) -> thresholds.Model:
        """Choose eta: on the validation pairs where there are any, else by the length of the summaries."""
        valid = self.run.inputs.valid
        if valid is None:
            return initializers.matched(model, chain, self.prepared.texts, self.prepared.summaries)
        return initializers.tuned(model, chain, self._encoded(valid, initializers.VALID_PAIRS))

    def _pairs(self, task: Task) -> None:
        """Apply x-i to the real corpus of its inputs: a summarizer to D^F, an expander to D^S."""
        expands = task.step.iteration % 2 == 1
        real = self._share(task.step.chain, of_texts=not expands)
        name = task.step.name.removesuffix(".pairs")
        apply = self._sampler(name, expands, task.key) if task.step.iteration else self._initial(name)
        pairs.generate(real, apply, self.recipe.generation.chunk, task.work, task.folder, task.report)

    def _share(self, chain: str, of_texts: bool) -> Corpus:
        real = self.prepared.texts if of_texts else self.prepared.summaries
        return pairs.share(real, self.recipe.generation.limit, chain)

    def _initial(self, name: str) -> pairs.Apply:
        model = initializers.load_initializer(name.removesuffix("-0"), self.run.step_folder(name))
        return lambda sentences, _: model(sentences)

    def _sampler(self, name: str, expands: bool, key: str) -> pairs.Apply:
        model = storage.load(self.run.step_folder(name), self.hardware.device)
        return sampler(model, self.recipe.generation, expands, full_stop_of(self.prepared.lexicon), key)

    def _seq2seq(self, task: Task) -> None:
        """f^{i+1}_{A->B} = S(D^i_{A'->B}): train the next model on artificial inputs and real outputs (Eq. 3)."""
        data = self.training_set(task.step)
        model = self.untrained(task.step, task.key).to(self.hardware.device)
        settings = trained_as(task.step, self.recipe.training, len(data.sources))
        history = learn(
            model,
            data.sources,
            data.targets,
            settings,
            settings.steps,
            task.key,
            task.work / "checkpoint",
            task.report,
        )
        storage.save(model, task.folder)
        _save_history(history, task.folder)

    def training_set(self, step: Step) -> pairs.TrainingSet:
        """Return what a seq2seq model learns from: artificial inputs with real outputs, or aligned pairs."""
        if ALIGNED in step.needs:
            folder = self.run.step_folder(ALIGNED)
            sides = [Corpus.open(folder, "texts"), Corpus.open(folder, "summaries")]
            chosen = np.arange(min(step.aligned_limit or len(sides[0]), len(sides[0])))
            return pairs.TrainingSet(pairs.taken(sides[0], chosen), pairs.taken(sides[1], chosen))
        expands = step.kind is Kind.EXPANDER
        return pairs.union(
            [
                (Corpus.open(self.run.step_folder(name), pairs.NAME), self._share(name.rpartition("-")[0], expands))
                for name in step.pairs
            ],
            0.0 if expands else self.recipe.training.told,
        )

    def untrained(self, step: Step, key: str) -> Seq2seq:
        """Return a model to train: a new one, or the one that it goes on from."""
        if step.start:
            return storage.load(self.run.step_folder(step.start), self.hardware.device)
        settings = self.recipe.seq2seq
        sides = ("S", "F") if step.kind is Kind.EXPANDER else ("F", "S")
        source, target = (self.vocabularies["joint" if settings.copy else side] for side in sides)
        vectors = self.vectors(JOINT, source), self.vectors(JOINT, target)
        return Seq2seq(source, target, settings, *vectors, generator_of(key, "weights"))


def _save_history(history: Sequence[Point], folder: Path) -> None:
    """Write the learning curve, without the seconds: a step's files are a function of its key."""
    curve = [{"step": point.step, "loss": point.loss, "held_out": point.held_out} for point in history]
    (folder / HISTORY).write_text(json.dumps(curve, indent=1) + "\n", encoding="utf-8")
