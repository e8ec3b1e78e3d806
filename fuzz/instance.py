"""Operator instances: one call of a library function, written as JSON data and never as code.

The format is described in docs/instances.md. This module parses and checks it and gives the canonical
form; `fuzz.instance_values` does the same for its tensors and draws them, `fuzz.instance_torch` turns
an instance into a module of PyTorch. It runs on both sides of the worker's pipe: standard library,
numpy and `fuzz.wire` only, Python 3.8 syntax.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, Union

from fuzz.instance_values import (
    FLOATS,
    MOST_NESTING,
    InstanceError,
    Tensor,
    check_keys,
    complex_of,
    described,
    dtype_of,
    name_of,
    read_tensor,
    value_of,
)
from fuzz.wire import Value

__all__ = ["LIBRARIES", "NAMED", "Instance", "InstanceError", "Tensor", "canonical", "kind_of", "parse", "tensors"]

LIBRARIES = ("torch", "keras")
#: Named constants of a library, by their key: {"memory_format": "channels_last"}.
NAMED = ("dtype", "memory_format", "layout", "device", "float")
_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*\Z")
_CALL_KEYS = ("library", "version", "api", "args", "kwargs", "tensors", "init", "comment")
#: A line of a file of instances tells its id, source and flags, too.
_INSTANCE_KEYS = frozenset((*_CALL_KEYS, "id", "source", "flags"))


@dataclass(frozen=True)
class Instance:
    """A call. Arguments are in the encoding of docs/instances.md; they refer to tensors by position.

    `init` holds the constructor's arguments for a module class, else None.
    """

    library: str
    version: str
    api: str
    args: Tuple[Any, ...]
    kwargs: Mapping[str, Any]
    tensors: Tuple[Tensor, ...]
    init: Optional[Tuple[Tuple[Any, ...], Mapping[str, Any]]] = None


# ---------------------------------------------------------------- parsing


def parse(text: Union[bytes, str]) -> Instance:
    """Read and check an instance. Raises InstanceError.

    Tensors given inline as arguments are moved behind the listed ones and referred to.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InstanceError("not JSON: %s" % error) from error
    check_keys(document, "instance", _INSTANCE_KEYS)
    _check_text(document)
    library = document.get("library", "torch")
    if library not in LIBRARIES:
        raise InstanceError("library %r is not known (known: %s)" % (library, ", ".join(LIBRARIES)))
    api = document.get("api")
    if not isinstance(api, str) or not _NAME.match(api):
        raise InstanceError("api must be a dotted name such as 'torch.nn.functional.relu', got %r" % (api,))
    tensors = _listed(document)
    init = document.get("init")
    if init is not None:
        check_keys(init, "init", frozenset(("args", "kwargs")))
    return Instance(
        library=library,
        version=str(document.get("version", "")),
        api=api,
        args=_arguments(document, "args", tensors),
        kwargs=_keywords(document, "kwargs", tensors),
        init=None if init is None else (_arguments(init, "args", tensors), _keywords(init, "kwargs", tensors)),
        tensors=tuple(tensors),
    )


def _check_text(document: Dict[str, Any]) -> None:
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise InstanceError("holds half of a surrogate pair, which is no text") from error


def _listed(document: Dict[str, Any]) -> List[Tensor]:
    listed = document.get("tensors") or []
    if not isinstance(listed, list):
        raise InstanceError("tensors must be a list")
    return [read_tensor(entry, "tensors[%d]" % at) for at, entry in enumerate(listed)]


def _arguments(document: Dict[str, Any], key: str, tensors: List[Tensor]) -> Tuple[Any, ...]:
    given = document.get(key) or []
    if not isinstance(given, list):
        raise InstanceError("%s must be a list" % key)
    return tuple(_argument(value, "%s[%d]" % (key, at), tensors, 0) for at, value in enumerate(given))


def _keywords(document: Dict[str, Any], key: str, tensors: List[Tensor]) -> Dict[str, Any]:
    given = document.get(key) or {}
    if not isinstance(given, dict):
        raise InstanceError("%s must be an object" % key)
    return {name: _argument(value, "%s.%s" % (key, name), tensors, 0) for name, value in sorted(given.items())}


def _argument(value: Any, where: str, tensors: List[Tensor], depth: int) -> Any:
    """Check one encoded argument and return its normal form; inline tensors join `tensors`."""
    if depth > MOST_NESTING:
        raise InstanceError("%s is nested deeper than %d levels" % (where, MOST_NESTING))
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if isinstance(value, list):
        return [_argument(item, "%s[%d]" % (where, at), tensors, depth + 1) for at, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        (key, content), *_ = value.items()
        if key == "tuple" and isinstance(content, list):
            return {"tuple": _argument(content, where, tensors, depth + 1)}
        if key == "tensor":
            return {"tensor": _reference(content, where, tensors)}
        if key in ("dict", "object"):
            return {key: _nested(key, content, where, tensors, depth)}
        check = _OBJECTS.get(key)
        if check is None:
            raise InstanceError(
                "%s: unknown object {%r: …} (known: tuple, tensor, dict, object, %s)"
                % (where, key, ", ".join(_OBJECTS))
            )
        return {key: check(content, where)}
    if "dtype" in value:
        tensors.append(read_tensor(value, where))
        return {"tensor": len(tensors) - 1}
    raise InstanceError("%s: an object must have one key, or be a tensor with 'dtype' and 'shape'" % where)


def _nested(key: str, content: Any, where: str, tensors: List[Tensor], depth: int) -> Dict[str, Any]:
    """A ``dict`` of arguments by name, or an ``object``: ``{"api": class, "kwargs": arguments of its constructor}``."""
    named = content
    if key == "object":
        check_keys(content, where, frozenset(("api", "kwargs")))
        named = content.get("kwargs", {})
        if not isinstance(content.get("api"), str) or not _NAME.match(content["api"]):
            raise InstanceError("%s: the object's api must be a dotted name, got %r" % (where, content.get("api")))
    if not isinstance(named, dict):
        raise InstanceError("%s: %s must have its arguments in an object" % (where, key))
    found = {name: _argument(named[name], "%s.%s" % (where, name), tensors, depth + 1) for name in sorted(named)}
    return {"api": content["api"], "kwargs": found} if key == "object" else found


def _reference(content: Any, where: str, tensors: List[Tensor]) -> int:
    if type(content) is not int or not 0 <= content < len(tensors):
        raise InstanceError("%s: there is no tensor %r (%d are listed)" % (where, content, len(tensors)))
    return content


def _special_float(content: Any, where: str) -> str:
    if content not in FLOATS:
        raise InstanceError("%s: {'float': …} must be one of %s" % (where, ", ".join(FLOATS)))
    return str(content)


def _device(content: Any, where: str) -> str:
    if content != "cpu":
        raise InstanceError("%s: the device must be 'cpu', got %r" % (where, content))
    return "cpu"


def _slice(content: Any, where: str) -> List[Optional[int]]:
    if not isinstance(content, list) or len(content) != 3 or any(type(p) not in (int, type(None)) for p in content):
        raise InstanceError("%s: {'slice': …} must be [start, stop, step], integers or null" % where)
    return content


def _ellipsis(content: Any, where: str) -> bool:
    return True


#: How the content of each single-key object is checked, but for references and tuples.
_OBJECTS: Dict[str, Callable[[Any, str], Any]] = {
    "dtype": dtype_of,
    "float": _special_float,
    "complex": complex_of,
    "slice": _slice,
    "memory_format": name_of,
    "layout": name_of,
    "device": _device,
    "ellipsis": _ellipsis,
}


# ---------------------------------------------------------------- values and canonical form


def kind_of(content: bytes) -> str:
    """The kind of case that an instance in canonical form makes: ``keras``, else ``instance``."""
    return "keras" if content.startswith(b'{"api":"keras.') else "instance"


def tensors(instance: Instance) -> List[Value]:
    """The tensors' values, in order. The same instance always gives the same values.

    Without ml_dtypes bfloat16 comes as `Raw`. Raises InstanceError for other small dtypes then.
    """
    return [value_of(tensor) for tensor in instance.tensors]


def canonical(instance: Instance) -> bytes:
    """The bytes to hash: sorted keys, no spaces, aliases resolved, defaults left out, flat values.

    ``parse(canonical(parse(text)))`` equals ``parse(text)``.
    """
    document: Dict[str, Any] = {"library": instance.library, "api": instance.api, "args": list(instance.args)}
    document["tensors"] = [described(tensor) for tensor in instance.tensors]
    if instance.version:
        document["version"] = instance.version
    if instance.kwargs:
        document["kwargs"] = dict(instance.kwargs)
    if instance.init is not None:
        document["init"] = {"args": list(instance.init[0]), "kwargs": dict(instance.init[1])}
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
