"""Small models and a decoder with a known table, for the tests of models and learning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from nutgraf.models.seq2seq import Seq2seq
from nutgraf.recipe import Seq2seq as Settings
from nutgraf.text.lexicon import Ids, Vocab

LEXICON = 20


def vocab(size: int) -> Vocab:
    return Vocab(np.arange(size, dtype=np.int32), LEXICON)


def toy_model(
    copy: bool, seed: int = 0, dropout: float = 0.0, source: int = 12, target: int = 9, embedding: int = 6
) -> Seq2seq:
    settings = Settings(width=8, encoder_layers=2, decoder_layers=2, dropout=dropout, positions=32, copy=copy)
    generator = torch.Generator().manual_seed(seed)
    rng = np.random.default_rng(seed)
    source = target if copy else source
    vectors = [rng.normal(size=(n, embedding)).astype(np.float32) for n in (source, target)]
    model = Seq2seq(vocab(source), vocab(target), settings, vectors[0], vectors[1], generator)
    with torch.no_grad():  # larger weights, so that the distributions are far from flat
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.3)
    return model


class TableDecoder:
    """A language model that looks only at the previous word and the source's first: log-probabilities from a table."""

    def __init__(self, columns: int, seed: int = 0):
        generator = torch.Generator().manual_seed(seed)
        self.table = (torch.randn(8, columns, columns, generator=generator) * 1.5).log_softmax(2)

    def start(self, sources: Sequence[Ids], replace_unk: bool, top_words: int) -> TableState:
        return TableState(self.table[torch.tensor([int(s[0]) for s in sources])])


class TableState:
    def __init__(self, tables: Tensor):
        self.tables = tables

    def step(self, words: Tensor) -> Tensor:
        return self.tables[torch.arange(len(words)), words].clone()

    def words(self, rows: Tensor, columns: Tensor) -> Tensor:
        return columns

    def select(self, rows: Tensor) -> None:
        self.tables = self.tables[rows]
