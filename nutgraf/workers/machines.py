"""The machines of a cluster, and whether they are alike.

The last bits of trained weights depend on the processor and on the versions of libraries: a cluster of machines that
differ would give other bytes each time.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from nutgraf.errors import RunError
from nutgraf.run.manifest import installed_versions

_CPUINFO = Path("/proc/cpuinfo")  # of Linux


@dataclass(frozen=True)
class Kind:
    """What the last bits of results depend on."""

    processor: str
    instructions: str  # a digest of the names of its instruction sets
    versions: tuple[tuple[str, str], ...]

    def differences(self, other: Kind) -> list[str]:
        """Return in what another kind differs, in words."""
        found = [] if self.processor == other.processor else [f"processor {other.processor}, not {self.processor}"]
        if not found and self.instructions != other.instructions:
            found.append("a processor with other instruction sets")
        own, others = dict(self.versions), dict(other.versions)
        for name in sorted({*own, *others}):
            if own.get(name) != others.get(name):
                found.append(f"{name} {others.get(name, 'missing')}, not {own.get(name, 'missing')}")
        return found


@dataclass(frozen=True)
class Machine:
    """One machine of the cluster."""

    name: str
    cores: int
    kind: Kind
    shares_folder: bool


@cache
def kind_here() -> Kind:
    """Return the kind of this machine."""
    facts = dict[str, str]()
    if _CPUINFO.exists():
        lines = (line.partition(":") for line in _CPUINFO.read_text("utf-8").splitlines())
        facts = {name.strip(): value.strip() for name, _, value in lines}
    sets = " ".join(sorted((facts.get("flags") or facts.get("Features") or "").split()))
    versions = installed_versions() | {"python": platform.python_version()}
    return Kind(
        facts.get("model name") or platform.processor() or platform.machine(),
        hashlib.sha256(sets.encode()).hexdigest(),
        tuple(sorted(versions.items())),
    )


def check_machines(machines: Sequence[Machine], own: Kind, threads: int, folder: Path | None) -> None:
    """Raise a RunError that names the machine that cannot take part, and why."""
    for machine in machines:
        if found := own.differences(machine.kind):
            raise RunError(
                f"--cluster: {machine.name} has {'; '.join(found)}. Machines must be alike, for other ones give other "
                "last bits: install the same versions, or start Ray on machines of one kind"
            )
        if not machine.shares_folder:
            raise RunError(f"--cluster: {machine.name} does not see {folder}. --out must be on storage that all share")
    if threads > max((machine.cores for machine in machines), default=0):
        raise RunError(f"--threads {threads}: no machine of the cluster has as many cores")
