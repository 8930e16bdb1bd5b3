import os
from pathlib import Path

import pytest

from nutgraf.errors import RunError
from nutgraf.run import manifest

INPUTS = {"text": "digest"}


def made(folder: Path, content: bytes = b"weights") -> manifest.Manifest:
    manifest.begin(folder, "key", INPUTS)
    (folder / "model").mkdir()
    (folder / "model" / "weights.bin").write_bytes(content)
    return manifest.finish(folder, "key", INPUTS, 1.0)


def test_a_finished_step_reads_back_and_is_whole(tmp_path: Path) -> None:
    record = made(tmp_path / "step")
    assert manifest.read(tmp_path / "step") == record
    assert record.inputs == {"text": "digest"}
    assert list(record.files) == ["model/weights.bin"]
    manifest.verify(tmp_path / "step", record)
    assert not (tmp_path / "step" / "work").exists()


def test_who_may_read_the_manifest_may_read_all(tmp_path: Path) -> None:
    manifest.begin(tmp_path, "key", {})
    (tmp_path / "weights.bin").write_bytes(b"weights")
    (tmp_path / "weights.bin").chmod(0o600)
    manifest.finish(tmp_path, "key", {}, 1.0)
    assert (tmp_path / "weights.bin").stat().st_mode == (tmp_path / "manifest.json").stat().st_mode


def test_without_a_manifest_nothing_is_done_whatever_files_are_there(tmp_path: Path) -> None:
    manifest.begin(tmp_path / "step", "key", INPUTS)
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


def test_names_that_no_file_can_have_are_named(tmp_path: Path) -> None:
    made(tmp_path / "step")
    path = tmp_path / "step" / "manifest.json"
    path.write_text(path.read_text().replace("weights.bin", "w" * 256))
    with pytest.raises(manifest.DamagedError, match=r"manifest\.json"):
        manifest.read(tmp_path / "step")


def test_work_of_the_same_key_stays_and_of_another_goes(tmp_path: Path) -> None:
    work = manifest.begin(tmp_path / "step", "key", INPUTS)
    (work / "chunk").write_bytes(b"1")
    (tmp_path / "step" / "half-written").write_bytes(b"1")
    assert (manifest.begin(tmp_path / "step", "key", INPUTS) / "chunk").exists()
    assert not (tmp_path / "step" / "half-written").exists()
    assert not (manifest.begin(tmp_path / "step", "other", INPUTS) / "chunk").exists()


def test_work_on_inputs_that_came_out_differently_goes(tmp_path: Path) -> None:
    (manifest.begin(tmp_path / "step", "key", INPUTS) / "chunk").write_bytes(b"1")
    assert not (manifest.begin(tmp_path / "step", "key", {"text": "other"}) / "chunk").exists()


def test_a_step_that_is_a_link_or_has_one_is_not_begun(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    (tmp_path / "step").symlink_to(tmp_path / "mine")
    with pytest.raises(RunError, match=r"step: a symbolic link"):
        manifest.begin(tmp_path / "step", "key", INPUTS)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "work").symlink_to(tmp_path / "mine")
    with pytest.raises(RunError, match=r"other/work: a symbolic link"):
        manifest.begin(tmp_path / "other", "key", INPUTS)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.tex"]


def test_the_digest_is_of_names_and_contents(tmp_path: Path) -> None:
    assert made(tmp_path / "a").digest == made(tmp_path / "b").digest
    assert made(tmp_path / "c", b"other").digest != made(tmp_path / "d").digest


def test_the_manifest_says_what_computed_the_step(tmp_path: Path) -> None:
    manifest.begin(tmp_path / "step", "key", {})
    manifest.finish(tmp_path / "step", "key", {}, 1.0, threads=2, device="cpu")
    found = manifest.read(tmp_path / "step")
    assert found is not None
    assert (found.threads, found.device) == (2, "cpu")
