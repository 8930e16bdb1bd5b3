"""A trained model as two files: weights (safetensors) and its configuration (JSON).

A run keeps weights in float32; an export packs each into two bytes, or into one byte with a scale a row. Loaded, they
are float32 again. Two bytes change a weight by at most 1/2048 of itself, one by at most 1/254 of its row's largest.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from nutgraf.models.seq2seq import Seq2seq
from nutgraf.recipe import Seq2seq as Settings
from nutgraf.text.lexicon import Vocab

WEIGHTS, CONFIG = "model.safetensors", "model.json"

Tensors = dict[str, Tensor]
Pack = Callable[[Tensors], Tensors]

_SCALE = ".scale"


def keep_float32(tensors: Tensors) -> Tensors:
    """Leave the weights as they are."""
    return tensors


def pack_half(tensors: Tensors) -> Tensors:
    """Store two bytes a weight."""
    return {name: tensor.half() for name, tensor in tensors.items()}


def pack_int8(tensors: Tensors) -> Tensors:
    """Store one byte a weight of a matrix, symmetric, with a float32 scale a row; two bytes a weight of all others."""
    packed: Tensors = {}
    for name, tensor in tensors.items():
        if tensor.ndim == 2 and tensor.shape[1] > 1:
            scale = tensor.abs().amax(1, keepdim=True) / 127
            packed[name] = torch.round(tensor / torch.where(scale > 0, scale, 1)).to(torch.int8)
            packed[name + _SCALE] = scale
        else:
            packed[name] = tensor.half()
    return packed


def unpack(tensors: Tensors) -> Tensors:
    """Multiply int8 weights by their scales."""
    return {
        name: tensor * tensors[name + _SCALE] if name + _SCALE in tensors else tensor
        for name, tensor in tensors.items()
        if not name.endswith(_SCALE)
    }


PACKS: dict[str, Pack] = {"half": pack_half, "int8": pack_int8}


def save(model: Seq2seq, folder: Path, pack: Pack = keep_float32) -> None:
    """Write the model's two files."""
    tensors = pack({name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()})
    tensors["target_ids"] = torch.from_numpy(model.target.ids.copy())
    if not model.settings.copy:  # else both sides have the same
        tensors["source_ids"] = torch.from_numpy(model.source.ids.copy())
    save_file(tensors, folder / WEIGHTS)
    config = {"settings": asdict(model.settings), "lexicon": len(model.target.table)}
    (folder / CONFIG).write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")


def load(folder: Path, device: torch.device) -> Seq2seq:
    """Read what `save` wrote, for use."""
    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    settings = Settings(**config["settings"])
    with safe_open(folder / WEIGHTS, framework="pt") as file:
        tensors = unpack({name: file.get_tensor(name) for name in file.keys()})  # noqa: SIM118
    target = Vocab(tensors.pop("target_ids").numpy(), config["lexicon"])
    source = target if settings.copy else Vocab(tensors.pop("source_ids").numpy(), config["lexicon"])
    width = tensors["target_table"].shape[1]
    blank = [np.zeros((len(vocab), width), dtype=np.float32) for vocab in (source, target)]
    model = Seq2seq(source, target, settings, blank[0], blank[1], torch.Generator())
    model.load_state_dict(tensors)
    return model.to(device).eval()
