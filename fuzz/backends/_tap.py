"""What the bodies of If, Loop and Scan and the functions of a model compute, run by run, as the evaluator runs them.

Each run of a body is a scope of its own. Its tensors are named by the place of the body and the number of its run
(``3.body@1/0.then_branch@0``: the first run of a branch in the second iteration of node 3), behind a mark that no
tensor's own name holds. Imported by workers, too: numpy and the standard library only.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Tuple

import numpy as np

#: Between the place of a body's run and the name of a tensor in it.
MARK = "\x1f"
#: How the call of a function is named beside the attributes that hold bodies.
CALL = "call"
#: No more is recorded: of a long loop the first iterations.
MOST_ELEMENTS, MOST_TENSORS = 1_000_000, 5_000


def place(run: str, node: int) -> str:
    """Where a node stands: in which run of which body ("": the main graph), as its how manyth node."""
    return "%s%d" % (run + "/" if run else "", node)


def body_at(node: str, part: str) -> str:
    """Where a body of a node stands that is told by its place; `part` is the attribute that holds it, or `CALL`."""
    return "%s.%s" % (node, part)


def runs(values: Mapping[str, Any]) -> Dict[str, List[Tuple[str, Dict[str, Any]]]]:
    """By the place of a body: each of its runs, in order, with the tensors by their own names."""
    found: Dict[str, Dict[str, Dict[str, Any]]] = {}
    for key, value in values.items():
        run, mark, name = key.partition(MARK)
        if mark:
            found.setdefault(run.rpartition("@")[0], {}).setdefault(run, {})[name] = value
    return {body: list(each.items()) for body, each in found.items()}


class Tap:
    """Records what is computed in the bodies of an evaluator's nodes, and in the `functions` of its model."""

    def __init__(self, evaluator: Any, functions: Iterable[Tuple[str, str]]) -> None:
        self.found: Dict[str, Any] = {}
        self._functions = frozenset(functions)
        self._at: List[str] = [""]
        self._runs: Dict[str, int] = {}
        self._elements = 0
        self._known: Dict[int, Any] = {}
        self._enter(evaluator)

    def _enter(self, evaluator: Any) -> None:
        """Hooks into all bodies below; a function has one evaluator however often it is called."""
        for index, node in enumerate(evaluator.rt_nodes_):
            bodies = list(self._bodies(node))
            if bodies:
                node.run = self._within(index, node.run)
            for part, body in bodies:
                if id(body) not in self._known:
                    self._known[id(body)] = body
                    self._enter(body)
                    body.run = self._recording(body, part, body.run)

    def _bodies(self, node: Any) -> Iterator[Tuple[str, Any]]:
        for attribute in node.onnx_node.attribute:
            if attribute.HasField("g"):
                yield attribute.name, getattr(node, attribute.name)
        if (node.onnx_node.domain, node.onnx_node.op_type) in self._functions and hasattr(node, "impl_"):
            yield CALL, node.impl_

    def _within(self, index: int, run: Callable[..., Any]) -> Callable[..., Any]:
        """The node's `run`; while it lasts, runs of its bodies are told to be there."""

        def running(*inputs: Any, **context: Any) -> Any:
            self._at.append(place(self._at[-1], index))
            try:
                return run(*inputs, **context)
            finally:
                self._at.pop()

        return running

    def _recording(self, body: Any, part: str, run: Callable[..., Any]) -> Callable[..., Any]:
        own = {*body.input_names, *(name for node in body.rt_nodes_ for name in node.output)}

        def running(names: Any, feeds: Any, **options: Any) -> List[Any]:
            here = body_at(self._at[-1], part)
            count = self._runs[here] = self._runs.get(here, -1) + 1
            self._at.append("%s@%d" % (here, count))
            try:
                found = run(None, feeds, **{**options, "intermediate": True})
            finally:
                now = self._at.pop()
            self._keep(now, {name: value for name, value in found.items() if name in own})
            return [found[name] for name in names or body.output_names]

        return running

    def _keep(self, run: str, tensors: Dict[str, Any]) -> None:
        """A run's tensors, all of them or none."""
        self._elements += sum(map(_size, tensors.values()))
        if self._elements <= MOST_ELEMENTS and len(self.found) + len(tensors) <= MOST_TENSORS:
            self.found.update((run + MARK + name, value) for name, value in tensors.items() if name)


def _size(value: Any) -> int:
    if isinstance(value, list):
        return sum(map(_size, value))
    return int(value.size) if isinstance(value, np.ndarray) else 1
