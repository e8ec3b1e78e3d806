"""The docstrings of PyTorch's functions, read from the source files of the installed package; torch is not imported."""

from __future__ import annotations

import ast
from functools import cache
from importlib import util
from pathlib import Path

#: Where the docstrings of an api's family stand, below torch's folder; the longest prefix that fits counts.
_FILES = {
    "torch.nn.functional.": ("nn/functional.py",),
    "torch.nn.": ("nn/modules/*.py",),
    "torch.Tensor.": ("_tensor_docs.py",),
    "torch.special.": ("special/__init__.py",),
    "torch.linalg.": ("linalg/__init__.py",),
    "torch.fft.": ("fft/__init__.py",),
    "torch.": ("_torch_docs.py", "functional.py"),
}
#: Functions that attach a docstring to what C++ defines: the name is their first argument, or assigned to.
_ATTACHING = ("add_docstr", "add_docstr_all", "_add_docstr")


@cache
def docstring(api: str) -> str:
    """The docstring of an api such as ``torch.nn.functional.pad``; "" where the installed torch has none for it.

    Placeholders that the source fills in later (``{dim}``) are left as they stand.
    """
    name = api.removeprefix(_prefix(api))
    return next((doc for path in paths(api) if (doc := _docs(path).get(name))), "")


def paths(api: str) -> tuple[Path, ...]:
    """The source files of the installed torch that may define or describe an api."""
    root, prefix = _folder(), _prefix(api)
    if root is None or not prefix:
        return ()
    return tuple(path for pattern in _FILES[prefix] for path in sorted(root.glob(pattern)))


def _prefix(api: str) -> str:
    return next((one for one in _FILES if api.startswith(one)), "")


def _folder() -> Path | None:
    found = util.find_spec("torch")
    places = found.submodule_search_locations if found else None
    return Path(places[0]) if places else None


@cache
def _docs(path: Path) -> dict[str, str]:
    """The docstrings that one source file defines or attaches, by name."""
    found: dict[str, str] = {}
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):  # of overloads the last has the text
            found[node.name] = ast.get_docstring(node, clean=False) or found.get(node.name, "")
        call = node.value if isinstance(node, ast.Expr | ast.Assign) else None
        if isinstance(call, ast.Call) and len(call.args) > 1 and _called(call) in _ATTACHING:
            assigned = node.targets[0] if isinstance(node, ast.Assign) else call.args[0]
            found[_name(assigned)] = _text(call.args[1])
    return found


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _name(node: ast.expr) -> str:
    """The last name of ``torch.pad`` or ``pad``, or the string ``"pad"``."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Constant):
        return str(node.value)
    return node.id if isinstance(node, ast.Name) else ""


def _text(node: ast.expr) -> str:
    """The constant text of an expression: concatenated pieces, each perhaps with a `format` behind it."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.BinOp):
        return _text(node.left) + _text(node.right)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        return _text(node.func.value).replace("{{", "{").replace("}}", "}")
    return ""
