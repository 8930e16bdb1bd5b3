"""How soon a user sees something: processes of their own, from the shell to the last byte.

The help of the command line, and the first summary from an export, against a process that imports torch and does
nothing else.
"""

from __future__ import annotations

import atexit
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

from nutgraf.bench.material import Case, Material, Work
from nutgraf.bench.serving import fixed_length
from nutgraf.models.storage import weights_of
from nutgraf.run.folder import Choice
from nutgraf.summarizing.export import save_models
from nutgraf.summarizing.language import Language
from nutgraf.text.casing import Casing

NAME = "all-2"
TORCH = "import torch"


def startup(text: Material) -> list[Case]:
    """Start Python, and do one thing."""
    once = {"starts": 1.0}
    return [
        Case("nutgraf --help", lambda: partial(_run, "-m", "nutgraf.cli", "--help"), once, against=TORCH),
        Case("first summary", partial(_summarize, text), once, against=TORCH),
        Case(TORCH, lambda: partial(_run, "-c", "import torch"), once),
    ]


def _run(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)


def _summarize(text: Material) -> Work:
    """Make an export with random weights, and return the summarizing of one sentence by it."""
    folder = Path(mkdtemp(prefix="nutgraf-bench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    sentence = " ".join(text.stories[0][0].split()[: text.sizes.long])
    language = Language(text.lexicon, Casing(), text.recipe.text, fixed_length(text))
    save_models(folder, {NAME: weights_of(text.model(copy=True))}, language, Choice(NAME, "the only one"))
    return partial(
        _run, "-c", f"from nutgraf import Summarizer; print(Summarizer.load({str(folder)!r})([{sentence!r}]))"
    )
