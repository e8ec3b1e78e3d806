"""What a report in prose speaks of: operators, options of operators, kinds of values, kinds of failure. Pure.

Titles of issues are written by people, so one thing has many names; ``data/mentions.toml`` holds those seen in the
issue lists of the compilers.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from functools import cache, lru_cache

from onnx import defs

from fuzz.data import data_path

_DATA = tomllib.loads(data_path("mentions.toml").read_text("utf-8"))


def _pattern(patterns: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{patterns})(?!\w)", re.IGNORECASE)


_DETAILS = {name: _pattern(pattern) for name, pattern in _DATA["details"].items()}
#: A word of several kinds says nothing against any of them.
_SYMPTOMS = {kind: _pattern("|".join(patterns)) for kind, patterns in _DATA["symptoms"].items()}
#: A crash of the process is often told as a mere failure, and an exception as a crash.
_AKIN = ({"crash", "exception"}, {"exception", "hang"}, {"exception", "oom"})
_ENGLISH = frozenset(_DATA["english"]["onnx"])
_ENGLISH_TORCH = frozenset(name.lower() for name in _ENGLISH) | frozenset(_DATA["english"]["torch"])
_WORDS = re.compile(r"[^\W_]+")
_BEFORE = r"(?:op|ops|operator|operators|node|nodes|layer|function)[\s:'\"`(]*"
#: What follows a name that begins a title, where a verb of that spelling would have an object.
_VERB = r"(?:with|without|of|on|in|for|and|is|does|gives|returns|produces|generates|ignores|mishandles|fails|crashes)"
_AFTER = r"['\"`)\s]*\s*(?:op|ops|operator|operators|node|nodes|layer|layers|kernel|importer|converter|conversion)"


def names(text: str, operator: str) -> bool:
    """Whether a text names an operator, of ONNX (``Pad``) or of torch (``torch.nn.functional.pad``)."""
    found = _torch_pattern(operator) if "." in operator else _onnx_pattern(operator)
    return found.search(text) is not None


@cache
def _onnx_pattern(operator: str) -> re.Pattern[str]:
    name = re.escape(operator)
    near = rf"(?i:\b{_BEFORE}{name}\b|\b{name}\b{_AFTER}\b)"
    quoted = rf"(?i:[`'\"]{name}[`'\"(])"
    if operator not in _ENGLISH:
        return re.compile(rf"{near}|{quoted}|(?i:\b{name}\b)" if len(operator) > 4 else rf"{near}|{quoted}|\b{name}\b")
    # Behind the first word a capital tells a name; the first word of a title always has one.
    within = rf"(?<=[\w\]):/,] ){name}\b|(?<=[/\]]){name}\b|^{name}(?=\s+{_VERB}\b|\s*[(:/,+])"
    return re.compile(f"{near}|{quoted}|{within}")


@cache
def _torch_pattern(operator: str) -> re.Pattern[str]:
    last = re.escape(operator.rpartition(".")[2].strip("_"))
    dotted = rf"\b(?:torch|aten|F|nn|Tensor|prims)(?:[.:]+\w+)*[.:]+{last}_?\b"
    plain = "" if last.lower() in _ENGLISH_TORCH else rf"|\b{last}_?\b"
    return re.compile(rf"{dotted}|[`'\"]{last}_?[`'\"(]|\b{last}_?\(|\b{last}{_AFTER}\b{plain}", re.IGNORECASE)


@cache
def known_operators() -> tuple[str, ...]:
    """The operators of ONNX's own domain."""
    return tuple(sorted({schema.name for schema in defs.get_all_schemas() if not schema.domain}))


@lru_cache(maxsize=1 << 15)
def operators(text: str) -> frozenset[str]:
    """The operators of ONNX that a text names."""
    return frozenset(name for name in known_operators() if names(text, name))


@cache
def _options(operator: str) -> frozenset[str]:
    """Attributes and inputs of an operator, in any opset, that are a word of their own."""
    found: set[str] = set()
    for schema in defs.get_all_schemas_with_history():
        if schema.name == operator and not schema.domain:
            found |= {*schema.attributes, *(one.name for one in schema.inputs)}
    return frozenset(name for name in found if len(name) > 3 and name not in ("data", "input", "inputs", "output"))


def details(text: str, of: Iterable[str] = ()) -> frozenset[str]:
    """What a bug hangs on by its text: kinds of values, types, and options of the operators `of`."""
    found = {name for name, pattern in _DETAILS.items() if pattern.search(text)}
    words = f" {'  '.join(_WORDS.findall(text.lower()))} "  # people write "ceil mode" for ceil_mode
    # The longest first, and taken out: who speaks of the padding mode does not speak of the mode.
    for option in sorted({option for name in of for option in _options(name)}, key=len, reverse=True):
        spoken = f" {option.lower().replace('_', '  ')} "
        if spoken in words:
            found.add(option)
            words = words.replace(spoken, " ")
    return frozenset(found)


def chosen(text: str, option: str) -> frozenset[str]:
    """The words that an option is set to in a text (``mode='cubic'``), in small letters; numbers are none."""
    values: list[str] = re.findall(rf"(?<!\w){re.escape(option)}\s*[=:]\s*['\"`]?([A-Za-z]\w*)", text, re.IGNORECASE)
    return frozenset(value.lower() for value in values)


@lru_cache(maxsize=1 << 15)
def symptoms(text: str) -> frozenset[str]:
    """The kinds of failure that a text tells of: crash, hang, oom, wrong, exception."""
    return frozenset(kind for kind, pattern in _SYMPTOMS.items() if pattern.search(text))


def agree(kind: str, told: frozenset[str]) -> bool:
    """Whether a failure of this kind may be what a text tells; a text that tells of no failure contradicts nothing."""
    return not told or kind in told or any(kind in pair and told & pair for pair in _AKIN)
