from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from examples import debian
from examples.debian import Package, divide, parse, subject

# Made up, in the format of apt's Translation-en.
SAMPLE = """\
Package: quillo
Description-md5: 00000000000000000000000000000000
Description-en: small editor for goose feathers
 Quillo is an editor (v. 2.0) that trims feathers
 to any width.  It knows all birds.
 .
 A second paragraph.

Package: quillo-data
Description-en: small editor for goose feathers (data files)
 Quillo is an editor (v. 2.0) that trims feathers
 to any width.

Package: quillo
Description-en: another version of the editor
 Quillo is an editor that trims feathers much faster than before.

Package: lists-only
Description-en: package with nothing but a list
  * laid out, not a sentence of six words

Package: terse
Description-en: terse
 It is a package that says too little in its synopsis.

Package: other-language
Description-de: kleiner Editor mit Feder
 Ein kleiner Editor mit Feder für Gänse.
"""


def test_a_description_gives_its_synopsis_and_its_first_sentence() -> None:
    packages = list(parse(SAMPLE.splitlines(keepends=True)))
    sentence = "Quillo is an editor (v. 2.0) that trims feathers to any width."
    assert packages == [
        Package("quillo", "small editor for goose feathers", sentence),
        Package("quillo-data", "small editor for goose feathers (data files)", sentence),
    ]


@pytest.mark.parametrize(
    ("synopsis", "expected"),
    [
        ("small editor (data files)", "small editor"),
        ("small editor - documentation", "small editor"),
        ("real-time editor", "real-time editor"),
        ("editor (small) for geese", "editor (small) for geese"),
    ],
)
def test_the_subject_of_a_synopsis(synopsis: str, expected: str) -> None:
    assert subject(synopsis) == expected


def _packages(count: int) -> list[Package]:
    """Each second one has a twin of data files."""
    packages = []
    for number in range(count):
        sentence = f"Tool{number} is a program that does the work of number {number} for you."
        packages.append(Package(f"tool{number}", f"program that does {number}", sentence))
        if number % 2:
            packages.append(Package(f"tool{number}-data", f"program that does {number} (data)", sentence))
    return packages


def test_both_sides_and_the_pairs_are_of_different_packages() -> None:
    packages = _packages(100)
    piles = divide(packages, held_out=10, seed=1)
    assert piles == divide(packages, held_out=10, seed=1)
    assert len(piles.pairs) == 10
    of = {package.sentence: package.name.removesuffix("-data") for package in packages}
    of |= {package.synopsis: package.name.removesuffix("-data") for package in packages}
    texts, summaries, pairs = (
        {of[line] for line in lines} for lines in (piles.texts, piles.summaries, [text for text, _ in piles.pairs])
    )
    assert not texts & summaries
    assert not pairs & (texts | summaries)
    assert (len(texts), len(summaries)) == (45, 45)
    assert all(of[text] == of[summary] for text, summary in piles.pairs)


def test_the_lists_of_apt_are_preferred_to_its_mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "own_Translation-en"
    own.write_text(SAMPLE)
    asked: list[str] = []

    def apt(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        asked.append(command[0])
        return subprocess.CompletedProcess(command, 0, stdout=f"{own}\n")

    monkeypatch.setattr(subprocess, "run", apt)
    assert debian.fetch(tmp_path) == own
    assert asked == ["apt-get"]
