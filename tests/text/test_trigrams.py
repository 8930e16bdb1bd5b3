"""Checked against figures computed by hand, and against a slow version that counts in dicts."""

from __future__ import annotations

import tracemalloc
from collections import Counter, defaultdict
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZipFile

import numpy as np
import pytest

from nutgraf.demo.newswire import newswire
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import SPECIALS, UNK, Ids, Lexicon
from nutgraf.text.tokens import Tokenizer
from nutgraf.text.trigrams import NEW_NUMBER, NUMBER, UNKNOWN, Trigrams, encode_words

TOY = Lexicon([*SPECIALS, "a", "b", "c", "7", "8"])


def toy(*sentences: str) -> Corpus:
    return Corpus.of([TOY.encode(sentence.split()) for sentence in sentences])


def headlines() -> tuple[Lexicon, list[list[str]]]:
    words = [Tokenizer().words(headline) for _, headline in newswire(300, seed=5)]
    return Lexicon(SPECIALS).extended(words), words


class SlowTrigrams:
    """The same formula, word by word."""

    def __init__(self, sentences: list[list[str]]):
        self.counts = Counter(word for sentence in sentences for word in sentence)
        frequent = {self._map(word) for sentence in sentences for word in sentence}
        self.size = len(frequent | {"</s>", "<unk>", "<number>"})
        self.next: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        for sentence in sentences:
            for *history, word in self._trigrams(sentence):
                for start in range(3):
                    self.next[tuple(history[start:])][word] += 1

    def _map(self, word: str) -> str:
        return "<number>" if any(map(str.isdigit, word)) else word if self.counts[word] >= 2 else "<unk>"

    def _trigrams(self, sentence: list[str]) -> list[tuple[str, str, str]]:
        words = ["<s>", "<s>", *map(self._map, sentence), "</s>"]
        return [*zip(words, words[1:], words[2:], strict=False)]

    def _probability(self, word: str, history: tuple[str, ...]) -> float:
        lower = self._probability(word, history[1:]) if history else 1 / self.size
        seen = self.next.get(history)
        return (seen[word] + len(seen) * lower) / (seen.total() + len(seen)) if seen else lower

    def bits(self, sentence: list[str]) -> float:
        return -sum(float(np.log2(self._probability(w, (u, v)))) for u, v, w in self._trigrams(sentence))


def test_probabilities_by_hand() -> None:
    # a 3 times, b twice, an end twice; "c" once, so unknown. Five words may come next: end, unknown, number, a, b.
    model = Trigrams.train(toy("a b a", "a b c"), TOY)
    assert model.size == 5
    # Unigrams: 8 of 4 kinds; p(a) = (3 + 4/5) / 12, p(b) = (2 + 4/5) / 12.
    a, b = (3 + 4 / 5) / 12, (2 + 4 / 5) / 12
    # START is followed by a alone, twice, and so are two STARTs: (2 + 1 p) / 3 at both lengths.
    start_a = (2 + (2 + a) / 3) / 3
    assert model.next_words(TOY.encode([]))[4] == pytest.approx(start_a)
    # After a: b twice and an end once, so two kinds of 3; after START a: b twice.
    a_b = (2 + (2 + 2 * b) / 5) / 3
    assert model.next_words(TOY.encode(["a"]))[5] == pytest.approx(a_b)
    # Never seen: after "b b" only what is known after b, where a and unknown came once each.
    assert model.next_words(TOY.encode(["b", "b"]))[4] == pytest.approx((1 + 2 * a) / 4)
    # The bits of a sentence are those of its words and its end.
    end = (2 + 4 / 5) / 12
    after_b = (0 + 2 * end) / 4  # "a b" had two kinds of 2 after it, and never an end
    expected = start_a * a_b * ((0 + 2 * after_b) / 4)
    assert model.bits(toy("a b")).tolist() == pytest.approx([-np.log2(expected)])
    assert model.bits_per_word(toy("a b")) == pytest.approx(-np.log2(expected) / 3)


def test_it_equals_the_slow_version() -> None:
    lexicon, words = headlines()
    slow, model = SlowTrigrams(words[:200]), Trigrams.train(Corpus.of(map(lexicon.encode, words[:200])), lexicon)
    assert model.size == slow.size
    sentences = [*words[190:], [], ["never", "7.5"], list(reversed(words[0]))]
    found = model.bits([encode_words(sentence, lexicon) for sentence in sentences])
    assert found == pytest.approx([slow.bits(sentence) for sentence in sentences], abs=1e-9)


def test_probabilities_sum_to_one_after_any_history() -> None:
    lexicon, words = headlines()
    model = Trigrams.train(Corpus.of(map(lexicon.encode, words)), lexicon)
    histories: list[Ids] = [lexicon.encode(sentence[:n]) for sentence in words[:5] for n in range(len(sentence))]
    for history in [*histories, np.array([UNK, UNK], np.int32), np.array([NEW_NUMBER, 10**6], np.int32)]:
        assert model.next_words(history).sum() == pytest.approx(1)
        assert (model.next_words(history)[1:] > 0).all()


def test_numbers_are_one_word_and_rare_words_another() -> None:
    model = Trigrams.train(toy("a 7", "a 8 b", "a c b"), TOY)
    assert model.classes[TOY.encode(["7", "8", "c"])].tolist() == [NUMBER, NUMBER, UNKNOWN]
    new = encode_words(["a", "9.5", "z"], TOY)
    assert new.tolist() == [3, NEW_NUMBER, UNK]
    assert model.bits([new[:2]]) == model.bits(toy("a 7"))
    past_the_end = np.array([3, 99], np.int32)
    assert model.bits([past_the_end]) == model.bits(toy("a c"))


def test_a_shuffled_headline_takes_more_bits() -> None:
    lexicon, words = headlines()
    model = Trigrams.train(Corpus.of(map(lexicon.encode, words[:200])), lexicon)
    real = [lexicon.encode(sentence) for sentence in words[200:]]
    shuffled = [np.random.default_rng(1).permutation(sentence) for sentence in real]
    assert model.bits_per_word(shuffled) > 1.3 * model.bits_per_word(real)


def test_nothing_to_learn_from_or_to_measure_is_an_error() -> None:
    with pytest.raises(ValueError, match="learn from"):
        Trigrams.train(Corpus.of([]), TOY)
    with pytest.raises(ValueError, match="measure"):
        Trigrams.train(toy("a"), TOY).bits_per_word([])


def test_a_smaller_model_by_hand() -> None:
    # b is not known, and c occurs once: both are one word, u. Next may come: end, unknown, number, a.
    known = TOY.encode(["a", "c", "7"])
    model = Trigrams.train(toy("a b a", "a b c", "a 8"), TOY, known, min_count=2)
    assert model.size == 4
    assert model.classes[TOY.encode(["a", "b", "c", "7", "8"])].tolist() == [4, UNKNOWN, UNKNOWN, NUMBER, UNKNOWN]
    # Unigrams are all counted: a 4 times, u 4 times, an end 3 times: 11 of 3 kinds.
    u = (4 + 3 / 4) / 14
    # Of what follows a, u came three times and an end once, which is left out: (3 + p) / 4.
    # After START and a, u came three times.
    assert model.next_words(TOY.encode(["a"]))[UNKNOWN] == pytest.approx((3 + (3 + u) / 4) / 4)
    # After u: the end came twice, a and u once. After "u u" nothing is known.
    assert model.next_words(TOY.encode(["b", "b"]))[UNKNOWN] == pytest.approx((0 + u) / 3)


def test_a_model_comes_back_as_it_was_stored(tmp_path: Path) -> None:
    lexicon, words = headlines()
    corpus = Corpus.of([lexicon.encode(sentence) for sentence in words])
    for model in (
        Trigrams.train(corpus, lexicon),
        Trigrams.train(corpus, lexicon, np.arange(50, dtype=np.int32), min_count=3),
    ):
        model.save(tmp_path / "trigrams.npz")
        again = Trigrams.load(tmp_path / "trigrams.npz")
        assert again.size == model.size
        assert again.bits(corpus).tolist() == model.bits(corpus).tolist()
    nothing = Trigrams.train(toy("a", "b"), TOY, min_count=9)  # but unigrams
    nothing.save(tmp_path / "nothing.npz")
    assert Trigrams.load(tmp_path / "nothing.npz").bits(toy("a b")).tolist() == nothing.bits(toy("a b")).tolist()


@pytest.mark.parametrize(
    ("header", "content", "reason"),
    [
        ({"descr": "<i8", "fortran_order": False, "shape": (10**12,)}, b"\0" * 8, "not as many as it says"),
        ({"descr": "<f8", "fortran_order": False, "shape": (1,)}, b"\0" * 8, "no row of whole numbers"),
        ({"descr": "|i1", "fortran_order": False, "shape": (2**28,)}, b"\0" * 2**28, "when unpacked"),
    ],
    ids=["a header that lies", "other numbers", "a small file that is large when unpacked"],
)
def test_a_strangers_model_is_refused_before_anything_is_allocated(
    header: dict[str, object], content: bytes, reason: str, tmp_path: Path
) -> None:
    file = BytesIO()
    np.lib.format.write_array_header_1_0(file, header)
    with ZipFile(tmp_path / "trigrams.npz", "w", ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("classes.npy", file.getvalue() + content)
    tracemalloc.start()
    with pytest.raises(ValueError, match=reason):
        Trigrams.load(tmp_path / "trigrams.npz")
    assert tracemalloc.get_traced_memory()[1] < 10**7
    tracemalloc.stop()


@pytest.mark.parametrize("method", [ZIP_DEFLATED, ZIP_LZMA, ZIP_BZIP2])
def test_an_archive_that_lies_about_its_sizes_takes_little_memory(method: int, tmp_path: Path) -> None:
    path = tmp_path / "trigrams.npz"
    with ZipFile(path, "w", method) as archive:
        archive.writestr("classes.npy", b"\0" * 10**8)
    size = (10**8).to_bytes(4, "little")
    assert path.read_bytes().count(size) == 2  # before the file, and in the list at the end
    path.write_bytes(path.read_bytes().replace(size, (100).to_bytes(4, "little")))
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"no trigrams|another kind"):
        Trigrams.load(path)
    assert tracemalloc.get_traced_memory()[1] < 10**7
    tracemalloc.stop()


def test_an_archive_of_many_files_is_refused(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "trigrams.npz", "w") as archive:
        for number in range(8):
            archive.writestr(f"{number}.npy", b"")
    with pytest.raises(ValueError, match="another kind"):
        Trigrams.load(tmp_path / "trigrams.npz")


def test_fewer_words_in_the_lexicon_change_nothing_for_what_is_known() -> None:
    known = TOY.encode(["a", "b"])
    model = Trigrams.train(toy("a b a", "a b c"), TOY, known)
    kept = np.concatenate([np.arange(len(SPECIALS)), known]).astype(np.int32)
    fewer = Lexicon(TOY.decode(kept.tolist()))
    sentences = [["a", "b"], ["b", "c", "a"], ["8", "a"]]
    bits = [model.bits([TOY.encode(words)])[0] for words in sentences]
    assert [model.only(kept).bits([fewer.encode(words)])[0] for words in sentences] == bits
