"""Models whose checksums are right and whose contents are wrong: refused by name, fast, and within little memory."""

import ast
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import nutgraf
from nutgraf.errors import RecipeError, RunError
from nutgraf.run.folder import Run
from nutgraf.summarizing.export import write
from nutgraf.summarizing.summarizer import Summarizer
from tests.counting import at_most
from tests.tiny import sign

MOST_CALLS = 100_000  # 13,000 are enough to refuse any of these

Change = Callable[[Path], None]


def setting(section: str, key: str, value: Any, name: str = "model.json") -> Change:
    """Change a value of a JSON file."""

    def change(folder: Path) -> None:
        table = json.loads((folder / name).read_text())
        (table[section] if section else table)[key] = value
        (folder / name).write_text(json.dumps(table))

    return change


def weights(key: str, change: Callable[[torch.Tensor], torch.Tensor], name: str = "model.safetensors") -> Change:
    """Change a tensor."""

    def changed(folder: Path) -> None:
        tensors = load_file(folder / name)
        tensors[key] = change(tensors[key]).contiguous()
        save_file(tensors, folder / name)

    return changed


def content(name: str, new: bytes) -> Change:
    """Put other bytes in the place of a file."""

    def change(folder: Path) -> None:
        (folder / name).write_bytes(new)

    return change


def put(value: float) -> Callable[[torch.Tensor], torch.Tensor]:
    def change(tensor: torch.Tensor) -> torch.Tensor:
        tensor.view(-1)[-1] = value
        return tensor

    return change


OF_MODEL = {
    "nan": weights("bias", put(float("nan"))),
    "infinite": weights("encoder.enter.v", put(float("inf"))),
    "layers": setting("settings", "encoder_layers", 10**9),
    "width": setting("settings", "width", 10**9),
    "positions": setting("settings", "positions", 9_999),
    "wide": setting("settings", "width", 16_000),
    "kernel": setting("settings", "kernel", 99),
    "no copy": setting("settings", "copy", False),
    "lexicon": setting("", "lexicon", 10**12),
    "small lexicon": setting("", "lexicon", 4),
    "other lexicon": setting("", "lexicon", 10**6),
    "no lexicon": setting("", "lexicon", "many"),
    "unknown setting": setting("settings", "colour", "red"),
    "a list": content("model.json", b"[]"),
    "nested": content("model.json", b"[" * 1_000_000),
    "not UTF-8": content("model.json", b"\xff\xfe"),
    "no weights": content("model.safetensors", b""),
    "long header": content("model.safetensors", (2**62).to_bytes(8, "little") + b"{}"),
    "no JSON header": content("model.safetensors", (8).to_bytes(8, "little") + b"nonsense"),
    "foreign words": weights("target_ids", put(10**6)),
    "negative words": weights("target_ids", put(-1)),
    "ids in a table": weights("target_ids", lambda ids: ids[None]),
    "short table": weights("target_table", lambda table: table[:-1]),
    "flat table": weights("target_table", lambda table: table.view(-1)),
    "integers": weights("bias", lambda bias: bias.to(torch.int64)),
}


@pytest.mark.parametrize("name", OF_MODEL)
def test_wrong_contents_of_a_model_are_refused_by_name(copied: Run, name: str) -> None:
    folder = copied.step_folder("mu1-2")
    OF_MODEL[name](folder)
    sign(folder)
    with at_most(MOST_CALLS), pytest.raises(RunError, match=r"mu1-2/model\.(json|safetensors): ") as refused:
        Summarizer.load(copied.folder, "mu1-2")
    assert "\n" not in str(refused.value)


OF_INITIALIZERS = {
    "mu1-0": {
        "nan": weights("bias", put(float("nan")), "mu1.safetensors"),
        "lexicon": setting("", "lexicon", 10**12, "mu1.json"),
        "other lexicon": setting("", "lexicon", 10**6, "mu1.json"),
        "eta": setting("", "eta", float("nan"), "mu1.json"),
        "shape": weights("weight", lambda weight: weight[:-1], "mu1.safetensors"),
    },
    "dbae-0": {
        "nan": weights("bias", put(float("inf")), "dbae.safetensors"),
        "width": setting("settings", "width", 16_384, "dbae.json"),
        "lexicon": setting("", "lexicon", 10**12, "dbae.json"),
        "shape": weights("input_weights", lambda found: found[:-1], "dbae.safetensors"),
    },
    "pr-thr-0": {
        "nan": weights("distance", put(float("nan")), "pr-thr.safetensors"),
        "lexicon": setting("", "lexicon", 10**12, "pr-thr.json"),
        "neighbour": weights("neighbour", put(10**6), "pr-thr.safetensors"),
        "max_words": setting("", "max_words", [], "pr-thr.json"),
    },
}


@pytest.mark.parametrize(
    ("model", "name"), [(model, name) for model, found in OF_INITIALIZERS.items() for name in found]
)
def test_wrong_contents_of_an_initializer_are_refused_by_name(copied: Run, model: str, name: str) -> None:
    folder = copied.step_folder(model)
    OF_INITIALIZERS[model][name](folder)
    sign(folder)
    with pytest.raises(RunError, match=rf"steps/{model}"):
        Summarizer.load(copied.folder, model)


def longer_array(folder: Path) -> None:
    path = folder / "texts.tokens.npy"
    path.write_bytes(path.read_bytes() + bytes(4))


def huge_array(folder: Path) -> None:
    np.save(folder / "texts.offsets.npy", np.arange(3))
    path = folder / "texts.tokens.npy"
    path.write_bytes(path.read_bytes().replace(b"'shape': (", b"'shape': (9999999"))


OF_TEXT = {
    "offsets": lambda folder: np.save(folder / "texts.offsets.npy", np.array([0, 5, 3, 7])),
    "longer": longer_array,
    "huge": huge_array,
    "pickled": lambda folder: np.save(folder / "texts.tokens.npy", np.array([{}]), allow_pickle=True),
    "floats": lambda folder: np.save(folder / "summaries.tokens.npy", np.ones(3)),
    "foreign words": lambda folder: np.save(
        folder / "texts.tokens.npy", np.load(folder / "texts.tokens.npy") + np.int32(10**6)
    ),
    "no specials": content("lexicon.txt", b"a\nb\n"),
    "escape codes": lambda folder: (folder / "lexicon.txt").write_text(
        (folder / "lexicon.txt").read_text() + "\x1b[2J\n"
    ),
    "not UTF-8": content("lexicon.txt", b"\xff"),
}


@pytest.mark.parametrize("name", OF_TEXT)
def test_wrong_contents_of_the_corpora_are_refused_by_name(copied: Run, name: str) -> None:
    folder = copied.step_folder("text")
    OF_TEXT[name](folder)
    sign(folder)
    with pytest.raises(RunError, match="steps/text"):
        Summarizer.load(copied.folder, "mu1-2")


OF_EXPORT = {
    "beam": setting("decoding", "beam", 10**9, "settings.json"),
    "max_words": setting("decoding", "max_words", 10**9, "settings.json"),
    "length_penalty": setting("decoding", "length_penalty", float("nan"), "settings.json"),
    "no text": setting("", "text", None, "settings.json"),
    "casing": content("casing.tsv", b"a\tb\n"),
    "escape codes": content("casing.tsv", b"a\t\x1b[2J\ta\n"),
}


@pytest.mark.parametrize("name", OF_EXPORT)
def test_wrong_contents_of_an_export_are_refused_by_name(finished: Run, tmp_path: Path, name: str) -> None:
    write(finished, tmp_path / "export")
    OF_EXPORT[name](tmp_path / "export")
    sign(tmp_path / "export")
    with pytest.raises(RunError, match=r"export/(settings\.json|casing\.tsv): "):
        Summarizer.load(tmp_path / "export")


def test_what_is_refused_takes_little_memory(copied: Run, tmp_path: Path) -> None:
    folders = list[Path]()
    for name, change in (("mu1-2", OF_MODEL["lexicon"]), ("mu1-2", OF_MODEL["layers"]), ("text", huge_array)):
        change(copied.step_folder(name))
        sign(copied.step_folder(name))
        folders.append(shutil.copytree(copied.folder, tmp_path / str(len(folders))))
    code = f"""
import os, resource, sys
from nutgraf.errors import RunError
from nutgraf.summarizing.summarizer import Summarizer
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
import torch  # once; its memory counts
for folder in {[*map(str, folders)]}:
    if not os.fork():  # each has a peak of its own
        try:
            Summarizer.load(folder, "mu1-2")
        except RunError:
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
        sys.exit()
    os.wait()
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    kilobytes = [int(line) for line in found.stdout.splitlines()]
    assert len(kilobytes) == len(folders), found.stderr
    assert max(kilobytes) < 200 * 1024


def test_iterations_without_end_are_refused(copied: Run) -> None:
    path = copied.folder / "recipe.toml"
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    path.write_text("\n".join(lines).replace("iterations = 2", "iterations = 100000000") + "\n")
    with at_most(MOST_CALLS), pytest.raises(RecipeError, match=r"recipe\.toml: plan\.iterations = 100000000"):
        Run.open(copied.folder)


def test_numpy_is_never_asked_to_unpickle() -> None:
    """It does so only where it is asked to; ruff has no rule for this keyword.

    Not even to say no: `savez` of numpy 1.26 takes the keyword for one more array to write.
    """
    for path in Path(nutgraf.__file__).parent.rglob("*.py"):
        keywords = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.keyword)]
        assert "allow_pickle" not in {keyword.arg for keyword in keywords}, path
