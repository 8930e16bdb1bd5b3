"""What the models of a run are trained on: artificial inputs, real outputs."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from nutgraf.backtranslation.found import load_chosen, load_match
from nutgraf.backtranslation.pairs import coverage
from nutgraf.backtranslation.steps import LEAST_WHOLE, Steps, Task
from nutgraf.errors import RecipeError
from nutgraf.hardware import Hardware
from nutgraf.models import moment_matching, storage
from nutgraf.models.mending import Mender
from nutgraf.models.mu1 import Mu1
from nutgraf.models.near import NONE, Near, Places, choose
from nutgraf.models.wording import Wording
from nutgraf.run.events import Event, State
from nutgraf.run.folder import Run
from nutgraf.run.names import FOUND, ModelName
from nutgraf.run.pairs import ARTIFICIAL, FOUND_FILE, real_side, share
from nutgraf.run.plan import Kind
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import UNK, Ids
from nutgraf.text.trigrams import Trigrams
from tests.tiny import WITH_NEAR, ended, train_tiny
from tests.tiny import Corpus as Files

CPU = Hardware("cpu", 1)
LIMIT = 100  # of the tiny recipe


def lists(corpus: Sequence[Ids]) -> list[list[int]]:
    return [words.tolist() for words in corpus]


def training_set(run: Run, name: str) -> tuple[list[list[int]], list[list[int]]]:
    steps = Steps(run, CPU)
    step = next(step for step in run.plan() if step.name == name)
    data = steps.training_set(step)
    return lists(data.sources), lists(data.targets)


def artificial(run: Run, name: str) -> list[list[int]]:
    return artificial_in(run.step_folder(name))


def artificial_in(folder: Path) -> list[list[int]]:
    return lists(Corpus.open(folder, ARTIFICIAL))


def test_eq_3_an_expander_learns_real_texts_from_artificial_summaries(finished: Run) -> None:
    sources, targets = training_set(finished, "mu1-1")
    made = artificial(finished, "mu1-0.pairs")
    real = lists(share(Steps(finished, CPU).prepared.texts, LIMIT, ModelName("mu1")))
    assert len(made) == LIMIT
    assert list(zip(sources, targets, strict=True)) == [
        pair for pair in zip(made, real, strict=True) if pair[0] and pair[1]
    ]


def test_eq_4_a_summarizer_learns_real_summaries_from_the_expanders_texts(finished: Run) -> None:
    sources, targets = training_set(finished, "dbae-2")
    assert sources == artificial(finished, "dbae-1.pairs")
    assert targets == lists(share(Steps(finished, CPU).prepared.summaries, LIMIT, ModelName("dbae")))


def test_section_3_2_all_learns_from_the_three_chains_together(finished: Run) -> None:
    sources, targets = training_set(finished, "all-2")
    chains = [artificial(finished, f"{chain}-1.pairs") for chain in ("pr-thr", "dbae", "mu1")]
    assert sources == [sentence for chain in chains for sentence in chain]
    summaries = Steps(finished, CPU).prepared.summaries
    shares = [lists(share(summaries, LIMIT, ModelName(chain))) for chain in ("pr-thr", "dbae", "mu1")]
    assert targets == [sentence for part in shares for sentence in part]
    assert shares[0] != shares[1]


def test_a_summarizer_learns_only_from_texts_that_cover_their_summary(finished: Run) -> None:
    asked = replace(finished.recipe, training=replace(finished.recipe.training, min_coverage=0.5))
    sources, targets = training_set(replace(finished, recipe=asked), "mu1-2")
    everything = training_set(finished, "mu1-2")
    kept = coverage(Corpus.of(everything[0]), Corpus.of(everything[1])) >= 0.5
    assert 0 < kept.sum() < len(kept)
    assert sources == [sentence for sentence, keep in zip(everything[0], kept, strict=True) if keep]
    assert targets == [sentence for sentence, keep in zip(everything[1], kept, strict=True) if keep]


def test_artificial_texts_are_clean_and_within_bounds(finished: Run) -> None:
    lexicon = Steps(finished, CPU).prepared.lexicon
    settings = finished.recipe.generation
    for chain in ("pr-thr", "dbae", "mu1"):
        for sentence in artificial(finished, f"{chain}-1.pairs"):
            words = lexicon.decode(sentence)
            assert "." not in words[:-1]
            assert len(words) <= settings.max_text_words
            assert len(words) >= settings.min_text_words or words[-1] == "."
            assert UNK not in sentence  # the tiny recipe copies


def test_eq_2_pairs_of_an_initializer_are_what_it_gives_for_each_text(finished: Run) -> None:
    """The initializers are functions: the pairs hold what they give for each text."""
    from nutgraf.models.initializers import load_initializer

    texts = Steps(finished, CPU).prepared.texts
    for chain in ("pr-thr", "mu1"):
        model = load_initializer(chain, finished.step_folder(f"{chain}-0"))
        assert lists(model(share(texts, LIMIT, ModelName(chain))[:])) == artificial(finished, f"{chain}-0.pairs")


def test_initial_summaries_take_the_words_of_real_ones_where_the_recipe_says_so(finished: Run, tmp_path: Path) -> None:
    generation = replace(finished.recipe.generation, reword=True)
    run = replace(finished, recipe=replace(finished.recipe, generation=generation))
    prepared = Steps(run, CPU).prepared
    as_they_are = Corpus.open(finished.step_folder("mu1-0.pairs"), ARTIFICIAL)
    step = next(step for step in run.plan() if step.name == "mu1-0.pairs")
    Steps(run, CPU).make(Task(step, tmp_path, tmp_path, "seed"))
    wanted = Wording.of(Trigrams.train(prepared.summaries, prepared.lexicon), prepared.lexicon.words)(as_they_are[:])
    assert artificial_in(tmp_path) == lists(wanted) != lists(as_they_are)


@pytest.mark.parametrize("most", [5, 0])
def test_initial_summaries_are_whole_where_the_recipe_says_so(finished: Run, tmp_path: Path, most: int) -> None:
    generation = replace(finished.recipe.generation, mend=True, initial_words=most)
    run = replace(finished, recipe=replace(finished.recipe, generation=generation))
    prepared = Steps(run, CPU).prepared
    as_they_are = Corpus.open(finished.step_folder("mu1-0.pairs"), ARTIFICIAL)
    step = next(step for step in run.plan() if step.name == "mu1-0.pairs")
    Steps(run, CPU).make(Task(step, tmp_path, tmp_path, "seed"))
    mender, texts = Mender.of(prepared.lexicon.words), share(prepared.texts, LIMIT, ModelName("mu1"))
    usual = round(np.mean([len(words) for words in prepared.summaries])) + 1
    cut = [words[: most or usual] for words in as_they_are]
    wanted = [mender(text, words, LEAST_WHOLE) for text, words in zip(texts, cut, strict=True)]
    assert artificial_in(tmp_path) == lists(wanted) != lists(cut)


def test_a_summarizer_learns_to_write_initial_summaries_of_real_texts(finished: Run) -> None:
    plan = replace(finished.recipe.plan, learn_initial=("mu1",))
    generation = replace(finished.recipe.generation, max_summary_words=3)
    run = replace(finished, recipe=replace(finished.recipe, plan=plan, generation=generation))
    texts = Steps(run, CPU).prepared.texts
    initial = [
        (text.tolist(), summary[:3])
        for text, summary in zip(share(texts, LIMIT, ModelName("mu1")), artificial(run, "mu1-0.pairs"), strict=True)
        if summary
    ]
    assert max(len(summary) for summary in artificial(run, "mu1-0.pairs")) > 3
    sources, targets = training_set(run, "mu1-2")
    before = training_set(finished, "mu1-2")
    assert [*zip(sources, targets, strict=True)] == [*zip(*before, strict=True), *initial]


def test_verbs_share_moments_where_the_recipe_says_so(
    finished: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = next(step for step in finished.plan() if step.name == "mu1-0")
    monkeypatch.setattr(moment_matching, "forms_in", lambda *_: {10: [10, 11], 11: [10, 11]})
    biases = []
    for forms in (False, True):
        settings = replace(finished.recipe, mu1=replace(finished.recipe.mu1, forms=forms, steps=1))
        Steps(replace(finished, recipe=settings), CPU).make(Task(step, tmp_path, tmp_path, "seed"))
        biases.append(Mu1.load(tmp_path).arrays["bias"][10:12].tolist())
    apart = [abs(one - other) for one, other in biases]
    assert apart[1] < 0.01 < apart[0]  # they start alike, where they share moments, and one step is small


def test_vectors_are_those_of_the_vocabularys_words(finished: Run) -> None:
    steps = Steps(finished, CPU)
    stored = load_file(finished.step_folder("embeddings") / "vectors.safetensors")
    vocab = steps.vocabularies["S"]
    vectors = steps.vectors("embeddings", vocab)
    for row in (5, 17, len(vocab) - 1):
        place = int(np.flatnonzero(stored["ids"] == vocab.ids[row])[0])
        assert np.array_equal(vectors[row], stored["vectors"][place])


def test_the_learning_curve_is_kept_without_times(finished: Run) -> None:
    curve = json.loads((finished.step_folder("mu1-2") / "history.json").read_text())
    assert [point["step"] for point in curve] == [5, 10, 12]
    assert all(set(point) == {"step", "loss", "held_out"} for point in curve)
    assert {step.kind for step in finished.plan() if (finished.step_folder(step.name) / "history.json").exists()} == {
        Kind.EXPANDER,
        Kind.SUMMARIZER,
    }


Found = list[tuple[list[int], list[int]]]


def pairs_of(run: Run, chosen: Places) -> Found:
    """Return the texts that have a summary, with it."""
    prepared = Steps(run, CPU).prepared
    texts = lists(prepared.texts)
    return [(texts[i], prepared.summaries[int(s)].tolist()) for i, s in enumerate(chosen) if s != NONE]


def found_pairs(run: Run) -> Found:
    """Return the texts that have a near summary, with it."""
    match = Near.load(run.step_folder("near-0")).match(Steps(run, CPU).prepared.texts)
    return pairs_of(run, choose(match, run.recipe.near.min_score, run.recipe.near.max_uses))


def pairs_found_again(run: Run) -> Found:
    """Return the pairs of near-2.pairs."""
    return pairs_of(run, load_chosen(run.step_folder("near-2.pairs"))[0])


def test_found_pairs_are_those_that_near_chooses_with_their_scores(with_near: Run) -> None:
    prepared, model = Steps(with_near, CPU).prepared, Near.load(with_near.step_folder("near-0"))
    made = artificial(with_near, "near-0.pairs")
    texts = lists(real_side(prepared.texts, prepared.summaries, LIMIT, FOUND))
    assert len(texts) == len(made) == 150  # pairs are sought for all texts, whatever a chain's share is
    pairs = [(text, summary) for text, summary in zip(texts, made, strict=True) if summary]
    assert pairs == found_pairs(with_near)
    assert 16 <= len(pairs) < 150
    found = load_file(with_near.step_folder("near-0.pairs") / FOUND_FILE)
    for text, place, score in zip(prepared.texts, found["places"], found["scores"], strict=True):
        expected = model.score(Corpus.of([text]), np.array([[place]]))[0, 0] if place != NONE else 0.0
        assert score == pytest.approx(expected, rel=1e-4)
        assert score == 0 or score >= with_near.recipe.near.min_score


def test_summaries_of_others_are_made_to_fit_where_the_recipe_says_so(with_near: Run, tmp_path: Path) -> None:
    settings = replace(with_near.recipe.near, adapt=True)
    run = replace(with_near, recipe=replace(with_near.recipe, near=settings))
    step = next(step for step in run.plan() if step.name == "near-0.pairs")
    Steps(run, CPU).make(Task(step, tmp_path, tmp_path, "seed"))
    prepared, words = Steps(run, CPU).prepared, Near.load(run.step_folder("near-0")).words
    (places, scores), made = load_chosen(tmp_path), Corpus.open(tmp_path, ARTIFICIAL)
    assert len(made) == len(prepared.texts)
    assert np.array_equal(places != NONE, made.lengths > 0)
    assert np.array_equal(places != NONE, scores >= settings.min_score)
    assert load_match(tmp_path).places.shape == load_match(with_near.step_folder("near-0.pairs")).places.shape
    facts = words.names | words.numbers
    for text, summary in zip(prepared.texts, made, strict=True):
        assert np.isin(summary[facts[summary]], text).all()
    was = [prepared.summaries[int(place)].tolist() for place in places if place != NONE]
    now = [summary.tolist() for summary in made if len(summary)]
    assert any(one != other for one, other in zip(was, now, strict=True))
    # near-0 stays as it is where only the least score changes, and the recipe's counts.
    higher = replace(
        run, recipe=replace(run.recipe, near=replace(settings, min_score=float(np.median(scores[scores > 0]))))
    )
    (tmp_path / "higher").mkdir()
    Steps(higher, CPU).make(Task(step, tmp_path / "higher", tmp_path, "seed"))
    assert 0 < (load_chosen(tmp_path / "higher")[0] != NONE).sum() < (places != NONE).sum()


def test_pairs_are_found_again_among_the_first_candidates(with_near: Run) -> None:
    settings, first, again = with_near.recipe.near, *(with_near.step_folder(f"near-{i}.pairs") for i in (0, 2))
    before, (chosen, scores) = load_match(first), load_chosen(again)
    candidates = np.where(before.scores >= settings.again_min_score, before.places, NONE)
    assert 16 <= (chosen != NONE).sum() <= round(settings.again_pairs * (load_chosen(first)[0] != NONE).sum())
    assert all(place == NONE or place in row for place, row in zip(chosen, candidates, strict=True))
    assert np.bincount(chosen[chosen != NONE]).max() <= settings.max_uses
    assert np.array_equal(scores > 0, chosen != NONE)
    assert scores.max() < before.scores.max()  # probabilities are below 1
    summaries = Steps(with_near, CPU).prepared.summaries
    expected = [summaries[int(place)].tolist() if place != NONE else [] for place in chosen]
    assert artificial(with_near, "near-2.pairs") == expected
    assert pairs_found_again(with_near) != found_pairs(with_near)


def test_the_expander_of_near_learns_real_texts_from_real_summaries(with_near: Run) -> None:
    sources, targets = training_set(with_near, "near-1")
    assert list(zip(targets, sources, strict=True)) == found_pairs(with_near)


def test_summarizers_learn_from_artificial_texts_and_from_found_ones_several_times(with_near: Run) -> None:
    settings = replace(with_near.recipe.near, repeat=3)
    run = replace(with_near, recipe=replace(with_near.recipe, near=settings))
    cases = (
        ("near-2", ("near",), found_pairs(run)),
        ("all-2", ("pr-thr", "dbae", "mu1", "near"), pairs_found_again(run)),
    )
    for name, chains, found in cases:
        sources, targets = training_set(run, name)
        texts = [text for chain in chains for text in artificial(run, f"{chain}-1.pairs")]
        summaries = Steps(run, CPU).prepared.summaries
        real = [summary for chain in chains for summary in lists(share(summaries, LIMIT, ModelName(chain)))]
        assert list(zip(sources, targets, strict=True)) == [*zip(texts, real, strict=True), *3 * found]


def test_all_learns_from_the_artificial_texts_of_the_chosen_chains(with_near: Run) -> None:
    plan = replace(with_near.recipe.plan, all_chains=("mu1",))
    run = replace(with_near, recipe=replace(with_near.recipe, plan=plan))
    sources, _ = training_set(run, "all-2")
    found = [text for text, _ in with_near.recipe.near.repeat * pairs_found_again(run)]
    assert sources == [*artificial(run, "mu1-1.pairs"), *found]
    assert training_set(run, "mixed-2") == training_set(with_near, "mixed-2")


def test_coverage_is_asked_of_artificial_texts_and_not_of_found_pairs(with_near: Run) -> None:
    training = replace(with_near.recipe.training, min_coverage=0.99)
    sources, targets = training_set(replace(with_near, recipe=replace(with_near.recipe, training=training)), "near-2")
    repeated = with_near.recipe.near.repeat * found_pairs(with_near)
    assert list(zip(sources, targets, strict=True))[-len(repeated) :] == repeated
    assert len(sources) < len(repeated) + LIMIT


def test_all_learns_what_its_teachers_agree_on_and_found_pairs_once(
    with_near: Run, corpus: Files, tmp_path: Path
) -> None:
    shutil.copytree(with_near.folder, tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "steps" / "all-2")
    taught = train_tiny(corpus, tmp_path / "run", WITH_NEAR, "plan.teachers=2", "plan.find_again=false")
    sources, targets = training_set(taught, "all-2")
    pairs, texts = [], Steps(taught, CPU).prepared.texts
    for teacher in ("a", "b"):
        own = lists(share(texts, LIMIT, ModelName("all", 2, teacher=teacher)))
        agreed = artificial(taught, f"all-2{teacher}.pairs")
        pairs += [pair for pair in zip(own, agreed, strict=True) if pair[1]]
    assert len(pairs) > LIMIT
    assert list(zip(sources, targets, strict=True)) == [*pairs, *found_pairs(taught)]
    assert artificial(taught, "all-2a.pairs") != artificial(taught, "mu1-0.pairs")
    weights = [storage.load(taught.step_folder(name), CPU.device).bias for name in ("all-2a", "all-2b")]
    assert not weights[0].equal(weights[1])


def test_mixed_learns_what_all_learns_without_near(finished: Run, with_near: Run) -> None:
    assert training_set(with_near, "mixed-2") == training_set(finished, "all-2")


@pytest.fixture
def none_found(corpus: Files, finished: Run, tmp_path: Path) -> tuple[Run, list[Event]]:
    """A run with near in which no pair is near enough."""
    shutil.copytree(finished.folder, tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "steps" / "all-2")
    events: list[Event] = []
    settings = (WITH_NEAR, "near.min_score=1", "plan.iterations=4")
    return train_tiny(corpus, tmp_path / "run", *settings, listener=events.append), events


def test_without_found_pairs_near_1_is_the_common_expander_and_all_learns_from_the_others(
    none_found: tuple[Run, list[Event]],
) -> None:
    run, events = none_found
    assert {step.name for step in run.plan()} == ended(events).keys()
    warnings = [event.note for event in events if event.state is State.NOTED]
    assert "near: 0 pairs found between the two corpora; a lower near.min_score finds more" in warnings
    assert "near-1: 0 found pairs are too few to learn from, so it equals all-1" in warnings
    assert "near-3: 0 found pairs are too few to learn from, so it equals near-1" in warnings
    weights = [load_file(run.step_folder(name) / "model.safetensors") for name in ("near-1", "near-3", "all-1")]
    for other in weights[:2]:
        assert all(np.array_equal(other[key], weights[2][key]) for key in weights[2])
    assert not any(artificial(run, "near-2.pairs"))
    sources, _ = training_set(run, "all-2")
    assert sources == [t for chain in ("pr-thr", "dbae", "mu1", "near") for t in artificial(run, f"{chain}-1.pairs")]


def test_without_found_pairs_and_a_model_to_start_from_there_is_a_clear_error(corpus: Files, copied: Run) -> None:
    settings = ("plan.warm_start=true", "near.min_score=1")
    with pytest.raises(RecipeError, match=r"near-1: 0 pairs found .* Leave near out of plan.initializers, or"):
        train_tiny(corpus, copied.folder, 'plan.initializers=["near"]', *settings)
    few = ('plan.initializers=["near"]', "plan.iterations=4", "plan.warm_start=false", "near.again_min_score=1")
    with pytest.raises(RecipeError, match=r"near-3: 0 pairs found .* with near.again_min_score below 1"):
        train_tiny(corpus, copied.folder.with_name("again"), *few)
    # As the message says, the same run continues without near.
    events: list[Event] = []
    train_tiny(corpus, copied.folder, *settings, listener=events.append)
    assert ended(events)["all-2"] == "kept"
