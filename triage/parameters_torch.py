"""What PyTorch calls the positional parameters of its functions and classes, and their defaults.

Read from the source files of the installed package, from definitions or from the first line of a docstring
(``add(input, other, *, alpha=1, out=None) -> Tensor``); torch itself is not imported.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from triage.docstrings_torch import docstring, paths

#: Where a docstring has a further call of the same function.
_FURTHER = re.compile(r"^\.\. function:: ", re.MULTILINE)
#: The default of a parameter that has none, or one that is no literal.
UNKNOWN: Any = object()


@dataclass(frozen=True)
class Parameter:
    """One parameter; `default` is a literal, or `UNKNOWN`."""

    name: str
    default: Any = UNKNOWN


@cache
def positional(api: str, init: bool = False) -> tuple[Parameter, ...]:
    """The parameters that a call may give by position, in order; () where they are not known.

    `init`: those of the constructor of a class such as ``torch.nn.AvgPool3d``. A method's tensor is its first one.
    """
    found, by_docstring = _signature(api, init)
    told = _parameters(found) if found else ()
    tensor = by_docstring and api.startswith("torch.Tensor.") and told[:1] != (Parameter("input"),)  # some tell it
    return (Parameter("self"), *told) if found and tensor else told


@cache
def named(api: str, init: bool = False) -> tuple[Parameter, ...]:
    """The parameters that a call can give by name only; () where they are not known."""
    found, _ = _signature(api, init)
    if found is None:
        return ()
    defaults = (UNKNOWN if node is None else _literal(node) for node in found.kw_defaults)
    return tuple(Parameter(one.arg, default) for one, default in zip(found.kwonlyargs, defaults, strict=True))


def _signature(api: str, init: bool) -> tuple[ast.arguments | None, bool]:
    """What a call may give, if that is known, and whether the docstring tells it."""
    name = api.rpartition(".")[2]
    defined = next((found for path in paths(api) if (found := _definitions(path).get(name, {}).get(init))), None)
    if defined is not None:
        return defined, False
    described = None if init else _described(docstring(api))
    return described, True


def _described(doc: str) -> ast.arguments | None:
    """The parameters of the call that a docstring begins with, or of the fullest further one that begins alike."""
    first = _call(doc.strip())
    if first is None:
        return None
    others = [_call(doc[found.end() :].strip()) for found in _FURTHER.finditer(doc)]
    begun = _names(first)
    fuller = [one for one in others if one is not None and _names(one)[: len(begun)] == begun]
    return max([first, *fuller], key=lambda one: len(_names(one)))


def _call(text: str) -> ast.arguments | None:
    """The parameters of a call that a text begins with."""
    called = text.partition("(")[0].split(".")  # some write ``linalg.norm(``
    if not all(part.isidentifier() for part in called):
        return None
    text = text.removeprefix("".join(f"{part}." for part in called[:-1]))
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign in "([") - (sign in ")]")
        if sign == ")" and not depth:
            try:
                [made] = ast.parse(f"def {text[: at + 1]}: pass").body
            except SyntaxError:
                return None
            return made.args if isinstance(made, ast.FunctionDef) else None
    return None


def _names(found: ast.arguments) -> list[str]:
    """What may be given by position; ``*sizes`` is one, since a list may take their place."""
    listed = [found.vararg] if found.vararg else []
    return [one.arg for one in (*found.posonlyargs, *found.args, *listed)]


def _parameters(found: ast.arguments) -> tuple[Parameter, ...]:
    """Without ``self``, which nobody gives."""
    names = _names(found)
    given = list(map(_literal, found.defaults)) + [UNKNOWN] * (found.vararg is not None)
    defaults = [UNKNOWN] * (len(names) - len(given)) + given
    return tuple(Parameter(name, default) for name, default in zip(names, defaults, strict=True) if name != "self")


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return UNKNOWN


@cache
def _definitions(path: Path) -> dict[str, dict[bool, ast.arguments]]:
    """By name: the parameters of a function (false), or of the constructor of a class (true)."""
    found: dict[str, dict[bool, ast.arguments]] = {}
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = {False: node.args}  # of overloads the last is the definition
        elif isinstance(node, ast.ClassDef):
            made = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"]
            found[node.name] = {True: made[-1].args} if made else {}
    return found
