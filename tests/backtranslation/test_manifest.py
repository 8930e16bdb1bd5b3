import os
from pathlib import Path

import pytest

from nutgraf.backtranslation import manifest


def made(folder: Path, content: bytes = b"weights") -> manifest.Manifest:
    manifest.begin(folder, "key")
    (folder / "model").mkdir()
    (folder / "model" / "weights.bin").write_bytes(content)
    return manifest.finish(folder, "key", {"text": "digest"}, 1.0)


def test_a_finished_step_reads_back_and_is_whole(tmp_path: Path) -> None:
    record = made(tmp_path / "step")
    assert manifest.read(tmp_path / "step") == record
    assert record.inputs == {"text": "digest"}
    assert list(record.files) == ["model/weights.bin"]
    manifest.verify(tmp_path / "step", record)
    assert not (tmp_path / "step" / "work").exists()


def test_without_a_manifest_nothing_is_done_whatever_files_are_there(tmp_path: Path) -> None:
    manifest.begin(tmp_path / "step", "key")
    (tmp_path / "step" / "weights.bin").write_bytes(b"all of it")
    assert manifest.read(tmp_path / "step") is None


@pytest.mark.parametrize("damage", ["flip", "truncate", "remove"])
def test_damage_is_named(tmp_path: Path, damage: str) -> None:
    record = made(tmp_path / "step")
    path = tmp_path / "step" / "model" / "weights.bin"
    if damage == "flip":
        path.write_bytes(b"weighty")
    elif damage == "truncate":
        os.truncate(path, 3)
    else:
        path.unlink()
    with pytest.raises(manifest.DamagedError, match=r"weights\.bin"):
        manifest.verify(tmp_path / "step", record)


@pytest.mark.parametrize("content", ["", "{", '{"name": "step"}', "[]", '"text"'])
def test_a_damaged_manifest_is_named(tmp_path: Path, content: str) -> None:
    made(tmp_path / "step")
    (tmp_path / "step" / "manifest.json").write_text(content)
    with pytest.raises(manifest.DamagedError, match=r"manifest\.json"):
        manifest.read(tmp_path / "step")


def test_work_of_the_same_key_stays_and_of_another_goes(tmp_path: Path) -> None:
    work = manifest.begin(tmp_path / "step", "key")
    (work / "chunk").write_bytes(b"1")
    (tmp_path / "step" / "half-written").write_bytes(b"1")
    assert (manifest.begin(tmp_path / "step", "key") / "chunk").exists()
    assert not (tmp_path / "step" / "half-written").exists()
    assert not (manifest.begin(tmp_path / "step", "other") / "chunk").exists()


def test_the_digest_is_of_names_and_contents(tmp_path: Path) -> None:
    assert made(tmp_path / "a").digest == made(tmp_path / "b").digest
    assert made(tmp_path / "c", b"other").digest != made(tmp_path / "d").digest
