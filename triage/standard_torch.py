"""The sentence of PyTorch's documentation on an argument without which the call passes: quoted, or not at all.

The docstrings are read from the source files of the installed package; torch itself is not imported.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import util
from pathlib import Path

from fuzz import instance as instances
from fuzz.case import Case, Outcome, Status
from triage.conditions import Condition
from triage.standard import FEWEST_WORDS, LONGEST, MOST, Quotation, sentences

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
#: Formulas, unfilled placeholders and mere lists of choices are not quoted.
_UNFIT = re.compile(r":\w+:|[{}]|^[`'\"]|can be either|\| `")
#: Roles of reStructuredText that a page shows as code.
_ROLE = re.compile(r":(?:attr|class|func|meth|obj|data):`~?([^`<]+)`")


def quotations(case: Case, outcome: Outcome, conditions: Sequence[Condition] = ()) -> tuple[Quotation, ...]:
    """What the documentation says of the keyword arguments that a wrong result hangs on."""
    if case.kind != "instance" or outcome.status is not Status.WRONG:
        return ()
    api = instances.parse(case.model).api
    url = f"https://docs.pytorch.org/docs/stable/generated/{api}.html"
    found: list[Quotation] = []
    for one in conditions:
        name = re.match(r"[A-Za-z_]\w*(?==)", one.text)
        if one.needed and one.kind == "attribute" and name:
            said = next(sentences(parameter(docstring(api), name[0])), "")
            if len(said.split()) >= FEWEST_WORDS and len(said) <= LONGEST and not _UNFIT.search(said):
                found.append(Quotation(said, f"{api}, argument `{name[0]}`", url))
    return tuple(found[:MOST])


def parameter(doc: str, name: str) -> str:
    """What stands behind ``name (type, optional):``, as a page shows it; "" where the argument is not described."""
    lines = doc.splitlines()
    for at, line in enumerate(lines):
        head = re.match(rf"(\s+){re.escape(name)}\s*(?:\([^:]*\))?\s*:\s+(.*)", line)
        if head:
            text = [head[2], *_deeper(lines[at + 1 :], len(head[1]))]
            return _ROLE.sub(r"`\1`", "\n".join(text)).replace("``", "`")
    return ""


def _deeper(lines: Sequence[str], indent: int) -> Iterator[str]:
    """The lines up to the first that is indented no deeper, or blank."""
    for line in lines:
        if not line.strip() or len(line) - len(line.lstrip()) <= indent:
            return
        yield line.strip()


@cache
def docstring(api: str) -> str:
    """The docstring of an api such as ``torch.nn.functional.pad``; "" where the installed torch has none for it.

    Placeholders that the source fills in later (``{dim}``) are left as they stand.
    """
    root = _folder()
    prefix = next((one for one in _FILES if api.startswith(one)), "")
    if root is None or not prefix:
        return ""
    name = api.removeprefix(prefix)
    paths = (path for pattern in _FILES[prefix] for path in sorted(root.glob(pattern)))
    return next((doc for path in paths if (doc := _docs(path).get(name))), "")


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
