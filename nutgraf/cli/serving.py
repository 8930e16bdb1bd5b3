"""Commands that put a trained run to use: `serve` and `export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nutgraf.cli.options import Device, Model, RunFolder, Threads
from nutgraf.cli.output import say
from nutgraf.extras import need_extra
from nutgraf.hardware import Hardware, hold_blas


def serve(
    model: Model = None,
    models: Annotated[list[str] | None, typer.Option(help="Only this summarizer (repeatable).")] = None,
    host: Annotated[str, typer.Option(help="0.0.0.0 lets other machines connect.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any free port.")] = 8000,
    max_body: Annotated[int, typer.Option(min=1, help="Bytes per request.")] = 1 << 20,
    max_texts: Annotated[int, typer.Option(min=1, help="Texts per request.")] = 64,
    max_text_words: Annotated[int, typer.Option(min=1, help="Words per text.")] = 2000,
    max_queue: Annotated[int, typer.Option(min=1, help="Texts that may wait.")] = 1024,
    timeout: Annotated[float, typer.Option(min=0.001, max=3600, help="Seconds per request.")] = 30.0,
    batch: Annotated[int, typer.Option(min=1, help="Texts that are summarized together.")] = 32,
    wait_ms: Annotated[float, typer.Option(min=0, help="Milliseconds to wait for more texts for a batch.")] = 5.0,
    max_work: Annotated[
        int, typer.Option(min=1, help="Work per request: texts (16 at least) x words of a summary x width of the beam.")
    ] = 1 << 16,
    max_connections: Annotated[
        int, typer.Option(min=2, help="Open connections; one client may have half of them.")
    ] = 1024,
    header_timeout: Annotated[
        float, typer.Option(min=0.1, max=3600, help="Seconds to send the headers of a request.")
    ] = 10.0,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="A name that clients reach the server by (repeatable); *: any.")
    ] = None,
    allow_origin: Annotated[
        list[str] | None, typer.Option(help="A site whose pages may send requests, https://example.org (repeatable).")
    ] = None,
    proxy: Annotated[
        list[str] | None, typer.Option(help="The address of a proxy whose X-Forwarded-For is believed (repeatable).")
    ] = None,
    log_requests: Annotated[
        bool, typer.Option("--log-requests", help="Log every request as a line of JSON, without its text.")
    ] = False,
    device: Device = "cpu",
    threads: Threads = 0,
) -> None:
    """Serve summarizers over HTTP, with a page to try them on.

    If NUTGRAF_API_KEY is set in the environment, requests need that key.

    Example: `nutgraf serve --model run/ --port 8000`
    """
    need_extra("serve", "nutgraf serve")
    hold_blas()
    from nutgraf.serve import server
    from nutgraf.serve.access import Access
    from nutgraf.serve.limits import Limits
    from nutgraf.serve.models import Models
    from nutgraf.summarizing.ready import find_model

    limits = Limits(
        body=max_body,
        texts=max_texts,
        words=max_text_words,
        queue=max_queue,
        seconds=timeout,
        batch=batch,
        wait=wait_ms / 1000,
        work=max_work,
        connections=max_connections,
        header_seconds=header_timeout,
    )
    hosts = frozenset(name.lower() for name in allow_host or ())
    access = Access(server.read_key(), hosts, tuple(allow_origin or ()), tuple(proxy or ()))
    hardware = Hardware.of(device, threads).use()
    with server.listen(host, port) as listening:
        served = Models.load(find_model(model), models or (), hardware.name)
        server.serve(served, limits, listening, say, access, log_requests)


def export(
    folder: RunFolder,
    target: Annotated[Path, typer.Argument(help="The folder to write, which must not exist yet.", metavar="OUT")],
    models: Annotated[list[str] | None, typer.Option(help="This summarizer (repeatable); none: the best.")] = None,
    int8: Annotated[
        bool, typer.Option("--int8", help="At most a byte per weight, not two: slightly less exact.")
    ] = False,
) -> None:
    """Write a folder with only what `summarize` and `serve` need.

    Example: `nutgraf export run/ served/ --models mu1-2 --models all-2`
    """
    from nutgraf.run.folder import Run
    from nutgraf.summarizing.export import write

    made = write(Run.open(folder), target, models or (), "int8" if int8 else "half")
    best = made.best()
    typer.echo(f"{target}: {', '.join(made.names)}; {made.size / 1e6:.1f} MB. Default {best.name}: {best.reason}")
