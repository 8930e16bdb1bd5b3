"""The JSON of a question and of an answer, and what is wrong with a question, in plain words.

The parser is pydantic's: it refuses bytes that are no UTF-8, halves of surrogate pairs and nesting without end, and
does not take "5" for 5. What it finds becomes a ApiError, which the app answers with.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from nutgraf.serve.limits import LONGEST_SUMMARY, LONGEST_WORD, MOST_SUMMARIES, Limits
from nutgraf.serve.models import Models
from nutgraf.summarizing.summarizer import Summary as Explanation
from nutgraf.summarizing.summarizer import SummaryResult, Word

_SHOWN = 3  # mistakes that a message names
_LONGEST_MESSAGE = 400  # characters: a message may quote a key that the client made up


class ApiError(Exception):
    """An answer that is no summary: status, a code for programs, a message for people."""

    def __init__(self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None):
        super().__init__(message)
        self.status, self.code, self.headers = status, code, dict(headers or {})
        self.message = message if len(message) <= _LONGEST_MESSAGE else message[:_LONGEST_MESSAGE] + " ..."


class SummarizeRequest(BaseModel):
    """What a client wants summarized: `text` or `texts`, one of the two."""

    model_config = ConfigDict(strict=True, extra="forbid")
    text: str | None = Field(None, description="One text.")
    texts: list[str] | None = Field(None, description="Several texts; the answer has their order.")
    model: str | None = Field(None, description="A name from /v1/models; without one, the default.")
    max_words: int | None = Field(None, ge=1, le=LONGEST_SUMMARY, description="No summary is longer.")
    min_words: int | None = Field(None, ge=1, le=LONGEST_SUMMARY, description="None is shorter, where the model can.")
    n_best: int = Field(1, ge=1, le=MOST_SUMMARIES, description="Above 1: the next best summaries, too.")
    explain: bool = Field(False, description="What each word rests on, and how probable the model finds it.")
    faithful: bool | None = Field(None, description="No name and no number that is not in the text.")


class SummaryBody(BaseModel):
    """A summary; explained, also its words and the geometric mean of their probabilities."""

    summary: str
    probability: float | None = Field(default=None, description="Null for a model that has none, as for each word.")
    words: list[Word] = Field(default=[], description="`source` is a place in `source_words`, or null.")

    @classmethod
    def of(cls, summary: Explanation, explain: bool) -> Self:
        """Set the parts that are wanted."""
        told = cls(summary=summary.text)
        if explain:
            told.probability, told.words = summary.probability, list(summary.words)
        return told


class Summary(SummaryBody):
    """The summary of one text; the parts that were not asked for are left out."""

    alternatives: list[SummaryBody] = Field(
        default=[], description="With `n_best` above 1, best first; there may be fewer."
    )
    source_words: list[str] = Field(default=[], description="What the model read of the text, with `explain`.")

    @classmethod
    def answer(cls, found: SummaryResult, n_best: int, explain: bool) -> Self:
        """Set the parts that are wanted; a blank text has an empty summary."""
        best, *others = found.summaries or (Explanation("", (), None),)
        answer = cls.of(best, explain)
        if n_best > 1:
            answer.alternatives = [SummaryBody.of(other, explain) for other in others]
        if explain:
            answer.source_words = list(found.source)
        return answer


class Answer(BaseModel):
    """One summary a text, in the order of the texts."""

    model: str
    summaries: list[Summary]


class Model(BaseModel):
    """A summarizer that is served."""

    name: str
    description: str


class ModelList(BaseModel):
    """All that are served; `default` is used where a request names none."""

    default: str
    models: list[Model]


class Fault(BaseModel):
    """What went wrong: a code for programs, a message for people."""

    code: str
    message: str


class ErrorBody(BaseModel):
    """Every answer that is not 200."""

    error: Fault


def parse(body: bytes, limits: Limits, models: Models) -> tuple[SummarizeRequest, str, list[str]]:
    """Return what was asked for, the model's name and the texts; a ApiError says what is wrong with it."""
    try:
        asked = SummarizeRequest.model_validate_json(body)
    except ValidationError as error:
        raise _refusal(error) from None
    name = models.default if asked.model is None else asked.model
    if name not in models.by_name:
        raise ApiError(422, "unknown_model", f"model {name[:80]!r}: expected one of {', '.join(models.by_name)}")
    if asked.min_words and asked.max_words and asked.min_words > asked.max_words:
        raise ApiError(422, "invalid_request", f"min_words {asked.min_words} is above max_words {asked.max_words}")
    return asked, name, _texts(asked, limits)


def _refusal(error: ValidationError) -> ApiError:
    mistakes = error.errors(include_url=False, include_context=False, include_input=False)
    told = [f"{'.'.join(map(str, mistake['loc'])) or 'body'}: {mistake['msg']}" for mistake in mistakes[:_SHOWN]]
    if mistakes[0]["type"] == "json_invalid":
        return ApiError(400, "invalid_json", mistakes[0]["msg"])
    return ApiError(422, "invalid_request", "; ".join(told))


def _texts(asked: SummarizeRequest, limits: Limits) -> list[str]:
    if (asked.text is None) == (asked.texts is None):
        raise ApiError(422, "invalid_request", "expected either `text` (a string) or `texts` (a list of strings)")
    texts = [asked.text] if asked.text is not None else asked.texts or []
    if not texts:
        raise ApiError(422, "invalid_request", "texts: expected at least one")
    if len(texts) > limits.texts:
        raise ApiError(422, "too_many_texts", f"{len(texts)} texts: expected at most {limits.texts} in a request")
    for place, text in enumerate(texts):
        words = text.split()
        if not words:
            raise ApiError(422, "empty_text", f"text {place} is blank: expected at least one word")
        if len(words) > limits.words:
            raise ApiError(422, "text_too_long", f"text {place}: {len(words)} words, expected at most {limits.words}")
        if max(map(len, words)) > LONGEST_WORD:
            raise ApiError(422, "text_too_long", f"text {place}: a word of more than {LONGEST_WORD} characters")
    return texts
