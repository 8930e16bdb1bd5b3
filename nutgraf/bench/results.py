"""From figures to what is read: ratios first, then the figures that they are made of.

Ratios are taken round by round, so that what slows the whole machine down for a minute cancels; given are their median,
least and greatest. A published figure is scaled by the machines' limits: ours / (theirs * our limit / their limit).
"""

from __future__ import annotations

import platform
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import torch
from rich.table import Table

from nutgraf.bench.contests import BUSY, PRODUCTS, STARTUP, contests
from nutgraf.bench.material import Sizes, quick
from nutgraf.bench.measure import Figures, measured, megabytes
from nutgraf.hardware import Hardware

# fairseq's fconv, without copying: pairs or sentences a second on two idle cores, and their square product.
FAIRSEQ = {"training 32->10": 138.0, "sampling 32->10": 320.0, "beam 32->10": 51.0}
FAIRSEQ |= {"training 10->32": 80.0, "sampling 10->32": 133.0, "beam 10->32": 27.0}
FAIRSEQ_LIMIT = 137e9


@dataclass(frozen=True)
class Ratio:
    """How many times as fast one is as the other."""

    contest: str
    ours: str
    theirs: str
    median: float
    least: float
    greatest: float


@dataclass(frozen=True)
class Report:
    """Everything that a run of the benchmark found; the figures of a quick one mean nothing."""

    machine: dict[str, str]
    threads: int
    quick: bool
    limit: float  # operations a second of the square product, the median of all rounds
    ratios: list[Ratio]
    figures: list[Figures]


def bench(small: bool, threads: int, say: Callable[[str], None]) -> Report:
    """Measure this machine, and the memory of what is no reference; a small run that of the last case only."""
    hardware, sizes = Hardware.of("cpu", threads), quick() if small else Sizes()
    hardware.use()
    figures: list[Figures] = []
    todo = contests(sizes)
    for number, (name, cases) in enumerate(todo.items(), 1):
        say(f"{number}/{len(todo)} {name}: {len(cases)} cases, {sizes.repeats} rounds")
        figures += measured(name, cases, sizes)
    for number in range(len(figures) - 1 if small else len(todo[PRODUCTS]), len(figures)):
        f = figures[number]
        if f.case.startswith("reference") or f.contest in (BUSY, STARTUP):
            continue
        say(f"memory of {f.contest}, {f.case}")
        before, peak = megabytes(f.contest, f.case, hardware.threads, small)
        figures[number] = replace(f, megabytes_before=before, megabytes_peak=peak)
    limit = median(rate for f in figures for rate in f.limit)
    return Report(machine(), hardware.threads, small, limit, ratios(figures), figures)


def machine() -> dict[str, str]:
    """Say where and when the figures were taken."""
    cpuinfo = Path("/proc/cpuinfo")
    name = re.search(r"model name\s*:\s*(.+)", cpuinfo.read_text()) if cpuinfo.exists() else None
    return {
        "processor": name[1] if name else platform.processor(),
        "system": platform.platform(),
        "torch": torch.__version__,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def ratios(figures: Sequence[Figures]) -> list[Ratio]:
    """Compare each case with the one that it is set against, with fairseq's figure, and with the limit."""
    rates = {(f.contest, f.case): [f.amount / once for once in f.seconds] for f in figures}
    found = []
    for f in figures:
        values: dict[str, list[float]] = {}
        rounds = list(zip(f.seconds, f.limit, strict=True))
        if f.against:
            both = zip(rates[f.contest, f.case], rates[f.contest, f.against], strict=True)
            name = f.against if f.share == 1 else f"{f.share:.0%} of {f.against}"
            values[name] = [ours / theirs / f.share for ours, theirs in both]
        if f.against and f.contest in FAIRSEQ:
            theirs = FAIRSEQ[f.contest] / FAIRSEQ_LIMIT
            values["fairseq, scaled"] = [f.amount / once / (theirs * limit) for once, limit in rounds]
        if f.operations:
            values["limit"] = [f.operations / once / limit for once, limit in rounds]
        found += [Ratio(f.contest, f.case, name, median(v), min(v), max(v)) for name, v in values.items()]
    return found


def tables(report: Report) -> list[Table]:
    """Lay out the ratios, then the figures."""
    where = f"{report.machine['processor']}, {report.threads} threads, torch {report.machine['torch']}"
    title = f"{where}: a square product runs at {report.limit / 1e9:.0f} GFLOP/s"
    compared = Table("", "ours", "against", "ratio", "least to greatest", title=title)
    for r in report.ratios:
        compared.add_row(r.contest, r.ours, r.theirs, f"{r.median:.2f}", f"{r.least:.2f} to {r.greatest:.2f}")
    detailed = Table("", "case", "a second", "spread", "GFLOP/s", "outside products", "peak MB (before)")
    for f in report.figures:
        middle = median(f.seconds)
        detailed.add_row(
            f.contest,
            f.case,
            ", ".join(f"{rate:,.1f} {unit}" for unit, rate in f.per_second.items()),
            f"-{1 - middle / max(f.seconds):.0%} +{middle / min(f.seconds) - 1:.0%}",
            f"{f.operations_per_second / 1e9:.1f}" if f.operations else "",
            "" if f.outside is None else f"{f.outside:.0%}",
            "" if f.megabytes_peak is None else f"{f.megabytes_peak:,.0f} ({f.megabytes_before:,.0f})",
        )
    return [compared, detailed]
