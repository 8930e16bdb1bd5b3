from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from nutgraf.backtranslation import pairs
from nutgraf.backtranslation.pairs import PART, Chunk, coverage, union, write_chunk
from nutgraf.errors import RunError
from nutgraf.models.generation import Apply, clean_expansion
from nutgraf.progress import Progress, Report, ignore
from nutgraf.run.names import ModelName
from nutgraf.run.pairs import share
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import UNK, Ids

STOP = 9


def generate(
    real: Corpus,
    apply: Apply,
    size: int,
    work: Path,
    folder: Path,
    report: Report,
    warn: Callable[[str], None] = ignore,
    backwards: bool = False,
) -> None:
    """Make the chunks one after the other; `backwards`, from the last to the first."""

    def make(chunks: Sequence[Chunk], report: Report) -> Iterator[Chunk]:
        for chunk in chunks[:: -1 if backwards else 1]:
            write_chunk(real, apply, chunk, work, report)
            yield chunk

    pairs.generate(len(real), size, make, work, folder, report, warn)


def test_eq_2_pairs_are_f_of_each_real_sentence_in_order(tmp_path: Path) -> None:
    real = Corpus.of([[3, 4, 5], [6], [7, 8]])

    def first_word_twice(sentences: Sequence[Ids], start: int) -> list[Ids]:
        return [np.repeat(sentence[:1], 2) for sentence in sentences]

    generate(real, first_word_twice, 2, tmp_path, tmp_path, ignore)
    made = Corpus.open(tmp_path, "artificial")
    assert [list(words) for words in made] == [[3, 3], [6, 6], [7, 7]]


def test_chunks_that_are_there_are_not_made_again(tmp_path: Path) -> None:
    real = Corpus.of([[i] for i in range(3, 13)])
    calls: list[int] = []

    def make(sentences: Sequence[Ids], start: int) -> list[Ids]:
        calls.append(start)
        if calls == [0, 4, 8]:
            raise KeyboardInterrupt
        return [sentence + 100 * start for sentence in sentences]

    with pytest.raises(KeyboardInterrupt):
        generate(real, make, 4, tmp_path, tmp_path, ignore)
    generate(real, make, 4, tmp_path, tmp_path, ignore)
    assert calls == [0, 4, 8, 8]
    assert [int(words[0]) for words in Corpus.open(tmp_path, "artificial")] == [
        *range(3, 7),
        *range(407, 411),
        *range(811, 813),
    ]


def test_each_chain_has_its_own_share_but_for_the_first_few() -> None:
    real = Corpus.of([[i] for i in range(100)])
    makers = [*map(ModelName, ("pr-thr", "dbae", "mu1")), *(ModelName("all", 2, teacher=letter) for letter in "ab")]
    shares = [[int(words[0]) for words in share(real, 30, maker)] for maker in makers]
    assert [part[:20] for part in shares] == [list(range(20))] * 5
    assert [part[20] for part in shares] == [20, 50, 80, 20, 50]
    assert [part[20:] for part in shares] == [list(range(part[20], part[20] + 10)) for part in shares]
    assert [len(share(real, limit, ModelName("mu1"))) for limit in (0, 5, 99, 100, 200)] == [100, 5, 99, 100, 100]
    assert len({int(words[0]) for words in share(real, 99, ModelName("mu1"))}) == 99


def test_sentences_that_came_out_empty_keep_their_place_and_are_not_learned(tmp_path: Path) -> None:
    real = Corpus.of([[3], [4, 4], [5]])
    generate(real, lambda s, _: [x[1:] for x in s], 2, tmp_path, tmp_path, ignore)
    made = Corpus.open(tmp_path, "artificial")
    assert [list(words) for words in made] == [[], [4], []]
    joined = union([(made, real)])
    assert [list(words) for words in joined.sources] == [[4]]
    assert [list(words) for words in joined.targets] == [[4, 4]]


def test_coverage_is_the_share_of_a_summary_that_its_text_says_in_order() -> None:
    summaries = Corpus.of([[5, 6, 7, 8], [5, 6, 7, 8], [5, 6], [UNK, 5]])
    texts = Corpus.of([[9, 5, 9, 7, 8], [8, 7, 6, 5], [5, 6, 5, 6], [UNK, 9]])
    assert coverage(texts, summaries).tolist() == [0.75, 0.25, 1.0, 0.0]
    assert [list(words) for words in union([(texts, summaries)], 0.5).targets] == [[5, 6, 7, 8], [5, 6]]
    rng = np.random.default_rng(0)
    sides = [[rng.integers(3, 9, rng.integers(1, 9)).astype(np.int32) for _ in range(200)] for _ in range(2)]
    found = coverage(Corpus.of(sides[0]), Corpus.of(sides[1]))
    for covered, text, summary in zip(found, *sides, strict=True):
        subsequences = (s for n in range(len(summary) + 1) for s in combinations(summary.tolist(), n))
        most = max(len(s) for s in subsequences if s in set(combinations(text.tolist(), len(s))))
        assert covered == most / len(summary)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([5, UNK, UNK, UNK, 6], [5, UNK, 6]),
        ([5, STOP, 6, STOP], [5, STOP]),
        ([UNK, UNK], [UNK]),
        ([5, UNK, 6, UNK], [5, UNK, 6, UNK]),
        ([], []),
        ([STOP], [STOP]),
        ([UNK, UNK, STOP, UNK], [UNK, STOP]),
    ],
)
def test_expander_output_is_cleaned_as_the_appendix_says(words: list[int], expected: list[int]) -> None:
    assert list(clean_expansion(np.array(words, dtype=np.int32), STOP)) == expected


def test_union_of_three_chains_has_each_real_summary_three_times() -> None:
    real = Corpus.of([[1], [2]])
    chains = [Corpus.of([[10 * chain, 1], [10 * chain, 2]]) for chain in (1, 2, 3)]
    joined = union([(chain, real) for chain in chains])
    assert [list(words) for words in joined.sources] == [[10, 1], [10, 2], [20, 1], [20, 2], [30, 1], [30, 2]]
    assert [list(words) for words in joined.targets] == [[1], [2]] * 3


@pytest.mark.parametrize("damage", ["flip", "cut", "empty"])
def test_a_damaged_chunk_is_named_and_made_again(tmp_path: Path, damage: str) -> None:
    real = Corpus.of([[i] for i in range(3, 13)])
    (tmp_path / "whole").mkdir()
    generate(real, lambda s, start: [x + start for x in s], 4, tmp_path, tmp_path / "whole", ignore)
    chunk = sorted(tmp_path.glob("chunk-*"))[1]
    content = chunk.read_bytes()
    flipped = content[:-3] + bytes([content[-3] ^ 1]) + content[-2:]
    chunk.write_bytes({"flip": flipped, "cut": content[:-4], "empty": b""}[damage])
    made: list[int] = []
    warnings: list[str] = []

    def make(sentences: Sequence[Ids], start: int) -> list[Ids]:
        made.append(start)
        return [sentence + start for sentence in sentences]

    generate(real, make, 4, tmp_path, tmp_path, ignore, warnings.append)
    assert made == [4]
    assert len(warnings) == 1
    assert str(chunk) in warnings[0]
    for name in ("artificial.tokens.npy", "artificial.offsets.npy"):
        assert (tmp_path / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_chunk_that_is_damaged_while_others_are_made_is_named(tmp_path: Path) -> None:
    real = Corpus.of([[i] for i in range(3, 13)])

    def make(sentences: Sequence[Ids], start: int) -> list[Ids]:
        if start == 4:
            chunk = tmp_path / Chunk(0, 4).name
            chunk.write_bytes(chunk.read_bytes()[:-4])
        return list(sentences)

    with pytest.raises(RunError, match=r"chunk-000000000-000000004: damaged since it was written"):
        generate(real, make, 4, tmp_path, tmp_path, ignore)


def test_chunks_of_whole_parts_and_any_order_give_the_same_bytes(tmp_path: Path) -> None:
    """The randomness is from the place of a part in the corpus; so a key need not have the size of chunks."""
    real = Corpus.of([[i % 90 + 3] for i in range(2 * PART + 300)])

    def make(sentences: Sequence[Ids], start: int) -> list[Ids]:
        drawn = np.random.default_rng(start).integers(3, 99, len(sentences))
        return [np.append(sentence, word).astype(np.int32) for sentence, word in zip(sentences, drawn, strict=True)]

    found, reports = set[bytes](), list[Progress]()
    for size, backwards in ((PART, False), (PART, True), (2 * PART, True), (4 * PART, False)):
        work = tmp_path / f"{size} {backwards}"
        work.mkdir()
        generate(real, make, size, work, work, reports.append, backwards=backwards)
        found.add((work / "artificial.tokens.npy").read_bytes())
        assert reports[-1] == Progress(len(real), len(real), "sentences")
    assert len(found) == 1
    # A run that resumes with another size takes no file for another one.
    generate(real, make, PART, tmp_path / f"{2 * PART} True", tmp_path, ignore)
    assert (tmp_path / "artificial.tokens.npy").read_bytes() in found


def test_two_attempts_at_one_chunk_leave_one_valid_file(tmp_path: Path) -> None:
    real, chunk = Corpus.of([[i] for i in range(3, 13)]), Chunk(0, 10)

    def make(sentences: Sequence[Ids], start: int) -> list[Ids]:
        return [*sentences]

    def second_attempt(progress: Progress) -> None:
        write_chunk(real, make, chunk, tmp_path, ignore)  # while the first is under way

    write_chunk(real, make, chunk, tmp_path, second_attempt)
    assert [path.name for path in tmp_path.iterdir()] == [chunk.name]
    (tmp_path / "made").mkdir()
    generate(real, lambda *_: pytest.fail("the file is valid"), 10, tmp_path, tmp_path / "made", ignore)
    assert [list(words) for words in Corpus.open(tmp_path / "made", "artificial")] == [list(words) for words in real]
