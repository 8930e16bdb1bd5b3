"""The report of a run in any state: well-formed, self-contained, hostile text harmless, figures those of the run."""

import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from nutgraf import cli, report
from nutgraf.errors import RunError
from nutgraf.evaluation.evaluate import evaluate_run
from nutgraf.hardware import Hardware
from nutgraf.progress import duration
from nutgraf.report.corpora import distributions, name_maker, samples
from nutgraf.report.facts import Facts, Pairs, learning_curves
from nutgraf.report.page import render_page
from nutgraf.report.scores import rouge_by_iteration
from nutgraf.run.evaluations import Row
from nutgraf.run.events import Event
from nutgraf.run.folder import REPORT, Run
from nutgraf.text.corpus import Corpus as Sentences
from tests.tiny import WITH_NEAR, Corpus, ended, train_tiny

Evaluated = tuple[Run, tuple[Row, ...]]

NO_END = {"meta"}
HOSTILE = "</style></p><script>alert(1)</script><img src=x onerror=alert(1)>&\"'"


class Reader(HTMLParser):
    """Reads a page: tags must be balanced, and nothing may be loaded or run."""

    def __init__(self, html: str):
        super().__init__()
        self.opened: list[str] = []
        self.words: list[str] = []
        self.feed(html)
        self.close()
        assert self.opened == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "link", "img", "iframe", "object", "embed", "base", "form")
        for name, value in attributes:
            assert not name.startswith("on")
            assert name not in ("src", "srcset", "xlink:href", "style")
            assert name != "href" or (value or "").startswith("#")
        if tag not in NO_END:
            self.opened.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.opened.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.opened and self.opened[-1] == "style":
            assert not re.search(r"url\(|@import|</|https?:", data)
        else:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def evaluated(finished: Run, corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Evaluated:
    folder = tmp_path_factory.mktemp("evaluated") / "run"
    shutil.copytree(finished.folder, folder)
    run = Run.open(folder)
    return run, evaluate_run(run, corpus.pairs, Hardware.of("cpu", 1)).rows


def test_a_finished_run(evaluated: Evaluated) -> None:
    run, rows = evaluated
    html = render_page(run, "now")
    assert html == render_page(Run.open(run.folder), "now")
    text = Reader(html).text
    assert 'class="missing"' not in html
    assert "content=\"default-src 'none'; style-src 'unsafe-inline'\"" in html
    assert '<p class="given" dir="auto">' in html
    assert 'width="100.0"' in html  # the bar of the longest step
    best = run.best()
    assert best
    assert f"Use {best.name} , “" in text
    corpora = f"{Path(run.inputs.texts.path).parent.name}: texts and summaries"
    assert f"<h1>{corpora}</h1>" in html
    assert f"<title>{corpora} · nutgraf report</title>" in html
    assert html.count('class="swipe"') == html.count('class="scroll" tabindex="0"') == html.count("<table") == 3
    assert "mu1-0 Cuts only: keeps the words that a summary would have" in text
    assert "Lead-8 Baseline: the first 8 words of the text" in text
    for row in rows:
        assert row.name in text
        for score in (row.r1, row.r2, row.rl):
            assert f"{score.mean:.2f} ({score.low:.1f}–{score.high:.1f})" in text
    assert rows[0].signature in text
    assert f"total {duration(sum(record.seconds for record in Facts(run).done.values()))}" in text
    for name in ("python", "torch", "numpy", "nutgraf", "mu1-0.pairs", "[training]", "Written now"):
        assert name in text
    assert html.count("<figure>") == 3 + 2 * 3 + len(list(run.folder.glob("steps/*/history.json")))


def test_a_run_with_near_shows_the_pairs_that_were_found(with_near: Run) -> None:
    facts = Facts(with_near)
    html = render_page(with_near, "now")
    text, (first, again) = Reader(html).text, facts.found()
    for found, digits in ((first, ".2f"), (again, ".2g")):
        scores = load_file(with_near.step_folder(found.model.pairs) / "found.safetensors")["scores"]
        kept = scores[scores > 0]
        assert (found.count, found.share) == (len(kept), len(kept) / 150)
        assert found.score == pytest.approx(kept.mean())
        assert [example[2] for example in found.examples] == sorted((e[2] for e in found.examples), reverse=True)
        assert found.examples[0][2] == pytest.approx(kept.max())
        assert found.examples[-1][2] == pytest.approx(kept.min())
        for source, summary, score in found.examples:
            assert f"{source} {score:{digits}} {summary}" in text
    assert f"near-0 found {first.count} pairs of a real text and a real summary, for {first.share:.1%} of the" in text
    assert f"Their mean score is {first.score:.2f}. Here are 10, from the best score" in text
    assert f"near-2 found {again.count} pairs of a real text and a real summary again, among the candidates" in text
    assert f"Their mean score is {again.score:.2g}, by words and by models. Here are 10, from the best" in text
    assert text.count("Pairs found between texts and summaries") == 1
    for chain in ("near", "mixed"):
        assert f'class="{chain}"' in html
        assert f".{chain} {{ --colour" in html
    assert "cannot be read" not in text


def test_pairs_that_were_made_to_fit_are_counted(with_near: Run, tmp_path: Path) -> None:
    shutil.copytree(with_near.folder, tmp_path / "run")
    run = Run.open(tmp_path / "run")
    assert "stand in place" not in Reader(render_page(run, "now")).text
    folder = run.step_folder("near-0.pairs")
    made = [summary.tolist() for summary in Sentences.open(folder, "artificial")]
    first = next(place for place, summary in enumerate(made) if summary)
    made[first] = [*made[first], made[first][0]]
    Sentences.of(made).save(folder, "artificial")
    assert [found.adapted for found in Facts(run).found()] == [1, 0]
    text = Reader(render_page(run, "now")).text
    assert "In 1 of them, names or numbers of the text stand in place of the summary’s own." in text


def test_found_pairs_are_neither_artificial_samples_nor_empty_in_histograms(with_near: Run) -> None:
    facts = Facts(with_near)
    shown = {step.name for _, cards in samples(facts) for _, written in cards for step, _ in written}
    assert "near-1.pairs" in shown
    assert not {"near-0.pairs", "near-2.pairs"} & shown
    for found in facts.found():
        step = next(step for step in facts.steps if step.name == found.model.pairs)
        assert len(facts.sample(step).summaries) == found.count
        assert all(len(summary) for summary in facts.sample(step).summaries)
    charts = distributions(facts)
    assert charts
    assert [heading for heading, _ in charts.rows] == [
        "Iteration 0: artificial summaries; near’s are real ones, found",
        "Iteration 1: artificial texts",
        "Iteration 2: real summaries, found by near",
    ]


def test_a_run_in_which_no_pair_was_found(with_near: Run, tmp_path: Path) -> None:
    shutil.copytree(with_near.folder, tmp_path / "run")
    run = Run.open(tmp_path / "run")
    for folder in (run.step_folder("near-0.pairs"), run.step_folder("near-2.pairs")):
        Sentences.of([[]] * 150).save(folder, "artificial")
        nothing = np.zeros(150, dtype=np.float32)
        save_file({"places": np.full(150, -1), "scores": nothing}, folder / "found.safetensors")
    (run.step_folder("near-1") / "history.json").write_text("[]")  # it was not trained
    text = Reader(render_page(run, "now")).text
    assert "Not trained, for want of pairs: near-1." in text
    assert "near-0 found 0 pairs" in text
    assert "a lower near.min_score finds more" in text
    assert "near-2 found 0 pairs" in text
    assert "a lower near.again_min_score finds more" in text
    assert "cannot be read" not in text


def test_a_run_with_teachers(with_near: Run, corpus: Corpus, tmp_path: Path) -> None:
    shutil.copytree(with_near.folder, tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "steps" / "all-2")
    run = train_tiny(corpus, tmp_path / "run", WITH_NEAR, "plan.teachers=2", "plan.find_again=false")
    facts = Facts(run)
    together = ["near-2 + all-2a", "near-2 + all-2b"]
    for _, cards in samples(facts):
        for _, written in cards:
            assert "all-2a" not in [name_maker(step) for step, _ in written]
    text = Reader(render_page(run, "now")).text
    assert all(f"{names} artificial" in text for names in together)
    assert "A line under several names is what these models agreed on." in text
    assert f"artificial summaries, agreed on by {together[0]}, then by {together[1]}" in text
    evaluate_run(run, corpus.pairs, Hardware.of("cpu", 1), ["all-2a", "all-2b", "all-2"])
    (evaluation,) = facts.evaluations
    charts = rouge_by_iteration(evaluation.rows)
    assert charts
    (line,) = [one for one in charts.rows[0][1][0].series if one.style == "all"]
    assert len(line.points) == 1  # teachers are no further than what they teach
    assert "all-2a Teacher A: one of the models that all-2 learned from" in Reader(render_page(run, "now")).text


def test_predictions_are_shown_with_their_text_and_reference(evaluated: Evaluated, corpus: Corpus) -> None:
    run, _ = evaluated
    source, reference = Path(corpus.pairs).read_text().splitlines()[0].split("\t")
    text = Reader(render_page(run, "now")).text
    assert f"{source} reference {reference} pr-thr-2" in text
    (evaluation,) = Facts(run).evaluations
    assert len(evaluation.outputs("all-2")) == len(evaluation.pairs()) == 20


def test_pairs_that_are_gone_or_changed(evaluated: Evaluated, corpus: Corpus, tmp_path: Path) -> None:
    run, _ = evaluated
    path = run.folder / "evaluation" / "pairs.json"
    table = json.loads(path.read_text())
    other = tmp_path / "other.tsv"
    other.write_text("another text\tanother summary\n")
    shutil.copytree(run.folder, tmp_path / "run")
    for name in (str(tmp_path / "gone.tsv"), str(other)):
        table["pairs"]["path"] = name
        (tmp_path / "run" / "evaluation" / "pairs.json").write_text(json.dumps(table))
        text = Reader(render_page(Run.open(tmp_path / "run"), "now")).text
        assert f"{name}: no longer there as it was" in text
        assert "another summary" not in text


@pytest.mark.parametrize("kept", [(), ("text",), ("text", "embeddings", "mu1-0", "mu1-0.pairs")])
def test_an_early_run(copied: Run, kept: tuple[str, ...]) -> None:
    for folder in (copied.folder / "steps").iterdir():
        if folder.name not in kept:
            shutil.rmtree(folder)
    html = render_page(copied, "now")
    text = Reader(html).text
    assert f"{len(kept)} of {len(copied.plan())}" in text
    assert "Not evaluated yet" in text
    assert "No model is trained yet" in text
    assert ("No artificial pairs yet" in text) == ("mu1-0.pairs" not in kept)
    assert "cannot be read" not in text


def test_a_damaged_file_costs_its_own_part_only(copied: Run) -> None:
    (copied.step_folder("mu1-2") / "history.json").write_text("{")
    (copied.step_folder("dbae-0.pairs") / "manifest.json").write_text("[]")
    (copied.folder / "evaluation").mkdir()
    (copied.folder / "evaluation" / "test.json").write_text('{"rows": [')
    text = Reader(render_page(copied, "now")).text
    # The verdict and what follows from it, the tables, ROUGE, predictions and real pairs need the evaluation; the
    # curves need their file.
    assert text.count("cannot be read from the run") == 7
    assert "dbae-0.pairs to come" in re.sub(r"\s+", " ", text)
    assert "Artificial texts, written for real summaries" in text


def test_a_model_that_was_validated_once_has_a_note_and_no_empty_curve(copied: Run) -> None:
    once = [{"step": 12, "loss": 5.0, "held_out": 4.25}]
    (copied.step_folder("mu1-1") / "history.json").write_text(json.dumps(once))
    charts = learning_curves(Facts(copied))
    assert charts
    assert charts.note == "Validated only once, at the end: mu1-1 4.25."
    ((_, panels),) = charts.rows
    assert "mu1-1" not in [panel.title for panel in panels]
    assert all(len(series.points) > 1 for panel in panels for series in panel.series)


def test_hostile_text_is_shown_and_does_nothing(evaluated: Evaluated, tmp_path: Path) -> None:
    folder = tmp_path / "<b>run & 'co'"
    shutil.copytree(evaluated[0].folder, folder)
    pairs = tmp_path / "<i>hostile.tsv"
    pairs.write_text(f"{HOSTILE} text\t{HOSTILE} summary\n" * 3)
    run = Run.open(folder)
    evaluate_run(run, str(pairs), Hardware.of("cpu", 1), ["mu1-0"])
    for path in (folder / "evaluation" / "<i>hostile").iterdir():
        path.write_text(f"{HOSTILE}\n" * 3)
    lexicon = folder / "steps" / "text" / "lexicon.txt"
    words = lexicon.read_text().split("\n")
    lexicon.write_text("\n".join([*words[:3], *(HOSTILE.replace(" ", "") for _ in words[3:-1]), ""]))
    html = render_page(run, HOSTILE)
    text = Reader(html).text
    for part in (f"{HOSTILE} text", f"{HOSTILE} summary", "<b>run & 'co'", "On “<i>hostile”", f"Written {HOSTILE}"):
        assert part in text
    assert text.count(HOSTILE) > 3 * 2 + 1
    assert "<script" not in html
    assert "<img" not in html


def test_characters_that_no_page_may_hold_are_replaced(finished: Run) -> None:
    assert "Written a\ufffdb\ufffd\ufffdc\tå." in render_page(finished, "a\x00b\x1b\ud800c\tå")


@pytest.mark.parametrize(("share", "failed"), [(0.8, False), (0.196, True)])
def test_how_well_pr_thr_is_aligned(copied: Run, share: float, failed: bool) -> None:
    path = copied.step_folder("pr-thr-0") / "pr-thr.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"self_match": share}))
    html = render_page(copied, "now")
    text = Reader(html).text
    assert f"{share:.0%}".rstrip("%") in text.split("Pr-Thr")[1]
    assert ('class="warning"' in html, "the alignment failed" in text) == (failed, failed)
    path.write_text("{}")
    text = Reader(render_page(copied, "now")).text
    assert text.count("cannot be read from the run (RunError: ") == 1
    assert "held-out pairs" in text


def test_copying_and_positions_by_hand() -> None:
    # UNK (2) is nobody's word; 5 is in the text twice, and its first place counts.
    pairs = Pairs(Sentences.of([[4, 5, 2, 5], [6]]), Sentences.of([[5, 2, 9, 4], []]))
    assert pairs.copied == [0.5]
    assert pairs.positions == [1.5 / 4, 0.5 / 4]


def test_pairs_of_a_step_belong_together(finished: Run) -> None:
    """An initializer that keeps words of the text copies all of them."""
    facts = Facts(finished)
    step = next(step for step in facts.steps if step.name == "mu1-0.pairs")
    copied = facts.sample(step).copied
    assert copied
    assert min(copied) == 1


def test_it_is_written_after_every_step_and_a_failure_stops_nothing(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "PAUSE", 0.0)
    written: list[int] = []
    write, events, warned = report.write_report, list[Event](), list[str]()

    def watched(run: Run, out: Path | None = None) -> Path:
        written.append(len(Facts(run).done))
        if len(written) == 2:
            raise ZeroDivisionError("for the test")
        return write(run, out)

    monkeypatch.setattr(report, "write_report", watched)
    train_tiny(corpus, tmp_path / "run", "plan.iterations=0", listener=events.append, warn=warned.append)
    assert written == list(range(1, 1 + len(ended(events))))
    assert [message for message in warned if "ZeroDivisionError: for the test" in message]
    assert f"{written[-1]} of {written[-1]}" in Reader((tmp_path / "run" / REPORT).read_text()).text
    (tmp_path / "run" / REPORT).unlink()
    train_tiny(corpus, tmp_path / "run", "plan.iterations=0")
    assert (tmp_path / "run" / REPORT).exists()


def test_the_command_and_the_evaluation_write_it(copied: Run, corpus: Corpus, tmp_path: Path) -> None:
    def call(*arguments: str | Path) -> object:
        with pytest.raises(SystemExit) as stopped:
            cli.main([str(argument) for argument in arguments])
        return stopped.value.code

    (copied.folder / REPORT).unlink(missing_ok=True)
    assert call("evaluate", copied.folder, "--pairs", corpus.pairs, "--models", "mu1-0", "--threads", "1") == 0
    assert "Lead-12" in (copied.folder / REPORT).read_text()
    assert call("report", copied.folder, "--out", tmp_path / "mine.html") == 0
    assert "Lead-12" in (tmp_path / "mine.html").read_text()
    assert call("report", copied.folder, "--out", tmp_path / "no" / "mine.html") == 2
    assert call("report", tmp_path / "nothing") == 2
    with pytest.raises(RunError, match="--out"):
        report.write_report(copied, tmp_path / "no" / "mine.html")
