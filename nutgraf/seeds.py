"""Randomness as a function of what it is for: a name and numbers give a seed, so that nothing depends on history."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def seed_of(*parts: str | int) -> int:
    """Return a seed for these parts, such as a step's key and a batch number."""
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


def generator_of(*parts: str | int) -> torch.Generator:
    """Return a CPU generator seeded by these parts."""
    import torch

    return torch.Generator().manual_seed(seed_of(*parts))
