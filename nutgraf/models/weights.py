"""A trained model's weights on disk, read and written by numpy alone: safetensors, and its configuration in JSON.

A run keeps weights in float32; an export packs each into two bytes, or into one byte with a scale a row. Word vectors,
two thirds of a model, then take six bits a weight: as good (LOG.md, 2026-11-17). Loaded, all are float32 again. Two
bytes change a weight by at most 1/2048 of itself, one by 1/254 of its row's largest, six bits by 1/62 of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from nutgraf.files import naming, read_json
from nutgraf.models.arrays import Arrays, Shape, check_shapes, read_arrays
from nutgraf.recipe import Seq2seq as Settings
from nutgraf.text.lexicon import Ids, Vocab

WEIGHTS, CONFIG = "model.safetensors", "model.json"

Pack = Callable[[Arrays], Arrays]

_SCALE = ".scale"
_WORD_VECTORS = ("target_table", "own_source_table", "vectors")


def keep_float32(arrays: Arrays) -> Arrays:
    """Leave the weights as they are."""
    return arrays


def pack_half(arrays: Arrays) -> Arrays:
    """Store two bytes a weight."""
    return {name: array.astype(np.float16) for name, array in arrays.items()}


def pack_int8(arrays: Arrays) -> Arrays:
    """Store a matrix symmetric, with a float32 scale a row; two bytes a weight of all others.

    A weight of a matrix takes one byte, and one of word vectors six bits where four of them fill three bytes.
    """
    packed: Arrays = {}
    for name, array in arrays.items():
        if array.ndim == 2 and array.shape[1] > 1:
            six = name in _WORD_VECTORS and array.shape[1] % 4 == 0
            scale = np.abs(array).max(1, keepdims=True) / (31 if six else 127)
            whole = np.round(array / np.where(scale > 0, scale, 1)).astype(np.int8)
            packed[name] = pack_six_bits(whole) if six else whole
            packed[name + _SCALE] = scale
        else:
            packed[name] = array.astype(np.float16)
    return packed


def pack_six_bits(whole: NDArray[np.int8]) -> NDArray[np.uint8]:
    """Write four numbers from -32 to 31 into three bytes: (rows, 4 n) -> (rows, 3 n)."""
    a, b, c, d = np.moveaxis((whole + 32).astype(np.uint8).reshape(len(whole), -1, 4), 2, 0)
    return np.stack([a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | d], 2).reshape(len(whole), -1)


def unpack_six_bits(packed: NDArray[np.uint8]) -> NDArray[np.int8]:
    """Read what `pack_six_bits` wrote; a ValueError where that cannot be."""
    if packed.shape[1] % 3:
        raise ValueError(f"{packed.shape[1]} bytes a row cannot be four numbers in three bytes each")
    x, y, z = np.moveaxis(packed.reshape(len(packed), -1, 3), 2, 0)
    codes = np.stack([x >> 2, (x & 3) << 4 | y >> 4, (y & 15) << 2 | z >> 6, z & 63], 2)
    return codes.reshape(len(packed), -1).astype(np.int8) - np.int8(32)


def unpack(arrays: Arrays) -> Arrays:
    """Return float32 weights: those of a byte or less are multiplied by their scales."""
    return {
        name: _rescale(name, array, arrays[name + _SCALE]) if name + _SCALE in arrays else _as_float32(name, array)
        for name, array in arrays.items()
        if not name.endswith(_SCALE)
    }


def _rescale(name: str, array: NDArray[Any], scale: NDArray[Any]) -> NDArray[Any]:
    if array.ndim != 2 or scale.shape != (len(array), 1):  # else the product may be far larger than both
        raise ValueError(f"{name} is {array.shape}, and its scales are {scale.shape}")
    return np.asarray((unpack_six_bits(array) if array.dtype == np.uint8 else array) * scale)


def _as_float32(name: str, array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind != "f":
        raise ValueError(f"{name} is made of {array.dtype}")
    return array.astype(np.float32, copy=False)


PACKS: dict[str, Pack] = {"half": pack_half, "int8": pack_int8}


@dataclass(frozen=True)
class Weights:
    """A trained model as values: its settings, its vocabularies and its float32 arrays by name."""

    settings: Settings
    source: Vocab
    target: Vocab
    arrays: Arrays

    def save(self, folder: Path, pack: Pack = keep_float32) -> None:
        """Write the model's two files."""
        arrays = pack(self.arrays) | {"target_ids": self.target.ids}
        if not self.settings.copy:  # else both sides have the same
            arrays["source_ids"] = self.source.ids
        save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, folder / WEIGHTS)
        config = {"settings": asdict(self.settings), "lexicon": len(self.target.table)}
        (folder / CONFIG).write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, lexicon: int | None = None) -> Weights:
        """Read what `save` wrote; `lexicon` is the number of words that it must be for, where that is known.

        The files may be a stranger's: all sizes are compared with each other before anything of that size is made, and
        weights that are not finite are refused. A RunError names the file.
        """
        with naming(folder / CONFIG):
            config = read_json(folder / CONFIG)
            settings, words = Settings(**config["settings"]), int(config["lexicon"])
            if lexicon is not None and words != lexicon:
                raise ValueError(f"made for a lexicon of {words:,} words, and this one has {lexicon:,}")
        with naming(folder / WEIGHTS):
            arrays = read_arrays(folder / WEIGHTS)
            target = Vocab(arrays.pop("target_ids"), words)
            source = target if settings.copy else Vocab(arrays.pop("source_ids"), words)
            arrays = unpack(arrays)
            width = arrays["target_table"].shape[-1]
            check_shapes(arrays, expected_shapes(settings, width, len(source), len(target)))
        return cls(settings, source, target, arrays)

    def only(self, kept: Ids) -> Weights:
        """Return the same words by their places in a smaller lexicon, which has these words of the one before."""
        return replace(self, source=self.source.only(kept), target=self.target.only(kept))


def expected_shapes(settings: Settings, embedding: int, source: int, target: int) -> Iterator[tuple[str, Shape]]:
    """Yield the name and the shape of each array of a model, without making it."""
    width, kernel = settings.width, settings.kernel
    yield from (("target_table", (target, embedding)), ("bias", (target,)))
    yield from _affine("gate", width, 1) if settings.copy else iter([("own_source_table", (source, embedding))])
    for side, layers in (("encoder", settings.encoder_layers), ("decoder", settings.decoder_layers)):
        yield f"{side}.positions", (settings.positions, embedding)
        yield from _affine(f"{side}.enter", embedding, width)
        yield from _affine(f"{side}.leave", width, embedding)
        for layer in range(layers):
            yield from _affine(f"{side}.convolutions.{layer}", kernel * width, 2 * width)
            if side == "decoder":
                yield from _affine(f"{side}.attentions.{layer}.enter", width, embedding)
                yield from _affine(f"{side}.attentions.{layer}.leave", embedding, width)


def _affine(name: str, inputs: int, outputs: int) -> Iterator[tuple[str, Shape]]:
    yield from ((f"{name}.v", (outputs, inputs)), (f"{name}.gain", (outputs, 1)), (f"{name}.bias", (outputs,)))
