from dataclasses import replace
from pathlib import Path

import pytest

from nutgraf.errors import RunError
from nutgraf.workers.machines import Kind, Machine, check_machines, kind_here

OWN = Kind("Xeon", "sets", (("numpy", "2.4.6"), ("torch", "2.13.0")))


def test_a_machine_that_differs_is_refused_by_its_name(tmp_path: Path) -> None:
    alike = Machine("one", 2, OWN, shares_folder=True)
    check_machines([alike, replace(alike, name="two")], OWN, 2, tmp_path)
    cases = {
        r"two has processor EPYC, not Xeon\.": replace(OWN, processor="EPYC"),
        r"two has a processor with other instruction sets\.": replace(OWN, instructions="more"),
        r"two has numpy missing, not 2\.4\.6; torch 2\.4\.0, not 2\.13\.0\.": replace(
            OWN, versions=(("torch", "2.4.0"),)
        ),
    }
    for message, kind in cases.items():
        with pytest.raises(RunError, match=message):
            check_machines([alike, replace(alike, name="two", kind=kind)], OWN, 2, tmp_path)
    with pytest.raises(RunError, match=r"two does not see .*must be on storage that all share"):
        check_machines([alike, replace(alike, name="two", shares_folder=False)], OWN, 2, tmp_path)
    with pytest.raises(RunError, match="--threads 3: no machine of the cluster has as many cores"):
        check_machines([alike, alike], OWN, 3, tmp_path)


def test_this_machine_is_of_its_own_kind() -> None:
    assert kind_here().differences(kind_here()) == []
    assert {"torch", "numpy", "python"} <= dict(kind_here().versions).keys()
    assert kind_here().processor
