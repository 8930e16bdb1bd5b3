"""The wheel: built, installed into an empty environment and used, with the model that comes with it.

torch and the other dependencies are not fetched: the environment reads them from the one that runs the tests. Where the
repository has no ready model yet, a tiny one takes its place.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from nutgraf.run.folder import Run
from nutgraf.summarizing.export import Export, write
from nutgraf.summarizing.ready import DEFAULT, READY

ROOT = Path(__file__).parent.parent
BUILD = """
import sys
from setuptools import build_meta
target = sys.argv[1]  # which building changes
build_meta.build_sdist(target)
build_meta.build_wheel(target)
"""
TEXT = "The city council voted on Monday to close two of its five swimming pools."
MOST = 10_000_000  # bytes of the ready model


def run(command: Sequence[str | Path], folder: Path) -> str:
    """Run a command in a folder, with nothing of this repository on its path; return what it printed."""
    outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=folder, env=outside, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(finished: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source distribution, built from a copy of the sources."""
    copy, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("built")
    shutil.copytree(ROOT / "nutgraf", copy / "nutgraf", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    model = copy / "nutgraf" / "ready" / DEFAULT
    if not model.exists():
        write(finished, model)
    run([sys.executable, "-c", BUILD, target], copy)
    return target


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a new environment that has the wheel."""
    folder = tmp_path_factory.mktemp("venv")
    (wheel,) = built.glob("*.whl")
    run([sys.executable, "-m", "venv", "--without-pip", folder], built)
    python, paths = folder / "bin" / "python", sysconfig.get_paths()
    run(
        [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel], built
    )
    (site,) = folder.glob("lib/python*/site-packages")
    # After the installation: pip would take the nutgraf of this environment for one to replace.
    (site / "dependencies.pth").write_text("".join(f"{path}\n" for path in {paths["purelib"], paths["platlib"]}))
    return folder / "bin"


def test_both_distributions_have_the_files_that_are_not_python(built: Path) -> None:
    (wheel,), (source,) = built.glob("*.whl"), built.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive, tarfile.open(source) as other:
        names = set(archive.namelist())
        others = {name.partition("/")[2] for name in other.getnames()}
    data = {f"nutgraf/{file.relative_to(ROOT / 'nutgraf').as_posix()}" for file in list_data()}
    assert {"nutgraf/recipes/cpu.toml", "nutgraf/py.typed", "nutgraf/serve/static/index.html"} <= data
    model = {f"nutgraf/ready/{DEFAULT}/{name}" for name in ("export.json", "manifest.json", "lexicon.txt")}
    assert data | model <= names
    assert data | model <= others
    assert any(name.endswith("/model.safetensors") for name in names)
    assert not [name for name in names if not name.startswith(("nutgraf/", "nutgraf-"))]


def list_data() -> list[Path]:
    files = (file for file in (ROOT / "nutgraf").rglob("*") if file.is_file())
    return [file for file in files if file.suffix not in (".py", ".pyc")]


@pytest.mark.skipif(sys.platform == "win32", reason="has its programs in another folder")
def test_the_first_minute(installed: Path, tmp_path: Path) -> None:
    where = run([installed / "python", "-c", "import nutgraf; print(nutgraf.__file__)"], tmp_path)
    assert where.startswith(str(installed.parent))
    headline = run([installed / "nutgraf", "summarize", TEXT], tmp_path)
    assert headline.count("\n") == 1
    assert headline.strip()
    loaded = "from nutgraf import Summarizer; import sys; print(Summarizer.load()(sys.argv[1]))"
    assert run([installed / "python", "-c", loaded, TEXT], tmp_path) == headline
    assert DEFAULT in run([installed / "nutgraf", "models"], tmp_path)


def test_the_ready_model_is_whole_and_small() -> None:
    export = Export.open(READY / DEFAULT)
    assert export.summarizers()
    assert export.size < MOST
