"""Trains the tiny run's text and casing with a store, and dies (SIGKILL) when it has sent some files.

Run as a program: corpus folder, run folder, URL of the store, number of files.
"""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

from nutgraf.backtranslation.train import run_training
from nutgraf.progress import ignore
from nutgraf.store import Store
from tests.tiny import Corpus, request


def main() -> None:
    corpus, out, url, left = Corpus(Path(sys.argv[1])), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    send = Store.send

    def dies(store: Store, path: Path, name: str) -> None:
        nonlocal left
        if name.startswith("steps/text/"):
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
        send(store, path, name)

    vars(sys.modules[Store.__module__])["Store"].send = dies
    run_training(replace(request(corpus, out), store=url, stop_after="casing"), warn=ignore)


if __name__ == "__main__":
    main()
