"""A second genre: the first sentence of a Debian package's long description -> its synopsis.

    python examples/debian.py --out debian/                 fetch, divide, train (recipe quick), print the table
    python examples/debian.py --out debian/ --only-corpus   fetch and divide: texts.txt, summaries.txt, test.tsv

The descriptions are apt's Translation-en: from apt's own lists or, if apt keeps none, from the mirror that apt is
configured with. So it runs on any machine with apt. Texts and summaries come from different packages; packages whose
descriptions begin with the same words stay on one side. The held-out pairs come from other packages.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nutgraf.demo.corpus import Piles, same_story
from nutgraf.demo.reuters import Story
from nutgraf.files import replacing
from nutgraf.text.sentences import split_sentences

SEED = 1
HELD_OUT = 1_000
MIN_WORDS = (6, 3)  # of a sentence and a synopsis: shorter ones do not say what the package is
HELPER = "/usr/lib/apt/apt-helper"  # apt's own downloader and unpacker, which handles proxies and compression
FIELD = "Description-en: "


@dataclass(frozen=True)
class Package:
    """How a package describes itself."""

    name: str
    synopsis: str
    sentence: str  # the first one of its long description


def parse(lines: Iterable[str]) -> Iterator[Package]:
    """Yield the packages of a Translation-en file, each once, if both sides have enough words."""
    seen: set[str] = set()
    for stanza in _split_stanzas(lines):
        package = _parse_package(stanza)
        if package and package.name not in seen:
            seen.add(package.name)
            yield package


def _split_stanzas(lines: Iterable[str]) -> Iterator[list[str]]:
    stanza: list[str] = []
    for line in lines:
        if line.strip():
            stanza.append(line.rstrip("\n"))
        elif stanza:
            yield stanza
            stanza = []
    if stanza:
        yield stanza


def _parse_package(stanza: Sequence[str]) -> Package | None:
    name = next((line.removeprefix("Package: ") for line in stanza if line.startswith("Package: ")), "")
    start = next((place for place, line in enumerate(stanza) if line.startswith(FIELD)), None)
    if not name or start is None:
        return None
    paragraph: list[str] = []
    for line in stanza[start + 1 :]:
        # " ." is an empty line of the description; a second blank marks preformatted lines, such as lists.
        if not line.startswith(" ") or line.startswith("  ") or line.strip() == ".":
            break
        paragraph.append(line.strip())
    found = split_sentences(" ".join(paragraph))
    package = Package(name, " ".join(stanza[start].removeprefix(FIELD).split()), found[0] if found else "")
    enough = zip((package.sentence, package.synopsis), MIN_WORDS, strict=True)
    return package if all(len(line.split()) >= least for line, least in enough) else None


def subject(synopsis: str) -> str:
    """Return a synopsis without what distinguishes packages of one source: "editor (data files)" is "editor"."""
    return re.sub(r"( \([^()]*\)| -+ [^-]*)$", "", synopsis)


def divide(packages: Sequence[Package], held_out: int, seed: int) -> Piles:
    """Divide packages into piles: sentences of one half, synopses of the other half, pairs of the rest."""
    groups: dict[int, list[Package]] = {}
    stories = [Story(subject(package.synopsis), (package.sentence,), True) for package in packages]
    for number, package in zip(same_story(stories), packages, strict=True):
        groups.setdefault(number, []).append(package)
    shuffled = list(groups.values())
    random.Random(seed).shuffle(shuffled)
    # One package of each held-out group: the program rather than its data or documentation.
    chosen = [min(group, key=lambda package: len(package.synopsis)) for group in shuffled[:held_out]]
    pairs = [(package.sentence, package.synopsis) for package in chosen]
    middle = held_out + (len(shuffled) - held_out) // 2
    texts = [package.sentence for group in shuffled[held_out:middle] for package in group]
    summaries = [package.synopsis for group in shuffled[middle:] for package in group]
    return Piles(list(dict.fromkeys(texts)), list(dict.fromkeys(summaries)), pairs)


def fetch(folder: Path) -> Path:
    """Return a Translation-en file from apt's lists, or fetched into the folder from apt's first mirror."""
    for own in _list_targets("$(FILENAME)", "Created-By: Translations", "Language: en"):
        if Path(own).is_file():
            return Path(own)
    fetched = folder / "Translation-en.xz"
    if not fetched.is_file():
        addresses = _list_targets("$(BASE_URI)$(COMPONENT)/i18n/Translation-en.xz", "Created-By: Packages")
        if not addresses:
            sys.exit("apt has no package lists: run `apt-get update` first")
        with replacing(fetched) as partial:
            subprocess.run([HELPER, "download-file", addresses[0], str(partial)], check=True)
    return fetched


def _list_targets(form: str, *filters: str) -> list[str]:
    """Ask apt what it downloads, in this format."""
    command = ["apt-get", "indextargets", "--format", form, *filters]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def prepare(folder: Path) -> None:
    """Write texts.txt, summaries.txt and test.tsv into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    unpacked = subprocess.run([HELPER, "cat-file", str(fetch(folder))], check=True, capture_output=True)
    packages = list(parse(unpacked.stdout.decode("utf-8").split("\n")))
    piles = divide(packages, HELD_OUT, SEED)
    sizes = (len(piles.texts), len(piles.summaries), len(piles.pairs))
    for path, size in zip(piles.write(folder), sizes, strict=True):
        print(f"{size:,} lines in {path}", file=sys.stderr)
    print(f"of {len(packages):,} packages", file=sys.stderr)


def main() -> None:
    """Fetch, divide, train, evaluate."""
    parser = argparse.ArgumentParser(description="Learn to write synopses of Debian packages, without any pairs.")
    parser.add_argument("--out", type=Path, default=Path("debian"), help="where the corpus and the run go")
    parser.add_argument("--recipe", default="quick", help="as for nutgraf train")
    parser.add_argument("--only-corpus", action="store_true", help="do not train")
    arguments = parser.parse_args()
    prepare(arguments.out)
    if arguments.only_corpus:
        return
    files = [str(arguments.out / name) for name in ("texts.txt", "summaries.txt", "run", "test.tsv")]
    nutgraf = [sys.executable, "-m", "nutgraf.cli"]
    inputs = ["--texts", files[0], "--summaries", files[1], "--out", files[2], "--recipe", arguments.recipe]
    for command in (["train", *inputs], ["evaluate", files[2], "--pairs", files[3], "--markdown"]):
        if code := subprocess.run([*nutgraf, *command]).returncode:
            sys.exit(code)


if __name__ == "__main__":
    main()
