"""Fuzzes every reader: what it cannot use is a NutgrafError of one line, within five seconds and little memory."""

from __future__ import annotations

import io
import json
import resource
import shutil
import signal
import sys
import time
import traceback
import unicodedata
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from random import Random

from nutgraf import cli
from nutgraf import recipe as recipes
from nutgraf.errors import NutgrafError
from nutgraf.run.folder import Choice, Run
from nutgraf.run.status import states
from nutgraf.serve.errors import ApiError
from nutgraf.serve.limits import Limits
from nutgraf.serve.models import Models
from nutgraf.serve.schema import parse_request
from nutgraf.summarizing.export import Export, write
from nutgraf.summarizing.results import SummaryOptions
from nutgraf.summarizing.summarizer import Summarizer
from nutgraf.text.documents import read_document
from nutgraf.text.reading import read_blocks, read_lines, read_pairs
from tests.tiny import Corpus, sign, train_tiny, write_corpus
from tools.campaign.mutations import ODD_TEXTS, change_json, damage, odd_text
from tools.campaign.stage import Stage
from tools.campaign.tiny_run import SMALL

SECONDS = 5
MEGABYTES = 200  # that all cases together may add


class HangError(Exception):
    """A reader took too long."""


@dataclass(frozen=True)
class Material:
    """What is damaged: a finished run, an export of it, its corpus, and a summarizer."""

    corpus: Corpus
    run: Path
    export: Path
    summarizer: Summarizer
    scratch: Path


def prepare(folder: Path) -> Material:
    """Train and export a tiny run."""
    corpus = write_corpus(folder)
    run = train_tiny(corpus, folder / "run", *SMALL[1::2])
    write(run, folder / "export", ["all-2"])
    (folder / "scratch").mkdir()
    return Material(corpus, run.folder, folder / "export", Summarizer.load(run.folder, "all-2"), folder / "scratch")


def attack(stage: Stage) -> None:
    """Fuzz until the time is over, the readers in turn."""
    material, rounds, before = prepare(stage.folder), 0, 0.0
    while stage.goes_on(rounds):
        name = [*READERS][rounds % len(READERS)]
        seed = stage.random.randrange(2**32)
        said = try_reader(name, material, seed)
        if said:
            stage.fail(f"{name}, case {seed}: {said}")
        stage.count(f"fuzzed {name}")
        if rounds == len(READERS):
            before = _peak()
        rounds += 1
    if before and _peak() - before > MEGABYTES:
        stage.fail(f"memory grew by {_peak() - before:.0f} MB")


def try_reader(name: str, material: Material, seed: int) -> str:
    """Give a reader one case; return what was wrong with its answer, or nothing."""
    shutil.rmtree(material.scratch)
    material.scratch.mkdir()
    began, handler = time.monotonic(), signal.signal(signal.SIGALRM, _stop)
    signal.alarm(SECONDS * 4)  # the machine may be busy
    try:
        READERS[name](material, Random(seed))
    except NutgrafError as error:
        return _check_message(str(error), name)
    except AssertionError as error:
        return str(error)
    except Exception:
        return traceback.format_exc()
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, handler)
    seconds = time.monotonic() - began
    return f"took {seconds:.1f} s" if seconds > SECONDS * 4 else ""


def _check_message(message: str, name: str) -> str:
    return f"a message of {len(message):,} letters" if len(message) > 20_000 and name != "command lines" else ""


def _stop(*_: object) -> None:
    raise HangError(f"more than {SECONDS * 4} seconds")


def _peak() -> float:
    """Return the most memory that this process has used, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 if sys.platform == "darwin" else 1024)


def _texts(material: Material, random: Random) -> None:
    path = material.scratch / f"texts{random.choice(('.txt', '.gz', '.xz', '.html', '.md'))}"
    original = Path(random.choice((material.corpus.texts, material.corpus.summaries))).read_bytes()[:20_000]
    path.write_bytes(damage(original, random) if random.random() < 0.7 else odd_text(random).encode())
    list(random.choice((read_lines, lambda path: read_blocks(path, 5), read_document))(str(path)))


def _pairs(material: Material, random: Random) -> None:
    path = material.scratch / "pairs.tsv"
    path.write_bytes(damage(Path(material.corpus.pairs).read_bytes(), random))
    read_pairs(str(path))


def _recipes(material: Material, random: Random) -> None:
    toml = (material.run / "recipe.toml").read_bytes()
    if random.random() < 0.5:
        recipes.parse(damage(toml, random).decode("utf-8", "replace"), "fuzzed")
    else:
        key = random.choice([line.split(" = ")[0] for line in toml.decode().splitlines() if " = " in line])
        section = random.choice([*recipes.Recipe.__dataclass_fields__])
        value = random.choice((odd_text(random), random.choice(ODD_TEXTS)))
        recipes.override(recipes.Recipe(), [f"{section}.{key}={value}"])


def _manifests(material: Material, random: Random) -> None:
    folder = material.scratch / "run"
    shutil.copytree(material.run, folder)
    path = random.choice([folder / "run.json", folder / "recipe.toml", *sorted(folder.rglob("manifest.json"))])
    content = path.read_bytes()
    path.write_bytes(change_json(content, random) if path.suffix == ".json" else damage(content, random))
    if path.name == "run.json" and random.random() < 0.7:  # as if it were an earlier version's, which has no checksum
        path.write_bytes(_without_checksum(path.read_bytes()))
    run = Run.open(folder)
    states(run)
    run.best()


def _without_checksum(content: bytes) -> bytes:
    try:
        table = json.loads(content)
        table.pop("checksum", None)
        return json.dumps(table).encode()
    except (ValueError, AttributeError, TypeError, RecursionError):  # no JSON, or no object
        return content


def _exports(material: Material, random: Random) -> None:
    folder = material.scratch / "export"
    shutil.copytree(material.export, folder)
    path = random.choice([path for path in sorted(folder.rglob("*")) if path.is_file()])
    content = path.read_bytes()
    path.write_bytes(change_json(content, random) if path.suffix == ".json" else damage(content, random))
    if path.name != "manifest.json":
        sign(folder)
    summarizer = Summarizer.of(Export.open(folder), "all-2", "cpu")
    _check_line(summarizer("Profit fell on monday , the bank said .", max_words=5), 5)


def _weights(material: Material, random: Random) -> None:
    shutil.copytree(material.run, material.scratch / "run")
    names = {"mu1-0": "mu1", "dbae-0": "dbae", "all-2": "model", "mu1-2": "model"}
    name = random.choice([*names])
    folder = material.scratch / "run" / "steps" / random.choice((name, name, name, "text"))
    path = random.choice([path for path in sorted(folder.iterdir()) if path.name != "manifest.json"])
    content = path.read_bytes()
    if path.suffix == ".safetensors" and random.random() < 0.7:
        size = int.from_bytes(content[:8], "little")
        header = change_json(content[8 : 8 + size], random)
        content = len(header).to_bytes(8, "little") + header + content[8 + size :]
    else:
        content = change_json(content, random) if path.suffix == ".json" else damage(content, random)
    path.write_bytes(content)
    sign(folder)
    line = Summarizer.load(material.scratch / "run", name)("Profit fell on monday , the bank said .", max_words=5)
    _check_line(line, 5)


def _summaries(material: Material, random: Random) -> None:
    texts = [odd_text(random)[:2_000] for _ in range(3)]
    most = random.choice((1, 2, 5, 9))
    faithful, explain = random.choice((None, True, False)), random.random() < 0.3
    options = SummaryOptions(most, None, faithful, random.choice((1, 2, 3)), explain)
    for result in material.summarizer.answer(texts, options):
        for summary in result.summaries:
            _check_line(summary.text, most)


def _check_line(line: str, most: int) -> None:
    assert len(line.split()) <= most, f"{len(line.split())} words where {most} were allowed: {line!r}"
    odd = [letter for letter in line if unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp")]
    assert not odd, f"control characters in {line!r}"


def _command_lines(material: Material, random: Random) -> None:
    commands = {
        "summarize": ["--model", str(material.run), "--max-words", "5", "--n-best", "2", "--explain", "--json"],
        "status": [str(material.run), "--json"],
        "export": [str(material.run), str(material.scratch / "out"), "--models", "all-2", "--int8"],
        "report": [str(material.run), "--out", str(material.scratch / "report.html")],
        "recipe": ["cpu", "--set", "training.batch=3"],
        "models": [str(material.run.parent), "--json"],
        "samples": [str(material.run), "--count", "2", "--threads", "1", "--texts", material.corpus.texts],
        "train": ["--texts", material.corpus.texts, "--summaries", material.corpus.summaries, "--plan"],
    }
    command = random.choice([*commands])
    arguments = [command, *commands[command]]
    for _ in range(random.choice((0, 1, 1, 2, 3))):
        place = random.randrange(1, len(arguments) + 1)
        option = random.choice([option for options in commands.values() for option in options])
        odd = random.choice((*ODD_TEXTS, odd_text(random)[:500], option, option)).replace("\0", "")
        arguments[place : place + random.randrange(2)] = [odd]
    if command == "train" and "--plan" not in arguments:
        arguments.append("--plan")
    out, err, code = io.StringIO(), io.StringIO(), None
    stdin, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(b"Profit fell on monday .\n"))
    try:
        with redirect_stdout(out), redirect_stderr(err), chdir(material.scratch):  # a name may be one to write to
            cli.main(arguments)
    except SystemExit as stopped:
        code = stopped.code
    finally:
        sys.stdin = stdin
    assert code in (0, 2), f"{arguments} ended with {code}: {err.getvalue()[-2000:]}"
    assert "Traceback" not in err.getvalue(), f"{arguments}: {err.getvalue()[-2000:]}"
    shown = err.getvalue() if code == 2 else ""
    if shown.startswith("error:"):
        assert "\x1b[2J" not in shown, f"{arguments}: escape codes in {shown!r}"


def _request_bodies(material: Material, random: Random) -> None:
    body = {
        "texts": [odd_text(random)[:500]],
        **random.choice(({}, {"max_words": 5, "min_words": 2}, {"n_best": 3, "explain": True, "model": "all-2"})),
    }
    content = change_json(json.dumps(body).encode("utf-8", "surrogatepass"), random)
    status, message, work = 200, "", 0
    try:
        work = parse_request(content, Limits(), Models(Choice("all-2", ""), {"all-2": material.summarizer})).work
    except ApiError as error:
        status, message = error.status, error.message
    assert status in (200, 400, 422), f"{status} to {content[:500]!r}"
    assert len(message) < 500, f"a message of {len(message)} letters to {content[:500]!r}"
    assert work <= Limits().work, f"{work} steps: {content[:500]!r}"


READERS: dict[str, Callable[[Material, Random], None]] = {
    "texts": _texts,
    "pairs": _pairs,
    "recipes": _recipes,
    "manifests": _manifests,
    "exports": _exports,
    "weights": _weights,
    "summaries": _summaries,
    "bodies of requests": _request_bodies,
    "command lines": _command_lines,
}
