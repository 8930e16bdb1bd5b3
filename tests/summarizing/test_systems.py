import shutil
import socket
from pathlib import Path

import pytest

from nutgraf.errors import RunError
from nutgraf.hardware import Hardware
from nutgraf.run.folder import Run
from nutgraf.summarizing.export import Export, write
from nutgraf.summarizing.summarizer import Summarizer
from nutgraf.summarizing.systems import System, open_system

CPU = Hardware("cpu", 1)
TEXT = "Profit fell monday at the steel maker , its chairman said ."


def arrive(system: System) -> System:
    """Return what another process makes of a system that it is sent."""
    open_system.cache_clear()
    opened, facts = system.__reduce__()
    return opened(*facts)


def test_another_process_loads_the_same_summarizer(finished: Run, tmp_path: Path) -> None:
    there = arrive(System(finished, "all-2", CPU))
    assert there.summarizer(TEXT) == Summarizer.of(finished, "all-2")(TEXT)
    lead = arrive(System(finished, "Lead-8", CPU))
    assert lead.summarizer.words([TEXT])[0] == TEXT.lower().split()[:8]
    write(finished, tmp_path / "export", ["mu1-2"])
    exported = arrive(System(Export.open(tmp_path / "export"), "mu1-2", CPU, light=True))
    assert exported.summarizer(TEXT) == Summarizer.load(tmp_path / "export")(TEXT)


def test_it_is_loaded_once_until_it_is_released(finished: Run) -> None:
    system = System(finished, "mu1-0", CPU)
    first = system.summarizer
    assert system.summarizer is first
    system.release()
    assert system.summarizer is not first


def test_a_folder_that_is_another_one_there_is_refused_by_the_name_of_the_machine(
    finished: Run, copied: Run, tmp_path: Path
) -> None:
    opened, (_, *facts) = System(finished, "mu1-2", CPU).__reduce__()
    open_system.cache_clear()
    step = copied.folder / "steps"
    shutil.rmtree(step / "mu1-2")
    shutil.copytree(step / "all-2", step / "mu1-2")
    here = socket.gethostname()
    with pytest.raises(RunError, match=f"^--cluster: {here}: .*run holds another mu1-2 there than here$"):
        opened(copied.folder, *facts)
    with pytest.raises(RunError, match=f"^--cluster: {here}: .*nowhere"):
        opened(tmp_path / "nowhere", *facts)
