"""The JSON of requests and responses, and the checks of a request.

pydantic parses: it rejects invalid UTF-8, lone surrogates and endless nesting, and does not take "5" for 5. What it
finds becomes an ApiError, which the app answers with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from nutgraf.errors import InputError
from nutgraf.models.proposals import Score
from nutgraf.run.plain_names import present
from nutgraf.serve.errors import ApiError
from nutgraf.serve.limits import LONGEST_SUMMARY, LONGEST_WORD, MOST_SUMMARIES, Limits
from nutgraf.serve.models import Models, ServedModel
from nutgraf.summarizing.records import as_record
from nutgraf.summarizing.results import SummaryOptions, SummaryResult, Word

_MOST_MISTAKES = 3  # in one message


class SummarizeRequest(BaseModel):
    """What to summarize, and how: exactly one of `text` and `texts`."""

    model_config = ConfigDict(strict=True, extra="forbid")
    text: str | None = Field(None, description="One text.")
    texts: list[str] | None = Field(None, description="Several texts; the summaries come in the same order.")
    model: str | None = Field(None, description="A name from /v1/models. If missing: the default model.")
    max_words: int | None = Field(None, ge=1, le=LONGEST_SUMMARY, description="The most words of a summary.")
    min_words: int | None = Field(
        None, ge=1, le=LONGEST_SUMMARY, description="The fewest words of a summary, where the model can."
    )
    n_best: int = Field(1, ge=1, le=MOST_SUMMARIES, description="Above 1: also return the next best summaries.")
    explain: bool = Field(False, description="Also return where each word comes from, and its probability.")
    faithful: bool | None = Field(None, description="Use no name or number that the text lacks; do not contradict it.")

    @property
    def options(self) -> SummaryOptions:
        """The options for the summarizer."""
        return SummaryOptions(self.max_words, self.min_words, self.faithful, self.n_best, self.explain)


class SummaryBody(BaseModel):
    """One summary. With `explain`: also its words and the geometric mean of their probabilities."""

    summary: str
    probability: float | None = Field(default=None, description="Null where the model has none, or a `score` instead.")
    score: Score | None = Field(
        default=None,
        description="Of agreed-N, with `n_best` above 1 or `explain`: what ordered the summaries, more is better. "
        "`total` is made of `agreement` (how like it is to the other proposals, 0 to 1), `fluency` (how much it reads "
        "like a summary, a probability per word), `expected` (how much of a real summary it has, as far as its words "
        "tell, 0 to 1) and `content` (how well the text could be guessed from it, a probability per word). `breaks` "
        "(places where it joins what the text has apart) count against it. Null: not weighed by this model.",
    )
    words: list[Word] = Field(default=[], description="`source` is an index into `source_words`, or null.")


class TextSummaryBody(SummaryBody):
    """The summary of one text. Fields that were not asked for are left out."""

    alternatives: list[SummaryBody] = Field(
        default=[], description="With `n_best` above 1: the next best summaries, best first. There may be fewer."
    )
    source_words: list[str] = Field(
        default=[], description="With `explain`: the words of the text, up to the last that was read."
    )
    skipped: list[int] = Field(
        default=[], description="With `explain`: which of `source_words` were skimmed over: days, sources, asides."
    )

    @classmethod
    def from_result(cls, result: SummaryResult, options: SummaryOptions) -> Self:
        """Set the fields that the options ask for; a blank text has an empty summary."""
        return cls.model_validate(as_record(result, options))


class SummarizeResponse(BaseModel):
    """One summary for each text, in the same order."""

    model: str
    summaries: list[TextSummaryBody]


class ModelInfo(BaseModel):
    """A summarizer: its name for requests, and how to show it to people."""

    name: str = Field(description="The paper's name, which requests use.")
    title: str = Field(description="The name for people.")
    description: str
    family: str = Field(description="Models of one family belong side by side.")
    loop: int = Field(description="Of back-translation; 0: before it.")

    @classmethod
    def of(cls, name: str, best: str | None) -> Self:
        """Describe a model; `best` is the name of the best one."""
        plain = present(name, best)
        return cls(name=name, title=plain.title, description=plain.description, family=plain.family, loop=plain.loop)


class ModelList(BaseModel):
    """The summarizers that are served; a request that names no model uses `default`."""

    default: str
    default_reason: str
    models: list[ModelInfo]


@dataclass(frozen=True)
class Parsed:
    """A request that was checked: its model, its texts and how much work they may be."""

    request: SummarizeRequest
    model: str
    texts: list[str]
    work: int


def parse_request(body: bytes, limits: Limits, models: Models) -> Parsed:
    """Check a request; an ApiError says what is wrong with it."""
    try:
        request = SummarizeRequest.model_validate_json(body)
    except ValidationError as error:
        raise _explain_mistakes(error) from None
    name = models.default.name if request.model is None else request.model
    if name not in models.by_name:
        raise ApiError(422, "unknown_model", f"model {name[:80]!r}: expected one of {', '.join(models.by_name)}")
    if request.min_words and request.max_words and request.min_words > request.max_words:
        raise _invalid(f"min_words {request.min_words} is above max_words {request.max_words}")
    texts = _check_texts(request, limits)
    return Parsed(request, name, texts, _check_work(request, models.by_name[name], len(texts), limits))


def _check_work(request: SummarizeRequest, model: ServedModel, texts: int, limits: Limits) -> int:
    try:
        work = model.count_work(texts, request.options)
    except InputError as error:
        raise _invalid(str(error)) from None
    if work > limits.work:
        message = f"more work than a request may be: {work:,} steps of one hypothesis, expected at most {limits.work:,}"
        raise ApiError(422, "too_much_work", f"{message}. Ask for fewer texts, words or alternatives, or no min_words")
    return work


def _invalid(message: str) -> ApiError:
    return ApiError(422, "invalid_request", message)


def _explain_mistakes(error: ValidationError) -> ApiError:
    mistakes = error.errors(include_url=False, include_context=False, include_input=False)
    if mistakes[0]["type"] == "json_invalid":
        return ApiError(400, "invalid_json", mistakes[0]["msg"])
    places = [".".join(map(str, mistake["loc"])) or "body" for mistake in mistakes]
    messages = [f"{place}: {mistake['msg']}" for place, mistake in zip(places, mistakes, strict=True)]
    return _invalid("; ".join(messages[:_MOST_MISTAKES]))


def _check_texts(request: SummarizeRequest, limits: Limits) -> list[str]:
    if (request.text is None) == (request.texts is None):
        raise _invalid("expected either `text` (a string) or `texts` (a list of strings)")
    texts = [request.text] if request.text is not None else request.texts or []
    if not texts:
        raise _invalid("texts: expected at least one")
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
