"""Making foreign text fit for a public issue: nothing private in it, nothing that GitHub acts upon.

Error messages, names inside models and native output are written by others. `scrub` takes away paths,
users and hosts; `code`, `fence` and `prose` put a text where Markdown cannot be triggered by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_BIDI = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_PART = r"[^\s\"'<>|:*?()\[\]/\\]{1,255}"
#: The start of an absolute path, which is neither inside a word nor the slashes of a URL.
_START = r"(?<![\w./\\<])(?:~|[A-Za-z]:)?[\\/](?![\\/])"
_PATH = rf"(?:{_PART}[\\/]){{0,40}}?"
_TOKEN = re.compile(r"\b(?:gh[pousr]|github_pat|hf|sk)[_-][A-Za-z0-9_]{16,}")
_PASSWORD = re.compile(r"(?<=://)[^\s/@:]+:[^\s/@]+@")
_ADDRESS = re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}\b")
_HOME = re.compile(rf"(?<![\w.])(?:/home|/Users|[A-Za-z]:\\Users)[\\/]{_PART}|(?<![\w./])/root\b")
#: The same in a finished text, where a name may stand between backticks.
_NAME = r"[^\s\"'<>|:*?()\[\]/\\`]"
_OWN_HOME = rf"(?<![\w.])(?:/home|/Users|[A-Za-z]:\\Users)[\\/]{_NAME}+|(?<![\w./])/root\b"
#: Rules in order: what to look for, what to write instead.
_PRIVATE: tuple[tuple[re.Pattern[str], str], ...] = (
    (_TOKEN, "<token>"),
    (_PASSWORD, ""),
    (_ADDRESS, "<address>"),
    (re.compile(r"file://"), ""),
    (_HOME, "~"),
    # The installed package's own path is what a maintainer can use.
    (re.compile(rf"{_START}{_PATH}(?:site|dist)-packages[\\/]"), ""),
    (re.compile(rf"{_START}{_PATH}lib[\\/]python3[.\d]*[\\/]"), ""),
    (re.compile(rf"{_START}{_PATH}(?=(?:src|include|python|onnxruntime|torch|aten)[\\/])"), ""),
    # Any other absolute path keeps its last part.
    (re.compile(rf"{_START}(?:{_PART}[\\/])+"), ""),
    (re.compile(r"\b0x[0-9a-fA-F]{6,16}\b"), "0x…"),
)


def plain(text: str) -> str:
    """The text without terminal codes, control characters and invisible direction marks."""
    return _BIDI.sub("", _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def scrub(text: str, private: Iterable[str] = ()) -> str:
    """The text without paths, users, hosts, addresses, tokens, control characters.

    `private` are further words to take out wherever they stand alone, such as this machine's host
    and user names; words shorter than three letters and "root" are too common to be taken out.
    """
    text = plain(text)
    for pattern, replacement in _PRIVATE:
        text = pattern.sub(replacement, text)
    for word in private:
        if len(word) >= 3 and word != "root":
            text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", "<name>", text)
    return text.replace("<!--", "<!..").replace("-->", "..>")


def leaks(text: str, private: Iterable[str] = ()) -> list[str]:
    """What a finished text still says of a person or a machine: tokens, addresses, home folders, `private` words.

    Paths in general are none: the nodes of an exported model are named like ``/encoder/Add``.
    """
    found = [match[0] for rule in (_TOKEN, _PASSWORD, _ADDRESS, _HOME) for match in rule.finditer(text)]
    words = [word for word in private if len(word) >= 3 and word != "root"]
    return found + [word for word in words if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text)]


def guarded(text: str, folders: Iterable[str] = ()) -> str:
    """A finished text without tokens, passwords, home folders and paths below `folders`, of which the last part stays.

    The last look at whatever leaves, by whomever it was written; all else in it stays as it is. What is taken out of
    foreign words besides (`scrub`) may be meant in finished ones: addresses, common words, names like ``/encoder/Add``.
    """
    text = _PASSWORD.sub("", _TOKEN.sub("<token>", text))
    places = [_OWN_HOME, *(rf"(?<![\w.]){re.escape(one.rstrip('/'))}(?![\w.-])" for one in folders if len(one) > 1)]
    for place in places:
        text = re.sub(rf"(?:{place})(?P<rest>(?:[\\/]+{_NAME}*)*)", _last_part, text)
    return text


def _last_part(found: re.Match[str]) -> str:
    parts = re.split(r"[\\/]+", found["rest"])
    return next((part for part in reversed(parts) if part), "~")


def fence(text: str, language: str = "") -> str:
    """A code block whose fence is longer than any run of backticks or tildes in the text."""
    mark = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{mark}{language}\n{text.rstrip(chr(10))}\n{mark}"


def code(text: str, limit: int = 200) -> str:
    """An inline code span on one line; GitHub resolves no mention and no reference inside it."""
    flat = " ".join(text.split())
    flat = flat if len(flat) <= limit else flat[: limit - 1] + "…"
    if not flat:
        return "`?`"
    mark = "`" * (1 + max((len(run) for run in re.findall(r"`+", flat)), default=0))
    pad = " " if flat[0] == "`" or flat[-1] == "`" else ""
    return f"{mark}{pad}{flat}{pad}{mark}"


_COMMIT = re.compile(r"[0-9a-f]{40}")


def revision(name: str) -> str:
    """A build's name: a commit's hash as it is, which GitHub links, anything else as code."""
    return name if _COMMIT.fullmatch(name) else code(name)


_MARKDOWN = re.compile(r"([\\`*\[|~<>&$]|(?<!\w)_|_(?!\w)|^[#+=-])")
_TRIGGER = re.compile(r"(?<=[@#])(?=\w)|(?<=GH-)(?=\d)|(?<=github)(?=\.com)", re.IGNORECASE)


def prose(text: str, limit: int = 600) -> str:
    """A sentence on one line: Markdown and HTML escaped, mentions and references broken.

    A zero-width space follows ``@`` and ``#``, since GitHub resolves those even when escaped.
    """
    flat = " ".join(text.split())
    flat = flat if len(flat) <= limit else flat[: limit - 1] + "…"
    return _MARKDOWN.sub(r"\\\1", _TRIGGER.sub("\u200b", flat))


def inert(text: str, limit: int = 600) -> str:
    """One line for a place that shows plain text: scrubbed, mentions and references broken, nothing escaped."""
    flat = " ".join(scrub(text).split())
    return _TRIGGER.sub("\u200b", flat if len(flat) <= limit else flat[: limit - 1] + "…")


def spoken(text: str, limit: int = 600) -> str:
    """A sentence in which what stands between backticks is code; everything else as `prose` has it."""
    flat = " ".join(text.split())
    parts = (flat if len(flat) <= limit else flat[: limit - 1] + "…").split("`")
    if len(parts) % 2 == 0 or not all(part.strip() for part in parts[1::2]):
        return prose(text, limit)
    return "".join(code(part) if at % 2 else _kept_edges(part, limit) for at, part in enumerate(parts))


def _kept_edges(part: str, limit: int) -> str:
    """`prose` of a part of a sentence, with the spaces at its ends."""
    return " " * part.startswith(" ") + prose(part, limit) + " " * (part.endswith(" ") and bool(part.strip()))
