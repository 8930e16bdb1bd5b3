"""First-order word moments matching (mu:1), Section 3.1 and the appendix.

f(s, v) is the probability that word v of text s is in its summary: the bag-of-words encoder of DBAE, a linear map to
V^S, a sigmoid. It sees no pairs: over a batch of texts the mean of f(., v) should equal v's share of the summaries. The
summary is the words with a high enough f, in the order of the text. Choosing eta is done in `thresholds`.

Words that are not in the text have a probability of 0 (a log-score of -1e6 in the paper) and are not computed at all.
All words outside V^S count as one word, UNK, with its own moments; where UNK is kept, they are copied unchanged.
Training starts at f = mu_S / mu_F (`start_at_ratios`); the paper does not say where it starts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn import functional

from nutgraf import recipe
from nutgraf.files import naming, read_json
from nutgraf.learning.batches import Batches, gather_batch
from nutgraf.learning.loop import Fit, Job, fit
from nutgraf.models.arrays import check_shapes, read_arrays
from nutgraf.models.bow import Bags, BowEncoder, average, moments, ratio
from nutgraf.seeds import generator_of
from nutgraf.text.corpus import Corpus
from nutgraf.text.inflection import Inflections
from nutgraf.text.lexicon import UNK, Ids, Vocab

WEIGHTS, FIGURES = "mu1.safetensors", "mu1.json"
PAPER_ETA = 0.3
BATCH = 512  # sentences summarized at once

Forms = Mapping[int, Sequence[int]]  # of each word that has several: all its forms


class Moments(nn.Module):
    """f_theta: the probability of each word of a text."""

    vectors: Tensor

    def __init__(self, vectors: NDArray[np.float32], width: int, generator: torch.Generator):
        super().__init__()
        self.register_buffer("vectors", torch.from_numpy(vectors.copy()))  # (|V^S|, embedding), fixed
        self.encoder = BowEncoder(vectors.shape[1], width, generator)
        self.weight = nn.Parameter(torch.zeros(len(vectors), width))
        self.bias = nn.Parameter(torch.zeros(len(vectors)))

    def forward(self, bags: Bags, rows: Tensor, words: Tensor) -> Tensor:
        """Return f(s, v) for pairs: `rows` (n,) are bags, `words` (n,) local ids -> (n,)."""
        encoded = self.encoder(average(self.vectors, bags))
        scores = (functional.embedding(rows, encoded) * functional.embedding(words, self.weight)).sum(1)
        return torch.sigmoid(scores + self.bias[words])


def batch_loss(f: Tensor, words: Tensor, batch: int, ratios: Tensor) -> Tensor:
    """Return the loss of a batch B of texts, from f(s, v) of every distinct word v of every text s in it.

    Eq. 7: hat mu_F = sum_{s in B} 1[v in s] / |B|, hat mu_S = hat mu_F / mu_F * mu_S (at most 1: it is a probability).
    The appendix: L = sum_v BCE(sum_{s in B} f(s, v) / |B|, hat mu_S). The paper divides by |D^F|, but the target is a
    moment of the batch. `ratios` (|V^S|,) is mu_S / mu_F. A word that no text of the batch has adds nothing.
    """
    present, place = torch.unique(words, return_inverse=True)
    predicted = torch.zeros(len(present)).index_add(0, place, f) / batch
    mu_F = torch.zeros(len(present)).index_add(0, place, torch.ones_like(f)) / batch
    mu_S = (mu_F * ratios[present]).clamp(max=1.0)
    return functional.binary_cross_entropy(predicted.clamp(0, 1), mu_S, reduction="sum")


def distinct_words(local: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """Return rows and words of a padded table of local ids, each word once a row, without PAD and EOS."""
    rows, columns = (local >= UNK).nonzero(as_tuple=True)
    pairs = torch.unique(rows * size + local[rows, columns])
    return pairs // size, pairs % size


@dataclass(frozen=True)
class Mu1:
    """A summarizer that keeps the words that are likely in a summary."""

    module: Moments
    vocab: Vocab  # V^S
    eta: float
    max_words: int  # N

    @property
    def lexicon_size(self) -> int:
        """The number of words of the lexicon that it was made for."""
        return len(self.vocab.table)

    def __call__(self, sentences: Sequence[Ids]) -> list[Ids]:
        """Summarize sentences."""
        result: list[Ids] = []
        for i in range(0, len(sentences), BATCH):
            chosen = [np.asarray(sentence, dtype=np.int32) for sentence in sentences[i : i + BATCH]]
            likely = self.probabilities(chosen)
            result += [self._summarize(s, f) for s, f in zip(chosen, likely, strict=True)]
        return result

    def _summarize(self, sentence: Ids, f: NDArray[np.float32]) -> Ids:
        kept = sentence[f >= self.eta]
        _, first = np.unique(kept, return_index=True)  # f(s, v) is about v's presence: a second one adds nothing
        return kept[np.sort(first)][: self.max_words]

    def probabilities(self, sentences: Sequence[Ids]) -> list[NDArray[np.float32]]:
        """Return f(s, v) of each word of each sentence."""
        local = [self.vocab.local(sentence) for sentence in sentences]
        lengths = [len(sentence) for sentence in sentences]
        rows = torch.from_numpy(np.repeat(np.arange(len(local)), lengths))
        words = torch.from_numpy(np.concatenate([*local, np.zeros(0)]).astype(np.int64))
        with torch.no_grad():
            f = self.module.eval()(Bags.of(local), rows, words).numpy()
        return np.split(f, np.cumsum(lengths[:-1])) if lengths else []

    def with_eta(self, eta: float, max_words: int | None = None) -> Mu1:
        """Return the same model with another threshold, and another N where given."""
        return replace(self, eta=float(eta), max_words=max_words or self.max_words)

    def save(self, folder: Path) -> None:
        """Write the model's two files."""
        tensors = {name: tensor.contiguous() for name, tensor in self.module.state_dict().items()}
        save_file(tensors | {"vocabulary": torch.from_numpy(self.vocab.ids.copy())}, folder / WEIGHTS)
        figures = {"eta": self.eta, "max_words": self.max_words, "lexicon": len(self.vocab.table)}
        (folder / FIGURES).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Mu1:
        """Read what `save` wrote; a RunError names a file that is something else."""
        with naming(folder / FIGURES):
            figures = read_json(folder / FIGURES)
            eta, max_words, lexicon = float(figures["eta"]), int(figures["max_words"]), int(figures["lexicon"])
            if not 0 <= eta <= 1 or max_words < 1:
                raise ValueError(f"eta {eta}, max_words {max_words}")
        with naming(folder / WEIGHTS):
            arrays = read_arrays(folder / WEIGHTS)
            vocab, weight, vectors = Vocab(arrays.pop("vocabulary"), lexicon), arrays["weight"], arrays["vectors"]
            check_shapes({"weight": weight}, [("weight", (len(vocab), weight.shape[-1]))])
            check_shapes({"vectors": vectors}, [("vectors", (len(vocab), vectors.shape[-1]))])
            module = Moments(vectors, weight.shape[1], torch.Generator())
            module.load_state_dict({name: torch.from_numpy(array) for name, array in arrays.items()})
        return cls(module.eval(), vocab, eta, max_words)


def train(
    texts: Corpus,
    summaries: Corpus,
    vocab: Vocab,
    vectors: NDArray[np.float32],
    settings: recipe.Mu1,
    job: Job,
    forms: Forms | None = None,
) -> Mu1:
    """Match the moments, starting from f = mu_S / mu_F; rows of `vectors` are the words of V^S.

    Where forms are given, in local ids, those of one word share their moments (not in the paper): "named" is
    in a summary as often as its verb is, although summaries say "names".
    Where eta is "auto", the model has the paper's until `thresholds` chooses one.
    """
    mu_S, mu_F = (share_moments(moments(corpus, vocab), forms or {}) for corpus in (summaries, texts))
    ratios = torch.from_numpy(ratio(mu_S, mu_F).astype(np.float32))
    module = Moments(vectors, settings.width, generator_of(job.key, "weights"))
    start_at_ratios(module, ratios)
    match_moments(module, texts, vocab, ratios, settings, job)
    eta = PAPER_ETA if isinstance(settings.eta, str) else settings.eta
    return Mu1(module.eval(), vocab, eta, settings.max_words)


def forms_in(vocab: Vocab, words: Sequence[str]) -> Forms:
    """Return the forms of words in local ids; those outside the vocabulary are left out."""
    local = {words[word]: place for place, word in enumerate(vocab.ids.tolist())}
    known = {word: forms for word, forms in Inflections(words).all_forms().items() if word in local}
    return {local[word]: sorted(local[form] for form in forms if form in local) for word, forms in known.items()}


def share_moments(mu: NDArray[np.float64], forms: Forms) -> NDArray[np.float64]:
    """Return the moments of words, where each form of a word has the sum of all its forms."""
    shared = mu.copy()
    for word, own in forms.items():
        shared[word] = mu[list(own)].sum()
    return shared


def start_at_ratios(module: Moments, ratios: Tensor) -> None:
    """Set f(s, v) to mu_S / mu_F for every text s: a minimum of the loss that knows no context (not in the paper)."""
    with torch.no_grad():
        module.weight.zero_()
        module.bias.copy_(torch.logit(ratios.clamp(0.01, 0.99)))


def match_moments(module: Moments, texts: Corpus, vocab: Vocab, ratios: Tensor, settings: recipe.Mu1, job: Job) -> None:
    """Train a module, from whatever weights it has, until its moments over the texts are those of the summaries."""
    known = torch.from_numpy(vocab.table.astype(np.int64))

    def loss(indices: NDArray[np.int64]) -> Tensor:
        local = known[gather_batch(texts, indices)]
        rows, words = distinct_words(local, len(vocab))
        return batch_loss(module(Bags.of_table(local), rows, words), words, len(indices), ratios)

    batches = Batches(texts.lengths, settings.batch, f"{job.key}/batches")
    fit(module, loss, batches, Fit(settings.steps, settings.learning_rate, settings.clip), job)
