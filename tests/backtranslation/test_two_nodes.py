"""Two Ray nodes on this machine: the same bytes as without them, whatever dies."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from nutgraf.backtranslation.preview import foresee
from nutgraf.backtranslation.train import Request, run_training
from nutgraf.errors import RecipeError, RunError
from nutgraf.evaluation import evaluate
from nutgraf.hardware import Hardware
from nutgraf.progress import Progress, ignore
from nutgraf.run import inputs
from nutgraf.run.events import Event, State
from nutgraf.run.folder import Run
from nutgraf.terminal import summaries
from nutgraf.workers import cluster as clusters
from nutgraf.workers.cluster import Cluster
from nutgraf.workers.machines import check_machines, kind_here
from tests.backtranslation import dying
from tests.backtranslation.dying import Dying, FragileCluster, Lost
from tests.backtranslation.ray_nodes import ENVIRONMENT, start_nodes
from tests.cli.commands import Capture
from tests.cli.commands import run as run_command
from tests.serve.serving import wait_for
from tests.storing import client, has_server, needs_server, new_bucket, use_s3
from tests.tiny import Corpus, checksums, request

CPU = Hardware("cpu", 1)
ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed: pip install '.[cluster]'"),
    pytest.mark.filterwarnings("ignore"),  # Ray's own
]


@pytest.fixture(scope="module")
def store() -> Iterator[None]:
    """A server of S3. Its variables must be there before the nodes are: workers have what their node had."""
    with use_s3() if has_server() else nullcontext():
        yield


@pytest.fixture(scope="module")
def nodes(store: None) -> Iterator[Any]:
    """Two nodes with one core each."""
    before = {name: os.environ.get(name) for name in ENVIRONMENT}
    os.environ.update(ENVIRONMENT)  # Ray reads it when it is imported
    found = start_nodes(2)
    yield found
    found.shutdown()
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.update({name: value})


@pytest.fixture
def connected(nodes: Any) -> Iterator[Cluster]:
    found = Cluster(nodes.address)
    yield found
    found.close()


@pytest.fixture(scope="module")
def sharded(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run up to mu1-1 that was trained in this process, with four shards."""
    return run_training(ask_for_shards(corpus, tmp_path_factory.mktemp("sharded") / "run"), warn=ignore)


def ask_for_shards(corpus: Corpus, out: Path) -> Request:
    settings = 'plan.initializers=["mu1"]', "training.shards=4", "embeddings.blocks=2"
    return replace(request(corpus, out, *settings), stop_after="mu1-1")


def of_mu1(run: Path) -> dict[str, str]:
    """The files of mu1-2 and of all that it needs."""
    names = ("text", "casing", "embeddings", "mu1-0", "mu1-0.pairs", "mu1-1", "mu1-1.pairs", "mu1-2")
    found = {path: digest for path, digest in checksums(run).items() if path.split("/")[1] in names}
    assert {path.split("/")[1] for path in found} == {*names}
    return found


def test_the_same_bytes_though_workers_die_and_a_run_that_began_without_ray(
    nodes: Any, corpus: Corpus, finished: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = replace(request(corpus, tmp_path / "run"), only=("mu1-2",))
    run_training(replace(asked, stop_after="text"), warn=ignore)
    (tmp_path / "marks").mkdir()
    mortal = ("mu1-0", "mu1-1", "mu1-1.pairs")
    monkeypatch.setattr(FragileCluster, "dying", Dying(tmp_path / "marks", mortal), raising=False)
    monkeypatch.setattr(clusters, "Cluster", FragileCluster)
    events: list[Event] = []
    run_training(replace(asked, cluster=f"ray:{nodes.address}"), events.append, ignore)
    assert {path.name for path in (tmp_path / "marks").iterdir()} == {*mortal}
    assert {event.step.name for event in events if event.state is State.KEPT} == {"text"}
    assert {"mu1-0", "mu1-1", "mu1-2"} <= {event.step.name for event in events if event.progress}
    assert of_mu1(tmp_path / "run") == of_mu1(finished.folder)
    assert not list(tmp_path.glob("run/steps/*/work"))


def test_text_is_tokenised_in_parts_and_the_worker_of_one_dies(
    nodes: Any, corpus: Corpus, finished: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "PART_BYTES", 5_000)
    assert len(inputs.cut_source("texts", finished.inputs.texts)) > 2
    (tmp_path / "marks").mkdir()
    monkeypatch.setattr(FragileCluster, "dying", Dying(tmp_path / "marks", ("text",)), raising=False)
    monkeypatch.setattr(clusters, "Cluster", FragileCluster)
    asked = replace(request(corpus, tmp_path / "run"), cluster=f"ray:{nodes.address}", stop_after="text")
    run_training(asked, warn=ignore)
    assert (tmp_path / "marks" / "text").exists()
    made = {path: digest for path, digest in checksums(finished.folder).items() if path.startswith("steps/text/")}
    assert checksums(tmp_path / "run") == made
    assert not (tmp_path / "run" / "steps" / "text" / "work").exists()


def test_two_processes_train_one_model_and_one_of_them_dies(
    nodes: Any, corpus: Corpus, sharded: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(sharded.folder, tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "steps" / "mu1-1")
    (tmp_path / "marks").mkdir()
    monkeypatch.setattr(FragileCluster, "dying", Dying(tmp_path / "marks", ("mu1-1",)), raising=False)
    monkeypatch.setattr(clusters, "Cluster", FragileCluster)
    asked = ask_for_shards(corpus, tmp_path / "run")
    run_training(replace(asked, cluster=f"ray:{nodes.address}"), warn=ignore)
    assert (tmp_path / "marks" / "mu1-1").exists()
    assert checksums(tmp_path / "run") == checksums(sharded.folder)


@needs_server
def test_a_run_with_inputs_and_steps_in_a_store(nodes: Any, corpus: Corpus, sharded: Run, tmp_path: Path) -> None:
    bucket = new_bucket()
    for name in ("texts", "summaries"):
        client().pipe_file(f"{bucket}/{name}.txt", Path(getattr(corpus, name)).read_bytes())
    asked = replace(
        ask_for_shards(corpus, tmp_path / "run"),
        texts=f"{bucket}/texts.txt",
        summaries=f"{bucket}/summaries.txt",
        store=f"{bucket}/run",
    )
    run_training(replace(asked, cluster=f"ray:{nodes.address}"), warn=ignore)
    assert checksums(tmp_path / "run") == checksums(sharded.folder)
    events: list[Event] = []
    run_training(replace(asked, out=tmp_path / "other"), events.append, ignore)  # on another machine, without Ray
    assert {event.state for event in events} == {State.KEPT}
    assert checksums(tmp_path / "other") == checksums(sharded.folder)


def test_the_driver_is_killed_and_the_run_ends_without_ray(
    nodes: Any, corpus: Corpus, finished: Run, tmp_path: Path
) -> None:
    options = [str(corpus.folder), str(tmp_path / "run"), nodes.address, "mu1-1"]
    driver = subprocess.run(
        [sys.executable, "-m", "tests.backtranslation.dying", *options], cwd=ROOT, capture_output=True, text=True
    )
    assert driver.returncode == -signal.SIGKILL, driver.stderr
    events: list[Event] = []
    run_training(replace(request(corpus, tmp_path / "run"), only=("mu1-2",)), events.append, ignore)
    assert "mu1-0" in {event.step.name for event in events if event.state is State.KEPT}
    assert of_mu1(tmp_path / "run") == of_mu1(finished.folder)


def test_a_worker_that_is_killed_is_replaced_and_what_is_told_arrives(connected: Cluster, tmp_path: Path) -> None:
    told: list[Progress | str] = []
    done = dict(connected.map(partial(dying.kill_first, tmp_path), range(4), 1, told.append))
    assert done == {0: 0, 1: 2, 2: 4, 3: 6}
    assert {"item 0", "item 1", "item 2", "item 3"} == {*told}


def test_the_census_sees_both_nodes_and_that_they_share_the_folder(connected: Cluster, tmp_path: Path) -> None:
    machines = connected.census(tmp_path)
    assert [(machine.cores, machine.shares_folder) for machine in machines] == [(1, True)] * 2
    assert {machine.kind for machine in machines} == {kind_here()}
    assert connected.count_threads() == 2
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(RunError, match="--threads 2: no machine"):
        check_machines(machines, kind_here(), 2, tmp_path)


def test_evaluation_in_blocks_gives_the_same_outputs_and_scores(
    connected: Cluster, finished: Run, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluate, "BLOCK", 7)  # of 20 pairs: three blocks
    found, asked = [], ["mu1-0", "all-2"]
    for name, executor in (("here", None), ("there", connected)):
        shutil.copytree(finished.folder, tmp_path / name)
        copy = Run.open(tmp_path / name)
        found.append(evaluate.evaluate_run(copy, corpus.pairs, CPU, asked, executor=executor))
    here, there = found
    assert there.rows == here.rows
    for name in ("Lead-8", *asked):
        assert there.outputs_path(name).read_bytes() == here.outputs_path(name).read_bytes()


def test_files_are_summarized_in_blocks_and_printed_in_their_order(
    nodes: Any, finished: Run, corpus: Corpus, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(summaries, "BLOCK", 50)
    command = ("summarize", corpus.texts, "--model", finished.folder, "--threads", "1", "--json", "--per-sentence")
    assert run_command(*command) == 0
    here = capsys.readouterr()
    assert len(here.out.splitlines()) > 100
    assert run_command(*command, "--cluster", f"ray:{nodes.address}") == 0
    assert capsys.readouterr() == here


def test_a_plan_asks_the_cluster_how_many_cores_it_has(nodes: Any, corpus: Corpus, tmp_path: Path) -> None:
    found, assumptions = foresee(replace(request(corpus, tmp_path / "run"), cluster=f"ray:{nodes.address}"))
    assert found.workers == 2
    assert assumptions[0].startswith("2 machines with 2 cores")


def test_an_error_of_a_worker_is_raised_as_if_it_had_happened_here(connected: Cluster) -> None:
    for item, kind, message in (
        ("recipe", RecipeError, "near-1: nothing to learn from"),
        ("full", OSError, "[Errno 28] No space left on device"),
        ("other", ZeroDivisionError, "division by zero"),
    ):
        with pytest.raises(kind, match=f"^{re.escape(message)}$"):
            list(connected.map(dying.fail, [item], 1, ignore))


def test_of_two_that_train_together_the_first_is_killed_if_the_second_fails(connected: Cluster, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="nothing to learn from"):
        connected.gang(partial(dying.fail_as_second, tmp_path), 2, 1, tmp_path, ignore)
    waits = Path("/proc") / (tmp_path / "waits").read_text()
    wait_for(lambda: not waits.exists(), seconds=60)


@pytest.mark.usefixtures("nodes")
def test_without_a_cluster_at_the_address_the_error_says_what_to_do(tmp_path: Path) -> None:
    with (
        pytest.raises(RunError, match=r"^--cluster: no Ray cluster answers .*`ray start --head`$"),
        clusters.use_executor("ray:127.0.0.1:1", Hardware("cpu", 1), tmp_path),
    ):
        pass


def test_a_node_dies_and_the_run_ends_on_the_other_with_the_same_bytes(
    nodes: Any, corpus: Corpus, finished: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From here on, there is one node."""
    lost = nodes.list_all_nodes()[-1]
    asked = replace(request(corpus, tmp_path / "run"), cluster=f"ray:{nodes.address}")
    run_training(replace(asked, stop_after="mu1-0"), warn=ignore)

    def stop() -> None:
        wait_for((tmp_path / "begun").exists, seconds=300)
        nodes.remove_node(lost, allow_graceful=False)

    monkeypatch.setattr(FragileCluster, "dying", Lost(tmp_path, "mu1-1.pairs", lost.node_id), raising=False)
    monkeypatch.setattr(clusters, "Cluster", FragileCluster)
    stopper = Thread(target=stop)
    stopper.start()
    run_training(replace(asked, only=("mu1-2",)), warn=ignore)
    stopper.join()
    assert (tmp_path / "begun").exists()
    assert of_mu1(tmp_path / "run") == of_mu1(finished.folder)


def test_one_node_gives_the_same_bytes(nodes: Any, corpus: Corpus, sharded: Run, tmp_path: Path) -> None:
    asked = replace(ask_for_shards(corpus, tmp_path / "run"), cluster=f"ray:{nodes.address}")
    wait_for(lambda: foresee(asked)[0].workers == 1, seconds=120)  # until Ray has noticed that the other one is gone
    run_training(asked, warn=ignore)
    assert checksums(tmp_path / "run") == checksums(sharded.folder)
