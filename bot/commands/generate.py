"""`graphwarden generate`: writes generated models and a manifest."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from onnx import TensorProto

from bot.commands.arguments import Json, Seed
from bot.console import out, print_json
from bot.failures import Refusal
from bot.outputs import check_file, models_folder
from fuzz.generators import models
from fuzz.generators.models import Generated, Parameters
from fuzz.operators.families import OPSET
from fuzz.operators.growth import Limits

MANIFEST = "manifest.jsonl"


def generate(
    source: Annotated[str, typer.Option("--source", metavar="NAME", help=f"One of {', '.join(models.names())}.")],
    output: Annotated[Path, typer.Option("--out", help="Folder of the models; made if missing.")],
    count: Annotated[int, typer.Option("--count", min=1, help="How many models.")] = 100,
    seed: Seed = 0,
    ops: Annotated[str, typer.Option("--ops", metavar="LB:UB", help="How many operators a model has.")] = "1:10",
    opset: Annotated[int, typer.Option("--opset", help="The operator set of the models.")] = OPSET,
    operators: Annotated[
        str | None, typer.Option("--operators", metavar="A,B,C", help="Draw from these only; the whole table without.")
    ] = None,
    picking_rate: Annotated[
        float, typer.Option("--picking-rate", min=0, max=1, help="How often an existing tensor is used again.")
    ] = 0.97,
    rank: Annotated[int, typer.Option("--rank", min=0, max=5, help="Axes of a new tensor, at most.")] = 5,
    length: Annotated[
        int, typer.Option("--length", min=1, max=5, help="Length of an axis of a new tensor, at most.")
    ] = 5,
    all_outputs: Annotated[
        bool, typer.Option("--all-outputs", help="Every intermediate result is an output of its model.")
    ] = False,
    mode: Annotated[
        str, typer.Option("--mode", help="hirgen: strict, or disruptive (one violation of the standard in each model).")
    ] = "strict",
    unguided: Annotated[bool, typer.Option("--unguided", help="hirgen: coverage decides nothing (HirGen_r).")] = False,
    form: Annotated[
        str, typer.Option("--form", help="hirgen: plain, wrapped (in functions), or a rewrite: call-through, closure.")
    ] = "plain",
    criteria: Annotated[
        str, typer.Option("--criteria", metavar="A,B", help="hirgen: of datatype,edge (the default), shape and path.")
    ] = "",
    coverage: Annotated[
        Path | None, typer.Option("--coverage", help="hirgen: file of what is covered; begun with, and written.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Generate ONNX models: [bold]000001.onnx[/] and so on, and [bold]manifest.jsonl[/].

    The same arguments give the same bytes. docs/generators.md describes the generators and the manifest.
    """
    low, high = bounds(ops)
    names = operator_names(operators)
    limits = Limits(picking_rate=picking_rate, rank=rank, length=length)
    own = {
        "mode": mode if mode != "strict" else "",
        "unguided": "yes" if unguided else "",
        "form": form if form != "plain" else "",
        "criteria": criteria,
        "coverage": str(coverage or ""),
    }
    chosen = tuple((name, value) for name, value in own.items() if value)
    parameters = Parameters(low, high, names, opset, limits, all_outputs, chosen)
    check_file("--coverage", coverage)
    try:
        models.check(source, parameters)
    except (models.UnknownModels, models.UnusableParameters) as error:
        raise Refusal(str(error)) from error
    models_folder("--out", output, range(1, count + 1))
    nodes = rejected = 0
    with (output / MANIFEST).open("w", encoding="utf-8", newline="\n") as manifest:
        for index, made in enumerate(_made(source, parameters, seed, count)):
            name = f"{index + 1:06d}.onnx"
            (output / name).write_bytes(made.model)
            manifest.write(json.dumps(_line(name, source, seed, index, made), sort_keys=True) + "\n")
            nodes, rejected = nodes + made.nodes, rejected + made.rejected
    document = {"models": count, "operators": nodes, "rejected": rejected}
    if as_json:
        print_json(document)
    else:
        out.print(f"{count} models with {nodes} operators, {rejected} attempts rejected: {output}", markup=False)


def _made(source: str, parameters: Parameters, seed: int, count: int) -> Iterator[Generated]:
    """The models. Raises Refusal."""
    try:
        yield from models.series(source, parameters, seed, count)
    except models.UnusableParameters as error:
        raise Refusal(str(error)) from error


def operator_names(text: str | None) -> tuple[str, ...]:
    """``A,B,C`` as names, none where the option is left out. Raises Refusal for a text that names nothing."""
    if text is None:
        return ()
    found = tuple(name.strip() for name in text.split(",") if name.strip())
    if not found:
        raise Refusal(f"--operators {text!r} names no operator; leave it out for the whole table")
    return found


def bounds(text: str) -> tuple[int, int]:
    """``LB:UB`` as numbers. Raises Refusal."""
    found = re.fullmatch(r"(\d+):(\d+)", text)
    low, high = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= low <= high:
        raise Refusal(f"--ops {text!r} is not of the form LB:UB with 1 <= LB <= UB, e.g. 1:10")
    return low, high


def _line(name: str, source: str, seed: int, index: int, made: Generated) -> dict[str, object]:
    inputs = [
        {
            "name": each.name,
            "dtype": TensorProto.DataType.Name(each.dtype).lower(),
            "shape": list(each.shape),
            "range": list(each.interval),
        }
        for each in made.inputs
    ]
    return {
        "file": name,
        "sha256": hashlib.sha256(made.model).hexdigest(),
        "source": source,
        "seed": seed,
        "index": index,
        "operators": made.nodes,
        "rejected": made.rejected,
        "inputs": inputs,
        **made.notes,
    }
