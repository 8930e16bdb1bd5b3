"""A program that makes and joins pairs of this many generated sentences, and prints the most memory that it took.

Its arguments: how many sentences, and a folder.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from nutgraf.backtranslation.pairs import Chunk, generate, union, write_chunk
from nutgraf.learning.batches import Batches, gather_batch
from nutgraf.progress import Report, ignore
from nutgraf.run.names import ModelName
from nutgraf.run.pairs import ARTIFICIAL, share
from nutgraf.text.corpus import BLOCK, Corpus, CorpusWriter

CHUNK = 1 << 17


def main() -> None:
    """Write a corpus, make artificial pairs of it, and take the first batch of their union with those of a share."""
    count, folder = int(sys.argv[1]), Path(sys.argv[2])
    rng = np.random.default_rng(1)
    with CorpusWriter(folder, "real") as writer:
        for start in range(0, count, BLOCK):
            lengths = rng.integers(4, 13, size=min(BLOCK, count - start))
            words = rng.zipf(1.3, size=lengths.sum()) % 30_000 + 3
            writer.add(Corpus(words.astype(np.int32), np.concatenate([[0], np.cumsum(lengths)])))
    real, work = Corpus.open(folder, "real"), folder / "work"
    work.mkdir()

    def make(chunks: Sequence[Chunk], report: Report) -> Iterator[Chunk]:
        for chunk in chunks:
            write_chunk(real, lambda sentences, _: list(sentences), chunk, work, report)
            yield chunk

    generate(count, CHUNK, make, work, folder, ignore)
    made = Corpus.open(folder, ARTIFICIAL)
    part = share(real, count // 2, ModelName("mu1"))
    pairs = union([(made, real), (part, part)])
    batches = Batches(np.stack([pairs.sources.lengths, pairs.targets.lengths], 1), 64, "k")
    sources, targets = (gather_batch(side, batches(0)) for side in (pairs.sources, pairs.targets))
    assert sources.tolist() == targets.tolist()
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    print(len(pairs.sources), status["VmHWM"].split()[0])


if __name__ == "__main__":
    main()
