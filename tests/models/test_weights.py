from pathlib import Path

import numpy as np
import pytest

from nutgraf.models import weights as packing
from nutgraf.models.storage import weights_of
from nutgraf.models.weights import PACKS, Weights
from tests.toys import toy_model


def test_packing_by_hand() -> None:
    arrays = {"table": np.array([[127.0, -63.6], [0.0, 0.0]], np.float32), "gain": np.array([[0.1]], np.float32)}
    packed = packing.pack_int8(arrays)
    assert packed["table"].tolist() == [[127, -64], [0, 0]]
    assert packed["table.scale"].tolist() == [[1.0], [0.0]]
    assert packed["gain"].dtype == np.float16
    unpacked = packing.unpack(packed)
    assert list(unpacked) == ["table", "gain"]
    assert unpacked["table"].tolist() == [[127.0, -64.0], [0.0, 0.0]]
    assert {array.dtype for array in unpacked.values()} == {np.dtype(np.float32)}
    assert packing.pack_half(arrays)["table"].dtype == np.float16
    assert packing.unpack(arrays) == arrays


def test_six_bits_by_hand() -> None:
    whole = np.array([[-32, -31, 0, 31], [1, 2, 3, 4]], np.int8)
    packed = packing.pack_six_bits(whole)  # 0, 1, 32, 63 and 33, 34, 35, 36 as six bits each
    assert [f"{byte:08b}" for byte in packed[0]] == ["00000000", "00011000", "00111111"]
    assert [f"{byte:08b}" for byte in packed[1]] == ["10000110", "00101000", "11100100"]
    assert packing.unpack_six_bits(packed).tolist() == whole.tolist()
    every = np.random.default_rng(1).permuted(np.tile(np.arange(-32, 32, dtype=np.int8), (50, 1)), axis=1)
    assert np.array_equal(packing.unpack_six_bits(packing.pack_six_bits(every)), every)
    with pytest.raises(ValueError, match="4 bytes a row"):
        packing.unpack_six_bits(np.zeros((3, 4), np.uint8))


def test_word_vectors_take_six_bits_where_rows_fill_bytes() -> None:
    vectors = np.array([[31.0, -30.6, 0.4, 1.0], [0.0, 0.0, 0.0, 0.0]], np.float32)
    packed = packing.pack_int8({"target_table": vectors, "enter.v": vectors, "own_source_table": vectors[:, :3]})
    assert {name: (array.dtype.name, array.shape) for name, array in packed.items() if "scale" not in name} == {
        "target_table": ("uint8", (2, 3)),
        "enter.v": ("int8", (2, 4)),
        "own_source_table": ("int8", (2, 3)),
    }
    unpacked = packing.unpack(packed)
    assert unpacked["target_table"].tolist() == [[31.0, -31.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0]]
    assert unpacked["target_table"].dtype == np.float32


@pytest.mark.parametrize("shapes", [((1, 9), (9, 1)), ((9,), (9, 1)), ((9, 3), (9,)), ((9, 3), (9, 3))])
def test_scales_that_do_not_fit_are_refused_before_they_are_used(shapes: tuple[tuple[int, ...], ...]) -> None:
    array, scale = np.zeros(shapes[0], np.int8), np.ones(shapes[1], np.float32)
    with pytest.raises(ValueError, match=r"x is \(.*\), and its scales are"):
        packing.unpack({"x": array, "x.scale": scale})


@pytest.mark.parametrize("copy", [False, True])
def test_what_is_saved_is_loaded(copy: bool, tmp_path: Path) -> None:
    before = weights_of(toy_model(copy))
    before.save(tmp_path)
    after = Weights.load(tmp_path)
    assert after.settings == before.settings
    assert after.arrays.keys() == before.arrays.keys()
    for name, array in before.arrays.items():
        assert np.array_equal(after.arrays[name], array)
    for one, other in ((before.source, after.source), (before.target, after.target)):
        assert np.array_equal(one.ids, other.ids)
        assert len(one.table) == len(other.table)


@pytest.mark.parametrize(
    ("pack", "name", "share"),
    [("half", "target_table", 1 / 2048), ("int8", "encoder.enter.v", 1 / 254), ("int8", "target_table", 1 / 62)],
)
def test_packing_changes_a_weight_by_no_more_than_it_says(pack: str, name: str, share: float, tmp_path: Path) -> None:
    before = weights_of(toy_model(copy=True, embedding=8))
    before.save(tmp_path, PACKS[pack])
    matrix, found = before.arrays[name], Weights.load(tmp_path).arrays[name]
    largest = np.abs(matrix) if pack == "half" else np.abs(matrix).max(1, keepdims=True)
    changes = np.abs(found - matrix) / largest
    assert found.dtype == np.float32
    assert share / 2 < changes.max() <= share * 1.01
