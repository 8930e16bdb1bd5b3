"""The figures are those of modified Kneser-Ney: by hand on two sentences, and against a slow version on newswire."""

from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from nutgraf.demo.newswire import unaligned
from nutgraf.text.corpus import Corpus
from nutgraf.text.kneser_ney import FALLBACK, KneserNey, find_discounts
from nutgraf.text.lexicon import SPECIALS, Ids, Lexicon
from nutgraf.text.tokens import is_number
from nutgraf.text.trigrams import END, NUMBER, UNKNOWN

TOY = Lexicon([*SPECIALS, "a", "b", "c", "7", "8", "unseen"])
A, B, C = range(NUMBER + 1, NUMBER + 4)  # their classes
Gram = tuple[str, ...]


def toy(*sentences: str) -> Corpus:
    return Corpus.of(TOY.encode(sentence.split()) for sentence in sentences)


def encode(sentence: str) -> Ids:
    return TOY.encode(sentence.split())


def test_bigrams_by_hand() -> None:
    model = KneserNey.train(toy("a b", "a c"), TOY, order=2)
    # Different words before: 1 of a, b and c, 2 of the end; in all 5. Discounts 0.5 and 1 leave a half of them, for
    # a, b, c, the end, a number and an unknown word alike.
    a, end = 0.5 / 5 + 0.5 / 6, 1 / 5 + 0.5 / 6
    first = model.next_words(encode(""))
    assert first[A] == pytest.approx((2 - 1) / 2 + 1 / 2 * a)
    assert first[UNKNOWN] == first[NUMBER] == pytest.approx(1 / 2 * 0.5 / 6)
    after = model.next_words(encode("a"))
    b_after_a, end_after_b = (1 - 0.5) / 2 + 0.5 * a, (1 - 0.5) / 1 + 0.5 * end
    assert after[B] == after[C] == pytest.approx(b_after_a)
    assert model.log_probability(encode("a b")) == pytest.approx(np.log(first[A] * b_after_a * end_after_b))
    assert model.next_words(encode("b unseen"))[END] == pytest.approx(end)  # nothing is known after an unknown word


def test_discounts_by_hand() -> None:
    counts = np.repeat([1, 2, 3, 4, 9], [4, 3, 2, 1, 5])
    assert find_discounts(counts).tolist() == pytest.approx([0, 0.4, 1.2, 2.2])  # Y = 4 / (4 + 2 * 3)
    assert tuple(find_discounts(np.array([1, 1, 2]))[1:]) == FALLBACK


class SlowKneserNey:
    """The same with dicts and recursion, as the docstring of the module defines it."""

    def __init__(self, sentences: list[list[str]], order: int):
        self.order, self.known = order, {word for sentence in sentences for word in sentence}
        padded = [["<s>", *map(self._word, sentence), "</s>"] for sentence in sentences]
        raw = [Counter(tuple(s[i : i + n]) for s in padded for i in range(len(s) - n + 1)) for n in range(1, order + 1)]
        self.counts: list[dict[Gram, int]] = []
        for n in range(1, order):
            before = Counter(gram[1:] for gram in raw[n])
            begins = {gram: count for gram, count in raw[n - 1].items() if gram[0] == "<s>" and n > 1}
            self.counts.append(dict(before) | begins)
        self.counts.append(dict(raw[-1]))
        self.words = {gram[0] for gram in raw[0]} - {"<s>"} | {"<unk>", "<number>"}
        self.discounts = [find_discounts(np.array(list(counts.values()))) for counts in self.counts]

    def _word(self, word: str) -> str:
        return "<number>" if is_number(word) else word if word in self.known else "<unk>"

    def probability(self, word: str, history: Gram) -> float:
        counts, discounts = self.counts[len(history)], self.discounts[len(history)]
        after = {gram: count for gram, count in counts.items() if gram[:-1] == history}
        lower = self.probability(word, history[1:]) if history else 1 / len(self.words)
        if not after:
            return lower
        total = sum(after.values())
        left = sum(discounts[min(count, 3)] for count in after.values()) / total
        count = after.get((*history, word), 0)
        return float((count - discounts[min(count, 3)]) / total + left * lower)

    def log_probability(self, sentence: list[str]) -> float:
        words = ["<s>", *map(self._word, sentence), "</s>"]
        return sum(
            float(np.log(self.probability(words[i], tuple(words[max(0, i - self.order + 1) : i]))))
            for i in range(1, len(words))
        )


@pytest.mark.parametrize("order", [2, 3, 5])
def test_equals_a_slow_and_obvious_version(order: int) -> None:
    words = [summary.split() for summary in unaligned(1, 130, 1, seed=2)[1]]
    lexicon = Lexicon([*SPECIALS, *dict.fromkeys(word for sentence in words for word in sentence)])
    slow = SlowKneserNey(words[:100], order)
    model = KneserNey.train(Corpus.of(map(lexicon.encode, words[:100])), lexicon, order)
    for sentence in [*words[:5], *words[100:110], ["other", "words"], []]:
        found = model.log_probability(lexicon.encode(sentence))
        assert found == pytest.approx(slow.log_probability(sentence), rel=1e-5), sentence


@pytest.mark.parametrize("min_count", [1, 2])
def test_the_probabilities_of_all_words_after_any_context_sum_to_one(min_count: int) -> None:
    corpus = toy("a b c a b c a", "a b 7", "c", "b b b a", "a b c 8")
    model = KneserNey.train(corpus, TOY, order=4, min_count=min_count)
    for length in range(4):
        for history in product(["a", "b", "c", "8", "unseen"], repeat=length):
            found = model.next_words(TOY.encode(history))
            assert found.sum() == pytest.approx(1, abs=1e-6), history
            assert (found[1:] > 0).all()


def test_rare_ngrams_are_left_out_from_trigrams_on() -> None:
    corpus = toy("a b c", "a b c", "a b a")
    pruned, full = (KneserNey.train(corpus, TOY, 3, min_count) for min_count in (2, 1))
    assert pruned.next_words(encode("a b"))[C] == pytest.approx(full.next_words(encode("a b"))[C], abs=0.1)
    assert pruned.next_words(encode("a b"))[A] < full.next_words(encode("a b"))[A]
    assert pruned.next_words(encode("a"))[B] == pytest.approx(full.next_words(encode("a"))[B])


def test_a_model_survives_its_file(tmp_path: Path) -> None:
    model = KneserNey.train(toy("a b c a", "a b 7", "c"), TOY, order=3)
    model.save(tmp_path / "model")
    again = KneserNey.load(tmp_path / "model")
    for sentence in ("a b c", "7 unseen", ""):
        assert again.log_probability(encode(sentence)) == model.log_probability(encode(sentence))


def test_strange_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model"
    KneserNey.train(toy("a b c a", "a b 7", "c"), TOY, order=3).save(path)
    good = load_file(path)
    wrong = {
        "keys2": good["keys2"][::-1].copy(),
        "keys3": good["keys3"] + len(good["keys2"]) * len(good["shares1"]),
        "shares2": good["shares2"] * np.float32(np.nan),
        "gammas2": good["gammas2"][:-1].copy(),
        "classes": good["classes"] + np.int32(50),
    }
    for name, array in wrong.items():
        save_file(good | {name: array}, path)
        with pytest.raises(ValueError, match=r"n-grams|figures|classes"):
            KneserNey.load(path)
    save_file({"classes": good["classes"]}, path)
    with pytest.raises(ValueError, match="no language model"):
        KneserNey.load(path)
