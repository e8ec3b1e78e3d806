"""Arguments that several commands share, described once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

CasePath = Annotated[
    Path,
    typer.Argument(metavar="CASE", help="An ONNX model, or an operator instance ([bold]*.json[/], docs/instances.md)."),
]
Backend = Annotated[
    str, typer.Option("--backend", help="A name from `graphwarden backends`, or a path to a backend file.")
]
Options = Annotated[
    list[str], typer.Option("--option", metavar="KEY=VALUE", help="A backend option, e.g. opt=off. Repeatable.")
]
Inputs = Annotated[
    Path | None, typer.Option("--inputs", metavar="FILE.npz", help="Input values by name; drawn from --seed without.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of everything that is drawn.")]
Seconds = Annotated[float, typer.Option("--timeout", min=0.1, help="Wall-clock limit of one case, in seconds.")]
Memory = Annotated[int, typer.Option("--memory", min=64, help="Memory limit of one case, in MiB.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
Database = Annotated[
    str, typer.Option("--db", metavar="FILE|URL", help="The hunt's database: an SQLite file, or postgresql://….")
]
TlsCa = Annotated[Path | None, typer.Option("--tls-ca", help="TLS with the Dask scheduler: who is trusted (PEM).")]
TlsCert = Annotated[Path | None, typer.Option("--tls-cert", help="TLS with the Dask scheduler: our certificate (PEM).")]
TlsKey = Annotated[Path | None, typer.Option("--tls-key", help="TLS with the Dask scheduler: the certificate's key.")]
Known = Annotated[
    list[Path],
    typer.Option(
        "--known",
        metavar="FILE",
        help="A project's issues, as `gh issue list --json number,title,body,url,state` exports them: reports link "
        "those that look like the bug. Repeatable.",
    ),
]
