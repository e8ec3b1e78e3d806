"""Names of functions as every tool prints them otherwise, brought to one form.

Demangled and mangled names, argument lists, template arguments, return types, anonymous namespaces, lambdas, clones
of the optimiser, hashes of Rust and offsets all go: ``void ns::(anonymous namespace)::f<int>(char) [clone .cold]`` and
``_ZN2ns12_GLOBAL__N_11fIiEEvc+0x1c`` are ``ns::f``. Pure.
"""

from __future__ import annotations

import re
from functools import lru_cache

from triage.prefilter import filtered

#: A name longer than this is cut; templates reach tens of thousands of characters.
_LONGEST = 2_000
_OPERATOR = filtered(re.compile(r"\boperator\s*(<=>|<<=?|>>=?|<=?|>=?|->\*?|\(\)|\[\]|==|!=)"))
_SPELLED = {"<": "lt", ">": "gt", "-": "arrow", "*": "star", "(": "call", ")": "", "[": "at", "]": "", "=": "eq"}
_CONVERSION = filtered(re.compile(r"\boperator ([\w:]+)"))
_ANONYMOUS = filtered(
    re.compile(r"(?:\(anonymous(?: namespace)?\)|`anonymous(?: namespace)?'|\{anonymous\}|_GLOBAL__N_\w*)::")
)
_INLINE = filtered(re.compile(r"\b__(?:1|2|cxx11|ndk1|detail)::|\b_V2::"))
_TAIL = re.compile(
    r"(?:\+(?:0x[0-9a-fA-F]+|\d+)|@@?[\w.]+|\.(?:isra|constprop|part|cold|lto_priv|llvm|resume|destroy|clone|\d+)"
    r"|::h[0-9a-f]{16}|::\{\{[\w#-]*\}\}|\$\w*)+$"
)
_CLONE = filtered(re.compile(r"\s*\[(?:clone|abi:)[^\]]*\]"))
_GENERATED = re.compile(r"(?:#|(?<=lambda)_?|(?<=\$)_|(?<=\$_))\d+(?=$|[.:>])")
#: Functions that a compiler makes bear running numbers; those that people write may end in a number that tells.
_MADE = re.compile(
    r"(?i)(?=\w*(?:fus(?:ed|ion)|kernel|lambda|tvmgen|computation|dispatch|outlined|subgraph|region|closure|thunk))"
    r"(?P<name>\b\w+?)_\d+(?=$|[.:>])"
)
_QUALIFIED = re.compile(r"<([^<>]+?) as [^<>]+?>")
_PLAIN = re.compile(r"[\w.]*")
_NUMBER = re.compile(r"\d+")
_WORD = re.compile(r"\w")
_LOCAL = filtered(re.compile(r"\.<locals>"))
#: Lambdas and local classes stand inside a function, which names the place well enough.
_INSIDE = re.compile(r"::(?:\{lambda|<lambda|\$_\d|'lambda|operator\(\)|operator call)[\s\S]*$")


def function_name(raw: str) -> str:
    """The bare qualified name of a function, "" where there is none (``??``)."""
    name = raw[:_LONGEST].strip()
    if name.startswith(("_Z", "__Z", "?")):
        name = demangle(name)
    if name.isidentifier() and not _NUMBER.search(name):
        return name  # most Python names
    if _PLAIN.fullmatch(name):  # the others, and C symbols
        return _ended(name)
    name = _CLONE.sub("", name)
    name = _OPERATOR.sub(lambda found: "operator_" + "".join(_SPELLED.get(sign, "") for sign in found[1]), name)
    name = _CONVERSION.sub(lambda found: found[0] if found[1] in ("new", "delete") else f"operator_{found[1]}", name)
    name = _INLINE.sub("", _ANONYMOUS.sub("", name))
    name = _INSIDE.sub("", name) if not name.startswith("<lambda") else name
    name = _LOCAL.sub("", name)
    name = _without_brackets(_QUALIFIED.sub(r"\1", _self_type(name))) if "<" in name[1:] else name
    name = name.partition("(")[0].rstrip() if not name.startswith("(") else name
    if not name.startswith(("operator ", "<")):
        name = name.rpartition(" ")[2]  # a return type before it
    name = _ended(name).strip("*&: ")
    return name if _WORD.search(name) else ""


@lru_cache(maxsize=1 << 14)
def _ended(name: str) -> str:
    """A name without what a build adds to its end. Remembered: far fewer are left than went in."""
    name = _GENERATED.sub("", _TAIL.sub("", name))
    return _MADE.sub(r"\g<name>", name) if "_" in name else name


def _self_type(name: str) -> str:
    """Rust's ``<Vec<T> as Index<I>>::index`` is ``Vec<T>::index``."""
    if not name.startswith("<") or " as " not in name:
        return name
    depth = 0
    for at, sign in enumerate(name):
        depth += (sign == "<") - (sign == ">" and name[at - 1] != "-")
        if not depth:
            own, _, trait = name[1:at].partition(" as ")
            # What a type of the language does is the standard library's.
            standard = trait.startswith(("core::", "std::", "alloc::")) and "::" not in own
            return (trait if standard else own) + name[at + 1 :]
    return name


def _without_brackets(name: str) -> str:
    """Without template arguments, whatever they nest; an unclosed bracket takes the rest with it."""
    if re.fullmatch(r"<[\w ]+>", name):  # <module>, <lambda>, <signal handler called>
        return name
    kept, depth = [], 0
    for sign in name:
        if sign == "<":
            depth += 1
        elif sign == ">":
            depth = max(depth - 1, 0)
        elif not depth:
            kept.append(sign)
    return "".join(kept)


def demangle(symbol: str) -> str:
    """The qualified name of a C++ (Itanium, Microsoft) or legacy Rust symbol, without arguments; else the symbol.

    Only names are read: nested names, template arguments (skipped) and the standard's abbreviations.
    """
    if symbol.startswith("?"):
        return "::".join(reversed([part for part in symbol[1:].partition("@@")[0].split("@") if part])) or symbol
    text = symbol.lstrip("_")
    if not text.startswith("Z"):
        return symbol
    position, parts = len(text) - len(text.lstrip("Z")), list[str]()
    nested = text.startswith("N", position)
    position += nested
    while position < len(text):
        sign = text[position]
        if sign.isdigit():
            found = _NUMBER.match(text, position)
            assert found is not None
            start, length = found.end(), min(int(found[0][:6]), _LONGEST)
            parts.append(text[start : start + length])
            position = start + length
        elif text.startswith("St", position):
            parts.append("std")
            position += 2
        elif sign == "I":
            position = _after_arguments(text, position)
        elif sign in "KVrRO" or (sign == "L" and not parts):
            position += 1
        elif text.startswith(("Ul", "Ut"), position) or text.startswith(("C1", "C2", "D0", "D1", "D2"), position):
            if sign in "CD" and parts:
                parts.append(("~" if sign == "D" else "") + parts[-1])
            break
        elif re.match(r"S[0-9A-Z]*_", text[position:]) and not parts:
            position = text.index("_", position) + 1
        else:
            break
        if not nested and parts and parts != ["std"]:
            break
    return "::".join(part for part in parts if not part.startswith("_GLOBAL__N_")) or symbol


def _after_arguments(text: str, position: int) -> int:
    """Past the template arguments that begin here, by counting what nests."""
    depth = 0
    while position < len(text):
        sign = text[position]
        if sign.isdigit():
            found = _NUMBER.match(text, position)
            assert found is not None
            position = found.end() + min(int(found[0][:6]), _LONGEST)
            continue
        if text.startswith(("St", "Sa", "Ss", "Sb"), position):
            position += 2
            continue
        depth += sign in "INXLJFM" and sign in "INXLJF"
        depth -= sign == "E"
        position += 1
        if depth <= 0:
            break
    return position
