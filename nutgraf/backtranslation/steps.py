"""What each kind of step does: reads the folders of its needs, calls the room whose work it is, writes its own folder.

Back-translation itself is here (Section 3): pairs from a model, and the next model from pairs. Steps are deterministic
functions of their key and their needs; all randomness is seeded by the run's seed and the step's name. When a step is
done, and what becomes of a killed one, is the engine's and the manifest's business.
"""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from nutgraf.backtranslation import found, pairs, thresholds
from nutgraf.backtranslation.committee import Committee
from nutgraf.errors import RecipeError
from nutgraf.hardware import ALONE, Hardware, Rank
from nutgraf.learning.loop import Job, save_history
from nutgraf.models import adapting, alignment, baselines, dbae, moment_matching, near, storage
from nutgraf.models.agreement import Agreement
from nutgraf.models.generation import Apply, full_stop_of, sampler
from nutgraf.models.initializers import Initializer, load_initializer
from nutgraf.models.learn import fit_of, learn
from nutgraf.models.members import Members
from nutgraf.models.mending import Mender
from nutgraf.models.scoring import Estimate
from nutgraf.models.seq2seq import Seq2seq
from nutgraf.models.wording import Wording
from nutgraf.progress import Progress, Report, ignore
from nutgraf.recipe import Embeddings, Recipe
from nutgraf.recipe import Seq2seq as Settings
from nutgraf.run.folder import Run
from nutgraf.run.inputs import Inputs, Part, Source, cut_source, read_again, read_pairs_again
from nutgraf.run.keys import eta_is_tuned
from nutgraf.run.names import FOUND, ModelName
from nutgraf.run.pairs import ARTIFICIAL, real_side
from nutgraf.run.plan import ALIGNED, OWN_WAY, Kind, Step, learning_rate, learns_initial, training_steps
from nutgraf.run.systems import CASING, JOINT, OF_SUMMARIES, OF_TEXTS, TEXT, is_seq2seq
from nutgraf.seeds import generator_of, seed_of
from nutgraf.text import casing
from nutgraf.text.beginning import find_read
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import Ids, Vocab
from nutgraf.text.numbering import SUMMARIES, TEXTS, number_words
from nutgraf.text.prepare import Prepared, check_vocabularies, prepare, usual_length
from nutgraf.text.selection import Selection, Sentences
from nutgraf.text.tokens import Tokenizer, is_number
from nutgraf.text.trigrams import Trigrams
from nutgraf.workers.executor import Executor, Local, Tell

if TYPE_CHECKING:  # imports gensim, which the vectors alone need
    from nutgraf.text.vector_blocks import Block, Blocks

CASED_LINES = 100_000  # of each corpus: enough to know how words are written
FLUENCY_SUMMARIES = 300_000  # from which teachers know what reads well
ATTEMPT = "attempt-"  # in the work folder: what one attempt at a step has made so far
_MODELS_KEPT = 2  # by a worker, of steps whose pairs it makes by turns
LEAST_WHOLE = 5  # words of an initial summary that stay when its end is mended
FEW_FOUND = 100  # pairs: too few to learn from
Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Task:
    """One step to do."""

    step: Step
    folder: Path  # what the step makes
    work: Path  # chunks and checkpoints
    seed: str  # all randomness of the step comes from this
    report: Report = ignore
    warn: Callable[[str], None] = ignore
    rank: Rank = ALONE

    @property
    def job(self) -> Job:
        """The training that the step is."""
        return Job(self.seed, self.work / "checkpoint", self.report, self.warn, self.rank)


class Steps:
    """Makes any step of a run. Sent to another process, it is the path of the run folder, which is opened there."""

    def __init__(self, run: Run, hardware: Hardware, executor: Executor | None = None):
        self.run, self.recipe, self.hardware = run, run.recipe, hardware
        self.executor = executor or Local(hardware)
        self._makers: dict[str, tuple[Sentences, Apply]] = {}  # of pairs, by the step: loaded once

    def __reduce__(self) -> tuple[Callable[[Path, Inputs, Hardware], Steps], tuple[Path, Inputs, Hardware]]:
        return open_steps, (self.run.folder, self.run.inputs.absolute(), self.hardware)

    @staticmethod
    def has_parts(step: Step, recipe: Recipe) -> bool:
        """Whether a step is made by the driver, from parts that workers make."""
        if step.kind is Kind.EMBEDDINGS:
            return recipe.embeddings.blocks > 1
        name = step.model
        return step.kind is Kind.TEXT or (step.kind is Kind.PAIRS and name is not None and not name.finds)

    def make_apart(self, task: Task, rank: Rank, tell: Tell) -> Path:
        """Make a step in a folder that no other attempt, and no other rank, uses; return the folder."""
        attempt = _new_attempt(task)
        self.make(replace(task, folder=attempt, rank=rank, report=tell, warn=tell))
        return attempt

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
            Kind.AGREED: self._agreed,
        }
        makers[task.step.kind](task)

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
        """Tokenise parts of both files apart, then merge their word lists: the same bytes for any parts."""
        inputs = self.run.inputs.absolute()
        sides = {TEXTS: inputs.texts, SUMMARIES: inputs.summaries}
        total = sum(source.lines for source in sides.values())

        tell = _add_up(task, total, "lines")
        parts = [part for side, source in sides.items() for part in cut_source(side, source, tell)]
        work = partial(self.number_part, replace(task, report=ignore, warn=ignore))
        made = dict(self.executor.map(work, parts, 1, tell))
        folders = {side: [made[part] for part in parts if part.side == side] for side in sides}
        prepare(folders, self.recipe.text, task.folder)
        for warning in check_vocabularies(Prepared.open(task.folder), self.recipe.text):
            task.warn(warning)

    def number_part(self, task: Task, part: Part, tell: Tell) -> Path:
        """Tokenise a part of a file into a folder that no other attempt uses; return the folder."""
        attempt = _new_attempt(task)
        number_words(read_again(part.source, span=part.span), part.side, self.recipe.text, attempt, tell)
        return attempt

    def _casing(self, task: Task) -> None:
        sources = (self.run.inputs.texts, self.run.inputs.summaries)
        total = sum(min(source.lines, CASED_LINES) for source in sources)
        count = itertools.count(1)

        def counted(line: str) -> str:
            if (done := next(count)) % 5_000 == 0:
                task.report(Progress(done, total, "lines"))
            return line

        lines = [map(counted, read_again(source, CASED_LINES)) for source in sources]
        casing.Casing.learn(*lines).save(task.folder / casing.FILE)

    def _aligned(self, task: Task) -> None:
        source = self.run.inputs.aligned
        assert source is not None, "a plan with aligned pairs has a file of them"
        aligned = self._encode_pairs(source)
        Corpus.of(aligned.texts).save(task.folder, "texts")
        Corpus.of(aligned.summaries).save(task.folder, "summaries")

    def _encode_pairs(self, source: Source, limit: int = 0) -> thresholds.Pairs:
        """Return pairs as ids; words that neither corpus has get numbers past the lexicon's end, and can be copied."""
        settings = self.recipe.text
        sides = zip(*read_pairs_again(source, limit), strict=True)
        tokenizer = Tokenizer(settings.digits)
        texts, summaries = ([tokenizer.words(line) for line in side] for side in sides)
        lexicon = self.prepared.lexicon.extended(itertools.chain(texts, summaries))
        read = ([words[place] for place in find_read(words, settings)] for words in texts)
        cut = (words[: settings.max_summary_words] for words in summaries)
        return thresholds.Pairs([*map(lexicon.encode, read)], [*map(lexicon.encode, cut)], lexicon)

    def _embeddings(self, task: Task) -> None:
        """Train skip-gram vectors: of both corpora for the models, of each alone for Pr-Thr (appendix)."""
        from nutgraf.text.embeddings import train_embeddings  # imports gensim, which no other step needs

        known = self.vocabularies
        everything = np.unique(np.concatenate([vocab.ids for vocab in known.values()]))
        ids = {JOINT: everything, OF_TEXTS: known["F"].ids, OF_SUMMARIES: known["S"].ids}[task.step.name]
        corpora, width, settings, with_end = self._read_for(task.step)
        if settings.blocks > 1:
            vectors = self._train_by_blocks(task, ids)
        else:
            lexicon, seed = self.prepared.lexicon, seed_of(task.seed)
            vectors = train_embeddings(corpora, lexicon, ids, width, settings, seed, task.report, with_end)
        save_file({"ids": ids, "vectors": vectors}, task.folder / "vectors.safetensors")

    def _read_for(self, step: Step) -> tuple[list[Corpus], int, Embeddings, bool]:
        """Return the corpora that vectors are learned from, their width, settings, and whether ends are read."""
        texts, summaries, settings = self.prepared.texts, self.prepared.summaries, self.recipe.embeddings
        if step.name == JOINT:
            return [texts, summaries], settings.width, settings, False
        corpus = texts if step.name == OF_TEXTS else summaries
        epochs = self.recipe.pr_thr.epochs_for(len(corpus.tokens))
        return [corpus], settings.procrustes_width, replace(settings, epochs=epochs), True

    def _train_by_blocks(self, task: Task, ids: Ids) -> Vectors:
        blocks, work = self._blocks(task), partial(self.train_block, replace(task, report=ignore, warn=ignore))
        tell = _add_up(task, blocks.sentences, "sentences")
        blocks.train(lambda missing: [*self.executor.map(work, missing, 1, tell)])
        return blocks.vectors(ids)

    def train_block(self, task: Task, block: Block, tell: Tell) -> None:
        """Train the vectors of a part of the corpora for an epoch."""
        self._blocks(task).train_block(block, tell)

    def _blocks(self, task: Task) -> Blocks:
        from nutgraf.text.vector_blocks import Blocks

        corpora, width, settings, with_end = self._read_for(task.step)
        return Blocks(corpora, self.prepared.lexicon, width, settings, seed_of(task.seed), with_end, task.work)

    def vectors(self, name: str, vocab: Vocab) -> Vectors:
        """Return the vectors of a vocabulary's words, row by row, from an embeddings step."""
        stored = load_file(self.run.step_folder(name) / "vectors.safetensors")
        rows = np.zeros(len(vocab.table), dtype=np.int64)
        rows[stored["ids"]] = np.arange(len(stored["ids"]))
        return np.asarray(stored["vectors"][rows[vocab.ids]], dtype=np.float32)

    def _initializer(self, task: Task) -> None:
        trainers: dict[str, Callable[[Task], Initializer]] = {
            "pr-thr": self._pr_thr,
            "dbae": self._dbae,
            "mu1": self._mu1,
            "near": self._near,
        }
        trainers.get(task.step.chain, self._baseline)(task).save(task.folder)

    def _baseline(self, task: Task) -> Initializer:
        return baselines.of(task.step.chain).train(self, task.job)

    def _pr_thr(self, task: Task) -> Initializer:
        vocab_F, vocab_S = self.vocabularies["F"], self.vocabularies["S"]
        vectors = self.vectors(OF_TEXTS, vocab_F), self.vectors(OF_SUMMARIES, vocab_S)
        model = alignment.train(vocab_F, vocab_S, *vectors, self.recipe.pr_thr, seed_of(task.seed), task.report)
        if model.alignment_failed:
            task.warn(model.alignment_warning)
        return self._with_threshold(model, task.step.chain)

    def _dbae(self, task: Task) -> Initializer:
        vocab, corpora = self.vocabularies["S"], (self.prepared.texts, self.prepared.summaries)
        return dbae.train(*corpora, vocab, self.vectors(JOINT, vocab), self.recipe.dbae, task.job)

    def _mu1(self, task: Task) -> Initializer:
        vocab, corpora = self.vocabularies["S"], (self.prepared.texts, self.prepared.summaries)
        forms = moment_matching.forms_in(vocab, self.prepared.lexicon.words) if self.recipe.mu1.forms else {}
        model = moment_matching.train(*corpora, vocab, self.vectors(JOINT, vocab), self.recipe.mu1, task.job, forms)
        return self._with_threshold(model, task.step.chain)

    def _near(self, task: Task) -> Initializer:
        lexicon, writing = self.prepared.lexicon, casing.Casing.load(self.run.step_folder(CASING) / casing.FILE)
        numbers = np.array([is_number(word) for word in lexicon.words])
        names = np.array([writing.is_name(word) for word in lexicon.words]) & ~numbers
        stored = load_file(self.run.step_folder(JOINT) / "vectors.safetensors")
        vectors = np.zeros((len(lexicon), stored["vectors"].shape[1]), dtype=np.float32)
        vectors[stored["ids"]] = stored["vectors"]
        words = near.Words.of(self.prepared.summaries, vectors, names, numbers)
        return near.Near(self.prepared.summaries, words, self.recipe.near)

    def _with_threshold(self, model: thresholds.T, chain: str) -> thresholds.T:
        """Choose eta where it is "auto": on the validation pairs if there are any, else by the summaries' moments."""
        valid = self.run.inputs.valid
        if not eta_is_tuned(chain, self.recipe):
            return model
        if valid is None:
            return thresholds.by_moments(model, chain, self.prepared.texts, self.prepared.summaries)
        return thresholds.by_pairs(model, chain, self._encode_pairs(valid, thresholds.VALID_PAIRS))

    def _pairs(self, task: Task) -> None:
        """Apply x-i to the real corpus of its inputs: a summarizer to D^F, an expander to D^S."""
        name = task.step.model
        assert name is not None, "pairs are made by a model"
        if name.finds:
            self._find_pairs(task) if name.initial else self._find_pairs_again(task)
            return
        chunk_task = replace(task, report=ignore, warn=ignore)

        def make(chunks: Sequence[pairs.Chunk], report: Report) -> Iterator[pairs.Chunk]:
            def tell(message: Progress | str) -> None:
                report(message) if isinstance(message, Progress) else task.warn(message)

            work = partial(self.make_chunk, chunk_task)
            return (chunk for chunk, _ in self.executor.map(work, chunks, self.hardware.threads, tell))

        count, size = len(self._real_side(name)), self.recipe.generation.chunk
        pairs.generate(count, size, make, task.work, task.folder, task.report, task.warn)
        self._makers.clear()

    def make_chunk(self, task: Task, chunk: pairs.Chunk, tell: Tell) -> None:
        """Write a chunk of pairs; the model is loaded for the first one of a step."""
        name = task.step.model
        assert name is not None, "pairs are made by a model"
        if task.step.name not in self._makers:
            while len(self._makers) >= _MODELS_KEPT:
                self._makers.pop(next(iter(self._makers)))
            self._makers[task.step.name] = self._real_side(name), self._apply(task, name)
        real, apply = self._makers[task.step.name]
        pairs.write_chunk(real, apply, chunk, task.work, tell)

    def _apply(self, task: Task, name: ModelName) -> Apply:
        if is_seq2seq(name):
            return self._committee(task) if name.teacher else self._sampler(name, task.seed)
        return self._initial(name)

    def _find_pairs(self, task: Task) -> None:
        """Pair texts with their nearest summaries; a text with no near one has an empty summary."""
        model = near.Near.load(self.run.step_folder(str(task.step.model)))
        settings, match = self.recipe.near, model.match(self.prepared.texts, task.report)
        if settings.max_lead < 1:
            match = near.without_leads(match, self.prepared.texts, self.prepared.summaries, settings)
        if settings.adapt:
            found.save_fitted(match, self._fit(model, match, task.report), task.folder)
        else:
            chosen = near.choose(match, settings.min_score, settings.max_uses)
            found.save_pairs(match, chosen, self.prepared.summaries, task.folder)
        count = int((found.load_chosen(task.folder)[0] != near.NONE).sum())
        if count < FEW_FOUND:
            task.warn(f"near: {count} pairs found between the two corpora; a lower near.min_score finds more")

    def _fit(self, model: near.Near, match: near.Match, report: Report) -> adapting.Fitted:
        """Return the best summary of each text that has one, with the text's own names and numbers."""
        texts, summaries, settings = self.prepared.texts, self.prepared.summaries, self.recipe.near
        adapter = adapting.Adapter(model.words, texts, summaries, self.prepared.lexicon)
        fitted = adapting.fit_candidates(model, match, texts, adapter, settings.min_score, report)
        return fitted.best(texts, settings)

    def _find_pairs_again(self, task: Task) -> None:
        """Choose among the candidates of the first search with the help of near's own expander and summarizer."""
        first, name = self.run.step_folder(FOUND.pairs), task.step.model
        assert name is not None, "pairs are found by a model"
        settings, corpora = self.recipe.near, (self.prepared.texts, self.prepared.summaries)
        summarizer, expander = (
            storage.load(self.run.step_folder(str(model)), self.hardware.device)
            for model in (name, name.at(name.iteration - 1))
        )
        estimate = Estimate(self.recipe.training.shortlist, seed_of(task.seed))
        scorer = found.Scorer(summarizer, expander, estimate)
        match = found.find_again(found.load_match(first), *corpora, scorer, settings, task.report)
        count = round(settings.again_pairs * int((found.load_chosen(first)[0] != near.NONE).sum()))
        found.save_pairs(match, found.choose_most(match, count, settings.max_uses), corpora[1], task.folder)

    def _real_side(self, maker: ModelName) -> Sentences:
        limit = self.recipe.generation.sentences_per_chain
        return real_side(self.prepared.texts, self.prepared.summaries, limit, maker)

    def _initial(self, name: ModelName) -> Apply:
        model, settings = load_initializer(name.chain, self.run.step_folder(str(name))), self.recipe.generation
        wording = self._wording(self._fluency(), leaves_out=True) if settings.reword else list
        mender = Mender.of(self.prepared.lexicon.words) if settings.mend else None
        most = settings.initial_words or round(float(self.prepared.summaries.lengths.mean())) + 1

        def apply(sentences: Sequence[Ids], _: int) -> list[Ids]:
            summaries = wording(model(sentences))
            if mender is None:
                return summaries
            short = (words[:most] for words in summaries)
            return [mender(text, words, LEAST_WHOLE) for text, words in zip(sentences, short, strict=True)]

        return apply

    def _wording(self, trigrams: Trigrams, leaves_out: bool) -> Wording:
        return Wording.of(trigrams, self.prepared.lexicon.words, leaves_out)

    def _sampler(self, name: ModelName, seed: str) -> Apply:
        model = storage.load(self.run.step_folder(str(name)), self.hardware.device)
        return sampler(model, self.recipe.generation, name.expands, full_stop_of(self.prepared.lexicon), seed)

    def _committee(self, task: Task) -> Apply:
        """Return what all-N's teachers, and the others that the step needs, agree on."""
        names = [name for name in map(ModelName.find, task.step.needs) if name]
        models = {name: storage.load(self.run.step_folder(str(name)), self.hardware.device) for name in names}
        expander = next(model for name, model in models.items() if name.expands)
        teaching, fluency = self.recipe.teaching, self._fluency()
        wording = self._wording(fluency, leaves_out=False) if self.recipe.generation.reword else None
        mender = Mender.of(self.prepared.lexicon.words) if self.recipe.generation.mend else None
        return Committee(
            [model for name, model in models.items() if not name.expands],
            Agreement(expander, fluency, teaching.weights, wording, mender),
            teaching,
            usual_length(self.recipe.decoding, self.prepared.summaries),
            self.recipe.training.shortlist,
            task.seed,
        )

    def _fluency(self, known: Ids | None = None, min_count: int = 1) -> Trigrams:
        """Return trigrams of real summaries, which know what reads well; all words, or those that are known."""
        summaries = self.prepared.summaries
        shown = summaries.take(np.arange(min(len(summaries), FLUENCY_SUMMARIES)))
        return Trigrams.train(shown, self.prepared.lexicon, known, min_count)

    def _agreed(self, task: Task) -> None:
        """Write who agrees, and a small model of fluency; the members stay in their own folders."""
        names = [name for name in map(ModelName.find, task.step.needs) if name]
        made_from = {str(name): record.digest for name in names if (record := self.run.finished(str(name)))}
        vocabulary = self.vocabularies["joint" if self.recipe.seq2seq.copy else "S"]
        weights, fluency = self.recipe.agreement, self._fluency(vocabulary.ids, min_count=2)
        Members(
            tuple(str(name) for name in names if not name.expands and not name.initial),
            next((str(name) for name in names if name.expands and weights.expander_weight), None),
            weights,
            fluency,
            made_from,
            next((str(name) for name in names if name.initial and weights.initial_lengths), None),
        ).save(task.folder)

    def _seq2seq(self, task: Task) -> None:
        """f^{i+1}_{A->B} = S(D^i_{A'->B}): train the next model on artificial inputs and real outputs (Eq. 3)."""
        data, settings = self.training_set(task.step), self.recipe.training
        if task.step.chain in OWN_WAY and ALIGNED in task.step.needs:
            steps = training_steps(task.step, settings, len(data.sources))
            pairs = baselines.Pairs(data.sources, data.targets, steps)
            baselines.of(task.step.chain).train_with_pairs(self, pairs, task.job).save(task.folder)
            return
        model = self.untrained(task.step, task.seed).to(self.hardware.device)
        steps = training_steps(task.step, settings, len(data.sources))
        fitting = replace(fit_of(settings, steps, learning_rate(task.step, settings)), shards=settings.shards)
        too_few = self._has_too_few(task, len(data.sources))
        history = [] if too_few else learn(model, data.sources, data.targets, settings, fitting, task.job)
        storage.save(model, task.folder)
        save_history(history, task.folder)

    def _has_too_few(self, task: Task, count: int) -> bool:
        """Whether the expander of found pairs stays as it starts: less than a batch would only be learned by heart."""
        name, start, makers = task.step.name, task.step.start, [ModelName.of_pairs(need) for need in task.step.pairs]
        if not makers or not all(maker.finds for maker in makers) or count >= self.recipe.training.batch:
            return False
        if not start and count < 2:
            key = "min_score" if makers == [FOUND] else "again_min_score"
            raise RecipeError(
                f"{name}: {count} pairs found between the two corpora, nothing to learn from. Leave near out of"
                f" plan.initializers, or train into another folder with near.{key} below"
                f" {getattr(self.recipe.near, key)}"
            )
        if start:
            task.warn(f"{name}: {count} found pairs are too few to learn from, so it equals {start}")
        return bool(start)

    def training_set(self, step: Step) -> pairs.TrainingSet:
        """Return what a seq2seq model learns from: artificial inputs, or found, taught or aligned pairs."""
        if ALIGNED in step.needs:
            folder = self.run.step_folder(ALIGNED)
            sides = [Corpus.open(folder, "texts"), Corpus.open(folder, "summaries")]
            chosen = np.arange(min(step.aligned_limit or len(sides[0]), len(sides[0])))
            return pairs.TrainingSet(*(Selection([side], chosen) for side in sides))
        makers = [ModelName.of_pairs(name) for name in step.pairs]
        made = [Corpus.open(self.run.step_folder(name), ARTIFICIAL) for name in step.pairs]
        reals = [self._real_side(maker) for maker in makers]
        if step.expands:
            return pairs.union(list(zip(made, reals, strict=True)))
        artificial = [(made[i], reals[i]) for i, maker in enumerate(makers) if maker.expands]
        real = [(reals[i], made[i]) for i, maker in enumerate(makers) if maker.finds]
        taught = [(reals[i], made[i]) for i, maker in enumerate(makers) if maker.teacher]
        if taught:
            return pairs.union([*taught, *real])
        learned = pairs.union(artificial, self.recipe.training.min_coverage)
        if initial := [(reals[i], self._cut(made[i])) for i, maker in enumerate(makers) if learns_initial(maker)]:
            learned = learned.joined(pairs.union(initial), 1)
        return learned.joined(pairs.union(real), self.recipe.near.repeat) if real else learned

    def _cut(self, summaries: Corpus) -> Corpus:
        """Return summaries that are no longer than those that models make; whole lines stay whole."""
        if self.recipe.generation.mend:
            return summaries
        return Corpus.of(words[: self.recipe.generation.max_summary_words] for words in summaries)

    def untrained(self, step: Step, seed: str) -> Seq2seq:
        """Return a model to train: a new one, or the one that it starts from."""
        if step.start:
            return self.trained_model(step.start)
        sides = ("S", "F") if step.expands else ("F", "S")
        return self.new_model(*sides, self.recipe.seq2seq, seed)

    def new_model(self, source: str, target: str, settings: Settings, seed: str) -> Seq2seq:
        """Return an untrained model from one vocabulary to another: F, S or joint. One that copies has joint ones."""
        known, wanted = (self.vocabularies["joint" if settings.copy else side] for side in (source, target))
        vectors = self.vectors(JOINT, known), self.vectors(JOINT, wanted)
        model = Seq2seq(known, wanted, settings, *vectors, generator_of(seed, "weights"))
        return model.to(self.hardware.device)

    def trained_model(self, name: str) -> Seq2seq:
        """Return the seq2seq model of another step."""
        return storage.load(self.run.step_folder(name), self.hardware.device)


def count_shards(step: Step, recipe: Recipe) -> int:
    """Return how many parts a batch has in the training that a step is; 1 for any other step."""
    own_way = step.chain in OWN_WAY and ALIGNED in step.needs
    return recipe.training.shards if step.kind in (Kind.EXPANDER, Kind.SUMMARIZER) and not own_way else 1


def _add_up(task: Task, total: int, unit: str) -> Tell:
    """Return a listener to parts of a step, each of which tells how much it has done since it last did."""
    done = 0

    def tell(message: Progress | str) -> None:
        nonlocal done
        if isinstance(message, str):
            task.warn(message)
            return
        done = min(total, done + message.done)  # a part that is repeated counts twice
        task.report(Progress(done, total, unit, message.note))

    return tell


def _new_attempt(task: Task) -> Path:
    attempt = task.work / f"{ATTEMPT}{secrets.token_hex(8)}"
    attempt.mkdir()
    return attempt


@cache
def open_steps(folder: Path, inputs: Inputs, hardware: Hardware) -> Steps:
    """Open a run folder in a worker, which keeps what it has loaded for the next task."""
    return Steps(replace(Run.open(folder), inputs=inputs), hardware.use())
