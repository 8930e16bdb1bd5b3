"""What exports cost, on models that are small or few."""

from pathlib import Path

from typer.testing import CliRunner

from experiments.exports import app
from nutgraf.run.folder import Run
from tests.tiny import Corpus


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_an_untrained_export_is_written_and_timed(tmp_path: Path) -> None:
    sizes = run("make", tmp_path / "export", "--width", 16, "--summaries", 50)
    files = {line.split()[1]: int(line.split()[0].replace(",", "")) for line in sizes.splitlines()[:-1]}
    assert {"all-2/model.safetensors", "near-2/model.safetensors", "mu1-1/model.safetensors"} < files.keys()
    assert f"{sum(files.values()):,} bytes in all" in sizes
    times = run("time", tmp_path / "export", "--texts", 2, "--turns", 1)
    assert times.count("ms of CPU per text") == 2
    assert "the same summaries: yes" in times


def test_fewer_bits_change_lines(finished: Run, corpus: Corpus) -> None:
    lines = run("bits", finished.folder, corpus.pairs, "--bits", 8, "--bits", 2).splitlines()
    assert [line.split(":")[0] for line in lines] == ["as it is", "8 bits", "2 bits"]
    shares = [float(line.split(", ")[1].split("%")[0]) for line in lines]
    assert shares[0] == 100
    assert shares[1] > shares[2]
