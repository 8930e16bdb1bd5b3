"""Denoising Bag-of-Words Auto-Encoder (DBAE), Section 3.1 and the appendix.

Trained on summaries alone: words are removed and random ones added, the rest is averaged, and a GRU writes the summary
back. Given a full text, with words that are rare in summaries weighing less (w_v) and the text's own words preferred
(lambda), it writes a summary of it.

- Embeddings are fixed and shared by input and output; only EOS, which is not a word, has a learned vector.
- The encoder's output is joined to a learned initial state in both layers, then projected back to the GRU's width.
- Words outside V^S are not in the bag, are never a target and are never written. A text with no word of V^S has an
  empty summary.
- The output layer's bias starts at the words' log-frequencies.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file
from torch import Tensor, nn

from nutgraf import recipe
from nutgraf.files import naming, read_json
from nutgraf.learning.batches import Batches, gather_batch, pad_batch
from nutgraf.learning.beam import NEVER, Beam
from nutgraf.learning.loop import Fit, Job, fit
from nutgraf.learning.search import beam
from nutgraf.learning.shortlist import Shortlist
from nutgraf.models.arrays import check_shapes, read_arrays
from nutgraf.models.bow import Bags, BowEncoder, average, initialise, input_weights, moments
from nutgraf.progress import Report, ignore
from nutgraf.seeds import generator_of
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import EOS, PAD, UNK, Ids, Vocab

WEIGHTS, FIGURES = "dbae.safetensors", "dbae.json"
SPECIAL = UNK + 1  # the number of special words
LAYERS = 2
NO_REPEAT = 1  # no word twice: the preference for the input's words would repeat one again and again
LENGTH_PENALTY = 1.0
_GRU_WEIGHTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
BATCH = 64  # sentences summarized at once


def add_noise(bags: Bags, p: float, vocabulary: int) -> Bags:
    """Remove each word with probability p/2; for each, with probability p, add one drawn uniformly from V^S."""
    n = len(bags.words)
    kept, adding = torch.rand(n) >= p / 2, torch.rand(n) < p
    rows = bags.rows[adding]
    added = torch.randint(SPECIAL, vocabulary, (len(rows),)) if vocabulary > SPECIAL else rows[:0]
    return Bags(torch.cat([bags.words[kept], added]), torch.cat([bags.rows[kept], rows[: len(added)]]), bags.count)


class AutoEncoder(nn.Module):
    """The bag-of-words encoder and the 2-layer GRU decoder."""

    vectors: Tensor

    def __init__(self, vectors: NDArray[np.float32], width: int, generator: torch.Generator):
        super().__init__()
        embedding = vectors.shape[1]
        self.register_buffer("vectors", torch.from_numpy(vectors.copy()))  # (|V^S|, embedding), fixed
        self.end = nn.Parameter(torch.zeros(embedding))  # EOS
        self.encoder = BowEncoder(embedding, width, generator)
        self.initial = nn.Parameter(torch.zeros(LAYERS, width))
        self.join = nn.ModuleList(nn.Linear(2 * width, width) for _ in range(LAYERS))
        self.gru = nn.GRU(embedding, width, LAYERS, batch_first=True)
        self.leave = nn.Linear(width, embedding)
        self.bias = nn.Parameter(torch.zeros(len(vectors)))
        for module in (self.join, self.gru, self.leave):
            initialise(module, generator)
        self.vectors[:SPECIAL] = 0
        with torch.no_grad(), np.errstate(over="ignore", invalid="ignore"):  # a stranger's vectors may be huge
            spread = float(vectors.std())
            self.end.normal_(0, (spread if math.isfinite(spread) else 0.0) + 1e-3, generator=generator)

    def embed(self, local: Tensor) -> Tensor:
        """Return the vectors of words, EOS's too."""
        return torch.where((local == EOS)[..., None], self.end, self.vectors[local])

    def output_matrix(self) -> Tensor:
        """Return the output layer's fixed matrix, (|V^S|, embedding + 1).

        The last column is 1 for EOS alone, so that no gradient of the matrix is needed to learn EOS's vector.
        """
        return torch.cat([self.vectors, (torch.arange(len(self.vectors)) == EOS).float()[:, None]], 1)

    def project(self, states: Tensor) -> Tensor:
        """Return what the output layer's matrix is multiplied by: (n, width) -> (n, embedding + 1)."""
        hidden = self.leave(states)
        return torch.cat([hidden, hidden @ self.end[:, None]], 1)

    def initial_states(self, averages: Tensor) -> Tensor:
        """Return both layers' initial states of a batch: (LAYERS, bags, width)."""
        encoded = self.encoder(averages)
        joined = [torch.cat([state.expand(len(encoded), -1), encoded], 1) for state in self.initial]
        return torch.stack([layer(state) for layer, state in zip(self.join, joined, strict=True)])

    def loss(self, local: Tensor, bags: Bags, sampled: int) -> Tensor:
        """Return the mean negative log-probability of a padded table of summaries, EOS included, given their bags."""
        previous = torch.cat([torch.full_like(local[:, :1], EOS), local[:, :-1]], 1)
        states, _ = self.gru(self.embed(previous), self.initial_states(average(self.vectors, bags)))
        wanted = (local != PAD) & (local != UNK)
        hidden = self.project(states[wanted])
        right = local[wanted]
        return -Shortlist(self.output_matrix(), self.bias, right, sampled).log_probs(hidden, right).mean()


class DbaeState:
    """A batch being decoded. A row's columns are PAD, EOS, UNK and its `top_words` most probable words.

    A row may use the first `output_words` words of V^S and the words of its own input; only these are scored.
    """

    def __init__(
        self, module: AutoEncoder, vocab: Vocab, hidden: Tensor, source: Tensor, settings: recipe.Dbae, top_words: int
    ):
        self.module, self.copy_bias = module, settings.copy_bias
        self.local, self.ids = torch.from_numpy(vocab.table).long(), torch.from_numpy(vocab.ids).long()
        self.output_words = min(settings.output_words or len(vocab), len(vocab))
        self.top_words = top_words
        self.best = torch.zeros(len(source), 0, dtype=torch.long)
        self.output = module.output_matrix()
        self.frequent = self.output[: self.output_words].t().contiguous()
        self.bias = module.bias.detach().clone()
        self.bias[PAD] = self.bias[UNK] = NEVER
        self.hidden = hidden  # (LAYERS, rows, width)
        # (rows, words) the input's frequent words, and its other words; PAD elsewhere
        self.common = torch.where(source < self.output_words, source, PAD)
        self.rare = _deduplicate(source * (source >= self.output_words))

    @torch.no_grad()
    def step(self, words: Tensor) -> Tensor:
        """Take the previous words, (rows,) lexicon ids; return (rows, columns) log-probabilities of the next."""
        scores = self._scores(self._states(self.module.embed(self.local[words])))
        normaliser = scores.logsumexp(1, keepdim=True)
        special = scores[:, :SPECIAL].clone()
        ordinary = scores[:, SPECIAL:]
        best, columns = ordinary.topk(min(self.top_words, ordinary.shape[1]), dim=1)
        columns += SPECIAL
        self.best = torch.where(
            columns < self.output_words, columns, self.rare.gather(1, (columns - self.output_words).clamp_min(0))
        )
        return torch.cat([special, best], 1) - normaliser

    def _states(self, x: Tensor) -> Tensor:
        for layer in range(LAYERS):
            weights = [getattr(self.module.gru, f"{name}_l{layer}") for name in _GRU_WEIGHTS]
            x = torch.gru_cell(x, self.hidden[layer], *weights)
            self.hidden[layer] = x
        return self.module.project(x)

    def _scores(self, hidden: Tensor) -> Tensor:
        """Return the scores of the frequent words and of the input's rare ones: (rows, output_words + rare)."""
        scores = torch.addmm(self.bias[: self.output_words], hidden, self.frequent)
        # The appendix: lambda is added to the score of each of the input's words, before the softmax.
        scores.scatter_(1, self.common, scores.gather(1, self.common) + self.copy_bias)
        rare = (self.output[self.rare] @ hidden[:, :, None]).squeeze(2) + self.bias[self.rare] + self.copy_bias
        return torch.cat([scores, rare], 1)

    def words(self, rows: Tensor, columns: Tensor) -> Tensor:
        """Return the words that columns of rows stand for."""
        rows = rows.expand_as(columns)
        ordinary = columns >= SPECIAL
        local = torch.where(ordinary, self.best[rows, (columns - SPECIAL).clamp_min(0)], columns)
        return self.ids[local]

    def select(self, rows: Tensor) -> None:
        """Continue with these rows, in this order."""
        self.hidden, self.common, self.rare = self.hidden[:, rows], self.common[rows], self.rare[rows]


def _deduplicate(words: Tensor) -> Tensor:
    """Return rows with each word once, PAD elsewhere; only the first column may be PAD throughout."""
    words = torch.cat([torch.full_like(words[:, :1], PAD), words.sort(1).values], 1)
    repeated = words[:, 1:] == words[:, :-1]
    words[:, 1:][repeated] = PAD
    used = (words != PAD).any(0)
    used[0] = True
    return words[:, used]


@dataclass(frozen=True)
class Dbae:
    """A summarizer that writes a summary from a text's weighted bag of words."""

    module: AutoEncoder
    vocab: Vocab  # V^S
    weights: Tensor  # (|V^S|,) w_v
    settings: recipe.Dbae

    @property
    def lexicon_size(self) -> int:
        """The number of words of the lexicon that it was made for."""
        return len(self.vocab.table)

    def start(self, sources: Sequence[Ids], replace_unk: bool, top_words: int) -> DbaeState:
        """Read the sources, one row each; UNK is never written, so there is none to replace."""
        del replace_unk
        local = [self.vocab.local(source) for source in sources]
        with torch.no_grad():
            hidden = self.module.eval().initial_states(average(self.module.vectors, Bags.of(local), self.weights))
        table = pad_batch(local)
        source = torch.where(table > UNK, table, PAD)
        return DbaeState(self.module, self.vocab, hidden, source, self.settings, top_words)

    def __call__(self, sentences: Sequence[Ids], report: Report = ignore) -> list[Ids]:
        """Summarize sentences by beam search."""
        known = [i for i, sentence in enumerate(sentences) if (self.vocab.local(sentence) > UNK).any()]
        settings = Beam(self.settings.beam, 1, self.settings.max_words, NO_REPEAT, LENGTH_PENALTY, BATCH, unk=False)
        result: list[Ids] = [np.zeros(0, dtype=np.int32)] * len(sentences)
        found = beam(self, [sentences[i] for i in known], settings, report)
        for place, hypotheses in zip(known, found, strict=True):
            result[place] = hypotheses[0].words
        return result

    def save(self, folder: Path) -> None:
        """Write the model's two files."""
        tensors = {name: tensor.contiguous() for name, tensor in self.module.state_dict().items()}
        tensors |= {"input_weights": self.weights, "vocabulary": torch.from_numpy(self.vocab.ids.copy())}
        save_file(tensors, folder / WEIGHTS)
        figures = {"settings": asdict(self.settings), "lexicon": len(self.vocab.table)}
        (folder / FIGURES).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Dbae:
        """Read what `save` wrote; a RunError names a file that is something else."""
        with naming(folder / FIGURES):
            figures = read_json(folder / FIGURES)
            settings, lexicon = recipe.Dbae(**figures["settings"]), int(figures["lexicon"])
        with naming(folder / WEIGHTS):
            arrays = read_arrays(folder / WEIGHTS)
            vocab = Vocab(arrays.pop("vocabulary"), lexicon)
            weights, vectors = arrays.pop("input_weights"), arrays["vectors"]
            check_shapes({"input_weights": weights}, [("input_weights", (len(vocab),))])
            check_shapes({"vectors": vectors}, [("vectors", (len(vocab), vectors.shape[-1]))])
            if not any(settings.width in tensor.shape for tensor in arrays.values()):
                raise ValueError(f"no weights of width {settings.width}")
            module = AutoEncoder(vectors, settings.width, torch.Generator())
            module.load_state_dict({name: torch.from_numpy(array) for name, array in arrays.items()})
        return cls(module.eval(), vocab, torch.from_numpy(weights), settings)


def train(
    texts: Corpus,
    summaries: Corpus,
    vocab: Vocab,
    vectors: NDArray[np.float32],
    settings: recipe.Dbae,
    job: Job,
) -> Dbae:
    """Train on the summaries; the texts give only the moments of w_v. Rows of `vectors` are the words of V^S."""
    module = AutoEncoder(vectors, settings.width, generator_of(job.key, "weights"))
    counts = summaries.counts(len(vocab.table))[vocab.ids].astype(np.float64)
    counts[EOS] = len(summaries)
    with torch.no_grad():
        module.bias.copy_(torch.from_numpy(np.log((counts + 1) / (counts + 1).sum())))
    known = torch.from_numpy(vocab.table.astype(np.int64))

    def loss(indices: NDArray[np.int64]) -> Tensor:
        local = known[gather_batch(summaries, indices)]
        return module.loss(local, add_noise(Bags.of_table(local), settings.noise, len(vocab)), settings.shortlist)

    batches = Batches(summaries.lengths, settings.batch, f"{job.key}/batches")
    fit(module, loss, batches, Fit(settings.steps, settings.learning_rate, settings.clip), job)
    weights = input_weights(moments(summaries, vocab), moments(texts, vocab), settings.weights)
    return Dbae(module.eval(), vocab, torch.from_numpy(weights), settings)
