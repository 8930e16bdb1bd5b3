from collections.abc import Sequence
from threading import active_count

import pytest

from nutgraf.bench.material import Material, quick
from nutgraf.bench.serving import BATCHED, CLIENTS, UNBATCHED, answers, ask_all, summarizer
from nutgraf.progress import ShouldStop
from nutgraf.serve.limits import Limits
from nutgraf.summarizing.results import Summary, SummaryOptions, SummaryResult

EXPECTED = {f"text {number}": f"summary {number}" for number in range(CLIENTS)}


class Known:
    """Answers from a table; where `mixed`, each text of a batch gets its neighbour's answer."""

    def __init__(self, mixed: bool = False):
        self.mixed = mixed
        self.batches: list[int] = []

    def count_work(self, texts: int, options: SummaryOptions) -> int:
        return texts

    def answer(self, texts: Sequence[str], options: SummaryOptions, should_stop: ShouldStop) -> list[SummaryResult]:
        self.batches.append(len(texts))
        shift = 1 if self.mixed else 0
        rotated = [*texts[shift:], *texts[:shift]]
        return [SummaryResult((), (Summary(EXPECTED[text], (), None),)) for text in rotated]


def test_every_request_is_asked_once_and_only_many_clients_share_batches() -> None:
    threads = active_count()
    together, alone = Known(), Known()
    ask_all(together, EXPECTED, CLIENTS, 2 * CLIENTS, Limits(batch=CLIENTS, wait=0.2))
    ask_all(alone, EXPECTED, 1, 5, UNBATCHED)
    assert sum(together.batches) == 2 * CLIENTS
    assert max(together.batches) > 1
    assert alone.batches == [1] * 5
    assert active_count() == threads  # server and clients are gone


def test_answers_that_reach_the_wrong_client_are_an_error() -> None:
    threads = active_count()
    with pytest.raises(RuntimeError, match=r"expected 'summary \d+', the server answered 200 .*summary \d+"):
        ask_all(Known(mixed=True), EXPECTED, CLIENTS, CLIENTS, Limits(batch=CLIENTS, wait=0.2))
    assert active_count() == threads


def test_an_answer_that_is_no_summary_is_an_error() -> None:
    with pytest.raises(RuntimeError, match=r"the server answered 422 .*empty_text"):
        ask_all(Known(), {" ": ""}, 1, 1, BATCHED)


def test_the_texts_and_their_answers_can_be_told_apart() -> None:
    text = Material(quick())
    model = summarizer(text)
    expected = answers(text, model)
    assert len(expected) == len(set(expected.values())) == text.sizes.served_texts
    assert {len(words) for words in model.words(list(expected))} == {text.sizes.short}
