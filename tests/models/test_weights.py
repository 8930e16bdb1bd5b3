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


@pytest.mark.parametrize(("pack", "share"), [("half", 1 / 2048), ("int8", 1 / 254)])
def test_packing_changes_a_weight_by_no_more_than_it_says(pack: str, share: float, tmp_path: Path) -> None:
    before = weights_of(toy_model(copy=True))
    before.save(tmp_path, PACKS[pack])
    table, found = before.arrays["target_table"], Weights.load(tmp_path).arrays["target_table"]
    largest = np.abs(table) if pack == "half" else np.abs(table).max(1, keepdims=True)
    assert found.dtype == np.float32
    assert (np.abs(found - table) <= largest * share * 1.01).all()
