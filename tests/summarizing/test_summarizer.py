import pickle  # noqa: TID251
import tracemalloc
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nutgraf import recipe as recipes
from nutgraf.errors import InputError, RunError
from nutgraf.models.proposals import Proposal, Score
from nutgraf.progress import Stopped
from nutgraf.recipe import Decoding
from nutgraf.run.folder import Run
from nutgraf.summarizing import summarizer as summarizing
from nutgraf.summarizing.backends import Attribution, Initial, Searched, SearchRequest
from nutgraf.summarizing.explaining import geometric_mean, rank
from nutgraf.summarizing.results import Summary, SummaryOptions
from nutgraf.summarizing.summarizer import Summarizer
from nutgraf.text.casing import Casing
from nutgraf.text.corpus import Corpus as Words
from nutgraf.text.lexicon import SPECIALS, UNK, Ids, Lexicon
from nutgraf.text.prepare import usual_length
from nutgraf.text.reading import read_lines, read_pairs
from tests.tiny import Corpus
from tests.toys import toy_model

LEXICON = Lexicon([*SPECIALS, "ford", "'s", "profit", "misses", "the", "in", "u.s.", "up"])


def fake(*outputs: Sequence[int], casing: Casing | None = None) -> Summarizer:
    """A summarizer that gives these ids, whatever it reads."""

    def apply(sentences: Sequence[Ids]) -> list[Ids]:
        return [np.array(words, dtype=np.int32) for words in outputs[: len(sentences)]]

    return Summarizer("fake", Initial(apply), LEXICON, recipes.Text(), recipes.Decoding(max_words=5), casing)


def test_words_take_their_case_from_inside_the_text() -> None:
    text = "Profit of Ford was The profit in the U.S."
    # "profit" stands inside the sentence in lower case, "Ford" with a capital.
    assert fake([3, 4, 5, 6])([text]) == ["Ford's profit misses"]
    assert fake([6, 8, 9])([text]) == ["Misses in U.S."]


def test_words_that_are_skimmed_over_are_named_and_places_are_those_of_the_text() -> None:
    text, settings = "Acme (a firm) will close on Monday a plant in Ohio.", recipes.Text(skim=True)
    model = Initial(lambda sentences: [sentence[[0, 2, 4]] for sentence in sentences])
    [found] = Summarizer("x", model, LEXICON, settings, recipes.Decoding()).explain([text])
    assert found.summaries[0].text == "Acme close plant"
    assert [found.source[word.source or 0] for word in found.summaries[0].words] == ["Acme", "close", "plant"]
    assert [found.source[place] for place in found.skipped] == ["(", "a", "firm", ")", "on", "Monday"]
    assert found.source[-1] == "."


def test_places_are_right_where_digits_are_replaced() -> None:
    settings = recipes.Text(skim=True, digits="N")
    model = Initial(lambda sentences: [sentence[[0, -2]] for sentence in sentences])
    text = "Acme will close a plant on May 3, 2020, in Ohio."
    [found] = Summarizer("x", model, LEXICON, settings, recipes.Decoding()).explain([text])
    assert [found.source[word.source or 0] for word in found.summaries[0].words] == ["Acme", "Ohio"]


def test_lead_reads_all_words() -> None:
    assert Summarizer.lead(4, recipes.Text(skim=True))("Acme (a firm) will close on Monday.") == "Acme (a firm"


def test_other_words_are_written_as_the_corpora_write_them() -> None:
    casing = Casing({"ford": "Ford", "misses": "misses"}, {"ford": "Ford", "u.s.": "U.S.", "the": "the"})
    assert fake([6, 3, 9], casing=casing)(["nothing"]) == ["Misses Ford U.S."]
    # "The" starts the sentence, but is no name; "Profit" is nowhere inside a sentence, so it stays as it stands.
    assert fake([9, 7, 5], casing=casing)(["The nothing"]) == ["U.S. the profit"]
    assert fake([9, 5], casing=casing)(["Profit nothing"]) == ["U.S. Profit"]


def test_what_a_summary_rests_on() -> None:
    casing = Casing({}, {"u.s.": "U.S.", "ford": "Ford"})
    found = fake([5, 9, 3, 6], casing=casing).explain(["Ford said its profit fell"])[0]
    assert found.source == ("Ford", "said", "its", "profit", "fell")
    summary = found.summaries[0]
    assert summary.text == "Profit U.S. Ford misses"
    assert [word.text for word in summary.words] == ["profit", "U.S.", "Ford", "misses"]
    assert [word.copied for word in summary.words] == [True, False, True, False]
    assert [word.source for word in summary.words] == [3, None, 0, None]  # an initializer looks at nothing
    assert [word.unsupported for word in summary.words] == [False, True, False, False]
    assert summary.probability is None


def test_near_answers_with_a_real_summary_and_says_how_near_it_is(with_near: Run, corpus: Corpus) -> None:
    real = {line.lower() for line in read_lines(corpus.summaries)}
    texts = [text for text, _ in read_pairs(corpus.pairs)][:5]
    summarizer = Summarizer.load(with_near.folder, "near-0")
    explained = summarizer.explain([*texts, "Xyzzy", ""])
    for one, answer in zip(explained[:-2], summarizer(texts), strict=True):
        (summary,) = one.summaries
        assert summary.text == answer
        assert any(line.startswith(answer.lower()) for line in real)  # decoding.max_words may cut it
        assert summary.nearness is not None
        assert 0 < summary.nearness <= 1
        assert summary.probability is None
    (nothing,) = explained[-2].summaries
    assert (nothing.text, nothing.nearness) == ("", 0)
    assert explained[-1].summaries == ()
    (other,) = Summarizer.load(with_near.folder, "mu1-0").explain(texts[:1])[0].summaries
    assert other.nearness is None


def test_a_seq2seq_models_explanations_agree_with_its_summaries(finished: Run, corpus: Corpus) -> None:
    texts = [text for text, _ in read_pairs(corpus.pairs)][:5]
    summarizer = Summarizer.load(finished.folder, "all-2")
    explained = summarizer.explain([*texts, ""], n_best=3)
    assert [one.summaries[0].text for one in explained[:-1]] == summarizer(texts)
    assert explained[-1].summaries == ()
    for one in explained[:-1]:
        assert 1 <= len(one.summaries) <= 3
        assert len({summary.text for summary in one.summaries}) == len(one.summaries)
        for word in (word for summary in one.summaries for word in summary.words):
            assert word.source is not None
            assert word.probability is not None
            assert 0 < word.probability <= 1
            if word.copied:
                assert one.source[word.source].lower() == word.text.lower()
    with pytest.raises(InputError, match="n_best"):
        summarizer.explain(texts, n_best=0)


def test_alternatives_are_in_the_order_of_their_scores(finished: Run, corpus: Corpus) -> None:
    texts = [text for text, _ in read_pairs(corpus.pairs)]
    for one in Summarizer.load(finished.folder, "all-2").explain(texts, n_best=6):
        scores = [summary.probability or 0 for summary in one.summaries]
        assert scores[1:] == sorted(scores[1:], reverse=True)


def test_the_best_goes_first_then_the_others_by_score_each_once() -> None:
    best, low, high, again = (Summary(*one) for one in (("a", (), 0.4), ("b", (), 0.1), ("c", (), 0.5), ("a", (), 0.3)))
    assert rank([best, low, high, again]) == (best, high, low)
    scores = [Score(total, 0.5, 0.5, 0.5) for total in (-3.0, -2.0, -1.0)]
    of_several = [Summary(text, (), None, score=score) for text, score in zip("abc", scores, strict=True)]
    assert rank(of_several) == (of_several[0], of_several[2], of_several[1])
    assert rank([]) == ()


def test_summaries_that_are_explained_together_are_explained_as_each_alone(finished: Run, corpus: Corpus) -> None:
    model = Summarizer.load(finished.folder, "all-2")._model
    sentence = np.array([7, 9, 12, 7], np.int32)
    summaries = [np.array(words, np.int32) for words in ([9, 7, 30], [], [12], [5, 5, 9, 9, 8])]
    together = model.explain(sentence, summaries)
    for summary, found in zip(summaries, together, strict=True):
        (alone,) = model.explain(sentence, [summary])
        assert found.weights.shape == (len(summary), len(sentence))
        assert alone.probabilities is not None
        assert found.probabilities is not None
        assert found.weights == pytest.approx(alone.weights, abs=1e-6)
        assert found.probabilities.tolist() == pytest.approx(alone.probabilities.tolist(), rel=1e-4)
        assert found.end == pytest.approx(alone.end, rel=1e-4)
    assert model.explain(sentence, []) == []


def test_a_score_is_the_geometric_mean_with_the_end() -> None:
    class Sure(Initial):
        def explain(self, sentence: Ids, summaries: Sequence[Ids]) -> list[Attribution]:
            return [Attribution(np.ones((2, 1), np.float32), np.array([0.5, 0.25], np.float32), end=1.0)]

    summarizer = Summarizer("sure", Sure(lambda s: [np.array([3, 5], np.int32)]), LEXICON, recipes.Text(), Decoding())
    (summary,) = summarizer.explain(["Ford"])[0].summaries
    assert summary.probability == pytest.approx(0.5)  # the third root of 0.5 * 0.25 * 1
    assert geometric_mean([]) is None


def test_faithful_summaries_have_no_name_or_number_of_their_own(finished: Run, corpus: Corpus) -> None:
    texts = [text for text, _ in read_pairs(corpus.pairs)]
    summarizer = Summarizer.load(finished.folder, "all-2")
    faithful = summarizer.explain(texts, faithful=True)
    assert not [word for one in faithful for word in one.summaries[0].words if word.unsupported]
    assert summarizer(texts, faithful=True) == [one.summaries[0].text for one in faithful]


def test_initializers_are_faithful_too() -> None:
    casing = Casing({}, {"u.s.": "U.S.", "ford": "Ford"})
    summarizer = fake([5, 9, 3, 6], casing=casing)
    assert summarizer(["Ford said its profit fell"], faithful=True) == ["Profit Ford misses"]
    assert summarizer(["Sales rose"], faithful=True) == ["Profit misses"]
    assert fake([9], casing=casing)(["Sales rose"], faithful=True) == [""]


def test_initializers_say_nothing_that_contradicts_the_text_either() -> None:
    words = fake([3, 5, 10])
    assert words(["Ford profit fell"]) == ["Ford profit up"]
    assert words(["Ford profit fell"], faithful=True) == ["Ford profit"]
    assert words(["Ford profit rose"], faithful=True) == ["Ford profit up"]
    # "plummeted" is not in the lexicon, and is understood all the same.
    assert words(["Ford profit plummeted"], faithful=True) == ["Ford profit"]


def test_the_search_forbids_words_only_where_output_is_to_be_faithful() -> None:
    model = toy_model(copy=False)
    searched = Searched(model, 0, np.zeros(len(model.target), dtype=bool))
    sentences, settings = [np.array([15], np.int32)], recipes.Decoding(min_words=3, max_words=3, faithful=True)
    none = np.zeros(0, np.int32)
    free = searched(sentences, SearchRequest(settings, 1, lambda _: none))[0][0].words
    bound = searched(sentences, SearchRequest(settings, 1, lambda _: free[:1]))[0][0].words
    assert free[0] not in bound
    assert len(bound) == 3
    either = searched(sentences, SearchRequest(replace(settings, faithful=False), 1, lambda _: free[:1]))[0][0]
    assert either.words.tolist() == free.tolist()


def test_a_number_whose_digits_were_mapped_is_unsupported() -> None:
    for digit in "N#":
        lexicon, text = Lexicon([*SPECIALS, digit * 2]), recipes.Text(digits=digit)
        model = Initial(lambda s: [np.array([3], np.int32) for _ in s])
        summarizer = Summarizer("x", model, lexicon, text, recipes.Decoding())
        copied, new = (one.summaries[0].words[0] for one in summarizer.explain(["rose 42", "rose 7"]))
        assert (copied.text, copied.unsupported, new.unsupported) == ("42", False, True)


def test_of_a_long_text_the_first_sentences_are_read() -> None:
    text = recipes.Text(max_text_words=6)
    summarizer = Summarizer("x", Initial(lambda s: [s[0]]), Lexicon(SPECIALS), text, recipes.Decoding())
    assert summarizer(["One two. Three four. Five six."]) == ["One two. Three four."]
    assert summarizer(["One two three four five six seven eight. Nine."]) == ["One two three four five six"]


def test_a_summary_has_no_mark_that_turns_text_around_and_no_escape_code() -> None:
    hidden = "\u202e\u202a\u2066\u2069\u200f\u061c"
    found = Summarizer.lead(4, recipes.Text()).explain([f"Ford{hidden} p\u202erofit {hidden} misses\x1b[31m it"])[0]
    assert found.summaries[0].text == "Ford profit misses ["
    assert found.source == ("Ford", "profit", "misses", "[", "31m", "it")
    lexicon = Lexicon([*SPECIALS, "\x1b[31mred\u202e", "e\u202ex"])  # of a model that a stranger made
    casing = Casing({"e\u202ex": "E\u202ex"}, {})
    bad = Summarizer("bad", Several([3, 4]), lexicon, recipes.Text(), recipes.Decoding(max_words=5), casing)
    assert bad(["x"]) == ["[31mred Ex"]


def test_summarizers_keep_little_of_what_they_read(monkeypatch: pytest.MonkeyPatch) -> None:
    assert summarizing.CACHED_BYTES <= 1 << 20
    monkeypatch.setattr(summarizing, "CACHED_BYTES", 1 << 17)
    summarizer = fake([3])
    tracemalloc.start()
    for number in range(13):  # 1.2 MB of pieces that no text has twice
        summarizer([" ".join(f"{'x' * 900}{number}.{place}" for place in range(100))])
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert used < 600_000


def test_the_first_letter_is_a_capital_unless_the_word_has_its_own() -> None:
    assert fake([6])(["nothing"]) == ["Misses"]
    lexicon = Lexicon([*SPECIALS, "iphone"])
    summarizer = Summarizer("x", Initial(lambda s: [s[0]]), lexicon, recipes.Text(), recipes.Decoding())
    assert summarizer(["iPhone"]) == ["iPhone"]


def test_digits_that_were_mapped_come_back_from_the_text() -> None:
    lexicon = Lexicon([*SPECIALS, "NN"])
    summarizer = Summarizer("x", Initial(lambda s: [s[0]]), lexicon, recipes.Text(digits="N"), recipes.Decoding())
    assert summarizer.words(["42"]) == [["NN"]]
    assert summarizer(["42"]) == ["42"]


def test_no_unknown_word_is_ever_written() -> None:
    assert fake([UNK, 3, UNK, 0, 1])(["Ford"]) == ["Ford"]


def test_words_that_no_corpus_had_are_copied() -> None:
    summarizer = Summarizer.lead(3, recipes.Text())
    assert summarizer(["Zyxomma petiolatum dusk-flies again"]) == ["Zyxomma petiolatum dusk-flies"]
    assert summarizer.words(["Zyxomma petiolatum dusk-flies"]) == [["zyxomma", "petiolatum", "dusk-flies"]]


def test_blank_texts_have_empty_summaries_at_their_place() -> None:
    assert fake([3], [6])(["a", "", "  ", "b"]) == ["Ford", "", "", "Misses"]
    assert fake()([]) == []


def test_a_text_gives_a_string_and_a_list_gives_a_list() -> None:
    summarizer = fake([3], [6])
    assert summarizer("a") == "Ford"
    assert summarizer(["a"]) == summarizer(("a",)) == ["Ford"]
    assert summarizer(text for text in "ab") == ["Ford", "Misses"]
    assert summarizer("") == ""


def test_it_goes_where_a_function_of_a_text_does() -> None:
    # As pandas' Series.map does, one value at a time; as datasets' map does, with a batch of rows as columns.
    assert list(map(fake([3]), ["a", "b"])) == ["Ford", "Ford"]
    summarizer, rows = fake([3], [6]), {"text": ["a", "b"], "title": ["x", "y"]}
    assert rows | {"headline": summarizer(rows["text"])} == {**rows, "headline": ["Ford", "Misses"]}


def test_a_summarizer_can_be_sent_to_another_process(finished: Run, corpus: Corpus) -> None:
    # datasets.map(num_proc=2) does, and hashes what it pickles.
    texts, summarizer = [text for text, _ in read_pairs(corpus.pairs)][:3], Summarizer.load(finished.folder, "all-2")
    assert pickle.loads(pickle.dumps(summarizer))(texts) == summarizer(texts)  # noqa: S301


def test_a_stream_is_answered_line_by_line() -> None:
    read: list[str] = []

    def lines() -> Iterator[str]:
        for line in "abcde":
            read.append(line)
            yield line

    answers = fake([3], [6]).stream(lines())
    assert read == []
    assert next(answers) == "Ford"
    assert read == ["a"]
    assert [*answers] == ["Ford"] * 4
    read.clear()
    answers = fake([3], [6]).stream(lines(), batch=2)
    assert (next(answers), read) == ("Ford", ["a", "b"])
    assert [*answers] == ["Misses", "Ford", "Misses", "Ford"]
    with pytest.raises(InputError, match="batch 0"):
        next(fake([3]).stream(["a"], batch=0))
    with pytest.raises(TypeError, match="one string"):
        next(fake([3]).stream("a"))


def test_a_long_list_shows_a_bar_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    summarizer, texts = Summarizer.lead(1, recipes.Text()), [f"a{number} b" for number in range(200)]
    expected = [f"A{number}" for number in range(200)]
    assert summarizer(texts) == expected
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(summarizing, "has_terminal", lambda: True)
    assert summarizer(texts[:199]) == summarizer(texts, bar=False)[:199] == expected[:199]
    assert summarizer.answer(texts, SummaryOptions())[0].summaries[0].text == "A0"
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes it for a terminal
    assert summarizer(texts) == expected
    assert "200/200" in capsys.readouterr().err


def test_how_much_of_a_text_is_read() -> None:
    assert Summarizer.lead(1, recipes.Text(max_text_words=4)).count_read("One\u00a0two. Three four. Five.") == (2, 5)


def test_the_longest_summary_holds_exactly() -> None:
    summarizer = fake([3, 5, 6, 7, 8, 9, 10])
    assert len(summarizer.words(["x"])[0]) == 5
    assert len(summarizer.words(["x"], SummaryOptions(max_words=2))[0]) == 2
    with pytest.raises(InputError, match="max_words 0"):
        summarizer(["x"], max_words=0)
    with pytest.raises(InputError, match="min_words 9"):
        summarizer(["x"], min_words=9)
    with pytest.raises(TypeError, match="text 1: expected a string, not NoneType"):
        summarizer(["x", None])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="expected a text or a list of texts, not float"):
        summarizer(float("nan"))  # type: ignore[call-overload]


def test_texts_are_cleaned_as_lines_of_a_file_are(finished: Run, corpus: Corpus) -> None:
    text, summarizer = read_pairs(corpus.pairs)[0][0], Summarizer.load(finished.folder, "all-2")
    dirty = text.replace("e", "\u00ade").replace(" ", "\n\u200b\x07")
    assert summarizer([dirty]) == summarizer([text])
    assert summarizer.explain([dirty]) == summarizer.explain([text])


@pytest.mark.parametrize("name", ["pr-thr-0", "dbae-0", "mu1-0", "mu1-2", "all-2"])
def test_every_summarizer_of_a_run_writes_strings(finished: Run, corpus: Corpus, name: str) -> None:
    texts = [text for text, _ in read_pairs(corpus.pairs)]
    summarizer = Summarizer.load(finished.folder, name)
    outputs = summarizer(texts, max_words=6)
    assert len(outputs) == len(texts)
    assert all(len(output.split()) <= 6 for output in outputs)
    assert not any("<" in output for output in outputs)
    # One path: what is scored is what is written, but for case.
    assert outputs == [summarizer([text], max_words=6)[0] for text in texts]


class Marks(Searched):
    """Says "ford 's profit 's misses 's ...", as long as it has to."""

    longest = 40

    def __init__(self) -> None:
        self.asked: list[tuple[int, int, int]] = []

    def __call__(self, sentences: Sequence[Ids], request: SearchRequest) -> list[list[Proposal]]:
        decoding = request.decoding
        self.asked.append((len(sentences), decoding.min_words, decoding.max_words))
        words = np.array([3, 4, 5, 4, 6, 4, 8, 4, 9, 4], dtype=np.int32)
        return [[Proposal(words[: decoding.min_words])] for _ in sentences]


def test_words_are_counted_as_they_are_written() -> None:
    model = Marks()
    summarizer = Summarizer("marks", model, LEXICON, recipes.Text(), recipes.Decoding(min_words=1, max_words=9))
    assert summarizer(["x", "y"], max_words=3, min_words=3) == ["Ford's profit's misses"] * 2
    # "ford 's profit" are two words, with one word more still two, with two more three.
    assert model.asked == [(2, 3, 3), (2, 4, 4), (2, 5, 5)]
    model.asked.clear()
    assert summarizer(["x"], max_words=3) == ["Ford"]  # nobody asked for more
    assert summarizer(["x"]) == ["Ford"]
    assert model.asked == [(1, 1, 3), (1, 1, 9)]


def test_no_search_is_done_twice_with_the_same_limits() -> None:
    model = Marks()
    summarizer = Summarizer("marks", model, LEXICON, recipes.Text(), recipes.Decoding(min_words=1, max_words=9))
    summarizer(["x"], max_words=40, min_words=40)
    assert model.asked == [(1, 40, 40)]  # the model cannot write more
    model.asked.clear()
    summarizer(["x"], max_words=38, min_words=38)
    assert model.asked == [(1, 38, 38), (1, 39, 39), (1, 40, 40)]


def test_how_much_work_is_asked_for() -> None:
    decoding = recipes.Decoding(beam=5, min_words=1, max_words=9)
    summarizer = Summarizer("marks", Marks(), LEXICON, recipes.Text(), decoding)

    def work(
        texts: int, most: int | None = None, least: int | None = None, n_best: int = 1, words: bool = False
    ) -> int:
        return summarizer.count_work(texts, SummaryOptions(most, least, None, n_best, words))

    assert work(1) == work(16) == 16 * 10 * 5  # texts, words and the end, hypotheses
    assert work(20) == 20 * 10 * 5
    assert work(1, 39) == 16 * 40 * 5
    assert work(1, 39, 39) == 2 * 16 * 40 * 5  # with limits of 39 and 40 words
    assert work(1, 20, 20) == 8 * 16 * 21 * 5
    assert work(1, n_best=10) == 16 * 10 * (5 + 10) + 10 * 10 * 10  # each word of ten summaries is explained
    assert work(2, words=True) == 16 * 10 * 5 + 2 * 10 * 10
    assert fake([3]).count_work(7, SummaryOptions(min_words=2)) == 7
    with pytest.raises(InputError, match="max_words 41"):
        work(1, 41)


def test_work_that_nobody_waits_for_is_stopped(finished: Run, corpus: Corpus) -> None:
    texts = [text for text, _ in read_pairs(corpus.pairs)]
    summarizer = Summarizer.load(finished.folder, "all-2")
    for options in (SummaryOptions(), SummaryOptions(9, 9), SummaryOptions(n_best=5, explain=True)):
        calls = 0

        def count() -> bool:
            nonlocal calls
            calls += 1
            return False

        found = summarizer.answer(texts, options, count)
        assert [one.summaries[0].text for one in found] == summarizer(texts, options.max_words, options.min_words)
        most = calls
        assert most > len(texts) + 5  # before every step, and before every text is written
        for stop_at in (1, 2, most // 2, most):
            calls = 0

            def stop() -> bool:
                nonlocal calls
                calls += 1
                return calls >= stop_at  # noqa: B023

            with pytest.raises(Stopped):
                summarizer.answer(texts, options, stop)
            assert calls == stop_at


def test_an_initializer_is_cut_where_the_words_as_written_end() -> None:
    assert fake([3, 4, 5, 4, 6, 8])(["x"], max_words=2) == ["Ford's profit's"]


def test_a_summary_has_at_least_the_words_asked_for(finished: Run, corpus: Corpus) -> None:
    texts = [text for text, _ in read_pairs(corpus.pairs)]
    summarizer = Summarizer.load(finished.folder, "mu1-2")
    assert all(len(words) >= 7 for words in summarizer.words(texts, SummaryOptions(max_words=7, min_words=7)))
    counts = [len(summary.split()) for summary in summarizer(texts, max_words=7, min_words=7)]
    assert max(counts) == 7
    assert counts.count(7) >= 0.8 * len(counts)  # so small a model may have nothing to say but commas
    with pytest.raises(InputError, match="255"):
        summarizer(texts, max_words=500)


def test_without_a_minimum_summaries_are_as_long_as_those_learned_from(finished: Run) -> None:
    decoding = Decoding(min_words=0, max_words=6)
    assert usual_length(decoding, Words.of([[3] * 4, [3] * 5, [3] * 5])).min_words == 5  # 14 / 3, rounded
    assert usual_length(decoding, Words.of([[3] * 9])).min_words == 6
    assert usual_length(replace(decoding, min_words=2), Words.of([[3] * 9])).min_words == 2
    summarizer = Summarizer.load(finished.folder, "mu1-2")
    summarizer.decoding = replace(summarizer.decoding, min_words=5)
    assert len(summarizer.words(["Ford profit misses estimates again on Tuesday"])[0]) >= 5
    assert len(summarizer.words(["Profit misses"], SummaryOptions(min_words=5))[0]) >= 5
    assert summarizer.words(["Profit misses"]) == summarizer.words(["Profit misses"], SummaryOptions(min_words=1))


def test_the_best_is_loaded_where_none_is_named(finished: Run) -> None:
    assert Summarizer.load(finished.folder).name == "all-2"
    assert Summarizer.load(f"{finished.folder}/mu1-2").name == "mu1-2"
    assert Summarizer.load(f"{finished.folder}/steps/dbae-0").name == "dbae-0"


def test_what_is_not_there_is_named(finished: Run, copied: Run, tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"mu1-4.*There are: pr-thr-0"):
        Summarizer.load(finished.folder, "mu1-4")
    with pytest.raises(RunError, match="mu1-1"):
        Summarizer.load(finished.folder, "mu1-1")  # an expander
    with pytest.raises(RunError, match="does not exist"):
        Summarizer.load(tmp_path / "none")
    (copied.step_folder("all-2") / "model.safetensors").write_bytes(b"x")
    with pytest.raises(RunError, match=r"model\.safetensors: damaged.*redoes the step all-2"):
        Summarizer.load(copied.folder)


def test_a_summary_does_not_end_in_a_word_that_wants_another() -> None:
    whole = fake([3, 5, 7, 8, 7])  # ford profit the in the
    assert whole(["Ford"]) == ["Ford profit the in the"]
    whole.decoding = replace(whole.decoding, trim=True)
    assert whole(["Ford"]) == ["Ford profit the in"]
    only = fake([7, 7])
    only.decoding = replace(only.decoding, trim=True)
    assert only(["Ford"]) == ["The the"]


class Several:
    """A model with several summaries for each sentence, whatever it reads."""

    longest = 99

    def __init__(self, *summaries: Sequence[int]):
        self.summaries = [Proposal(np.array(words, dtype=np.int32)) for words in summaries]

    def __call__(self, sentences: Sequence[Ids], request: SearchRequest) -> list[list[Proposal]]:
        return [self.summaries[: request.n_best] for _ in sentences]

    def count_work(self, sentences: int, decoding: Decoding, n_best: int) -> int:
        raise NotImplementedError

    def explain(self, sentence: Ids, summaries: Sequence[Ids]) -> list[Attribution]:
        raise NotImplementedError


def test_of_the_beam_a_summary_that_makes_nothing_up_is_preferred() -> None:
    casing = Casing({}, {"u.s.": "U.S.", "ford": "Ford"})
    model = Several([5, 9], [5, 6], [5, 3])  # profit u.s., profit misses, profit ford
    first = Summarizer("several", model, LEXICON, recipes.Text(), Decoding(beam=3), casing)
    truest = Summarizer("several", model, LEXICON, recipes.Text(), Decoding(beam=3, prefer_true=True), casing)
    text = ["Ford said its profit fell"]
    assert first(text) == ["Profit U.S."]
    assert truest(text) == ["Profit misses"]
    assert truest.words(text, SummaryOptions(max_words=4)) == [["profit", "misses"]]
    assert truest.words(["The U.S. profit"]) == [["profit", "u.s."]]


def test_a_summary_that_loses_a_negation_goes_last() -> None:
    model = Several([3, 5], [3, 8])  # ford profit, ford in
    summarizer = Summarizer("several", model, LEXICON, recipes.Text(), Decoding(beam=2, prefer_true=True))
    assert summarizer.words(["Ford will not profit in the end"]) == [["ford", "in"]]
    assert summarizer.words(["Ford will profit in the end"]) == [["ford", "profit"]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Ford profit up 12 percent in the u.s.", ["profit", "12", "percent"]),
        ("Ford profit up 12 cars", ["profit", "12"]),
        ("Ford profit up 12 percent, not 12 million", ["profit", "12"]),  # nobody knows which
        ("Ford profit up 12", ["profit", "12"]),
        ("Ford profit up in the u.s.", ["profit", "12"]),
    ],
)
def test_a_number_at_the_end_keeps_its_unit(text: str, words: list[str]) -> None:
    lexicon = Lexicon([*LEXICON.words, "12", "percent", "million", "cars", "not", ","])
    model = Several([5, len(LEXICON)])  # profit 12
    summarizer = Summarizer("several", model, lexicon, recipes.Text(), Decoding(beam=1, trim=True))
    assert summarizer.words([text]) == [words]
    assert summarizer.words([text], SummaryOptions(max_words=2)) == [["profit", "12"]]
