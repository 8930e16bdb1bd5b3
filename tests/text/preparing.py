"""Lines of text to a lexicon and corpora, in this process."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from nutgraf import recipe
from nutgraf.progress import Report, ignore
from nutgraf.text import prepare as preparing
from nutgraf.text.numbering import SUMMARIES, TEXTS, number_words


def prepare(
    texts: Iterable[str], summaries: Iterable[str], settings: recipe.Text, folder: Path, report: Report = ignore
) -> None:
    """Prepare two corpora of one part each."""
    prepare_parts([texts], [summaries], settings, folder, report)


def prepare_parts(
    texts: Sequence[Iterable[str]],
    summaries: Sequence[Iterable[str]],
    settings: recipe.Text,
    folder: Path,
    report: Report = ignore,
) -> None:
    """Prepare two corpora, each of several parts."""
    with tempfile.TemporaryDirectory() as work:
        parts: dict[str, list[Path]] = {TEXTS: [], SUMMARIES: []}
        for side, of_side in ((TEXTS, texts), (SUMMARIES, summaries)):
            for number, lines in enumerate(of_side):
                parts[side].append(Path(work) / f"{side}-{number}")
                parts[side][-1].mkdir()
                number_words(lines, side, settings, parts[side][-1], report)
        preparing.prepare(parts, settings, folder)
