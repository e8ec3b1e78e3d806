"""Calls of related operators that must agree, in the manner of DeepREL (Deng et al., ISSTA 2022).

Operators with equal names in different namespaces, documented aliases, and modules with the name of a function are
candidates. Calls that were recorded for one are made to the other; PyTorch itself says whether they agree.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fuzz.data import data_path
from fuzz.instance_store import Stored, StoreError, load
from fuzz.migrate import MigrationFailed, Omitted, Request
from fuzz.migrate._torch_parent import in_order, listed

ABOUT = (
    "recorded calls made to related operators (F.relu, torch.relu, Tensor.relu, nn.ReLU) that PyTorch shows to agree"
)
CHILD = "fuzz.migrate._calls_child"
#: Recorded calls of an operator that are tried on a related one, and how many of them are kept.
TRIED, KEPT = 12, 4
_ALIAS = re.compile(r"[Aa]lias (?:for|of) :(?:func|meth|class):`~?([\w.]+)`")
_FUNCTIONS = ("torch", "torch.nn.functional", "torch.special", "torch.linalg", "torch.fft", "torch.Tensor")

Document = Mapping[str, Any]


def migrate(request: Request) -> Iterator[Stored | Omitted]:
    """Calls of operators that are related to recorded ones; the same for any number of jobs.

    Raises MigrationFailed without the recorded instances or without PyTorch.
    """
    calls = _recorded()
    names = listed(CHILD)
    tasks = [
        _task(api, other, calls[api])
        for api, other in candidates(sorted(calls), sorted(set(names) | set(calls)), _aliases(names))
        if request.wants(other)
    ]
    if not tasks:
        raise MigrationFailed(f"no operator of PyTorch matches {', '.join(request.operators)} (for example '*relu*')")
    yield from in_order(CHILD, tasks, request)


def _recorded() -> dict[str, list[Document]]:
    path = data_path("instances", "pytorch.jsonl.gz")
    calls: dict[str, list[Document]] = defaultdict(list)
    try:
        for one in load(path):
            calls[one.operator].append(one.document)
    except StoreError as error:
        raise MigrationFailed(f"{error}; first `graphwarden migrate --source pytorch --out {path}`") from error
    return calls


def _aliases(names: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """operator -> what its documentation says it is an alias of."""
    found = {api: _ALIAS.search(told["doc"]) for api, told in names.items()}
    return {api: match[1] for api, match in found.items() if match}


def candidates(recorded: Sequence[str], known: Sequence[str], aliases: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Pairs of a recorded operator and another that may do the same; whether it does is not known here."""
    alike: dict[str, list[str]] = defaultdict(list)
    for api in known:
        alike[_plain(aliases.get(api, api))].append(api)
        if api in aliases:
            alike[_plain(api)].append(api)
    for api in recorded:
        others = dict.fromkeys(other for key in {_plain(api), _plain(aliases.get(api, api))} for other in alike[key])
        yield from ((api, other) for other in sorted(others) if other != api)


def _plain(api: str) -> str:
    """A name without namespace, case and underscores: ``torch.nn.MaxPool2d`` and ``max_pool2d`` are alike."""
    name = api.rpartition(".")[2]
    return ("_" if name.endswith("_") else "") + name.replace("_", "").lower()


def _task(api: str, other: str, calls: Sequence[Document]) -> dict[str, Any]:
    pairs = [[call, made] for call in calls[:TRIED] if (made := as_call_of(other, call)) is not None]
    return {"name": f"{api} as {other}", "pairs": pairs, "most": KEPT}


def as_call_of(api: str, call: Document) -> dict[str, Any] | None:
    """The same arguments given to another operator; for a module what is no tensor goes to its constructor.

    None where that cannot be written, as for a recorded module with arguments of its own.
    """
    document = {key: value for key, value in call.items() if key not in ("init", "api")} | {"api": api}
    if _is_module(call["api"]):
        if _is_module(api):
            return {**document, "init": call["init"]} if "init" in call else document
        init = call.get("init", {})
        if init.get("args"):
            return None
        return {**document, "kwargs": {**init.get("kwargs", {}), **call.get("kwargs", {})}}
    if not _is_module(api):
        return document
    args, kwargs = call.get("args", []), call.get("kwargs", {})
    data = [value for value in args if _holds_tensor(value)]
    if args[: len(data)] != data or any(map(_holds_tensor, kwargs.values())):
        return None
    return {**document, "args": data, "kwargs": {}, "init": {"args": args[len(data) :], "kwargs": kwargs}}


def _is_module(api: str) -> bool:
    return api.rpartition(".")[0] not in _FUNCTIONS


def _holds_tensor(value: Any) -> bool:
    if isinstance(value, Mapping):
        return "tensor" in value or any(map(_holds_tensor, value.values()))
    return isinstance(value, list) and any(map(_holds_tensor, value))
