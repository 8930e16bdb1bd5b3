"""Finds a summarizer in a run folder or an export, and loads its model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nutgraf.errors import RunError
from nutgraf.extras import has_torch
from nutgraf.models.agreement import Agreement
from nutgraf.models.light import LightModel
from nutgraf.models.members import Members
from nutgraf.models.mending import Mender
from nutgraf.models.mu1 import Mu1
from nutgraf.models.wording import Wording
from nutgraf.run.folder import STEPS, Choice, Run
from nutgraf.run.names import AGREED, ModelName
from nutgraf.run.systems import is_seq2seq
from nutgraf.summarizing.backends import Agreed, Backend, Initial, Searched
from nutgraf.summarizing.export import EXPORT, Export
from nutgraf.summarizing.language import Language
from nutgraf.summarizing.ready import is_model_folder
from nutgraf.text.facts import is_fact

if TYPE_CHECKING:
    import torch

    from nutgraf.models.seq2seq import Seq2seq


def locate(path: Path, name: str | None) -> tuple[Run | Export, Choice]:
    """Find the run or export, and the summarizer of it, that a path such as run/ or run/mu1-2 means."""
    if name is None and not is_model_folder(path):
        for folder in (path.parent, path.parent.parent if path.parent.name == STEPS else path.parent):
            if is_model_folder(folder):
                path, name = folder, path.name
                break
    run = Export.open(path) if (path / EXPORT).exists() else Run.open(path)
    choice = Choice(name, "it was asked for") if name else run.best()
    if choice is None:
        raise RunError(f"{path}: no summarizer is done yet. See `nutgraf status {path}`")
    check_done(run, choice.name)
    return run, choice


def check_done(run: Run | Export, name: str) -> None:
    """Raise an error where there is no such summarizer, or not yet."""
    if name not in run.summarizers():
        done = ", ".join(run.summarizers()) or "none yet"
        raise RunError(f"{run.folder}: no summarizer {name} that is done. There are: {done}")


def language_of(run: Run | Export) -> Language:
    """Return what the summarizers of a run or an export share."""
    return run.language if isinstance(run, Export) else Language.of(run)


def load_backend(
    run: Run | Export, name: str, language: Language, device: str | torch.device, light: bool = False
) -> Backend:
    """Load the model of a summarizer that is done; `light`: for numpy, also where torch is installed."""
    folder, parsed = run.intact(name), ModelName.parse(name)
    if not is_seq2seq(parsed):
        from nutgraf.models.initializers import load_initializer  # exports have none

        return Initial(load_initializer(parsed.chain, folder, len(language.lexicon)))
    if parsed.chain == AGREED:
        return _load_agreed(run, Members.load(folder, len(language.lexicon)), language, device, light)
    return make_searched(_load_seq2seq(folder, device, len(language.lexicon), light), language)


def make_searched(model: LightModel | Seq2seq, language: Language) -> Searched:
    """Return a seq2seq model, ready to summarize with the words and settings of its run."""
    words = language.lexicon.decode(model.target.ids.tolist())
    facts = np.array([is_fact(word, language.casing) for word in words])
    return Searched(model, language.decoding.output_words, facts)


def _load_agreed(
    run: Run | Export, members: Members, language: Language, device: str | torch.device, light: bool
) -> Agreed:
    words = len(language.lexicon)
    models = [_load_seq2seq(run.intact(name), device, words, light) for name in members.names]
    summarizers = models[: len(members.summarizers)]
    expander = models[-1] if members.expander else None
    searched = [make_searched(model, language) for model in summarizers]
    # An export has the words that its models know, and no others; a run must choose the same forms.
    known = frozenset(summarizers[0].target.ids.tolist())
    vocabulary = [word if place in known else "" for place, word in enumerate(language.lexicon.words)]
    wording = Wording.of(members.fluency, vocabulary, leaves_out=False) if members.weights.reword else None
    mender = Mender.of(vocabulary) if members.weights.mend else None
    cutter = Mu1.load(run.intact(members.cutter), words).knowing(summarizers[0].target.ids) if members.cutter else None
    agreement = Agreement(expander, members.fluency, members.weights, wording, mender, cutter)
    return Agreed(searched, agreement, members.beams)


def _load_seq2seq(folder: Path, device: str | torch.device, lexicon: int, light: bool) -> LightModel | Seq2seq:
    """Load a model for torch or, where that is not installed or not wanted, for numpy: both give the same summaries."""
    if light or not has_torch():
        return LightModel.load(folder, lexicon)
    from nutgraf.models.storage import load

    return load(folder, device, lexicon)
