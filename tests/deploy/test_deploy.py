"""What lies under deploy/ says nothing that is not there: commands, options, files, services and settings of Dask."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from bot import cli, settings

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
UNITS = sorted(DEPLOY.glob("*.service"))
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
CONTAINER = (DEPLOY / "Containerfile").read_text()


def options(command: str) -> set[str]:
    """The options of one of our commands."""
    found = typer.main.get_command(cli.assembled([command]))
    commands = getattr(found, "commands", {command: found})
    return {name for each in commands[command].params for name in each.opts}


def check_graphwarden(arguments: list[str]) -> None:
    assert arguments[0] in cli.COMMANDS, arguments
    asked = {word for word in arguments[1:] if word.startswith("--")}
    assert asked <= options(arguments[0]), arguments


def check_dask(arguments: list[str]) -> None:
    from distributed.cli.dask_scheduler import main

    known = {name for each in main.params for name in (*each.opts, *each.secondary_opts)}
    assert arguments[0] == "scheduler"
    assert {word for word in arguments[1:] if word.startswith("--")} <= known


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: str(unit.name))
def test_a_unit_starts_a_command_that_there_is(unit: Path) -> None:
    [start] = re.findall(r"^ExecStart=(.*)$", unit.read_text(), re.MULTILINE)
    program, *arguments = shlex.split(start)
    {"graphwarden": check_graphwarden, "dask": check_dask}[Path(program).name](arguments)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: str(unit.name))
def test_systemd_takes_the_unit(unit: Path, tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze here (apt-get install systemd)")
    # The program lies elsewhere here, and systemd wants to see it.
    text = re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", unit.read_text(), flags=re.MULTILINE)
    copy = tmp_path / unit.name
    copy.write_text(text.replace("User=graphwarden", "User=root"))
    verify = ["systemd-analyze", "verify", "--man=no", str(copy)]
    done = subprocess.run(verify, capture_output=True, text=True)
    told = [line for line in done.stderr.splitlines() if unit.name in line]
    assert told == [] and done.returncode == 0, done.stderr


def test_what_the_bot_writes_lies_where_units_and_containers_let_it_write(tmp_path: Path) -> None:
    told = re.findall(r'^    ((?:database|reports) = "/.*")$', (ROOT / "docs" / "deploy.md").read_text(), re.MULTILINE)
    path = tmp_path / "graphwarden.toml"
    path.write_text("\n".join([*told, "[projects.one]", 'repository = "a/b"', 'compiler = "tvm"']))
    found = settings.load(path)
    state = Path("/var/lib/graphwarden")
    assert {Path(found.database).parent, found.reports.parent} == {state}
    assert f"VOLUME {state}" in CONTAINER and f"GRAPHWARDEN_REVISIONS={state}/" in CONTAINER
    assert all(f"StateDirectory={state.name}" in unit.read_text() for unit in UNITS)


def test_every_service_has_an_image_and_what_it_depends_on_is_there() -> None:
    services = COMPOSE["services"]
    for name, each in services.items():
        assert each.get("image"), name
        assert set(each.get("depends_on", ())) <= services.keys()
        assert set(each.get("secrets", ())) <= COMPOSE["secrets"].keys()
        assert set(each.get("networks", ())) <= COMPOSE["networks"].keys()
        volumes = [volume.partition(":")[0] for volume in each.get("volumes", ())]
        assert {volume for volume in volumes if not volume.startswith(".")} <= COMPOSE["volumes"].keys()


def test_the_services_run_commands_that_there_are() -> None:
    services = COMPOSE["services"]
    for name in ("bot", "hosts"):
        check_graphwarden(services[name]["command"])
    check_dask([services["scheduler"]["entrypoint"][1], *services["scheduler"]["command"]])


def test_the_schedulers_port_is_not_published() -> None:
    assert "ports" not in COMPOSE["services"]["scheduler"]
    assert COMPOSE["networks"]["inside"]["internal"] is True
    assert COMPOSE["services"]["scheduler"]["networks"] == ["inside"]
    assert all(port.startswith("127.0.0.1:") for port in COMPOSE["services"]["bot"]["ports"])


def test_settings_of_dask_are_such_that_dask_knows() -> None:
    import dask
    import distributed  # noqa: F401 its settings are known once it is imported

    names = {name for name in COMPOSE["services"]["scheduler"]["environment"] if name.startswith("DASK_")}
    for unit in UNITS:
        names |= set(re.findall(r"^Environment=(DASK_\w+)", unit.read_text(), re.MULTILINE))
    for name in names:
        dask.config.get(name.removeprefix("DASK_").lower().replace("__", ".").replace("_", "-"))


def test_the_image_copies_what_there_is_and_all_that_the_package_consists_of() -> None:
    copied = [word for line in re.findall(r"^COPY (.*)$", CONTAINER, re.MULTILINE) for word in line.split()[:-1]]
    assert all((ROOT / word).exists() for word in copied)
    assert {"bot", "fuzz", "triage", "templates", "data"} <= set(copied)
    kept = {line.removeprefix("!") for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] == "!"}
    assert set(copied) <= kept
    assert CONTAINER.index("USER graphwarden") < CONTAINER.index("ENTRYPOINT")
