"""The unit and the container file: as much of their syntax as can be checked without systemd and without an engine."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from configparser import ConfigParser
from importlib.util import find_spec
from pathlib import Path
from shutil import which

import pytest

import nutgraf
from nutgraf.serve.limits import Limits

DEPLOY = Path(nutgraf.__file__).parent.parent / "docs" / "deploy"
REFERENCE = DEPLOY.parent / "reference.md"


def _check_serve(arguments: list[str]) -> None:
    section = REFERENCE.read_text("utf-8").split("### nutgraf serve\n", 1)[1].split("\n### ", 1)[0]
    assert arguments[1] == "serve"
    for option in arguments[2::2]:
        assert f"`{option}`" in section


def _read_unit(name: str) -> ConfigParser:
    unit = ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(DEPLOY / name, encoding="utf-8")
    assert unit.sections() == ["Unit", "Service", "Install"]
    return unit


def test_the_unit_starts_a_command_that_exists() -> None:
    unit = _read_unit("nutgraf.service")
    _check_serve(shlex.split(unit["Service"]["ExecStart"]))
    assert "EnvironmentFile" in unit["Service"], "the key is never on the command line"


@pytest.mark.skipif(which("systemd-analyze") is None, reason="systemd-analyze is not installed")
@pytest.mark.parametrize("name", ["nutgraf.service", "nutgraf-head.service", "nutgraf-worker.service"])
def test_systemd_accepts_the_units(name: str, tmp_path: Path) -> None:
    written = (DEPLOY / name).read_text("utf-8")
    program = shlex.split(_read_unit(name)["Service"]["ExecStart"])[0]
    (tmp_path / name).write_text(written.replace(f"ExecStart={program}", "ExecStart=/bin/true"))  # one that is there
    done = subprocess.run(["systemd-analyze", "verify", str(tmp_path / name)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stderr.splitlines() if name in line] == []  # unknown names are only warnings


@pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed: pip install '.[cluster]'")
@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_the_units_of_a_cluster_start_ray_with_tokens_on_a_private_network() -> None:
    from ray.scripts.scripts import start

    known = {name: option for option in start.params for name in option.opts}
    head, worker = (_read_unit(f"nutgraf-{name}.service")["Service"] for name in ("head", "worker"))
    commands = [shlex.split(unit["ExecStart"]) for unit in (head, worker)]
    for unit, command in zip((head, worker), commands, strict=True):
        assert command[:2] == ["/opt/nutgraf/.venv/bin/ray", "start"]
        start.make_context("start", command[2:])  # an option or value that Ray does not know is an error
        assert {word for word in command if word.startswith("--")} <= known.keys()
        assert "RAY_AUTH_MODE=token" in unit["Environment"]
        assert unit["IPAddressDeny"] == "any"
        assert "0.0.0.0" not in unit["ExecStart"]
    address = f"{commands[0][commands[0].index('--node-ip-address') + 1]}:6379"
    assert commands[1][commands[1].index("--address") + 1] == address


def test_the_container_file_has_known_instructions_and_starts_the_server() -> None:
    lines = [line for line in (DEPLOY / "Containerfile").read_text("utf-8").splitlines() if line.strip()]
    parts = [line.split(maxsplit=1) for line in lines if not line.startswith("#")]
    known = {"FROM", "WORKDIR", "COPY", "RUN", "USER", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT"}
    assert {name for name, _ in parts} == known
    last = dict(parts)
    _check_serve(json.loads(last["ENTRYPOINT"]))
    assert json.loads(last["HEALTHCHECK"].split("CMD ", 1)[1])[0] == "python"
    assert shlex.split(last["RUN"])[-1] == ".[serve]"
    assert "torch" not in last["RUN"]  # an export needs none, see tests/test_imports.py


def test_nginx_fits_the_limits_of_the_server() -> None:
    written = (DEPLOY / "nginx.conf").read_text("utf-8")
    settings = dict(re.findall(r"^ *(\w+) ([^;{}\n]+);", written, re.MULTILINE))
    assert written.count("{") == written.count("}") == 4
    assert settings["client_max_body_size"] == f"{Limits().body >> 20}m"
    assert int(settings["keepalive_timeout"].rstrip("s")) < Limits().idle_seconds  # else requests are lost
    assert int(settings["proxy_read_timeout"].rstrip("s")) > Limits().seconds
    assert settings["proxy_set_header"]
    how_to = (DEPLOY.parent / "how-to" / "deploy.md").read_text("utf-8")
    assert f"--allow-host {settings['server_name']}" in how_to
