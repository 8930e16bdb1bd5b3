"""Where the words of a summary come from, as people read it in a terminal.

A word of the summary that is not in the text is in brackets; a name or a number that is not has a question mark, too.
Below: how probable the summary is, how near if it is a real one that was found, or why several models prefer it; what
the model attended to for its new words, what to check, and the next best ones.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from nutgraf.models.proposals import Score
from nutgraf.summarizing.results import Summary, SummaryResult, Word
from nutgraf.terminal.console import out
from nutgraf.text.tokens import detokenize

_NEW, _UNSUPPORTED, _SOFT = "yellow", "bold red", "dim"
_MEANINGS = {
    "agreement": ": how like it is to the other lines that the models proposed",
    "fluency": " per word: how much it reads like the summaries of the training",
    "expected": ": how much of a real summary it has, as far as its words tell",
    "content": " per word: how well the text could be guessed from it",
}


def show_explanation(found: SummaryResult) -> None:
    """Print the summaries of a text with their explanation."""
    out.print(explain(found), "", sep="\n", highlight=False, soft_wrap=True)


def explain(found: SummaryResult) -> Text:
    """Return the best summary with its explanation and the others below; an empty line for an empty text."""
    if not found.summaries:
        return Text()
    best, *others = found.summaries
    rows = [mark_new_words(best), *(_row(*row) for row in _rows(best, found.source)), *map(_other, others)]
    return Text("\n").join(rows)


def mark_new_words(summary: Summary) -> Text:
    """Return a summary with brackets around its new words."""
    forms = [word.text for word in summary.words]
    longer = len(summary.text) - len(detokenize(forms))  # by the capital at the start: that of "ß" is "SS"
    line, start = Text(), 0
    for place, word in enumerate(summary.words, 1):
        end = len(detokenize(forms[:place])) + longer  # one word more changes nothing before it
        blank = " " if summary.text[start] == " " else ""
        line.append(blank)
        line.append(*_mark(summary.text[start + len(blank) : end], word))
        start = end
    return line


def is_new(word: Word) -> bool:
    """Whether a word is not in the text; punctuation is never new."""
    return not word.copied and any(character.isalnum() for character in word.text)


def _mark(piece: str, word: Word) -> tuple[str, str]:
    if word.unsupported:
        return f"[{piece}?]", _UNSUPPORTED
    return (f"[{piece}]", _NEW) if is_new(word) else (piece, "")


def _rows(summary: Summary, source: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    if summary.probability is not None:
        yield "probability", f"{summary.probability:.0%} per word", ""
    if summary.score is not None:
        yield from _score_rows(summary.score)
    if summary.nearness is not None:
        yield "nearness", f"{summary.nearness:.2f}, of this real summary to the text", ""
    if new := [_new(word, source) for word in summary.words if is_new(word)]:
        yield "new", ", ".join(new), ""
    for reason in _reasons(summary):
        yield "unsupported", reason, _UNSUPPORTED


def _score_rows(score: Score) -> Iterator[tuple[str, str, str]]:
    yield "score", f"{score.total:.2f}, the higher the better; it is made of:", ""
    for name, share in score.parts.items():
        yield name, f"{percent(share)}{_MEANINGS[name]}", ""
    if score.breaks:
        yield "breaks", f"{score.breaks}: places where it joins what the text has apart, which count against it", ""


def _new(word: Word, source: tuple[str, ...]) -> str:
    looked = "" if word.source is None else f'looking at "{source[word.source]}"'
    sure = "" if word.probability is None else f"{word.probability:.0%}"
    about = ", ".join(filter(None, (looked, sure)))
    return f"{word.text} ({about})" if about else word.text


def _reasons(summary: Summary) -> list[str]:
    return [
        f"{word.text}: a {'number' if any(map(str.isdigit, word.text)) else 'name'} that is not in the text"
        for word in summary.words
        if word.unsupported
    ]


def _row(name: str, value: str, style: str) -> Text:
    return Text.assemble((f"  {name:<13}", _SOFT), (value, style))


def _other(summary: Summary) -> Text:
    sure = [] if summary.probability is None else [f"{summary.probability:.0%} per word"]
    if summary.score is not None:
        sure.append(_parts(summary.score))
    notes = "; ".join([*sure, *_reasons(summary)])
    return Text.assemble(("  or           ", _SOFT), mark_new_words(summary), (f" ({notes})" if notes else "", _SOFT))


def _parts(score: Score) -> str:
    return f"score {score.total:.2f}: " + ", ".join(f"{name} {percent(share)}" for name, share in score.parts.items())


def percent(share: float) -> str:
    """Return a share with two digits that count."""
    return f"{share:.0%}" if share >= 0.095 else f"{share:.1%}"
