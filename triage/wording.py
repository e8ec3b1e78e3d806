"""The words in an exception's message that a person wrote for a person: what a title has room for; sentences. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from triage.messages import WORDS, core

#: What stands before those words, in whatever order: failed checks, their places, layers, signatures.
_BEFORE = (
    re.compile(r"Check failed: .{1,300}? is false: (?=\S)", re.DOTALL),
    re.compile(r"Check failed: [^\n]{1,200}? \([^()\n]{1,60} vs\. [^()\n]{1,60}\) : (?=\S)"),
    re.compile(r"Check '.{1,300}?' failed at \S+:\d+:\s*(?=\S)", re.DOTALL),
    re.compile(r"FrontEnd API failed with \w+:\s*(?=\S)"),
    re.compile(r"Exception happened during conversion of operation [^\n]{1,300}? with schema [^\n]{1,300}\n\s*(?=\S)"),
    re.compile(r"\[\w+ Frontend\] (?=\S)"),
    re.compile(r"Exception from \S+:\d+:\s*(?=\S)"),
    re.compile(r"Shape inference input shapes \{[^}\n]*\}\s*(?=\S)"),
    re.compile(r"\w+ node\. (?=\S)"),
    re.compile(r"Node \([^()\n]*\) Op \(\w+\) (?=\S)"),
    # Place and signature of a C++ function, then the condition that did not hold.
    re.compile(r"\S+\.(?:h|hpp|cc|cpp):\d+ [^()\n]{1,200}\((?:[^()\n]|\([^()\n]*\)){0,2000}\) (?:const )?(?=\S)"),
    re.compile(r"[^\n]{1,400}? was false\. (?=\S)"),
    # What TVM's virtual machine was doing.
    re.compile(r"ErrorContext\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\)){0,200}\)){0,400}\)\s*(?=\S)"),
)
#: A line that only announces the next one, which may be no words.
_ANNOUNCES = re.compile(r"\b(?:errors?|reasons?|message):$")
#: A last sentence that announces what is left out.
_LEFT_OUT = re.compile(r"(?<=\.) [A-Z][\w ]{1,40}:$")
#: An operator of TVM as it is printed with all that it holds.
_PRINTED = re.compile(r'ir\.Op\(span=[^\n]*?\bname="(?P<name>[\w.]+)"[^\n]*?support_level=\d+\)')
#: A name from code at the head of a sentence, which keeps its small letter.
_IDENTIFIER = re.compile(r"[a-z]\w*(?:_|\.\w|\(|[A-Z0-9])")
#: So few letters are no words.
_LEAST = 8


def headed(text: str) -> str:
    """The text as the head of a sentence: a name from code keeps its small letter."""
    return text if _IDENTIFIER.match(text) else text[:1].upper() + text[1:]


def enumerated(names: Sequence[str], last: str = " and ") -> str:
    """Names in a sentence: ``A``, ``A and B``, ``A, B and C``; `last` is what stands before the last of them."""
    return last.join(filter(None, (", ".join(names[:-1]), names[-1]))) if names else ""


def telling(message: str, names: Collection[str] = ()) -> str:
    """The first line of a message behind everything that says where and how it was raised; "" where there is none.

    `names` are the values and nodes of the case, which OpenVINO puts before its words.
    """
    text = _PRINTED.sub(r"\g<name>", core(message)).strip()
    known = [name for name in names if name and name.lower() not in WORDS]
    own = re.compile(rf"(?:(?:{'|'.join(map(re.escape, known))})(?:, |\s))+(?=[A-Za-z'])") if known else None
    before = (*_BEFORE, own) if own else _BEFORE
    shorter = True
    while shorter:
        found = next((match for pattern in before if (match := pattern.match(text))), None)
        shorter = found is not None
        if found:
            text = text[found.end() :].strip()
    lines = [line.strip() for line in text.splitlines() if len(re.sub(r"\W", "", line)) >= _LEAST]
    told = " ".join(lines[: 2 if lines and _ANNOUNCES.search(lines[0]) else 1])
    return _LEFT_OUT.sub("", told).removesuffix(" :")  # a check without words ends where they would begin
