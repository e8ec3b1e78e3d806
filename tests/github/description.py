"""GitHub's own OpenAPI description: does a request, or an answer, keep to it?

One validator an operation, compiled when it is first met, with only the components that it reaches: all of them in
every validator would take half a gigabyte.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import jsonschema_rs

from tests.github.node import package

#: Parameters of paths that may hold slashes.
_LONG = {"path", "ref", "basehead", "dir"}
#: Statuses that any request may get; the description names them only here and there.
ANYWHERE = {401, 403, 404, 429, 500, 502, 503}
#: Limits that GitHub keeps and its description does not state: (operation, property) -> characters.
UNWRITTEN = {
    ("issues/create", "title"): 256,
    ("issues/create", "body"): 65_536,
    ("issues/update", "body"): 65_536,
    ("issues/create-comment", "body"): 65_536,
    ("issues/update-comment", "body"): 65_536,
}


@dataclass(frozen=True)
class Operation:
    """One operation, e.g. ``issues/create``."""

    id: str
    verb: str
    path: str
    told: Mapping[str, Any]


@cache
def document() -> dict[str, Any]:
    """The description of api.github.com."""
    loaded: dict[str, Any] = json.loads(package("@octokit/openapi", "generated/api.github.com.json").read_bytes())
    return loaded


@cache
def _operations() -> list[tuple[re.Pattern[str], Operation]]:
    found = []
    for path, verbs in document()["paths"].items():
        pattern = re.compile("".join(map(_pattern, re.split(r"({\w+})", path))))
        found += [
            (pattern, Operation(told["operationId"], verb.upper(), path, told))
            for verb, told in verbs.items()
            if verb in ("get", "post", "put", "patch", "delete")
        ]
    # What has fewer parameters, and more of its own, is meant.
    return sorted(found, key=lambda each: (each[1].path.count("{"), -len(each[1].path)))


def _pattern(part: str) -> str:
    if not part.startswith("{"):
        return re.escape(part)
    return ".+" if part[1:-1] in _LONG else "[^/]+"


def operation(verb: str, path: str) -> Operation | None:
    """The operation that a request asks for."""
    path = re.sub(r"^/repositories/\d+(?=/)", "/repos/o/r", path)
    return next((told for pattern, told in _operations() if told.verb == verb and pattern.fullmatch(path)), None)


def request_faults(verb: str, target: str, body: bytes) -> Iterator[str]:
    """What is wrong with a request."""
    path, query = urlsplit(target).path, urlsplit(target).query
    asked = operation(verb, path)
    if asked is None:
        yield f"{verb} {path}: there is no such operation"
        return
    place = f"{asked.id}: request"
    known = {each["name"]: each for each in map(_resolved, asked.told.get("parameters", ())) if each["in"] == "query"}
    for name, text in parse_qsl(query, keep_blank_values=True):
        if name not in known:
            yield f"{place}: no parameter {name!r}"
        elif not _matches(known[name]["schema"], text):
            yield f"{place}: {name}={text!r}"
    yield from (f"{place}: {fault}" for fault in _body_faults(asked, body))


def _body_faults(asked: Operation, body: bytes) -> Iterator[str]:
    content = asked.told.get("requestBody", {}).get("content", {}).get("application/json")
    if not body:
        if asked.told.get("requestBody", {}).get("required"):
            yield "no body"
        return
    if content is None:
        yield "a body, where none is taken"
        return
    document = json.loads(body)
    yield from _faults(_validator(asked.id, "request"), document)
    if isinstance(document, dict):
        known = _properties(content["schema"])
        yield from (f"no property {name!r}" for name in document if known and name not in known)
        for name, value in document.items():
            most = UNWRITTEN.get((asked.id, name))
            if most is not None and isinstance(value, str) and len(value) > most:
                yield f"{name} has {len(value)} characters"


def answer_faults(verb: str, target: str, status: int, body: bytes) -> Iterator[str]:
    """What is wrong with an answer."""
    asked = operation(verb, urlsplit(target).path)
    if asked is None:
        return
    place = f"{asked.id}: answer {status}"
    if str(status) not in asked.told["responses"]:
        if status not in ANYWHERE:
            yield f"{place}: no such status"
        return
    if status == 304 or "application/json" not in _resolved(asked.told["responses"][str(status)]).get("content", {}):
        if body:
            yield f"{place}: a body, where there is none"
        return
    yield from (f"{place}: {fault}" for fault in _faults(_validator(asked.id, str(status)), json.loads(body)))


def example(operation_id: str, status: str) -> Any:
    """The description's own example of an answer."""
    asked = next(told for _, told in _operations() if told.id == operation_id)
    content = _resolved(asked.told["responses"][status])["content"]["application/json"]
    found = _resolved(next(iter(content["examples"].values())))
    while isinstance(found, dict) and "value" in found:
        found = _resolved(found["value"])
    return json.loads(json.dumps(found))


def _faults(validator: jsonschema_rs.Draft202012Validator, document: Any) -> Iterator[str]:
    for error in validator.iter_errors(document):
        # The message begins with the value, which may be long.
        said = error.message if len(error.message) < 300 else f"{error.message[:100]} … {error.message[-200:]}"
        yield f"{'/'.join(map(str, error.instance_path)) or '.'}: {said}"


@cache
def _validator(operation_id: str, part: str) -> jsonschema_rs.Draft202012Validator:
    asked = next(told for _, told in _operations() if told.id == operation_id)
    holder = asked.told["requestBody"] if part == "request" else _resolved(asked.told["responses"][part])
    schema = _converted(holder["content"]["application/json"]["schema"])
    reached: dict[str, Any] = {}
    _reach(schema, reached)
    return jsonschema_rs.Draft202012Validator({**schema, "components": {"schemas": reached}})


def _reach(schema: Any, reached: dict[str, Any]) -> None:
    """The components that a schema refers to, directly or not."""
    if isinstance(schema, dict):
        name = str(schema.get("$ref", "")).removeprefix("#/components/schemas/")
        if name and name not in reached:
            reached[name] = _converted(document()["components"]["schemas"][name])
            _reach(reached[name], reached)
        for each in schema.values():
            _reach(each, reached)
    elif isinstance(schema, list):
        for each in schema:
            _reach(each, reached)


def _converted(schema: Any) -> Any:
    """OpenAPI 3.0's schema as JSON Schema: `nullable` is an alternative there."""
    if isinstance(schema, list):
        return [_converted(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {name: _converted(each) for name, each in schema.items()}
    return {"anyOf": [kept, {"type": "null"}]} if kept.pop("nullable", None) is True else kept


def _resolved(told: Any) -> Any:
    while isinstance(told, dict) and "$ref" in told:
        found: Any = document()
        for part in told["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        told = found
    return told


def _properties(schema: Any) -> set[str]:
    """The names that a body may have."""
    schema = _resolved(schema)
    names = set(schema.get("properties", ()))
    for group in ("oneOf", "anyOf", "allOf"):
        for each in schema.get(group, ()):
            names |= _properties(each)
    return names


def _matches(schema: Any, text: str) -> bool:
    schema = _resolved(schema)
    if schema.get("type") == "integer" and not re.fullmatch(r"-?\d+", text):
        return False
    if schema.get("type") == "boolean" and text not in ("true", "false"):
        return False
    return text in schema["enum"] if "enum" in schema else True
