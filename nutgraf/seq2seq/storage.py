"""A trained model as two files: weights (safetensors) and what they mean (JSON)."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from nutgraf.recipe import Seq2seq as Settings
from nutgraf.seq2seq.model import Seq2seq
from nutgraf.seq2seq.packing import Pack, unpacked, whole
from nutgraf.text.lexicon import Vocab

WEIGHTS, MEANING = "model.safetensors", "model.json"


def save(model: Seq2seq, folder: Path, pack: Pack = whole) -> None:
    """Write the model's two files."""
    tensors = pack({name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()})
    tensors["target_ids"] = torch.from_numpy(model.target.ids.copy())
    if not model.settings.copy:  # else one and the same on both sides
        tensors["source_ids"] = torch.from_numpy(model.source.ids.copy())
    save_file(tensors, folder / WEIGHTS)
    meaning = {"settings": asdict(model.settings), "lexicon": len(model.target.table)}
    (folder / MEANING).write_text(json.dumps(meaning, indent=1) + "\n", encoding="utf-8")


def load(folder: Path, device: torch.device) -> Seq2seq:
    """Read what `save` wrote, for use."""
    meaning = json.loads((folder / MEANING).read_text(encoding="utf-8"))
    settings = Settings(**meaning["settings"])
    with safe_open(folder / WEIGHTS, framework="pt") as file:
        tensors = unpacked({name: file.get_tensor(name) for name in file.keys()})  # noqa: SIM118
    target = Vocab(tensors.pop("target_ids").numpy(), meaning["lexicon"])
    source = target if settings.copy else Vocab(tensors.pop("source_ids").numpy(), meaning["lexicon"])
    width = tensors["target_table"].shape[1]
    blank = [np.zeros((len(vocab), width), dtype=np.float32) for vocab in (source, target)]
    model = Seq2seq(source, target, settings, blank[0], blank[1], torch.Generator())
    model.load_state_dict(tensors)
    return model.to(device).eval()
