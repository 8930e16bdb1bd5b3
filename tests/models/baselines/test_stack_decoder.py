"""The decoder against all derivations of short texts: every order that the limit allows, every choice of words."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from nutgraf.models.baselines.stack_decoder import MOST_WORDS, Options, StackDecoder
from nutgraf.recipe import Pbsmt
from nutgraf.text.corpus import Corpus
from nutgraf.text.kneser_ney import KneserNey
from nutgraf.text.lexicon import SPECIALS, Lexicon

LEXICON = Lexicon([*SPECIALS, *"abcdefg"])
SUMMARIES = ["a b c d", "b a d c", "d e f", "c a b", "g f e d c", "a g b", "e f g", "c d e a"]
MODEL = KneserNey.train(Corpus.of(LEXICON.encode(line.split()) for line in SUMMARIES), LEXICON, 3)
WIDE = Pbsmt(stack=1000, distortion_limit=2)


def options(seed: int, words: int, most: int) -> Options:
    """Random translations of each word."""
    rng = np.random.default_rng(seed)
    targets = rng.integers(len(SPECIALS), len(LEXICON), size=(words, most))
    scores = rng.normal(-2, 1, size=(words, most))
    scores[1:, 1:][rng.random((words - 1, most - 1)) < 0.4] = -np.inf
    return Options(targets, MODEL.classes_of(targets.astype(np.int32).ravel()).reshape(targets.shape), scores)


def orders(words: int, limit: int, done: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """Every order in which words may be translated."""
    left = [word for word in range(words) if word not in done]
    if not left:
        yield done
    for word in left:
        jump = abs(word - (done[-1] + 1 if done else 0))
        if jump <= limit and (word == left[0] or abs(left[0] - (word + 1)) <= limit):
            yield from orders(words, limit, (*done, word))


def value(given: Options, order: tuple[int, ...], chosen: tuple[int, ...], settings: Pbsmt, whole: bool) -> float:
    """The score of one derivation."""
    written = np.array([given.targets[word, choice] for word, choice in zip(order, chosen, strict=True)])
    fluency = MODEL.log_probability(written.astype(np.int32))
    if not whole:
        fluency -= float(np.log(MODEL.next_words(written.astype(np.int32))[1]))
    jumps = sum(abs(word - (before + 1)) for before, word in zip((-1, *order), order, strict=False))
    translated = sum(given.scores[word, choice] for word, choice in zip(order, chosen, strict=True))
    return float(translated + settings.language_weight * fluency - settings.distortion_weight * jumps)


def best(given: Options, settings: Pbsmt, whole: bool) -> tuple[float, list[int]]:
    """The best of all derivations."""
    count, width = given.targets.shape
    derivations = (
        (order, chosen)
        for order in orders(count, settings.distortion_limit)
        for chosen in product(range(width), repeat=count)
        if all(given.scores[word, choice] > -np.inf for word, choice in zip(order, chosen, strict=True))
    )
    found = max((value(given, *derivation, settings, whole), *derivation) for derivation in derivations)
    return found[0], [int(given.targets[word, choice]) for word, choice in zip(found[1], found[2], strict=True)]


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(("seed", "words", "most", "limit"), [(1, 4, 2, 2), (2, 5, 2, 1), (3, 3, 3, 6), (4, 4, 3, 0)])
def test_wide_stacks_find_the_best_of_all_derivations(
    seed: int, words: int, most: int, limit: int, whole: bool
) -> None:
    given, settings = options(seed, words, most), replace(WIDE, distortion_limit=limit)
    assert StackDecoder(MODEL, settings)(given, whole) == best(given, settings, whole)[1]


def test_weights_count() -> None:
    given = options(7, 5, 2)
    found = []
    for settings in (
        WIDE,
        replace(WIDE, language_weight=0.0),
        replace(WIDE, language_weight=5.0),
        replace(WIDE, distortion_weight=5.0),
    ):
        found.append(StackDecoder(MODEL, settings)(given))
        assert found[-1] == best(given, settings, True)[1]
    assert len({tuple(one) for one in found}) == 4


def test_future_costs_are_the_best_that_words_score_alone() -> None:
    given = options(5, 3, 2)
    alone = np.log(MODEL.extend(np.full((11, 2), -1), np.arange(11))[0])
    expected = [
        max(
            score + 0.5 * alone[int(word)]
            for word, score in zip(given.classes[row], given.scores[row], strict=True)
            if score > -np.inf
        )
        for row in range(3)
    ]
    assert StackDecoder(MODEL, WIDE).future_costs(given).tolist() == pytest.approx(expected)


def test_narrow_stacks_translate_every_word_once_within_the_limit() -> None:
    count = 20
    targets = np.arange(count)[:, None] + 100
    given = Options(targets, np.tile(MODEL.classes_of(LEXICON.encode("gdabc")), 4)[:, None], np.zeros((count, 1)))
    for limit in (0, 3, 6):
        written = StackDecoder(MODEL, Pbsmt(stack=3, distortion_limit=limit, distortion_weight=0.0))(given)
        order = [word - 100 for word in written]
        assert sorted(order) == list(range(count))
        assert max(abs(word - (before + 1)) for before, word in zip([-1, *order], order, strict=False)) <= limit
        assert (order == sorted(order)) == (limit == 0)


def test_texts_that_are_too_long_are_refused() -> None:
    with pytest.raises(ValueError, match="63 words"):
        StackDecoder(MODEL, WIDE)(options(1, MOST_WORDS + 1, 2))
    none = np.zeros((0, 1), dtype=np.int64)
    with pytest.raises(ValueError, match="0 words"):
        StackDecoder(MODEL, WIDE)(Options(none, none, np.zeros((0, 1))))
