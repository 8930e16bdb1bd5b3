"""agreed-N: what the beams of all-N and near-N agree on, in a run and in an export of it."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from nutgraf import recipe as recipes
from nutgraf.models.agreement import Agreement
from nutgraf.models.members import Members
from nutgraf.models.mending import Mender
from nutgraf.models.mu1 import Mu1
from nutgraf.models.wording import Wording
from nutgraf.progress import Progress
from nutgraf.run.events import Event
from nutgraf.run.folder import Run
from nutgraf.summarizing import loading
from nutgraf.summarizing.backends import Agreed, Searched, SearchRequest
from nutgraf.summarizing.export import write
from nutgraf.summarizing.summarizer import Summarizer
from nutgraf.text.corpus import Corpus as Sentences
from nutgraf.text.grammar import Grammar
from nutgraf.text.lexicon import SPECIALS, Ids, Lexicon
from nutgraf.text.phrases import Phrases
from nutgraf.text.reading import read_pairs
from nutgraf.text.trigrams import Trigrams
from tests.tiny import WITH_NEAR, Corpus, checksums, ended, train_tiny
from tests.toys import LEXICON, toy_model

SENTENCES = [np.array(words, np.int32) for words in ([3, 4, 5, 6, 7], [8, 3, 4], [5, 5, 6, 9])]
DECODING = recipes.Decoding(beam=3, min_words=2, max_words=4)
NONE = np.zeros(0, np.int32)
Found = list[list[list[int]]]  # words of summaries of sentences


def toy_agreed(copy: bool = True) -> Agreed:
    words = Lexicon([*SPECIALS, *(f"w{i}" for i in range(LEXICON - len(SPECIALS)))])
    members = [
        Searched(model, 0, np.zeros(len(model.target), dtype=bool))
        for model in (toy_model(copy, seed=seed) for seed in (0, 1))
    ]
    fluency = Trigrams.train(Sentences.of([np.array([3, 4, 5], np.int32), np.array([4, 5], np.int32)]), words)
    return Agreed(members, Agreement(toy_model(copy=True, seed=9), fluency, recipes.Agreement(beam=3)))


def search(model: Agreed | Searched, sentences: list[Ids], n_best: int, decoding: recipes.Decoding = DECODING) -> Found:
    found = model(sentences, SearchRequest(decoding, n_best, lambda _: NONE))
    return [[one.words.tolist() for one in proposals] for proposals in found]


def test_all_proposals_are_there_in_the_order_of_the_agreement() -> None:
    agreed = toy_agreed()
    beams = [search(member, SENTENCES, 3) for member in agreed.members]
    proposed = [[np.array(words, np.int32) for words in [*a, *b]] for a, b in zip(*beams, strict=True)]
    expected = agreed.agreement.rank(SENTENCES, proposed)
    assert search(agreed, SENTENCES, 3) == [[one.words.tolist() for one in group[:3]] for group in expected]
    firsts = [group[0] for group in search(agreed, SENTENCES, 1)]
    assert firsts != [group[0] for group in beams[0]]
    assert firsts != [group[0] for group in beams[1]]


def test_proposals_are_put_into_other_words_before_they_are_weighed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nutgraf.models.wording.CHANGED", -10.0)
    agreed = toy_agreed()
    wording = Wording(agreed.agreement.fluency, Grammar({word: [4] for word in range(6, LEXICON)}))
    agreed.agreement = replace(agreed.agreement, wording=wording)
    beams = [search(member, SENTENCES, 3) for member in agreed.members]
    proposed = [[np.array(words, np.int32) for words in [*a, *b]] for a, b in zip(*beams, strict=True)]
    reworded = [wording(group) for group in proposed]
    assert [[one.tolist() for one in group] for group in reworded] != [[one.tolist() for one in g] for g in proposed]
    expected = agreed.agreement.rank(SENTENCES, reworded)
    assert search(agreed, SENTENCES, 3) == [[one.words.tolist() for one in group[:3]] for group in expected]


class Cutter:
    """In place of mu1-0: the first N words."""

    def __init__(self, max_words: int = 9):
        self.eta, self.max_words = 0.3, max_words

    def with_eta(self, eta: float, max_words: int) -> Cutter:
        assert eta == self.eta
        return Cutter(max_words)

    def __call__(self, sentences: list[Ids]) -> list[Ids]:
        return [sentence[: self.max_words] for sentence in sentences]


def test_a_cutter_proposes_lines_of_some_lengths() -> None:
    plain, weights = toy_agreed(), recipes.Agreement(beam=3, initial_lengths=(0.5, 1.5))
    agreement = replace(plain.agreement, weights=weights, cutter=cast(Mu1, Cutter()))
    agreed = Agreed(plain.members, agreement)
    beams = [search(member, SENTENCES, 3) for member in plain.members]
    cut = [[text[:2].tolist(), text[:3].tolist()] for text in SENTENCES]  # no fewer than the least number of words, 2
    proposed = [[np.array(words, np.int32) for words in [*a, *b, *c]] for a, b, c in zip(*beams, cut, strict=True)]
    expected = agreement.rank(SENTENCES, proposed)
    assert search(agreed, SENTENCES, 3) == [[one.words.tolist() for one in group[:3]] for group in expected]
    wider = search(agreed, SENTENCES, 9)  # than the beams: each member has made two searches, the cutter one
    assert [group[0] for group in wider] == [group[0] for group in search(agreed, SENTENCES, 1)]
    assert any(line in group for lines, group in zip(cut, wider, strict=True) for line in lines)


def test_a_cutters_lines_may_count_more_than_others() -> None:
    plain, text = toy_agreed(), SENTENCES[:1]
    weights = recipes.Agreement(beam=3, initial_lengths=(1.0, 1.5), initial_votes=4)
    agreed = Agreed(plain.members, replace(plain.agreement, weights=weights, cutter=cast(Mu1, Cutter())))
    beams = [line for member in plain.members for line in search(member, text, 3)[0]]
    proposed = [np.array(words, np.int32) for words in [*beams, *[[3, 4], [3, 4, 5]] * 4]]
    [expected] = agreed.agreement.rank(text, [proposed])
    assert search(agreed, text, 3) == [[one.words.tolist() for one in expected[:3]]]
    assert len(expected) == len({tuple(words.tolist()) for words in proposed})  # each is offered once
    once = {tuple(one.words.tolist()): one.score for one in agreed.agreement.rank(text, [proposed[:-6]])[0]}
    [more] = [one.score for one in expected if one.words.tolist() == [3, 4]]
    assert more is not None
    assert more.agreement > once[3, 4].agreement  # type: ignore[union-attr]


def test_a_cutters_lines_are_no_longer_than_was_asked_for() -> None:
    weights = recipes.Agreement(beam=3, initial_lengths=(0.1, 5.0))
    plain = toy_agreed()
    agreed = Agreed(plain.members, replace(plain.agreement, weights=weights, cutter=cast(Mu1, Cutter())))
    text = np.arange(3, 20, dtype=np.int32)
    assert [len(line) for (lines,) in agreed._cut([text], 2, DECODING) for line in lines] == [2, 4]
    assert [len(line) for (lines,) in agreed._cut([text], 12, replace(DECODING, min_words=0)) for line in lines] == [
        1,
        4,
    ]
    assert agreed._cut([], 2, DECODING) == [[]]


class Longer:
    """In place of a Mender: puts the last word of the text behind a line."""

    phrases = Phrases.of(["", "", ""])

    def __call__(self, text: Ids, summary: Ids, least: int = 1, most: int = 9) -> Ids:
        assert (least, most) == (2, 4)
        return np.append(summary, text[-1:])[:most]


def test_proposals_are_made_whole_within_the_word_limit_before_they_are_weighed() -> None:
    agreed, mender = toy_agreed(), Longer()
    agreed.agreement = replace(agreed.agreement, mender=cast(Mender, mender))
    decoding = replace(DECODING, min_words=2, max_words=4)
    beams = [search(member, SENTENCES, 3, decoding) for member in agreed.members]
    proposed = [[*a, *b] for a, b in zip(*beams, strict=True)]
    longer = [
        [np.array([*line, int(text[-1])] if len(line) < 4 else line, np.int32) for line in group]
        for text, group in zip(SENTENCES, proposed, strict=True)
    ]
    expected = agreed.agreement.rank(SENTENCES, longer)
    assert search(agreed, SENTENCES, 3, decoding) == [[one.words.tolist() for one in group[:3]] for group in expected]
    assert {len(line) == 4 for group in proposed for line in group} == {False, True}


def test_members_propose_as_many_lines_as_the_agreement_says() -> None:
    agreed = toy_agreed()
    for width in (1, 8):
        assert search(agreed, SENTENCES, 3, replace(DECODING, beam=width)) == search(agreed, SENTENCES, 3)
        assert agreed.count_work(9, replace(DECODING, beam=width), 1) == agreed.count_work(9, DECODING, 1)


def test_members_may_have_beams_of_their_own() -> None:
    agreed = toy_agreed()
    own = Agreed(agreed.members, agreed.agreement, [3, 2])
    beams = [search(member, SENTENCES, 3) for member in agreed.members]
    narrow = search(agreed.members[1], SENTENCES, 2, replace(DECODING, beam=2))
    proposed = [[np.array(words, np.int32) for words in [*a, *b]] for a, b in zip(beams[0], narrow, strict=True)]
    expected = agreed.agreement.rank(SENTENCES, proposed)
    assert search(own, SENTENCES, 2) == [[one.words.tolist() for one in group[:2]] for group in expected]
    assert own.count_work(9, DECODING, 1) < agreed.count_work(9, DECODING, 1)
    few, many = (search(own, SENTENCES, count) for count in (1, 3))  # more than one member's beam is wide
    assert [group[0] for group in many] == [group[0] for group in few]


def test_members_propose_shorter_lines_where_any_length_will_do() -> None:
    agreed, usual = toy_agreed(), replace(DECODING, min_words=4, max_words=6)
    shorter = replace(usual, shorter=0.5)
    found = agreed(SENTENCES, SearchRequest(shorter, 3, lambda _: NONE, any_length=True))
    assert [[one.words.tolist() for one in group] for group in found] == search(
        agreed, SENTENCES, 3, replace(usual, min_words=2)
    )
    assert any(len(one.words) < 4 for group in found for one in group)
    assert search(agreed, SENTENCES, 3, shorter) == search(agreed, SENTENCES, 3, usual)  # who asks for a length gets it


def test_a_text_is_summarized_the_same_alone_and_with_others() -> None:
    agreed = toy_agreed()
    assert [search(agreed, [sentence], 3)[0] for sentence in SENTENCES] == search(agreed, SENTENCES, 3)


def test_more_alternatives_than_the_beam_is_wide_leave_the_best_one() -> None:
    few, many = (search(toy_agreed(), SENTENCES, count) for count in (1, 8))
    assert [group[0] for group in many] == [group[0] for group in few]
    for group in many:
        assert 6 < len(group) <= 8
        assert len({tuple(words) for words in group}) == len(group)
    for proposals in toy_agreed()(SENTENCES, SearchRequest(DECODING, 8, lambda _: NONE)):  # one scale for all of them
        scores = [one.score.total for one in proposals if one.score]
        assert len(scores) == len(proposals)
        assert scores[1:] == sorted(scores[1:], reverse=True)


def test_the_best_of_the_first_search_is_weighed_with_what_a_wider_one_finds() -> None:
    agreed, group = toy_agreed(), [np.array(words, np.int32) for words in ([3, 4], [4, 5], [5, 6, 7])]
    (found,) = agreed._rank_wider(SENTENCES[:1], [np.array([9, 8], np.int32)], [group])
    (expected,) = agreed.agreement.rank(SENTENCES[:1], [[*group, np.array([9, 8], np.int32)]])
    assert found[0].words.tolist() == [9, 8]
    assert sorted(one.score.total for one in found if one.score) == sorted(e.score.total for e in expected if e.score)
    (there,) = agreed._rank_wider(SENTENCES[:1], [group[1]], [group])
    assert sorted(one.words.tolist() for one in there) == sorted(words.tolist() for words in group)
    assert there[0].words.tolist() == [4, 5]


def test_what_is_forbidden_is_proposed_by_nobody() -> None:
    agreed, faithful = toy_agreed(copy=False), replace(DECODING, faithful=True)
    barred = agreed(SENTENCES[:1], SearchRequest(faithful, 1, lambda _: NONE))[0][0].words[:1]
    for decoding, free in ((faithful, False), (DECODING, True)):
        found = agreed(SENTENCES[:1], SearchRequest(decoding, 6, lambda _: barred))[0]
        assert any(barred[0] in one.words for one in found) == free


def test_progress_counts_each_sentence_once_and_a_sentence_without_words_has_a_summary() -> None:
    heard: list[Progress] = []
    toy_agreed()(SENTENCES, SearchRequest(DECODING, 1, lambda _: NONE, heard.append))
    assert [progress.done for progress in heard] == sorted(progress.done for progress in heard)
    assert (heard[-1].done, heard[-1].total) == (3, 3)
    assert toy_agreed()([], SearchRequest(DECODING, 1, lambda _: NONE)) == []


@pytest.fixture
def run(with_agreed: Run) -> Run:
    return with_agreed


@pytest.fixture(scope="module")
def texts(corpus: Corpus) -> list[str]:
    return [*(text for text, _ in read_pairs(corpus.pairs)), "Zyx Corp said Zyx would buy 12,345 blorgs .", ""]


def test_the_step_has_no_weights_and_is_the_best_of_its_run(run: Run) -> None:
    folder = run.step_folder("agreed-2")
    assert {path.name for path in folder.iterdir()} == {"agreed.json", "trigrams.npz", "manifest.json"}
    members = Members.load(folder)
    assert members.names == ("all-2", "near-2", "mu1-1")
    assert members.made_from == {name: run.finished(name).digest for name in members.names}  # type: ignore[union-attr]
    best = run.best()
    assert best is not None
    assert best.name == "agreed-2"
    assert run.summarizers()[-1] == "agreed-2"


def test_the_same_command_keeps_it_and_another_member_redoes_it(run: Run, corpus: Corpus, tmp_path: Path) -> None:
    folder = shutil.copytree(run.folder, tmp_path / "run")
    before = checksums(folder)
    events: list[Event] = []
    train_tiny(corpus, folder, WITH_NEAR, listener=events.append)  # what a run has of it stays asked for
    assert set(ended(events).values()) == {"kept"}
    shutil.rmtree(folder / "steps" / "agreed-2")
    events.clear()
    train_tiny(corpus, folder, WITH_NEAR, "plan.agreed=true", listener=events.append)
    assert [name for name, state in ended(events).items() if state == "done"] == ["agreed-2"]
    assert checksums(folder) == before


def test_summaries_of_a_run(run: Run, texts: list[str]) -> None:
    agreed, members = Summarizer.load(run.folder), [Summarizer.load(run.folder, name) for name in ("all-2", "near-2")]
    assert agreed.name == "agreed-2"
    lines = agreed(texts)
    assert [agreed(text) for text in texts] == lines
    assert lines[-1] == ""
    proposed = [
        [summary.text for member in members for summary in member.explain([text], n_best=2)[0].summaries]
        for text in texts[:-1]
    ]
    assert all(line in of_text for line, of_text in zip(lines[:-1], proposed, strict=True))
    explained = agreed.explain(texts, n_best=3)
    assert [one.summaries[0].text for one in explained[:-1]] == lines[:-1]
    assert all(word.source is not None for one in explained for summary in one.summaries for word in summary.words)
    assert all(len(line.split()) <= 4 for line in agreed(texts, max_words=4))
    for one in explained[:-1]:
        scores = [summary.score.total for summary in one.summaries if summary.score]
        assert len(scores) == len(one.summaries)
        assert scores[1:] == sorted(scores[1:], reverse=True)
        assert {summary.probability for summary in one.summaries} == {None}  # all-2's own would not be the reason
    assert {summary.score for one in members[0].explain(texts, n_best=3) for summary in one.summaries} == {None}
    faithful = agreed.explain(texts, faithful=True)
    assert not [word for one in faithful[:-1] for word in one.summaries[0].words if word.unsupported]


def test_numpy_gives_the_same_summaries_and_explanations(run: Run, texts: list[str]) -> None:
    with_torch, light = Summarizer.load(run.folder), Summarizer.load(run.folder, light=True)
    assert light(texts) == with_torch(texts)
    assert light(texts, max_words=4, faithful=True) == with_torch(texts, max_words=4, faithful=True)
    found, expected = (
        [summary for one in each.explain(texts, n_best=5) for summary in one.summaries] for each in (light, with_torch)
    )
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert (one.text, [word.source for word in one.words]) == (other.text, [word.source for word in other.words])
        assert one.score is not None
        assert other.score is not None
        assert one.score.total == pytest.approx(other.score.total, rel=1e-4)
        assert one.score.parts == pytest.approx(other.score.parts, rel=1e-4)


@pytest.mark.parametrize("weights", ["half", "int8"])
def test_an_export_has_the_members_and_gives_the_same_strings(
    run: Run, texts: list[str], tmp_path: Path, weights: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = write(run, tmp_path / "export", ["agreed-2"], weights)
    folders = {path.name for path in export.folder.iterdir() if path.is_dir()}
    assert folders == {"agreed-2", "all-2", "near-2", "mu1-1"}
    assert (export.names, export.default.name) == (("agreed-2",), "agreed-2")  # the members are not offered
    manifest = json.loads((export.folder / "manifest.json").read_text())
    assert set(manifest["inputs"]) == folders
    lines = Summarizer.load(export.folder)(texts)
    same = [a == b for a, b in zip(lines, Summarizer.load(run.folder)(texts), strict=True)]
    assert all(same) if weights == "half" else sum(same) > len(same) / 2
    monkeypatch.setattr(loading, "has_torch", lambda: False)
    assert Summarizer.load(export.folder)(texts) == lines
    both = write(run, tmp_path / "both", ["all-2", "agreed-2"], weights)
    assert both.names == ("all-2", "agreed-2")


def test_mu1_proposes_lines_in_a_run_and_in_its_export(
    run: Run, corpus: Corpus, texts: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shutil.copytree(run.folder, tmp_path / "run")
    for step in ("mu1-2", "mixed-2", "agreed-2"):
        shutil.rmtree(folder / "steps" / step)
    settings = ("plan.agreed=true", 'plan.learn_initial=["mu1"]', "agreement.initial_lengths=[1.0, 2.0]")
    cutting = train_tiny(corpus, folder, WITH_NEAR, *settings)
    members = Members.load(cutting.step_folder("agreed-2"))
    assert (members.cutter, members.names) == ("mu1-0", ("all-2", "near-2", "mu1-2", "mu1-1"))
    assert set(members.made_from) == {"all-2", "near-2", "mu1-2", "mu1-1", "mu1-0"}
    lines = Summarizer.load(folder)(texts)
    assert lines != Summarizer.load(run.folder)(texts)
    export = write(cutting, tmp_path / "export", ["agreed-2"], "half")
    assert {path.name for path in export.folder.iterdir() if path.is_dir()} == {"agreed-2", *members.made_from}
    assert Summarizer.load(export.folder)(texts) == lines
    monkeypatch.setattr(loading, "has_torch", lambda: False)
    assert Summarizer.load(export.folder)(texts) == lines
    small = write(cutting, tmp_path / "small", ["agreed-2"], "int8")
    assert small.size < export.size
    assert all(Summarizer.load(small.folder)(texts)[:-1])


def test_a_run_and_its_export_choose_the_same_forms(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lexicon of a run has more words than that of an export; words that no model knows have no forms in either."""
    load = Members.load

    def load_rewording(folder: Path, lexicon: int | None = None) -> Members:
        members = load(folder, lexicon)
        return replace(members, weights=replace(members.weights, reword=True))

    monkeypatch.setattr(Members, "load", load_rewording)
    found = []
    for place in (run, write(run, tmp_path / "export", ["agreed-2"], "half")):
        language = loading.language_of(place)
        backend = loading.load_backend(place, "agreed-2", language, "cpu", light=True)
        assert isinstance(backend, Agreed)
        assert backend.agreement.wording is not None
        words, grammar = language.lexicon.words, backend.agreement.wording.grammar
        found.append({words[word]: {words[form] for form in forms} for word, forms in grammar.forms.items()})
    assert found[0] == found[1]
    every = Grammar.of(loading.language_of(run).lexicon.words).forms
    assert len(found[0]) < len(every)
