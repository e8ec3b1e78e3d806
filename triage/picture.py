"""A model as a picture (SVG): inputs above, operators in layers by the longest way from them, outputs below. Pure.

Texts of the model are escaped by the template; nothing is inferred, since native code may die on a damaged model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import networkx as nx
import onnx
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from fuzz.data import data_path
from triage.drawing import reads, title, types

#: A picture with more boxes is no help to anyone.
MOST_BOXES = 150
#: Pixels: of a letter's width, of a bold one's, and of a box's height, around a text, between boxes and between layers.
_LETTER, _BOLD, _HIGH, _PAD, _GAP, _BETWEEN = 7.2, 8.3, 34, 24, 28, 46
_LONGEST = 34
#: How often layers are put into the order of their neighbours'.
_SWEEPS = 4


@dataclass(frozen=True)
class Box:
    """Something drawn: its kind (`input`, `constant`, `operator`, `output`), its text, and where its middle is.

    A `way` is a place that an edge passes on its way through a layer.
    """

    kind: str
    text: str
    note: str
    x: float = 0.0
    y: float = 0.0

    @property
    def width(self) -> float:
        if self.kind == "way":
            return 0.0
        letter = _BOLD if self.kind == "operator" else _LETTER
        return max(letter * len(self.text), 0.86 * _LETTER * len(self.note), 4 * _LETTER) + _PAD

    @property
    def height(self) -> float:
        return _HIGH + (14 if self.note else 0)


@dataclass(frozen=True)
class Line:
    """From one box to another: an SVG path, and what flows (`float (2, 3)`, "" where the model does not say)."""

    path: str
    text: str
    x: float
    y: float


@dataclass(frozen=True)
class Picture:
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    width: float
    height: float


def svg(model: onnx.ModelProto) -> str:
    """The picture of a model's main graph; "" when it is too large to be read, or not a graph without circles."""
    found = picture(model)
    if found is None:
        return ""
    loader = FileSystemLoader(data_path().parent / "templates")
    environment = Environment(loader=loader, undefined=StrictUndefined, autoescape=True, trim_blocks=True)
    return environment.get_template("model.svg.j2").render(picture=found)


def picture(model: onnx.ModelProto) -> Picture | None:
    """What is drawn where; None for a model that is not."""
    graph = nx.DiGraph()
    for name, kind, text, note in _things(model.graph):
        graph.add_node(name, box=Box(kind, text, note))
    flows = dict(types(model.graph))
    for source, target, tensor in _flows(model.graph):
        if source in graph and target in graph:
            graph.add_edge(source, target, text=flows.get(tensor, ""))
    if not 0 < len(graph) <= MOST_BOXES or not nx.is_directed_acyclic_graph(graph):
        return None
    return _placed(graph)


def _things(graph: onnx.GraphProto) -> Iterator[tuple[str, str, str, str]]:
    initial = {tensor.name for tensor in graph.initializer}
    flows = dict(types(graph))
    for info in graph.input:
        if info.name not in initial:
            yield f"t:{info.name}", "input", _short(info.name), flows.get(info.name, "")
    for tensor in graph.initializer:
        yield f"t:{tensor.name}", "constant", _short(tensor.name), flows.get(tensor.name, "")
    for at, node in enumerate(graph.node):
        yield f"n:{at}", "operator", _short(title(node)), _short(_attributes(node))
    for at, info in enumerate(graph.output):
        yield f"o:{at}", "output", _short(info.name), flows.get(info.name, "")


def _flows(graph: onnx.GraphProto) -> Iterator[tuple[str, str, str]]:
    """Source, target and tensor of each edge; what comes from nowhere is left out."""
    makers = {name: f"n:{at}" for at, node in enumerate(graph.node) for name in node.output if name}
    for at, node in enumerate(graph.node):
        for name in dict.fromkeys([*filter(None, node.input), *reads(node)]):
            yield makers.get(name, f"t:{name}"), f"n:{at}", name
    for at, info in enumerate(graph.output):
        yield makers.get(info.name, f"t:{info.name}"), f"o:{at}", info.name


def _layers(graph: nx.DiGraph) -> dict[str, int]:
    """The layer of each box: by the longest way to it, but what feeds only late boxes stands just above them."""
    found: dict[str, int] = {}
    for name in nx.topological_sort(graph):
        found[name] = max((found[each] + 1 for each in graph.pred[name]), default=0)
    for name in reversed(list(nx.topological_sort(graph))):
        if graph.succ[name]:
            found[name] = min(found[each] for each in graph.succ[name]) - 1
    return found


def _ways(graph: nx.DiGraph, layer: dict[str, int]) -> tuple[nx.DiGraph, dict[tuple[str, str], list[str]]]:
    """The graph with a place in every layer that an edge passes, and what each edge goes by (Sugiyama's method)."""
    steps, ways = nx.DiGraph(), dict[tuple[str, str], list[str]]()
    steps.add_nodes_from(graph.nodes(data=True))
    for source, target in graph.edges:
        passed = [f"w:{at}:{source}:{target}" for at in range(layer[source] + 1, layer[target])]
        for at, name in enumerate(passed):
            layer[name] = layer[source] + 1 + at
            steps.add_node(name, box=Box("way", "", ""))
        ways[source, target] = [source, *passed, target]
        nx.add_path(steps, ways[source, target])
    return steps, ways


def _ordered(steps: nx.DiGraph, layer: dict[str, int]) -> list[list[str]]:
    """Names by layer; neighbours stand near each other."""
    layers: list[list[str]] = [[] for _ in range(max(layer.values()) + 1)]
    for name in steps:
        layers[layer[name]].append(name)
    for _ in range(_SWEEPS):
        _sort(layers, steps.pred)
        _sort(layers[::-1], steps.succ)
    return [names for names in layers if names]


def _sort(layers: Sequence[list[str]], neighbours: nx.classes.coreviews.AdjacencyView) -> None:
    """Each layer by the mean place of what its boxes are joined to in the layer before."""
    for before, layer in pairwise(layers):
        at = {name: place / max(1, len(before) - 1) for place, name in enumerate(before)}
        here = {name: place / max(1, len(layer) - 1) for place, name in enumerate(layer)}

        def mean(name: str, at: dict[str, float] = at, here: dict[str, float] = here) -> float:
            found = [at[each] for each in neighbours[name] if each in at]
            return sum(found) / len(found) if found else here[name]

        layer.sort(key=mean)


def _placed(graph: nx.DiGraph) -> Picture:
    layer = _layers(graph)
    steps, ways = _ways(graph, layer)
    layers = _ordered(steps, layer)
    boxes: dict[str, Box] = {name: steps.nodes[name]["box"] for name in steps}
    widths = [sum(boxes[name].width for name in names) + _GAP * (len(names) - 1) for names in layers]
    width, y = max(widths) + 2 * _GAP, _GAP / 2
    for names, wide in zip(layers, widths, strict=True):
        x, high = (width - wide) / 2, max(boxes[name].height for name in names)
        for name in names:
            box = boxes[name]
            boxes[name] = replace(box, x=x + box.width / 2, y=y + high / 2)
            x += box.width + _GAP
        y += high + _BETWEEN
    lines = [_line([boxes[name] for name in ways[ends]], graph.edges[ends]["text"]) for ends in graph.edges]
    shown = tuple(box for box in boxes.values() if box.kind != "way")
    return Picture(shown, tuple(lines), width, y - _BETWEEN + _GAP / 2)


def _line(way: Sequence[Box], text: str) -> Line:
    """From below the first to above the last, through the places between."""
    first, last = way[0], way[-1]
    points = [(first.x, first.y + first.height / 2), *((box.x, box.y) for box in way[1:-1])]
    points.append((last.x, last.y - last.height / 2))
    path = f"M{points[0][0]:.1f},{points[0][1]:.1f}"
    for (x, y), (to_x, to_y) in pairwise(points):
        bend = (to_y - y) / 2
        path += f" C{x:.1f},{y + bend:.1f} {to_x:.1f},{to_y - bend:.1f} {to_x:.1f},{to_y:.1f}"
    inner = first.kind == last.kind == "operator"
    (x, y), (to_x, to_y) = points[:2]
    return Line(path, text if inner else "", (x + to_x) / 2, (y + to_y) / 2)


def _attributes(node: onnx.NodeProto) -> str:
    """Those that are numbers, words or short lists; a tensor or a body as ``…``."""
    return ", ".join(f"{each.name}={_value(each)}" for each in node.attribute)


def _value(attribute: onnx.AttributeProto) -> str:
    kind = onnx.AttributeProto
    if attribute.type == kind.STRING:
        return attribute.s.decode("utf-8", "replace")
    if attribute.type == kind.FLOAT:
        return f"{attribute.f:g}"
    if attribute.type == kind.FLOATS:
        return f"[{', '.join(f'{each:g}' for each in attribute.floats)}]"
    if attribute.type == kind.INT:
        return str(attribute.i)
    return f"[{', '.join(map(str, attribute.ints))}]" if attribute.type == kind.INTS else "…"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
