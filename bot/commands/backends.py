"""`graphwarden backends`: which compilers work here, decided by compiling and running one tiny model."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table

from bot.commands.arguments import Json
from bot.console import err, out, print_json
from fuzz import catalogue, registry
from fuzz.runner import Runner


def backends(
    as_json: Json = False,
    options: Annotated[bool, typer.Option("--options", help="Show each backend's options too.")] = False,
) -> None:
    """Show the backends: name, version, devices, and whether they work here or why not."""
    told = "compiling and running a tiny model on every backend"
    with Runner() as runner, err.status(told), ThreadPoolExecutor(runner.jobs) as pool:
        probes = list(pool.map(lambda name: catalogue.probe(runner, name), registry.names()))
    if as_json:
        print_json([asdict(probe) for probe in probes])
        return
    table = Table("name", "version", "devices", "available")
    for probe in probes:
        state = "[green]yes[/]" if probe.available else "[red]no[/]: " + probe.reason.replace("[", "\\[")
        table.add_row(probe.name, probe.version or "-", ", ".join(probe.devices) or "-", state)
    out.print(table)
    if options:
        _print_options()


def _print_options() -> None:
    table = Table("name", "option", "values (the first is the default)")
    for name in registry.names():
        for option, values in registry.backend(name).options.items():
            table.add_row(name, option, ", ".join(values))
    out.print(table)
