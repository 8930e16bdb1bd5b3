"""Weights in fewer bytes, for files: two bytes a weight, or one with a scale a row. In memory they are float32 again.

Half precision moves a weight by at most 1/2048 of itself, one byte by at most 1/254 of its row's largest. Computing in
few bytes is not its business.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Tensors = dict[str, Tensor]
Pack = Callable[[Tensors], Tensors]

_SCALE = ".scale"


def whole(tensors: Tensors) -> Tensors:
    """Leave the weights as they are."""
    return tensors


def half(tensors: Tensors) -> Tensors:
    """Two bytes a weight."""
    return {name: tensor.half() for name, tensor in tensors.items()}


def int8(tensors: Tensors) -> Tensors:
    """One byte a weight of a matrix, symmetric, with a float32 scale a row; two bytes a weight of all others."""
    packed: Tensors = {}
    for name, tensor in tensors.items():
        if tensor.ndim == 2 and tensor.shape[1] > 1:
            scale = tensor.abs().amax(1, keepdim=True) / 127
            packed[name] = torch.round(tensor / torch.where(scale > 0, scale, 1)).to(torch.int8)
            packed[name + _SCALE] = scale
        else:
            packed[name] = tensor.half()
    return packed


def unpacked(tensors: Tensors) -> Tensors:
    """Multiply by the scales, where there are any."""
    return {
        name: tensor * tensors[name + _SCALE] if name + _SCALE in tensors else tensor
        for name, tensor in tensors.items()
        if not name.endswith(_SCALE)
    }


PACKS: dict[str, Pack] = {"half": half, "int8": int8}
