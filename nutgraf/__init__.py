"""nutgraf: a summariser that learns from two piles of text that were never paired.

>>> import nutgraf
>>> nutgraf.train("articles.txt", "titles.txt", out="run/")
>>> nutgraf.Summarizer.load("run/")(["France took an important step toward power market liberalization monday ..."])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nutgraf.errors import InputError, NutgrafError, RecipeError, RunError

if TYPE_CHECKING:
    from nutgraf.backtranslation.train import train
    from nutgraf.summarizing.summarizer import Summarizer

__all__ = ["InputError", "NutgrafError", "RecipeError", "RunError", "Summarizer", "train"]


def __getattr__(name: str) -> object:
    """Import what is heavy when it is first asked for: `nutgraf --help` needs no torch."""
    from nutgraf.hardware import share_cores

    share_cores()
    if name == "train":
        from nutgraf.backtranslation.train import train

        return train
    if name == "Summarizer":
        from nutgraf.summarizing.summarizer import Summarizer

        return Summarizer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
