"""Laying out Python source: a tree of brackets becomes lines that a person would have written.

An expression is either finished text or a `Group`. A group goes on one line when it fits, else its items on one line
of their own, else each on one with a trailing comma; rows of numbers are filled instead.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

#: Between the 100 columns of some projects and the 120 of others: most calls stay on one line.
WIDTH = 115
STEP = "    "
#: So many columns behind a closing bracket are still read with it.
_FEW = 40


@dataclass(frozen=True)
class Group:
    """Items between an opening text such as ``np.array(`` and a closing one.

    `fill` puts as many items on a line as fit; `comma` is "" for string pieces that Python joins.
    """

    opening: str
    items: tuple[Expr, ...]
    closing: str = ")"
    fill: bool = False
    comma: str = ","


Expr: TypeAlias = str | Group


def call(function: str, *items: Expr, closing: str = ")") -> Group:
    """A call; keyword arguments are made with `named`."""
    return Group(function + "(", items, closing)


def listing(items: Iterable[Expr], fill: bool = False) -> Group:
    """A list display."""
    return Group("[", tuple(items), "]", fill)


def tuple_display(items: Sequence[Expr]) -> Group:
    """A tuple display; a single item keeps its comma."""
    if len(items) == 1:
        return Group("(", (followed(items[0], ","),), ")", comma="")
    return Group("(", tuple(items), ")")


def mapping(prefix: str, entries: Iterable[Expr]) -> Group:
    """A dict display after a prefix."""
    return Group(prefix + "{", tuple(entries), "}")


def named(prefix: str, expr: Expr) -> Expr:
    """The expression after a prefix: ``axis=``, ``"x": `` or ``model = ``."""
    return prefix + expr if isinstance(expr, str) else replace(expr, opening=prefix + expr.opening)


def followed(expr: Expr, suffix: str) -> Expr:
    """The expression before a suffix such as ``.copy()``."""
    return expr + suffix if isinstance(expr, str) else replace(expr, closing=expr.closing + suffix)


def one_line(expr: Expr) -> str:
    """The expression on a single line, however long."""
    if isinstance(expr, str):
        return expr
    return expr.opening + f"{expr.comma} ".join(one_line(item) for item in expr.items) + expr.closing


def render(expr: Expr, indent: str = "", suffix: str = "") -> list[str]:
    """The expression as lines of at most `WIDTH` characters wherever there is a bracket to break at."""
    flat = indent + one_line(expr) + suffix
    if isinstance(expr, str) or not expr.items or len(flat) <= WIDTH:
        return [flat]
    inner = indent + STEP
    together = inner + f"{expr.comma} ".join(one_line(item) for item in expr.items)
    if len(together) <= WIDTH:
        body = [together]
    elif hugged := _hugged(expr):
        return render(hugged, indent, suffix)
    elif expr.fill:
        body = list(_filled([one_line(item) + expr.comma for item in expr.items], inner))
    else:
        body = [line for item in expr.items for line in render(item, inner, expr.comma)]
    return [indent + expr.opening, *body, indent + expr.closing + suffix]


def _hugged(expr: Group) -> Group | None:
    """A call whose brackets stand with those of its first argument, if only a few words follow: ``f([`` … ``], b)``."""
    first, rest = expr.items[0], expr.items[1:]
    if isinstance(first, str) or not first.items or expr.fill or not expr.opening.endswith("("):
        return None
    words = "".join(f"{expr.comma} {item}" for item in rest if isinstance(item, str))
    if len(words) > _FEW or any(not isinstance(item, str) for item in rest):
        return None
    return replace(first, opening=expr.opening + first.opening, closing=first.closing + words + expr.closing)


def _filled(words: Sequence[str], indent: str) -> Iterator[str]:
    line = indent + words[0]
    for word in words[1:]:
        if len(line) + 1 + len(word) > WIDTH:
            yield line
            line = indent + word
        else:
            line += " " + word
    yield line


def quote(text: str | bytes) -> str:
    """A string literal in double quotes where possible.

    An HTML comment opener is spelled with an escape: a name inside a model must not be able to
    plant a hidden marker in the report that shows the script.
    """
    literal = repr(text)
    prefix, body = literal[: literal.index(literal[-1])], literal[literal.index(literal[-1]) + 1 : -1]
    mark = literal[-1] if '"' in body else '"'
    return prefix + mark + body.replace("<!--", "\\x3c!--") + mark


#: Names that generated code uses, and where they come from (module, name in it or "").
_SOURCES = {
    "np": ("numpy", ""),
    "onnx": ("onnx", ""),
    "helper": ("onnx", "helper"),
    "numpy_helper": ("onnx", "numpy_helper"),
    "TensorProto": ("onnx", "TensorProto"),
    "parser": ("onnx", "parser"),
    "AttributeProto": ("onnx", "AttributeProto"),
    "ReferenceEvaluator": ("onnx.reference", "ReferenceEvaluator"),
    "ml_dtypes": ("ml_dtypes", ""),
    "torch": ("torch", ""),
    "base64": ("base64", ""),
    "zlib": ("zlib", ""),
    "faulthandler": ("faulthandler", ""),
    "resource": ("resource", ""),
}


def assemble(pieces: Iterable[str]) -> str:
    """One script from pieces of code: all their imports merged at the top, blank lines between."""
    head, body = parted(pieces)
    script = "\n\n".join(part for part in (head, body) if part) + "\n"
    return script.replace("\n\nclass ", "\n\n\nclass ", 1)


def parted(pieces: Iterable[str]) -> tuple[str, str]:
    """The imports of some pieces of code, merged, and the pieces without them.

    Imports that generated code needs for its names are added. Of a piece's own imports only those
    before its first other statement move: what follows an assignment to `os.environ` stays there.
    """
    wanted: set[str] = set()
    bodies: list[str] = []
    for piece in pieces:
        tree = ast.parse(piece)
        lines = piece.splitlines()
        for node in tree.body[: _leading(tree)]:
            if isinstance(node, ast.Import | ast.ImportFrom):
                end = node.end_lineno or node.lineno
                lines[node.lineno - 1 : end] = [""] * (end - node.lineno + 1)
                wanted |= {ast.unparse(alias) for alias in _split(node)}
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        wanted |= {_import_line(name) for name in used & _SOURCES.keys()}
        bodies.append("\n".join(lines).strip("\n"))
    return "\n".join(_merged(wanted)), "\n\n".join(body for body in bodies if body)


def with_imports(code: str) -> str:
    """The code below the imports that its names need."""
    return assemble([code])


def _leading(tree: ast.Module) -> int:
    """How many statements at the top are imports or the docstring."""
    for position, node in enumerate(tree.body):
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not (isinstance(node, ast.Import | ast.ImportFrom) or docstring):
            return position
    return len(tree.body)


def _split(node: ast.Import | ast.ImportFrom) -> Iterator[ast.stmt]:
    for alias in node.names:
        if isinstance(node, ast.Import):
            yield ast.Import([alias])
        else:
            yield ast.ImportFrom(node.module, [alias], node.level)


def _import_line(name: str) -> str:
    module, member = _SOURCES[name]
    if member:
        return f"from {module} import {member}"
    return f"import {module}" if name == module else f"import {module} as {name}"


def _merged(lines: Iterable[str]) -> list[str]:
    """Import lines, standard library first, the names of one module on one line."""
    plain: set[str] = set()
    members: dict[str, set[str]] = {}
    for line in lines:
        if line.startswith("import "):
            plain.add(line)
        else:
            module, name = line.removeprefix("from ").split(" import ")
            members.setdefault(module, set()).add(name)
    plain |= {f"from {module} import {', '.join(sorted(names))}" for module, names in members.items()}

    def is_foreign(line: str) -> bool:
        return line.split()[1].split(".")[0] not in sys.stdlib_module_names

    def order(line: str) -> tuple[bool, str]:
        return line.startswith("from "), line

    standard = sorted((line for line in plain if not is_foreign(line)), key=order)
    foreign = sorted((line for line in plain if is_foreign(line)), key=order)
    return [*standard, *([""] if standard and foreign else []), *foreign]
