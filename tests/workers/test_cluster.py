import sys
from dataclasses import replace
from pathlib import Path

import pytest

from nutgraf.backtranslation.train import run_training
from nutgraf.errors import InputError, MissingExtraError
from nutgraf.hardware import Hardware
from nutgraf.progress import ignore
from nutgraf.workers.cluster import use_executor
from nutgraf.workers.executor import Local
from tests.tiny import Corpus, request

CPU = Hardware("cpu", 1)


def test_without_a_cluster_work_is_done_here(tmp_path: Path) -> None:
    with use_executor(None, CPU, tmp_path) as executor:
        assert isinstance(executor, Local)
        doubled = executor.map(lambda item, tell: 2 * item, [1, 2, 3], 1, ignore)
        assert list(doubled) == [(1, 2), (2, 4), (3, 6)]


def test_without_ray_one_line_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with (
        pytest.raises(MissingExtraError, match=r"^--cluster needs the cluster extra: pip install '\.\[cluster\]'"),
        use_executor("ray", CPU, tmp_path),
    ):
        pass


@pytest.mark.parametrize("name", ["dask", "ray://head:10001", "", "10.0.0.1:6379"])
def test_what_is_no_ray_cluster_is_refused(tmp_path: Path, name: str) -> None:
    with (
        pytest.raises(InputError, match=r"expected ray or ray:HOST:PORT.*ray job submit"),
        use_executor(name, CPU, tmp_path),
    ):
        pass


def test_inputs_must_be_files_and_the_device_a_processor(corpus: Corpus, tmp_path: Path) -> None:
    asked = replace(request(corpus, tmp_path / "run"), cluster="ray")
    with pytest.raises(InputError, match="takes files alone"):
        run_training(replace(asked, texts=["One text ."]), warn=ignore)
    with pytest.raises(InputError, match="processors only"):
        replace(asked, device="cuda")
    assert not (tmp_path / "run").exists()
