"""The sentence of PyTorch's documentation on an argument without which the call passes: quoted, or not at all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from fuzz import instance as instances
from fuzz.case import Case, Outcome, Status
from triage.conditions import Condition
from triage.docstrings_torch import docstring
from triage.standard import FEWEST_WORDS, LONGEST, MOST, Quotation, sentences

#: Formulas, unfilled placeholders and mere lists of choices are not quoted.
_UNFIT = re.compile(r":\w+:|[{}]|^[`'\"]|can be either|\| `")
#: What an argument does to training is not what a result hangs on.
_TRAINING = re.compile(r"\b(?:gradients?|backward|autograd|training|trained)\b")
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
            described = sentences(parameter(docstring(api), name[0]))
            said = next((sentence for sentence in described if not _TRAINING.search(sentence)), "")
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
