"""`graphwarden coverage`: how much of the operators' space a folder of models covers."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Column, Table

from bot.commands.arguments import Json
from bot.commands.generate import operator_names
from bot.console import out, print_json
from bot.failures import Refusal
from bot.outputs import check_file, write
from fuzz.coverage import picture
from fuzz.coverage.metrics import Coverage
from fuzz.coverage.operator_level import MOST_SETTINGS, OperatorLevel, UnusableWeights
from fuzz.coverage.reading import UnreadableModel, folder
from fuzz.generators.models import Parameters, UnusableParameters
from fuzz.graphs import blocks
from fuzz.graphs.blocks import BlockError
from fuzz.operators.families import OPSET


def coverage(
    models: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of ONNX models.")],
    operators: Annotated[
        str | None, typer.Option("--operators", metavar="A,B,C", help="The corpus; the whole operator table without.")
    ] = None,
    opset: Annotated[int, typer.Option("--opset", help="The operator set of the corpus.")] = OPSET,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE.svg", help="Draw how often every operator occurs.")
    ] = None,
    corpus_name: Annotated[
        str,
        typer.Option(
            "--blocks", metavar="NAME|FILE.toml", help="Degrees for the operator-level coverage: onnx, paper, your own."
        ),
    ] = blocks.DEFAULT,
    most_settings: Annotated[
        int, typer.Option("--settings", min=1, help="Settings expected of one operator (n_maxspc).")
    ] = MOST_SETTINGS,
    weights: Annotated[
        str, typer.Option("--weights", metavar="W,W,W,W,W", help="Weights of OTC, IDC, ODC, SEC and SPC in OLC.")
    ] = "1,1,1,1,1",
    as_json: Json = False,
) -> None:
    """Coverage metrics of a folder of models, by their names in the papers on Isra and on graph-based fuzzing.

    docs/generators.md says what each counts.
    """
    if not models.is_dir():
        raise Refusal(f"{models}: is no folder; name one that holds .onnx files")
    if plot and plot.suffix != ".svg":
        raise Refusal(f"--plot {plot}: only SVG is drawn; name a file that ends in .svg")
    check_file("--plot", plot)
    known = corpus(operators, opset)
    found, level = Coverage(known), _operator_level(corpus_name, opset, known, weights, most_settings)
    try:
        for nodes in folder(models):
            found.add(nodes)
            level.add(nodes)
    except UnreadableModel as error:
        raise Refusal(str(error)) from error
    if not found.models:
        raise Refusal(f"{models}: holds no .onnx file")
    if plot:
        write("--plot", plot, picture.svg(found.frequency(), found.models))
    document: dict[str, Any] = {"models": found.models, "metrics": found.metrics(), "frequency": found.frequency()}
    document["graph_based"] = {"metrics": level.metrics(), "operators": level.operators()}
    if as_json:
        print_json(document)
    else:
        _print(document)


def corpus(names: str | None, opset: int) -> dict[str, tuple[int, ...]]:
    """The operators of the corpus and their in-degrees. Raises Refusal for one that the table lacks."""
    try:
        chosen = Parameters(names=operator_names(names), opset=opset).operators()
    except UnusableParameters as error:
        raise Refusal(str(error)) from error
    return {each.op_type: each.degrees for each in chosen}


def _operator_level(name: str, opset: int, known: Collection[str], weights: str, most_settings: int) -> OperatorLevel:
    """The operator-level coverage of the corpus of blocks, of the known operators. Raises Refusal."""
    try:
        numbers = [float(weight) for weight in weights.split(",")]
        degrees = {each: found for each, found in blocks.load(name, opset).degrees.items() if each in known}
        return OperatorLevel(degrees, numbers, most_settings)
    except BlockError as error:
        raise Refusal(f"--blocks {error}") from error
    except UnusableWeights as error:
        raise Refusal(f"--weights {weights}: {error}") from error
    except ValueError as error:
        raise Refusal(f"--weights {weights!r} is no list of numbers, e.g. 1,1,0,1,1") from error


def _print(document: dict[str, Any]) -> None:
    out.print(f"{document['models']} models")
    rows = Table(Column("metric"), Column("value", justify="right"))
    for name, value in document["metrics"].items():
        rows.add_row(name, f"{value:.4g}")
    rows.add_section()
    for name, value in document["graph_based"]["metrics"].items():
        rows.add_row(f"{name} (graph-based)", f"{value:.4g}")
    out.print(rows)
