"""A trained model as two files, for torch: `nutgraf.models.weights` reads and writes them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from nutgraf.models.seq2seq import Seq2seq
from nutgraf.models.weights import Weights


def weights_of(model: Seq2seq) -> Weights:
    """Return a model's weights as arrays."""
    arrays = {name: tensor.detach().cpu().numpy() for name, tensor in model.state_dict().items()}
    return Weights(model.settings, model.source, model.target, arrays)


def save(model: Seq2seq, folder: Path) -> None:
    """Write the model's two files."""
    weights_of(model).save(folder)


def load(folder: Path, device: str | torch.device, lexicon: int | None = None) -> Seq2seq:
    """Read what `save` or an export wrote, for use; `lexicon` is as for `Weights.load`."""
    weights = Weights.load(folder, lexicon)
    width = weights.arrays["target_table"].shape[1]
    blank = [np.zeros((len(vocab), width), dtype=np.float32) for vocab in (weights.source, weights.target)]
    model = Seq2seq(weights.source, weights.target, weights.settings, blank[0], blank[1], torch.Generator())
    model.load_state_dict({name: torch.from_numpy(array) for name, array in weights.arrays.items()})
    return model.to(device).eval()
