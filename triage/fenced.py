"""What people paste into a chat between back quotes: the rest of their message is talk. Pure."""

from __future__ import annotations

import re

from triage.headline import announces

#: A block, and what stands in a line.
_BLOCK = re.compile(
    r"(?P<fence>```|(?m:^)~~~(?=\n)|<pre>)(?:<code>)?(?:\w+\n)?(?P<pasted>[\s\S]+?)(?:(?:</code>)?(?:(?P=fence)|</pre>)|\Z)"
)
_INLINE = re.compile(r"(?<![`\w])`(?P<pasted>[^`\n]{24,})`(?![`\w])")
#: A page of an issue has headings, and blocks that show the model.
_PAGE = re.compile(r"^(?:> ?)*(?:#{2,4} [A-Z]|<details>|\*\*[\w ]+\*\*:)", re.MULTILINE)


def unfenced(text: str) -> str:
    """What was pasted that speaks of a failure, without the talk around it; the text itself where nothing was."""
    if not any(sign in text for sign in ("`", "~~~", "<pre>")) or _PAGE.search(text):
        return text
    for pattern in (_BLOCK, _INLINE):
        pasted = [found["pasted"] for found in pattern.finditer(text)]
        told = [each.strip("\n") for each in pasted if announces(each)]
        if told:
            return "\n".join(told)
    return text
