"""Write the generated part of docs/ into a folder: `python -m tools.docs docs/`."""

from __future__ import annotations

import sys
from pathlib import Path

from tools.docs import generate

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tools.docs FOLDER")
    for name, content in generate().items():
        (Path(sys.argv[1]) / name).write_text(content, encoding="utf-8", newline="\n")
