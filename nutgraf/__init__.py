"""nutgraf: a summariser that learns from two piles of text that were never paired.

>>> import nutgraf
>>> nutgraf.Summarizer.load()("France took an important step toward power market liberalization monday ...")
>>> nutgraf.train("articles.txt", "titles.txt", out="run/")
>>> nutgraf.Summarizer.load("run/")(["France took an important step ...", "Shares of Ford fell 4 percent ..."])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nutgraf.errors import InputError, MissingExtraError, NutgrafError, RecipeError, RunError

if TYPE_CHECKING:
    from nutgraf.backtranslation.train import train
    from nutgraf.summarizing.summarizer import Summarizer

    __version__: str

__all__ = [
    "InputError",
    "MissingExtraError",
    "NutgrafError",
    "RecipeError",
    "RunError",
    "Summarizer",
    "__version__",
    "train",
]


def __getattr__(name: str) -> object:
    """Import on first use: `import nutgraf` and `nutgraf --help` load no torch, a Summarizer nothing of training."""
    if name in ("train", "Summarizer"):
        from nutgraf.hardware import share_cores

        share_cores()
    if name == "train":
        from nutgraf.extras import need_extra

        need_extra("train", "nutgraf.train")
        from nutgraf.backtranslation.train import train

        return train
    if name == "Summarizer":
        from nutgraf.summarizing.summarizer import Summarizer

        return Summarizer
    if name == "__version__":
        from importlib.metadata import version

        return version("nutgraf")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
