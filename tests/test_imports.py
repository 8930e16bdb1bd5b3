"""Imports point one way, and the public names are these."""

import ast
import subprocess
import sys
from contextlib import redirect_stdout
from graphlib import TopologicalSorter
from importlib.metadata import version
from inspect import getsource
from io import StringIO
from pathlib import Path

import pytest

import nutgraf
from nutgraf.run.folder import Run
from nutgraf.summarizing import export

PACKAGE = Path(nutgraf.__file__).parent

MOST_LEVELS = 8


def imported(path: Path) -> set[str]:
    """Rooms and top modules of nutgraf that a module imports, also inside functions; types alone do not count."""
    tree = ast.parse(path.read_text("utf-8"))
    types_only = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found = set()
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.ImportFrom)
            and node not in types_only
            and (node.module or "").split(".")[0] == "nutgraf"
        ):
            parts = (node.module or "").split(".")
            found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
    return found


def rooms() -> dict[str, set[str]]:
    """Which rooms each room imports. Modules at the top are rooms of their own."""
    graph: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        room = path.relative_to(PACKAGE).with_suffix("").parts[0]
        if room != "__init__":
            graph.setdefault(room, set()).update(imported(path) - {room})
    return graph


def levels(graph: dict[str, set[str]]) -> dict[str, int]:
    """The longest way from each room down to one that imports none; an error where two import each other."""
    return {room: level for level, group in enumerate(_sorted_groups(graph), 1) for room in group}


def _sorted_groups(graph: dict[str, set[str]]) -> list[list[str]]:
    sorter = TopologicalSorter(graph)
    sorter.prepare()
    groups = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        groups.append(ready)
        sorter.done(*ready)
    return groups


def test_imports_point_one_way() -> None:
    graph = rooms()
    ground = {room for room in graph if not (PACKAGE / room).is_dir()}
    for module in ground:
        assert graph[module] <= ground, f"{module} is for everyone, and imports {graph[module] - ground}"
    upper = {room: others - ground for room, others in graph.items() if room not in ground}
    found = levels(upper)
    drawn = "\n".join(
        f"{level} {', '.join(r for r in found if found[r] == level)}" for level in range(max(found.values()), 0, -1)
    )
    assert max(found.values()) <= MOST_LEVELS, drawn


def imported_at_once(path: Path) -> set[str]:
    """What a module imports when it is imported itself, not inside functions; each name with all that are above it."""
    nodes = ast.parse(path.read_text("utf-8")).body
    names = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    names |= {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return {".".join(name.split(".")[:parts]) for name in names for parts in range(1, 4)}


def test_what_few_steps_need_is_imported_where_it_is_used() -> None:
    """Together they take more than a second of a core, and every process of a training would wait for them."""
    slow = {"ot", "gensim", "rouge_score", "nutgraf.text.embeddings", "nutgraf.text.vector_blocks"}
    found = {path.relative_to(PACKAGE).as_posix(): imported_at_once(path) & slow for path in PACKAGE.rglob("*.py")}
    assert {path: names for path, names in found.items() if names} == {
        "text/embeddings.py": {"gensim"},
        "text/vector_blocks.py": {"nutgraf.text.embeddings"},
        "bench/contests.py": {"rouge_score", "nutgraf.text.embeddings"},
    }


def test_the_public_names_are_these() -> None:
    errors = ["InputError", "MissingExtraError", "NutgrafError", "RecipeError", "RunError"]
    assert nutgraf.__all__ == [*errors, "Summarizer", "__version__", "train"]
    assert set(nutgraf.__all__) <= set(dir(nutgraf))
    assert nutgraf.__version__ == version("nutgraf")
    for name in set(nutgraf.__all__) - {"__version__"}:
        assert getattr(nutgraf, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'sumarizer'"):
        nutgraf.sumarizer  # noqa: B018


def test_training_without_its_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gensim", None)
    with pytest.raises(nutgraf.MissingExtraError, match=r"nutgraf\.train needs .* pip install '\.\[train\]'"):
        nutgraf.train  # noqa: B018


# Summarizing needs none of these. DBAE and mu:1 are trained in the module of the model, so they do load the loop.
TRAINING = ("nutgraf.backtranslation", "nutgraf.evaluation", "nutgraf.report", "nutgraf.models.alignment")
LOOP = "nutgraf.learning.loop"
HEAVY = {"gensim", "ot", "rouge_score", "matplotlib", "scipy", "markupsafe"}
SERVER = {"fastapi", "starlette", "uvicorn", "jinja2"}


def run_code(code: str, folder: Path | None = None) -> str:
    """What a new process prints that runs the code, which may use `folder`."""
    command = [sys.executable, "-c", f"folder = {str(folder)!r}\n{code}"]
    found = subprocess.run(command, capture_output=True, text=True, input="Profit fell monday .\n")
    assert found.returncode == 0, found.stderr
    return found.stdout


def loaded(code: str, folder: Path | None = None) -> set[str]:
    """The modules that a new process has loaded after running the code, which may use `folder`."""
    shown = run_code(f"{code}\nimport sys; print('\\nloaded:', *sys.modules)", folder)
    return set(shown.rpartition("loaded:")[2].split())


def check_without_training(modules: set[str], refused: set[str] = HEAVY | SERVER) -> None:
    assert not {name.split(".")[0] for name in modules} & refused
    assert not [name for name in modules if name.startswith(TRAINING)]


@pytest.fixture(scope="module")
def exported(finished: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("exported") / "export"
    export.write(finished, target)
    return target


def test_the_package_and_the_command_line_load_nothing_heavy() -> None:
    assert not loaded("import nutgraf") & {"torch", "numpy", "typer", "rich"}
    modules = loaded("import nutgraf.cli")
    assert not modules & {"torch", "numpy", "rich.console"}
    check_without_training(modules)


def test_summarizing_in_python_loads_nothing_of_training(exported: Path) -> None:
    modules = loaded("import nutgraf; assert nutgraf.Summarizer.load(folder)(['Profit fell monday .'])", exported)
    assert "nutgraf.summarizing.summarizer" in modules
    assert LOOP not in modules
    check_without_training(modules)


def test_initializers_of_a_run_load_nothing_of_other_training(finished: Run) -> None:
    code = """
import nutgraf
for name in ["pr-thr-0", "dbae-0", "mu1-0"]:
    assert nutgraf.Summarizer.load(folder, name)(['Profit fell monday .'])
"""
    modules = loaded(code, finished.folder)
    assert "nutgraf.summarizing.summarizer" in modules
    check_without_training(modules)


@pytest.mark.parametrize("options", [[], ["--json"], ["--explain"]])
def test_summarizing_by_command_loads_nothing_of_training(exported: Path, options: list[str]) -> None:
    code = f"""
import nutgraf.cli
try:
    nutgraf.cli.main(['summarize', '--model', folder, *{options}])
except SystemExit as stopped:
    assert stopped.code == 0
"""
    modules = loaded(code, exported)
    assert "nutgraf.summarizing.summarizer" in modules
    assert LOOP not in modules
    check_without_training(modules)
    assert ("rich.console" in modules) == (options == ["--explain"])


def test_the_server_loads_nothing_of_training(exported: Path) -> None:
    code = """
from pathlib import Path
from nutgraf.serve.limits import Limits
from nutgraf.serve.models import Models
from nutgraf.serve.server import serve_in_thread
with serve_in_thread(Models.load(Path(folder), ["all-2"]), Limits()):
    pass
"""
    modules = loaded(code, exported)
    assert "fastapi" in modules
    assert LOOP not in modules
    check_without_training(modules, HEAVY - {"markupsafe"})  # of jinja2


WITHOUT_TORCH = "import sys; sys.modules['torch'] = None  # importing it is now an error\n"
TEXT = "Profit of Ford fell 4 percent on Monday , the company said ."


def print_answers(folder: str, text: str) -> None:
    """Print what several models of a run answer; another process runs this source, too."""
    import nutgraf

    for name in ("agreed-2", "all-2", "mu1-2", "mu1-0", "pr-thr-0"):
        summarizer = nutgraf.Summarizer.load(folder, name)
        print(summarizer([text]), summarizer([text], max_words=4, faithful=True))
        explained = summarizer.explain([text], n_best=3)
        print([[(s.text, [w.source for w in s.words]) for s in one.summaries] for one in explained])


def test_without_torch_summaries_are_the_same(with_agreed: Run) -> None:
    with redirect_stdout(StringIO()) as printed:
        print_answers(str(with_agreed.folder), TEXT)
    with_torch = printed.getvalue()
    assert with_torch.count("\n") == 10
    answers = f"{getsource(print_answers)}\nprint_answers(folder, {TEXT!r})"
    assert run_code(WITHOUT_TORCH + answers, with_agreed.folder) == with_torch


@pytest.mark.parametrize("name", ["all-2", "agreed-2"])
def test_without_torch_a_run_is_exported_and_the_export_is_used(with_agreed: Run, name: str, tmp_path: Path) -> None:
    code = f"""
import nutgraf.cli
target = {str(tmp_path / "export")!r}
write = ["export", folder, target, "--models", {name!r}]
for arguments in (write, ["models", target], ["summarize", "--model", target, "--explain"]):
    try:
        nutgraf.cli.main(arguments)
    except SystemExit as stopped:
        assert stopped.code == 0, arguments
"""
    shown = run_code(WITHOUT_TORCH + code, with_agreed.folder)
    assert name in shown
    words = nutgraf.Summarizer.load(tmp_path / "export")("Profit fell monday .").split()
    assert words
    assert all(word in shown for word in words)


def test_without_torch_the_server_answers_with_what_models_agree_on(with_agreed: Run) -> None:
    code = f"""
import json
from pathlib import Path
from urllib.request import Request, urlopen
from nutgraf.serve.limits import Limits
from nutgraf.serve.models import Models
from nutgraf.serve.server import serve_in_thread
with serve_in_thread(Models.load(Path(folder), ["agreed-2"]), Limits()) as port:
    body = json.dumps({{"texts": [{TEXT!r}]}}).encode()
    request = Request(f"http://127.0.0.1:{{port}}/v1/summarize", body, {{"Content-Type": "application/json"}})
    print(json.load(urlopen(request)))
"""
    line = nutgraf.Summarizer.load(with_agreed.folder, "agreed-2")(TEXT)
    assert line in run_code(WITHOUT_TORCH + code, with_agreed.folder)


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("nutgraf.Summarizer.load(folder, 'dbae-0')", "dbae-0 needs torch"),
        ("nutgraf.Summarizer.load(folder, device='cuda')", "--device cuda needs torch"),
        ("nutgraf.train", "nutgraf.train needs the training extra"),
    ],
)
def test_what_needs_torch_says_so_in_one_line(finished: Run, code: str, what: str) -> None:
    caught = f"""
import nutgraf
try:
    {code}
except nutgraf.MissingExtraError as error:
    print(error)
"""
    assert (
        run_code(WITHOUT_TORCH + caught, finished.folder)
        == f"{what}: pip install '.[train]' in the folder that nutgraf was installed from\n"
    )
