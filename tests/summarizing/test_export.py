import json
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO, TextIOWrapper
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from nutgraf.cli import main
from nutgraf.demo.newswire import unaligned
from nutgraf.errors import InputError, RunError
from nutgraf.learning.batches import pad_batch
from nutgraf.models.storage import load
from nutgraf.recipe import Decoding, Text
from nutgraf.run.folder import Run
from nutgraf.serve.models import Models
from nutgraf.summarizing.export import Export, write
from nutgraf.summarizing.language import Language
from nutgraf.summarizing.summarizer import Summarizer
from nutgraf.text.casing import Casing
from nutgraf.text.lexicon import SPECIALS, Lexicon
from nutgraf.text.prepare import Prepared
from tests.tiny import sign

CPU = torch.device("cpu")
TEXTS = [
    *(text for text, _ in unaligned(1, 1, 60, seed=5)[2]),
    "Zyx Corp of Qwertystan said Zyx would buy 12,345 blorgs .",  # words that no corpus had
    "Short one",
    "",
]


@pytest.fixture(scope="module")
def usual(finished: Run) -> Run:
    """The run, with summaries of the usual length."""
    decoding = replace(finished.recipe.decoding, min_words=0)
    return replace(finished, recipe=replace(finished.recipe, decoding=decoding))


@pytest.fixture(scope="module")
def exported(usual: Run, tmp_path_factory: pytest.TempPathFactory) -> Export:
    return write(usual, tmp_path_factory.mktemp("exports") / "half", ["all-2", "mu1-2"])


def round_to_half(run: Run, folder: Path, names: Sequence[str]) -> Run:
    """Return a copy of a run with weights that two bytes hold exactly."""
    shutil.copytree(run.folder, folder)
    copy = replace(run, folder=folder)
    for name in names:
        path = copy.step_folder(name) / "model.safetensors"
        arrays = load_file(path)
        rounded = {
            key: array.astype(np.float16) if array.dtype == np.float32 else array for key, array in arrays.items()
        }
        assert any((array != rounded[key]).any() for key, array in arrays.items())
        save_file({key: array.astype(arrays[key].dtype) for key, array in rounded.items()}, path)
        sign(copy.step_folder(name))
    return copy


@pytest.fixture(scope="module")
def rounded(usual: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return round_to_half(usual, tmp_path_factory.mktemp("rounded") / "run", ["mu1-2", "all-2"])


@pytest.mark.parametrize("name", ["mu1-2", "all-2"])
def test_half_precision_gives_the_same_strings(usual: Run, rounded: Run, exported: Export, name: str) -> None:
    before, after = Summarizer.of(rounded, name, CPU), Summarizer.load(exported.folder, name)
    assert after.decoding == before.decoding
    assert after.decoding.min_words > 1  # though there are no summaries to measure
    for most, faithful in ((None, None), (4, True)):
        lines = [one(TEXTS, max_words=most, faithful=faithful) for one in (before, after)]
        assert lines[0] == lines[1]
    # Rounding itself may turn a tie, so lines of the weights as they were are compared by how probable they are.
    texts = TEXTS[:-1]  # a blank text has no summary
    unrounded = Summarizer.of(usual, name, CPU).explain(texts)
    for one, other in zip(unrounded, after.explain(texts), strict=True):
        assert one.source == other.source
        assert one.summaries[0].probability == pytest.approx(other.summaries[0].probability, rel=0.01)
    assert next(after._model.model.parameters()).dtype is torch.float32  # type: ignore[attr-defined]


def test_int8_stays_close(finished: Run, tmp_path: Path) -> None:
    export = write(finished, tmp_path / "int8", weights="int8")
    assert export.names == ("all-2",)
    models = load(finished.step_folder("all-2"), CPU), load(export.folder / "all-2", CPU)
    words = Prepared.open(finished.step_folder("text"))
    sides = words.texts[:40], words.summaries[:40]
    losses = []
    for model, lexicon in zip(models, (words.lexicon, export.language.lexicon), strict=True):
        # The same words by their other numbers; those that were cut off come after the end, each by its own.
        places = {word: place for place, word in enumerate(lexicon.words)}
        numbers = np.array([places.get(word, len(places) + i) for i, word in enumerate(words.lexicon.words)], np.int32)
        source, target = (pad_batch([numbers[ids] for ids in side]) for side in sides)
        with torch.no_grad():
            losses.append(model.log_probs(source, target))
    difference = (losses[0] - losses[1]).abs()
    assert 0 < difference.max() < 0.1
    assert difference.mean() < 0.02
    sizes = [
        (folder / "model.safetensors").stat().st_size
        for folder in (finished.step_folder("all-2"), export.folder / "all-2")
    ]
    assert sizes[1] < sizes[0] / 2.5


def test_only_the_words_that_are_needed() -> None:
    lexicon = Lexicon([*SPECIALS, "the", "ford", "paris", "rare"])
    casing = Casing({"ford": "Ford"}, {"the": "the", "paris": "Paris", "rare": "rare"})
    cut = Language(lexicon, casing, Text(), Decoding()).only(np.array([0, 1, 2, 4], np.int32))
    assert cut.lexicon.words == [*SPECIALS, "ford"]
    assert cut.casing.summaries == {"ford": "Ford"}
    # A name that no model says is written as the text has it; a plain word may lose the capital of a text's start.
    assert cut.casing.texts == {"the": "the", "rare": "rare"}


def test_the_folder_has_what_serving_needs_and_no_more(finished: Run, exported: Export) -> None:
    files = {path.relative_to(exported.folder).as_posix() for path in exported.folder.rglob("*") if path.is_file()}
    weights = {f"{name}/{file}" for name in ("mu1-2", "all-2") for file in ("model.json", "model.safetensors")}
    assert files == {"export.json", "settings.json", "lexicon.txt", "casing.tsv", "manifest.json"} | weights
    known = len(load(exported.folder / "all-2", CPU).target)
    assert len(exported.language.lexicon) == known <= len(Language.of(finished).lexicon)
    manifest = json.loads((exported.folder / "manifest.json").read_text())
    assert set(manifest["files"]) == files - {"manifest.json"}
    assert set(manifest["inputs"]) == {"mu1-2", "all-2"}
    assert "nutgraf" in manifest["versions"]
    modes = {(exported.folder / file).stat().st_mode for file in files}
    assert len(modes) == 1, "a server's own user must be able to read every file"
    assert [path.name for path in exported.folder.parent.iterdir()] == ["half"]


def test_an_export_opens_wherever_a_run_does(
    usual: Run, exported: Export, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    began = time.process_time()
    assert Summarizer.load(exported.folder).name == "all-2"
    assert time.process_time() - began < 2
    assert Summarizer.load(exported.folder / "mu1-2").name == "mu1-2"
    served = Models.load(exported.folder, (), CPU)
    assert (served.default.name, list(served.by_name)) == ("all-2", ["mu1-2", "all-2"])
    with pytest.raises(RunError, match=r"no summarizer dbae-2.*mu1-2, all-2"):
        Summarizer.load(exported.folder, "dbae-2")
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(f"{TEXTS[0]}\n".encode())))
    with pytest.raises(SystemExit) as ended:
        main(["summarize", "--model", str(exported.folder), "--threads", "1"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.splitlines() == Summarizer.of(usual, "all-2", CPU)(TEXTS[:1])


def test_by_command_line(finished: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*arguments: str) -> int:
        with pytest.raises(SystemExit) as ended:
            main(["export", str(finished.folder), str(tmp_path / "out"), *arguments])
        return int(str(ended.value.code))

    assert run("--int8", "--models", "mu1-2") == 0
    assert "mu1-2; 0." in capsys.readouterr().out
    assert run() == 2
    assert "not an empty folder" in capsys.readouterr().err
    shutil.rmtree(tmp_path / "out")
    assert run("--models", "mu1-0") == 2
    assert "initializer" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("file", ["all-2/model.safetensors", "lexicon.txt", "export.json", "manifest.json"])
def test_damage_is_named(exported: Export, tmp_path: Path, file: str) -> None:
    folder = shutil.copytree(exported.folder, tmp_path / "export")
    content = (folder / file).read_bytes()
    (folder / file).write_bytes(content[:-9] + b"?" + content[-8:] if file != "manifest.json" else content[:-9])
    with pytest.raises(RunError, match=rf"{file}: damaged.*nutgraf export"):
        Summarizer.load(folder)
    (folder / file).unlink()
    with pytest.raises(RunError, match=r"missing|no run folder"):
        Summarizer.load(folder)


def test_what_cannot_be_exported(finished: Run, exported: Export, copied: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(RunError, match=r"no summarizer nonsense.*pr-thr-2.*all-2"):
        write(finished, tmp_path / "empty", ["nonsense"])
    (tmp_path / "file").touch()
    for out in (tmp_path / "file", exported.folder):
        with pytest.raises(InputError, match="not an empty folder"):
            write(finished, out)
    with pytest.raises(RunError, match="cannot be written"):
        write(finished, tmp_path / "file" / "out")
    (copied.step_folder("all-2") / "model.json").write_text("x")
    with pytest.raises(RunError, match=r"model\.json: damaged"):
        write(copied, tmp_path / "empty")
    assert not list((tmp_path / "empty").iterdir())
    assert not list(tmp_path.glob(".*"))
    assert write(finished, tmp_path / "empty", ["pr-thr-2"]).names == ("pr-thr-2",)


def test_another_format_is_explained(exported: Export, tmp_path: Path) -> None:
    from nutgraf.run import manifest

    folder = shutil.copytree(exported.folder, tmp_path / "export")
    (folder / "export.json").write_text('{"format": 99}')
    manifest.finish(folder, "export", {}, 0.0)
    with pytest.raises(RunError, match=r"another version.*format 99"):
        Export.open(folder)
