import errno
import os
import time
import tracemalloc
from pathlib import Path

import pytest

from nutgraf import files
from nutgraf.errors import RunError


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    files.write_atomically(path, b"one")

    def write_half() -> None:
        with files.replacing(path) as partial:
            partial.write_bytes(b"tw")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert path.read_bytes() == b"one"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.txt"]


def test_nothing_that_lies_there_sends_a_write_elsewhere(tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("mine")
    folder = tmp_path / "run"
    folder.mkdir()
    for name in ("a.txt", ".a.txt.partial"):
        (folder / name).symlink_to(outside)
    files.write_atomically(folder / "a.txt", b"new")
    assert outside.read_text() == "mine"
    assert (folder / "a.txt").read_text() == "new"
    assert not (folder / "a.txt").is_symlink()


@pytest.mark.parametrize("kind", ["link", "hard link"])
def test_a_temporary_file_must_be_new_even_if_its_name_was_guessed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    outside, planted = tmp_path / "outside.txt", tmp_path / ".a.txt.00.partial"
    outside.write_text("mine")
    monkeypatch.setattr("secrets.token_hex", lambda _: "00")
    planted.symlink_to(outside) if kind == "link" else planted.hardlink_to(outside)
    with pytest.raises(FileExistsError):
        files.write_atomically(tmp_path / "a.txt", b"new")
    assert outside.read_text() == "mine"


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_a_lock_that_is_no_regular_file_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / ".lock"
    path.symlink_to(tmp_path / "outside") if kind == "link" else os.mkfifo(path)
    with pytest.raises(RunError, match=r"\.lock: (a symbolic link|a named pipe)"):
        files.open_or_create(path)
    assert not (tmp_path / "outside").exists()


def test_what_a_killed_process_left_is_removed_once_it_is_old(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept.txt").write_text("mine")
    folder = tmp_path / "run"
    folder.mkdir()
    old = time.time() - 3600
    (folder / ".a.txt.00.partial").symlink_to(outside)
    (folder / ".a.txt.01.partial").write_text("half")
    (folder / ".a.txt.02.partial").write_text("half, and still written to")
    for name in (".a.txt.00.partial", ".a.txt.01.partial"):
        os.utime(folder / name, (old, old), follow_symlinks=False)
    files.write_atomically(folder / "a.txt", b"new")
    assert sorted(entry.name for entry in folder.iterdir()) == [".a.txt.02.partial", "a.txt"]
    assert (outside / "kept.txt").read_text() == "mine"


def test_a_folder_takes_its_place_whole(tmp_path: Path) -> None:
    with files.replacing(tmp_path / "out", folder=True) as partial:
        (partial / "a.txt").write_text("one")
        assert not (tmp_path / "out").exists()
    assert (tmp_path / "out" / "a.txt").read_text() == "one"


@pytest.mark.parametrize("name", ["", ".", "/"])
def test_what_has_no_name_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(IsADirectoryError):
        files.write_atomically(Path(name), b"one")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["link", "pipe", "device", "folder"])
def test_only_regular_files_are_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "run.json"
    if kind == "link":
        (tmp_path / "other").write_text("{}")
        path.symlink_to(tmp_path / "other")
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path = Path("/dev/zero")
    with pytest.raises(RunError, match=rf"{path.name}: (a symbolic link|a named pipe|a device|a folder)"):
        files.read_bytes(path)
    with pytest.raises(FileNotFoundError):
        files.read_bytes(tmp_path / "none")


def test_a_file_that_cannot_be_opened_or_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"weights")

    def read_badly() -> None:
        with files.open_regular(path):
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    def refuse(*_: object) -> int:  # root may open any file
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    with pytest.raises(RunError, match=r"model\.safetensors: cannot be read: Input/output error"):
        read_badly()
    monkeypatch.setattr("os.open", refuse)
    with pytest.raises(RunError, match=r"model\.safetensors: cannot be opened: Permission denied"):
        files.sha256(path)


def test_a_file_that_is_too_long_or_nested_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("[" * 100_000)
    with pytest.raises(RunError, match=r"a\.json: longer than 1,000 bytes"):
        files.read_bytes(path, 1_000)
    with pytest.raises(ValueError, match="nested"):
        files.read_json(path)


def test_links_below_a_folder_are_named(tmp_path: Path) -> None:
    (tmp_path / "steps" / "text").mkdir(parents=True)
    (tmp_path / "notes").symlink_to("/tmp")  # the user's own
    files.refuse_links(tmp_path, "steps", "none")
    (tmp_path / "steps" / "text" / "work").symlink_to(tmp_path)
    with pytest.raises(RunError, match=r"steps/text/work: a symbolic link"):
        files.refuse_links(tmp_path, "steps", "none")
    with pytest.raises(RunError, match=r"a symbolic link"):
        files.refuse_links(tmp_path)


def test_a_folder_that_is_reached_by_a_link_may_be_read(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.txt").write_text("one")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    files.refuse_links(tmp_path / "link")


def test_every_flipped_bit_of_a_sealed_file_is_found(tmp_path: Path) -> None:
    path = tmp_path / "chunk"
    files.write_sealed(path, b"words")
    assert files.read_sealed(path) == b"words"
    whole = path.read_bytes()
    for place in range(8 * len(whole)):
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << place % 8
        path.write_bytes(flipped)
        assert files.read_sealed(path) is None
    path.write_bytes(whole[:-1])
    assert files.read_sealed(path) is None


def test_errors_name_the_file_to_blame(tmp_path: Path) -> None:
    for error in (KeyError("x"), ValueError("two\nlines")):
        with (
            pytest.raises(RunError, match=r"^model\.json: its content cannot be used \([^\n]*$"),
            files.naming(Path("model.json")),
        ):
            raise error
    with pytest.raises(RunError, match=r"a\.txt: missing"), files.naming(Path("model.json")):
        (tmp_path / "a.txt").read_text()


def test_a_list_of_words_has_no_control_characters(tmp_path: Path) -> None:
    path = tmp_path / "lexicon.txt"
    path.write_text("word\nzero\u200djoined\n")
    assert files.read_words(path) == "word\nzero\u200djoined\n"
    path.write_text("word\n\x1b[2J\n")
    with pytest.raises(ValueError, match=r"'\\x1b' at 5"):
        files.read_words(path)


def test_reading_takes_the_memory_of_the_file_not_of_the_largest_one(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes(b"word\n" * 1_000)
    tracemalloc.start()
    assert len(files.read_bytes(path, 1 << 30)) == 5_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20
    with pytest.raises(RunError, match="longer than 4,999 bytes"):
        files.read_bytes(path, 4_999)


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory")])
def test_a_file_is_not_to_blame_for_a_lack_of_memory(tmp_path: Path, error: Exception) -> None:
    with pytest.raises(type(error)), files.naming(tmp_path / "lexicon.txt"):
        raise error
    with pytest.raises(RunError, match=r"lexicon.txt: its content"), files.naming(tmp_path / "lexicon.txt"):
        raise RuntimeError("other shapes")
