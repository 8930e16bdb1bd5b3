"""What a training would take, on one machine or on a cluster, without running anything."""

from __future__ import annotations

from dataclasses import dataclass, replace

from nutgraf.backtranslation import cost
from nutgraf.backtranslation.forecast import GAIN, Forecast, forecast
from nutgraf.backtranslation.train import Request
from nutgraf.errors import InputError
from nutgraf.hardware import cores
from nutgraf.progress import duration
from nutgraf.run.inputs import PART_BYTES
from nutgraf.run.plan import Step
from nutgraf.run.sizes import Sizes
from nutgraf.workers.cluster import check_name, connect


@dataclass(frozen=True)
class Supposition:
    """What is supposed in the place of what is there; 0: nothing."""

    texts: int = 0
    summaries: int = 0
    machines: int = 0
    cores: int = 0  # of each machine; 0: as many as this one has

    def check(self, plan: bool, cluster: str | None) -> None:
        """Raise an InputError if something is supposed that would have no effect."""
        if not plan and self != NOTHING:
            raise InputError("--machines, --cores, --plan-texts, --plan-summaries: need --plan, which only estimates")
        if self.machines and not cluster:
            raise InputError("--machines: needs --cluster ray; without it, --plan estimates one machine")
        if self.cores and not self.machines:
            raise InputError("--cores: needs --machines; the machines of a cluster say themselves how many they have")

    def apply(self, sizes: Sizes) -> Sizes:
        """Return the sizes with other numbers of sentences; these are as long as those in the files."""
        return replace(sizes, texts=self.texts or sizes.texts, summaries=self.summaries or sizes.summaries)


NOTHING = Supposition()


def preview(request: Request, supposed: Supposition = NOTHING) -> list[tuple[Step, float]]:
    """Return the steps and their estimated seconds on this machine."""
    sizes = _sizes(request, supposed)
    request = request.leave_out_near(sizes.texts, sizes.summaries)
    estimates = cost.estimate(request.steps, request.recipe, sizes, request.hardware.threads)
    return [(step, estimates[step.name]) for step in request.steps]


def _sizes(request: Request, supposed: Supposition) -> Sizes:
    with request.with_files() as local:
        return supposed.apply(Sizes.of(local.read()[0], request.recipe))


def foresee(request: Request, supposed: Supposition = NOTHING) -> tuple[Forecast, list[str]]:
    """Return how the plan may go on a cluster, there or supposed, and what that assumes."""
    sizes, threads = _sizes(request, supposed), request.hardware.threads
    request, counts = request.leave_out_near(sizes.texts, sizes.summaries), _cores(str(request.cluster), supposed)
    workers = sum(count // threads for count in counts)
    if not workers:
        raise InputError(f"--threads {threads}: no machine has as many cores")
    found = forecast(request.steps, request.recipe, sizes, threads, workers)
    shards, chunk = request.recipe.training.shards, request.recipe.generation.chunk
    blocks = request.recipe.embeddings.blocks
    return found, [
        f"{len(counts)} machines with {sum(counts)} cores: {workers} workers with {threads} thread(s) each, as fast as "
        "those that the rates of nutgraf/backtranslation/cost.py were measured on",
        f"{sizes.texts:,} texts of {sizes.text_words:.1f} words, {sizes.summaries:,} summaries of "
        f"{sizes.summary_words:.1f}: as long as those in the files",
        f"a step is done by one worker, beside others; each set of word vectors by up to {blocks} (embeddings.blocks)",
        f"all workers that are free make the text, from plain files, and artificial pairs: {PART_BYTES >> 20} MB or "
        f"{chunk:,} sentences per task; then the driver joins {cost.MERGED_WORDS:,.0f} words a second, or "
        f"{cost.JOINED:,.0f} sentences",
        f"training.shards is {shards}: "
        + (f"twice the workers train a model {GAIN} x as fast" if shards > 1 else "one worker trains each model"),
        "storage and network cost no time, nobody else uses the machines, and nothing dies",
    ]


def _cores(cluster: str, supposed: Supposition) -> list[int]:
    """Return the cores of each machine: of those supposed, or of those that the cluster has."""
    check_name(cluster)
    if supposed.machines:
        return [supposed.cores or cores()] * supposed.machines
    connected = connect(cluster)
    try:
        return connected.count_cores()
    finally:
        connected.close()


def describe(found: Forecast) -> list[str]:
    """Say in words how long all takes, and which steps decide that."""
    spent = sum(span.workers * (span.ends - span.begins) for span in found.spans)
    path = " -> ".join(f"{span.step.name} ({duration(span.ends - span.begins)})" for span in found.path)
    return [
        f"{len(found.spans)} steps, about {duration(found.seconds)} on {found.workers} workers, which are busy "
        f"{found.busy:.0%} of the time: {duration(spent)} of work. This is an estimate: machines differ by a factor of "
        "two.",
        f"What the end waits for: {path}",
    ]
