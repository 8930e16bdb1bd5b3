import json
from pathlib import Path

import pytest

from nutgraf.errors import NutgrafError, RunError
from nutgraf.run.folder import Run
from tests.run.test_folder import INPUTS, RECIPE


def complaint(folder: Path) -> str:
    try:
        Run.open(folder)
    except NutgrafError as error:
        return str(error)
    return ""


def flips(path: Path, every: int) -> list[int]:
    """Flip bits of a file, one at a time, and return those after which it is read as if nothing had happened."""
    whole, unnoticed, folder = path.read_bytes(), [], path.parent
    for place in range(0, 8 * len(whole), every):
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << place % 8
        path.write_bytes(flipped)
        message = complaint(folder)
        if path.name not in message:
            unnoticed.append(place)
    path.write_bytes(whole)
    return unnoticed


@pytest.mark.parametrize("name", ["run.json", "recipe.toml"])
def test_a_flipped_bit_is_found_and_named(tmp_path: Path, name: str) -> None:
    run = Run.create(tmp_path, RECIPE, INPUTS, (100,))
    assert flips(tmp_path / name, 7) == []
    assert Run.open(tmp_path) == run


def test_runs_of_earlier_versions_have_no_checksum_and_get_one(tmp_path: Path) -> None:
    run = Run.create(tmp_path, RECIPE, INPUTS)
    table = json.loads((tmp_path / "run.json").read_text())
    del table["checksum"]
    (tmp_path / "run.json").write_text(json.dumps(table))
    (tmp_path / "recipe.toml").write_text(RECIPE.to_toml())
    assert Run.open(tmp_path) == run
    Run.create(tmp_path, RECIPE, INPUTS)
    assert "checksum" in json.loads((tmp_path / "run.json").read_text())
    assert (tmp_path / "recipe.toml").read_text().splitlines()[-1].startswith("# sha256 ")


def test_a_kill_between_the_two_files_leaves_a_run_that_can_be_resumed(tmp_path: Path) -> None:
    Run.create(tmp_path, RECIPE, INPUTS)
    old = (tmp_path / "run.json").read_bytes()
    Run.create(tmp_path, RECIPE, INPUTS, (100,))
    (tmp_path / "run.json").write_bytes(old)
    assert Run.create(tmp_path, RECIPE, INPUTS, (100,)).aligned_limits == (100,)


@pytest.mark.parametrize(
    "table",
    [
        {"inputs": {}},
        {"inputs": None},
        {"inputs": {"texts": {"path": 3}}},
        {"aligned_limits": [0]},
        {"aligned_limits": ["many"]},
        {"aligned_limits": [*range(1, 200)]},
        {"format": "\x1b[2J"},
        {"more": 1},
    ],
)
def test_wrong_values_are_refused(tmp_path: Path, table: dict[str, object]) -> None:
    Run.create(tmp_path, RECIPE, INPUTS)
    stored = json.loads((tmp_path / "run.json").read_text())
    del stored["checksum"]
    (tmp_path / "run.json").write_text(json.dumps(stored | table))
    with pytest.raises(RunError, match=r"run\.json: (damaged|format)"):
        Run.open(tmp_path)
