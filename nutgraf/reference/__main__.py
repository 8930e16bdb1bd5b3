"""Write the generated part of docs/ into a folder: `python -m nutgraf.reference docs/`."""

from __future__ import annotations

import sys
from pathlib import Path

from nutgraf.reference import generated

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m nutgraf.reference FOLDER")
    for name, content in generated().items():
        (Path(sys.argv[1]) / name).write_text(content, encoding="utf-8", newline="\n")
