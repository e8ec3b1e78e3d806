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
#: What stands outside of quotes where these are a part of what a program said.
_FRAMES = re.compile(r"Traceback \(most recent|^\s*File \"|^\s*#\d+ |^\s*\d+: |^\s*at ", re.MULTILINE)


def unfenced(text: str) -> str:
    """The blocks that were pasted and speak of a failure, without the talk around them; the text itself where none is,
    or where frames stand outside of them."""
    if not any(sign in text for sign in ("```", "~~~", "<pre>")) or _PAGE.search(text):
        return text
    return _pasted(_BLOCK, text) or text


def unquoted(message: str) -> str:
    """A message of which a line quotes what failed, without the talk around it, if that says nothing of a failure."""
    if "`" not in message or announces(_INLINE.sub(" ", message)):
        return message
    return _pasted(_INLINE, message) or message


def _pasted(pattern: re.Pattern[str], text: str) -> str:
    pasted = [found["pasted"].strip("\n") for found in pattern.finditer(text)]
    return "" if _FRAMES.search(pattern.sub("\n", text)) else "\n".join(each for each in pasted if announces(each))
