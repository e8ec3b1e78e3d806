"""The child process that tells what PyTorch documents, and that checks calls which no test has made.

``--list`` prints what is documented: ``{api: {"doc", "signature", "kinds"}}``. Otherwise it reads one task a line on
stdin and answers as `fuzz.migrate._torch_child` does:

- ``{"name", "calls": [{"what", "kind", "document"}], "most": {kind: count}}``: of each kind the first `most` calls that
  PyTorch accepts;
- ``{"name", "pairs": [[document, document]], "most": count}``: the first `most` of the second calls, if at least
  `FEWEST` pairs give the same results bit by bit and none gives different ones.
"""

from __future__ import annotations

import inspect
import warnings
from collections import Counter
from typing import Any

from fuzz import instance as instances
from fuzz import instance_check, instance_torch
from fuzz.migrate._torch_child import Answers, Task
from fuzz.migrate._torch_child import main as serve

#: Calls that must agree before two operators count as related.
FEWEST = 2

#: Types of a schema of PyTorch -> the kinds of `fuzz.migrate._docstrings`.
_KINDS = {
    "Tensor": "tensor",
    "int": "int",
    "SymInt": "int",
    "float": "float",
    "bool": "bool",
    "number": "number",
    "Scalar": "number",
    "str": "str",
    "ScalarType": "dtype",
    "List[int]": "ints",
    "List[SymInt]": "ints",
    "List[Tensor]": "tensors",
}


def documented() -> dict[str, dict[str, Any]]:
    """Every operator of PyTorch that has a docstring: the text, the signature and the kinds its schemas name."""
    import torch

    found: dict[str, dict[str, Any]] = {}
    for namespace in instance_torch.NAMESPACES:
        holder = torch
        for part in namespace.split(".")[1:]:
            holder = getattr(holder, part)
        for name in sorted(dir(holder)):
            api = f"{namespace}.{name}"
            doc = getattr(holder, name, None).__doc__
            if doc and not name.startswith("_") and _resolves(api):
                found[api] = {"doc": doc, "signature": _signature(getattr(holder, name)), "kinds": _kinds(name)}
    return found


def _resolves(api: str) -> bool:
    try:
        instance_torch.resolve(api)
    except instances.InstanceError:
        return False
    return True


def _signature(function: Any) -> str:
    try:
        return str(inspect.signature(function))
    except (TypeError, ValueError):
        return ""  # built in; its docstring begins with it


def _kinds(name: str) -> dict[str, list[str]]:
    """parameter -> kinds, of all schemas of the operator called `name`."""
    import torch

    found: dict[str, list[str]] = {}
    for schema in torch._C._jit_get_schemas_for_operator(f"aten::{name}"):
        for argument in schema.arguments:
            written = (
                str(argument.type).replace("Optional[", "").rstrip("]") if "List" not in str(argument.type) else ""
            )
            kind = _KINDS.get(written or str(argument.type).removeprefix("Optional[").split("]")[0] + "]")
            names = found.setdefault("input" if argument.name == "self" else argument.name, [])
            if kind and kind not in names:
                names.append(kind)
    return {name: kinds for name, kinds in found.items() if kinds}


class Calls:
    """Checks calls, and answers with those that PyTorch accepts."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers

    def do(self, task: Task) -> None:
        """Answer a task of either form; what is not answered is counted with the reason."""
        if "pairs" in task:
            self._related(task)
            return
        most = Counter[str](task["most"])
        for call in task["calls"]:
            self._answers.source = {"kind": call["kind"], "test": f"{task['name']} {call['what']}"}
            if most[call["kind"]] > 0 and self._answers.check_one(call["document"]):
                most[call["kind"]] -= 1

    def _related(self, task: Task) -> None:
        self._answers.source = {"kind": "relations", "test": task["name"]}
        agreed: list[dict[str, Any]] = []
        for like, document in task["pairs"]:
            same = _same(like, document)
            if same is False:
                self._answers.omitted("the two operators give different results: they are not related")
                return
            agreed += [document] if same else []
        if len(agreed) < FEWEST:
            self._answers.omitted(f"fewer than {FEWEST} calls that both operators take")
            return
        for document in agreed[: task["most"]]:
            self._answers.check_one(document)


def _same(like: dict[str, Any], document: dict[str, Any]) -> bool | None:
    """Whether two calls give the same results; None where one of them is not accepted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return instance_check.equal(instance_check.results(like), instance_check.results(document))
        except instance_check.Rejected:
            return None


def main() -> None:
    """Serve tasks until stdin ends."""
    serve(documented, lambda answers: Calls(answers).do)


if __name__ == "__main__":
    main()
