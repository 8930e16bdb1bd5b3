"""Scores a model that no run has on pairs, as `nutgraf evaluate` would."""

from __future__ import annotations

from pathlib import Path

from nutgraf.evaluation.evaluate import SEED, split_pairs
from nutgraf.evaluation.readability import Reader
from nutgraf.evaluation.scores import score
from nutgraf.models.seq2seq import Seq2seq
from nutgraf.run.folder import Run
from nutgraf.summarizing.language import Language
from nutgraf.summarizing.loading import make_searched
from nutgraf.summarizing.summarizer import Summarizer
from nutgraf.text.reading import read_pairs


class Scorer:
    """Knows the words of a run and the pairs; `limit` 0: all of them."""

    def __init__(self, run: Run, pairs: Path, limit: int = 0):
        self.language, self.pairs = Language.of(run), read_pairs(str(pairs), limit)
        self.inputs, self.references = split_pairs(self.pairs, self.language.text)
        self.reader = Reader.of(run, self.references)

    def summarizer(self, name: str, model: Seq2seq) -> Summarizer:
        """Return a model as a summarizer with the run's words and decoding."""
        language = self.language
        searched = make_searched(model, language)
        return Summarizer(name, searched, language.lexicon, language.text, language.decoding, language.casing)

    def __call__(self, name: str, model: Seq2seq, out: Path | None = None) -> dict[str, float]:
        """Return the figures of a row, and write the summaries."""
        outputs = [" ".join(words) for words in self.summarizer(name, model).words([text for text, _ in self.pairs])]
        if out:
            out.parent.mkdir(parents=True, exist_ok=True)
            out.write_text("".join(f"{line}\n" for line in outputs), encoding="utf-8")
        row = score(name, outputs, self.inputs, self.references, SEED, reader=self.reader)
        figures = {"r1": row.r1.mean, "r2": row.r2.mean, "rl": row.rl.mean, "low": row.rl.low, "high": row.rl.high}
        others = {"words": row.words, "copied": row.copied, "bits": row.bits or 0.0}
        truth = {"unsupported": row.unsupported or 0.0, "contradicted": row.contradicted or 0.0}
        return {key: round(value, 4) for key, value in (figures | others | truth).items()}
