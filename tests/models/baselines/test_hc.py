"""Hill climbing against all choices of short texts, and its score against figures computed word by word."""

from dataclasses import asdict, replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from nutgraf.errors import RunError
from nutgraf.hardware import Hardware
from nutgraf.learning.loop import Job
from nutgraf.models.baselines import hc
from nutgraf.recipe import Hc, Recipe
from nutgraf.run.systems import JOINT
from nutgraf.text.corpus import Corpus
from nutgraf.text.kneser_ney import KneserNey
from nutgraf.text.lexicon import SPECIALS, Ids, Lexicon, Vocab
from nutgraf.text.prepare import Prepared

WORDS_KNOWN = "storm hits coast after night of rain said officials on monday the a , ."
SENTENCE = "the storm hits a coast , officials said on monday after a night of rain ."
LEXICON = Lexicon([*SPECIALS, *WORDS_KNOWN.split()])
SUMMARIES = [line.split() for line in ("storm hits coast", "rain hits officials", "storm after rain", "night of storm")]
TEXT = SENTENCE.split()


def model(settings: Hc, seed: str = "x") -> hc.HillClimbing:
    corpora = [Corpus.of(LEXICON.encode(words[::step]) for words in SUMMARIES) for step in (1, -1)]
    forward, backward = (KneserNey.train(corpus, LEXICON, hc.ORDER) for corpus in corpora)
    ids = np.arange(len(LEXICON) - 2, dtype=np.int32)  # the marks have no vectors
    vectors = np.random.default_rng(3).normal(size=(len(ids), 5)).astype(np.float32)
    vectors[: len(SPECIALS)] = 0
    words = hc.Words(Vocab(ids, len(LEXICON)), vectors, LEXICON.encode([",", "."]))
    return hc.HillClimbing(forward, backward, words, settings, seed)


def encode(words: list[str]) -> Ids:
    return LEXICON.encode(words)


WORDS = encode([word for word in TEXT if word not in (",", ".")])


@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_table_sums_to_the_log_probability_of_every_choice(count: int) -> None:
    forward = model(Hc()).forward
    table = hc.tabulate(forward, forward.classes_of(WORDS))
    for choice in list(combinations(range(len(WORDS)), count))[::17]:
        places = [0, 1, *(place + 2 for place in choice), len(WORDS) + 2, len(WORDS) + 3]
        total = sum(table[three] for three in zip(places, places[1:], places[2:], strict=False))
        assert total == pytest.approx(forward.log_probability(WORDS[list(choice)]), rel=1e-6)


def test_the_score_is_fluency_both_ways_times_a_power_of_similarity() -> None:
    found = model(Hc(similarity_weight=7.0))
    score, vectors = found.scorer(WORDS), found.words.vectors[found.words.vocab.local(WORDS)]
    for choice in ([0, 1, 2], [3, 8, 11], [1, 2, 4]):
        chosen = WORDS[choice]
        fluency = (found.forward.log_probability(chosen) + found.backward.log_probability(chosen[::-1])) / 2 / 4
        y, x = vectors[choice].sum(0), vectors.sum(0)
        cosine = float(y @ x / np.linalg.norm(y) / np.linalg.norm(x))
        expected = fluency + 7 * np.log((1 + cosine) / 2)
        assert score(np.array([choice]))[0] == pytest.approx(expected, rel=1e-5)


def test_words_without_vectors_are_neither_like_nor_unlike_the_text() -> None:
    score = hc.Score(np.zeros((8, 8, 8)), np.zeros((4, 4)), 2.0)
    assert score(np.array([[0, 2]])) == pytest.approx([2 * np.log(0.5)])


@pytest.mark.parametrize("words", [1, 3, 6, 11])
def test_with_several_starts_the_best_of_all_choices_is_found(words: int) -> None:
    found = model(Hc(words=words, restarts=20, steps=150))
    choices = np.array(list(combinations(range(len(WORDS)), words)))
    best = choices[int(found.scorer(WORDS)(choices).argmax())]
    assert found([encode(TEXT)])[0].tolist() == WORDS[best].tolist()


def test_a_climb_never_goes_down() -> None:
    score, settings = model(Hc()).scorer(WORDS), Hc(words=4, restarts=1)
    reached = []
    for steps in range(1, 60):
        choice = hc.climb(score, len(WORDS), replace(settings, steps=steps), np.random.default_rng(5))
        assert (np.diff(choice) > 0).all()
        reached.append(float(score(choice[None])[0]))
    assert reached[0] < reached[-1]


def test_marks_are_not_chosen_and_short_texts_stay_as_they_are() -> None:
    found = model(Hc(words=4))
    short = found([encode([",", "storm", ".", "coast", "rain"]), encode(["."]), encode([])])
    assert [LEXICON.decode(summary.tolist()) for summary in short] == [["storm", "coast", "rain"], [], []]
    new = np.array([3, 99, 4, 98, 5, 97, 8], dtype=np.int32)  # words past the lexicon's end
    assert len(found([new])[0]) == 4
    assert set(found([new])[0].tolist()) <= set(new.tolist())


def test_a_summary_depends_on_its_own_text_and_on_the_seed() -> None:
    few = Hc(words=5, restarts=1, steps=2)
    texts = [encode(TEXT), encode(TEXT[4:]), encode(TEXT[::-1])]
    together = model(few)(texts)
    assert [summary.tolist() for summary in together] == [model(few)([text])[0].tolist() for text in texts]
    others = [model(few, seed)([texts[0]])[0].tolist() for seed in "abcdef"]
    assert any(other != together[0].tolist() for other in others)


def test_a_model_survives_its_files_and_strange_ones_are_refused(tmp_path: Path) -> None:
    found = model(Hc(words=5))
    found.save(tmp_path)
    again = hc.load(tmp_path)
    assert again.lexicon_size == len(LEXICON)
    assert asdict(again.settings) == asdict(found.settings)
    assert again([encode(TEXT)])[0].tolist() == found([encode(TEXT)])[0].tolist()
    good = load_file(tmp_path / hc.WORDS)
    save_file(good | {"vectors": good["vectors"][:-1]}, tmp_path / hc.WORDS)
    with pytest.raises(RunError, match=r"hc\.safetensors"):
        hc.load(tmp_path)
    save_file(good, tmp_path / hc.WORDS)
    (tmp_path / hc.FORWARD).write_bytes((tmp_path / hc.FORWARD).read_bytes()[:-8])
    with pytest.raises(RunError, match=r"forward\.safetensors"):
        hc.load(tmp_path)
    (tmp_path / hc.FIGURES).write_text('{"settings": {"words": 0}, "seed": "", "lexicon": 19}')
    with pytest.raises(RunError, match=r"hc\.json"):
        hc.load(tmp_path)


def test_training_weighs_centred_vectors_by_idf() -> None:
    toy = Toy()
    found = hc.train(toy, Job("x"))
    # Of four summaries, three have "storm": log2(4 / 3); none has "said".
    lengths = np.linalg.norm(found.words.vectors, axis=1)
    storm, hits, said = (LEXICON.encode([word])[0] for word in ("storm", "hits", "said"))
    assert lengths[storm] == pytest.approx(np.log2(4 / 3), rel=1e-5)
    assert lengths[hits] == pytest.approx(1, rel=1e-5)
    assert lengths[said] == 0
    given = toy.vectors(JOINT, toy.vocabularies["F"])[len(SPECIALS) :]
    unit = given / np.linalg.norm(given, axis=1, keepdims=True)
    direction = (unit - unit.mean(0))[storm - len(SPECIALS)]
    assert found.words.vectors[storm] @ direction == pytest.approx(lengths[storm] * np.linalg.norm(direction), rel=1e-5)
    assert LEXICON.decode(found.words.marks.tolist()) == [",", "."]
    assert found.settings.words == 3  # the summaries' mean length
    assert found.backward.log_probability(encode(["coast", "hits", "storm"])) > found.backward.log_probability(
        encode(["storm", "hits", "coast"])
    )


class Toy:
    """What the model is made from."""

    def __init__(self) -> None:
        summaries = Corpus.of(map(encode, SUMMARIES))
        self.prepared = Prepared(LEXICON, summaries, summaries, summaries)
        self.vocabularies = {"F": Vocab(np.arange(len(LEXICON), dtype=np.int32), len(LEXICON))}
        self.recipe, self.hardware = Recipe(), Hardware.of("cpu", 1)

    def vectors(self, name: str, vocab: Vocab) -> NDArray[np.float32]:
        assert name == JOINT
        return np.random.default_rng(1).normal(1, 1, size=(len(vocab), 6)).astype(np.float32)
