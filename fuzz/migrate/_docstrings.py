"""What a library's documentation says of a function's parameters, as constraints. Pure text work, no library needed.

In the manner of DocTer (Xie et al., ISSTA 2022; its inputs are one of the sources of OPERA, section III-A): kinds,
choices, ranges, dtypes and shapes are read from the signature and the sentences of a docstring. What a sentence does
not say stays open; whether a guess holds is decided by running the library, never here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from fuzz.migrate._shapes import Shape, alternatives

__all__ = ["KINDS", "Documented", "Parameter", "read"]

#: Words of a documented type -> what such an argument is, the most telling first.
KINDS: Mapping[str, str] = {
    r"(sequence|list|tuple)s? of tensors?|tensor\]": "tensors",
    r"tensor": "tensor",
    r"(tuple|list|sequence)s?( or list)? of int|(tuple|sequence)\[int|ints|torch\.size|\blist\b|\btuple\b": "ints",
    r"memory_format|layout|device|generator|callable|dict": "other",
    r"dtype": "dtype",
    r"\bbool\b": "bool",
    r"number|scalar": "number",
    r"\bfloats?\b|double": "float",
    r"\bint(eger)?\b|symint|optional\[int": "int",
    r"\bstr(ing)?\b|'": "str",
}
_TENSOR_DTYPES: Mapping[str, str] = {
    r"longtensor|int64": "int64",
    r"inttensor|int32": "int32",
    r"booltensor": "bool",
    r"bytetensor": "uint8",
}
_INTEGRAL = re.compile(r"\bintegral|integer (types?|tensor)|\binteger dtype", re.IGNORECASE)
_FLOATING = re.compile(r"float(ing[- ]point)?,? (and )?double|floating[- ]point (type|tensor|dtype)", re.IGNORECASE)
#: What bounds a value: pattern -> (low, high); groups hold numbers.
_NUMBER = r"(-?\d+(?:\.\d+)?)"
_RANGES: Sequence[tuple[re.Pattern[str], Callable[[re.Match[str]], tuple[float | None, float | None]]]] = (
    (re.compile(rf"[\[(]\s*{_NUMBER}\s*,\s*{_NUMBER}\s*[\])]"), lambda m: (float(m[1]), float(m[2]))),
    (re.compile(rf"between\s+{_NUMBER}\s+and\s+{_NUMBER}"), lambda m: (float(m[1]), float(m[2]))),
    (re.compile(rf"(?:>=|≥|\\geq?)\s*{_NUMBER}"), lambda m: (float(m[1]), None)),
    (re.compile(r"non-?negative"), lambda m: (0.0, None)),
    (re.compile(rf"(?:>|greater than)\s*{_NUMBER}"), lambda m: (float(m[1]) + 1, None)),
    (re.compile(r"\bpositive\b"), lambda m: (1.0, None)),
)
_SIGNATURE = re.compile(r"^\s*(?:[\w.]+\.)?(\w+)\((?P<inside>.*?)\)\s*(?:->.*)?$")
_ENTRY = re.compile(
    r"^(?P<indent>\s+)(?P<names>\*?\w+(?:\s*,\s*\w+)*)\s*(?:\((?P<type>[^()]*(?:\([^()]*\)[^()]*)*)\))?\s*:(?P<text>.*)$"
)
_SECTION = re.compile(r"^\s*(Args|Arguments|Keyword args|Keyword arguments|Keyword Arguments|Parameters)\s*:\s*$")
_MATH = re.compile(r":math:`([^`]*)`")
_ABOUT = re.compile(r":attr:`(\w+)`(?:(?!:attr:|\.\s)[\s\S]){0,60}?:math:`(\([^`]*\))`")
_QUOTED = re.compile(r"""``['"]?(\w[\w-]*)['"]?``|['"](\w[\w-]*)['"]""")
_NO_CHOICES = frozenset(("true", "false", "none"))
_SELF = ("self", "input")
#: Results and gradients are no inputs.
_NOT_GIVEN = frozenset(("out", "requires_grad", "generator", "device", "layout", "pin_memory"))


@dataclass(frozen=True)
class Parameter:
    """One parameter and what the documentation says of it; bounds are inclusive, empty means nothing is said."""

    name: str
    kinds: tuple[str, ...]
    required: bool = True
    keyword: bool = False
    default: str = ""
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    shapes: tuple[Shape, ...] = ()
    dtypes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Documented:
    """A function with the parameters that a call can give, in the order of its signature."""

    api: str
    parameters: tuple[Parameter, ...]


def read(
    api: str, doc: str, signature: str = "", kinds: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> Documented | None:
    """The constraints that `doc` states; None if neither it nor `signature` names the parameters.

    `signature` is the library's own, such as ``(input, dim=-1, *, dtype=None)``; without it the docstring's first
    line is taken. `kinds` are those that the library declares by parameter, for what the documentation leaves open.
    """
    declared = list(_declared(signature)) or list(_declared(_first_signature(api, doc)))
    if not declared and not _is_method(api, doc):
        return None
    if _is_method(api, doc) and (not declared or declared[0].name not in _SELF):
        declared.insert(0, Parameter("input", ("tensor",)))  # methods are documented without what they are called on
    entries = _entries(doc)
    shapes = {name: alternatives(text) for name, text in _ABOUT.findall(doc)}
    declared = [replace(one, kinds=one.kinds or tuple(kinds.get(one.name, ()))) for one in declared]
    described = [_described(parameter, entries.get(parameter.name, ("", "")), doc, shapes) for parameter in declared]
    return Documented(api, tuple(parameter for parameter in described if parameter.name not in _NOT_GIVEN))


def _is_method(api: str, doc: str) -> bool:
    return api.startswith("torch.Tensor.") and f"{api.rpartition('.')[2]}(" in doc


# ---------------------------------------------------------------- the signature


def _first_signature(api: str, doc: str) -> str:
    name = api.rpartition(".")[2]
    for line in doc.splitlines()[:12]:
        match = _SIGNATURE.match(line)
        if match and match[1] == name:
            return f"({match['inside']})"
    return ""


def _declared(signature: str) -> Iterator[Parameter]:
    keyword = False
    for part in _split(signature.strip().removeprefix("(").rpartition(")")[0] or ""):
        name, equals, default = (piece.strip() for piece in part.partition("="))
        name, _, annotation = (piece.strip() for piece in name.partition(":"))
        if name in ("*", "/") or name.startswith("*"):
            keyword = keyword or name == "*"
            continue
        if name.isidentifier() and not name.startswith("_"):
            yield Parameter(name, _kinds(annotation), not equals, keyword, default)


def _split(text: str) -> Iterator[str]:
    """The parts between the commas that no bracket or quote encloses."""
    depth, start, quote = 0, 0, ""
    for at, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif sign == "," and depth == 0:
            yield text[start:at]
            start = at + 1
    if text[start:].strip():
        yield text[start:]


# ---------------------------------------------------------------- the sentences


def _entries(doc: str) -> dict[str, tuple[str, str]]:
    """name -> (documented type, description) of the sections that list arguments."""
    found: dict[str, tuple[str, str]] = {}
    names: list[str] = []
    inside, indent = False, ""
    for line in doc.splitlines():
        if _SECTION.match(line):
            inside, indent, names = True, "", []
            continue
        match = _ENTRY.match(line) if inside else None
        if match and (not indent or len(match["indent"]) <= len(indent)):
            indent = match["indent"]
            names = [name.strip().lstrip("*") for name in match["names"].split(",")]
            found |= {name: (match["type"] or "", match["text"].strip()) for name in names}
        elif inside and line.strip() and indent and len(line) - len(line.lstrip()) < len(indent):
            inside, names = False, []
        elif names:
            found |= {name: (found[name][0], f"{found[name][1]} {line.strip()}".strip()) for name in names}
    return found


def _described(
    parameter: Parameter, entry: tuple[str, str], doc: str, about: Mapping[str, tuple[Shape, ...]]
) -> Parameter:
    written, text = entry
    shapes = alternatives(" or ".join(_MATH.findall(text))) or about.get(parameter.name, ())
    kinds = _kinds(written) or parameter.kinds or _guessed(parameter.default, text, bool(shapes))
    low, high = _range(text)
    choices = tuple(_choices(parameter.default, text)) if "str" in kinds else ()
    dtypes = _dtypes(written, text, doc) if "tensor" in kinds or "tensors" in kinds else ()
    optional = "optional" in written.lower() and not parameter.required
    return replace(
        parameter,
        kinds=kinds or ("tensor",),
        required=parameter.required and not optional,
        choices=choices,
        low=low,
        high=high,
        shapes=shapes if "tensor" in kinds else (),
        dtypes=dtypes,
    )


def _kinds(written: str) -> tuple[str, ...]:
    """What a documented type allows, each kind once: "int or tuple of ints" -> int and ints."""
    found: list[str] = []
    rest = written.lower()
    for pattern, kind in KINDS.items():
        rest, hits = re.subn(pattern, " ", rest)
        if hits:
            found.append(kind)
    return tuple(found)


def _guessed(default: str, text: str, shaped: bool) -> tuple[str, ...]:
    """The kinds of a parameter without a documented type, from its default value and its description."""
    lower = text.lower()
    if default in ("True", "False") or lower.startswith("if ``true``"):
        return ("bool",)
    if default[:1] in ("'", '"') or re.match(r"``'", lower):
        return ("str",)
    if "single number or" in lower or "tuple `(" in lower:
        return ("int", "ints")
    if re.fullmatch(r"-?\d+", default):
        return ("int",)
    if re.fullmatch(r"-?\d*\.\d+|-?\d+e-?\d+", default):
        return ("float",)
    if "dtype" in lower and "tensor" not in lower:
        return ("dtype",)
    if shaped or "tensor" in lower:
        return ("tensor",)
    return ("int",) if re.search(r"\bsize\b|\bnumber of\b|\bdimension\b", lower) else ()


def _range(text: str) -> tuple[float | None, float | None]:
    plain = _MATH.sub(lambda match: match[1], text)
    for pattern, bounds in _RANGES:
        match = pattern.search(plain)
        if match:
            low, high = bounds(match)
            if low is None or high is None or low < high:
                return low, high
    return None, None


def _choices(default: str, text: str) -> Iterable[str]:
    """The words that a text sets in quotes or as code, the default first."""
    words = [default.strip("'\"")] if default[:1] in ("'", '"') else []
    words += [quoted or plain for quoted, plain in _QUOTED.findall(text)]
    return dict.fromkeys(word for word in words if word and word.lower() not in _NO_CHOICES and not word.isdigit())


def _dtypes(written: str, text: str, doc: str) -> tuple[str, ...]:
    for pattern, dtype in _TENSOR_DTYPES.items():
        if re.search(pattern, written.lower()):
            return (dtype,)
    if _INTEGRAL.search(text) or (_INTEGRAL.search(doc) and "must be" in doc and not _FLOATING.search(doc)):
        return ("int64", "int32", "bool")
    if re.search(r"\bind(ex|ices)\b|class (index|indices)|targets?\[i\]", text.lower()):
        return ("int64",)
    return ()
