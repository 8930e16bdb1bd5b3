"""A translator of a toy language: what it reads, what it copies, what it writes."""

from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from nutgraf.errors import RunError
from nutgraf.hardware import Hardware
from nutgraf.learning.loop import Job
from nutgraf.models.baselines import pbsmt
from nutgraf.recipe import Pbsmt, PrThr, Recipe
from nutgraf.run.systems import OF_SUMMARIES, OF_TEXTS
from nutgraf.text.corpus import Corpus
from nutgraf.text.kneser_ney import KneserNey
from nutgraf.text.lexicon import SPECIALS, Ids, Lexicon, Vocab
from nutgraf.text.prepare import Prepared

WORDS = ("storm", "rain", "hit", "hits", "soaked", "soaks", "coast", "city", "yesterday")
LEXICON = Lexicon([*SPECIALS, *WORDS])
SUMMARIES = ["storm hits coast", "rain soaks city", "storm hits city", "rain soaks coast", "storm soaks city"]
TRANSLATIONS = {"hit": {"hits": -0.1, "soaks": -3.0}, "soaked": {"soaks": -0.2, "hits": -2.0}, "storm": {"storm": 0.0}}


def encode(line: str) -> Ids:
    return LEXICON.encode(line.split())


def translator(settings: Pbsmt = Pbsmt(order=3, distortion_limit=2)) -> pbsmt.Translator:  # noqa: B008
    language = KneserNey.train(Corpus.of(map(encode, SUMMARIES)), LEXICON, settings.order)
    vocab = Vocab(np.arange(len(LEXICON) - 1, dtype=np.int32), len(LEXICON))  # without "yesterday"
    found = [TRANSLATIONS.get(word, {}) for word in LEXICON.words[:-1]]
    starts = np.concatenate([[0], np.cumsum([len(own) for own in found])])
    targets = [word for own in found for word in own]
    scores = [score for own in found for score in own.values()]
    table = pbsmt.Table(vocab, starts, LEXICON.encode(targets), np.array(scores, dtype=np.float32))
    return pbsmt.Translator(table, language, settings)


def written(summary: Ids) -> str:
    return " ".join(LEXICON.decode(summary.tolist()))


def test_words_are_translated_and_others_are_copied() -> None:
    options = translator().options(encode("storm hit yesterday coast"))
    assert [written(row[np.isfinite(scores)].astype(np.int32)) for row, scores in zip(
        options.targets, options.scores, strict=True)] == ["storm", "hits soaks", "yesterday", "coast"]  # fmt: skip
    assert options.scores[1].tolist() == pytest.approx([-0.1, -3.0])
    assert options.scores[3, 0] == 0
    found = translator()([encode("storm hit coast"), encode("rain soaked city"), encode("")])
    assert [written(summary) for summary in found] == ["storm hits coast", "rain soaks city", ""]


def test_the_language_model_chooses_where_translations_are_alike() -> None:
    even = replace(translator().table, scores=np.full(5, -1, dtype=np.float32))
    model = pbsmt.Translator(even, translator().language, Pbsmt(order=3, distortion_limit=0))
    assert written(model([encode("rain hit city")])[0]) == "rain soaks city"


class Toy:
    """What a translator is made from: vectors of random words, in another order and rotated on the other side."""

    def __init__(self, noise: float):
        rng = np.random.default_rng(1)
        words = rng.normal(size=(30, 8))
        words[: len(SPECIALS)] = 0
        rotation = np.linalg.qr(rng.normal(size=(8, 8)))[0]
        other = words @ rotation + noise * rng.normal(size=words.shape)
        other[: len(SPECIALS)] = 0
        self.sides: dict[str, NDArray[np.float32]] = {
            OF_TEXTS: other.astype(np.float32),
            OF_SUMMARIES: words.astype(np.float32),
        }
        lexicon = Lexicon([*SPECIALS, *(chr(ord("a") + place % 26) * (1 + place // 26) for place in range(27))])
        sentences = Corpus.of(rng.integers(3, 30, size=(40, 6)))
        self.prepared = Prepared(lexicon, sentences, sentences, sentences)
        vocab = Vocab(np.arange(30, dtype=np.int32), 30)
        self.vocabularies = {"F": vocab, "S": vocab}
        self.recipe = Recipe(pr_thr=PrThr(init="shared", epochs=0), pbsmt=Pbsmt(options=1, language_weight=0.0))
        self.hardware = Hardware.of("cpu", 1)

    def vectors(self, name: str, vocab: Vocab) -> NDArray[np.float32]:
        return self.sides[name]


def test_training_aligns_the_vectors_so_that_words_translate_themselves() -> None:
    warnings: list[str] = []
    model = pbsmt.train(Toy(0.01), Job("x", warn=warnings.append))
    assert not warnings
    assert model.table.starts.tolist() == [0, 0, 0, 0, *range(1, 28)]  # a translation of each word, none of marks
    assert model.table.targets.tolist() == list(range(3, 30))
    assert (model.table.scores <= 0).all()
    assert model.table.scores.min() > -0.2
    sentence = np.array([5, 9, 3, 20], dtype=np.int32)
    assert model([sentence])[0].tolist() == sentence.tolist()


def test_an_alignment_that_failed_is_told() -> None:
    warnings: list[str] = []
    pbsmt.train(Toy(50.0), Job("x", warn=warnings.append))
    assert len(warnings) == 1
    assert "PBSMT: the alignment failed" in warnings[0]


def test_a_summary_is_the_first_words_that_are_written() -> None:
    text = encode("storm hit coast rain soaked city yesterday storm hit city rain soaked coast")
    whole = translator(Pbsmt(order=3, distortion_limit=0, max_words=40))([text])[0]
    assert len(whole) == len(text)
    for most in (1, 4, 7):
        short = translator(Pbsmt(order=3, distortion_limit=0, max_words=most))([text])[0]
        assert short.tolist() == whole[:most].tolist()
    new = np.array([99, 3, 98], dtype=np.int32)  # words past the lexicon's end are copied
    assert sorted(translator()([new])[0].tolist()) == [3, 98, 99]


def test_a_model_survives_its_files_and_strange_ones_are_refused(tmp_path: Path) -> None:
    found = translator()
    found.save(tmp_path)
    again = pbsmt.load(tmp_path)
    assert asdict(again.settings) == asdict(found.settings)
    assert again.lexicon_size == len(LEXICON)
    text = encode("storm hit coast yesterday")
    assert again([text])[0].tolist() == found([text])[0].tolist()
    good = load_file(tmp_path / pbsmt.PHRASES)
    wrong = {
        "starts": good["starts"][:-1].copy(),
        "targets": good["targets"] + np.int32(20),
        "scores": good["scores"] * np.float32(np.nan),
        "vocabulary": good["vocabulary"] + np.int32(1),
    }
    for name, array in wrong.items():
        save_file(good | {name: array}, tmp_path / pbsmt.PHRASES)
        with pytest.raises(RunError, match=r"phrases\.safetensors"):
            pbsmt.load(tmp_path)
    save_file(good, tmp_path / pbsmt.PHRASES)
    (tmp_path / pbsmt.FIGURES).write_text('{"settings": {"stack": 0}, "lexicon": 12}')
    with pytest.raises(RunError, match=r"pbsmt\.json"):
        pbsmt.load(tmp_path)
