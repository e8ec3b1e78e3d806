"""Texts as they were before somebody wrote them into HTML, into a string on one line, or into the log of a CI. Pure."""

from __future__ import annotations

import html
import json
import re

#: What a page makes of the signs that it needs itself.
_ENTITY = re.compile(r"&(?:lt|gt|quot|amp|#39|#x27|#34);")
#: Line breaks as they are written in a string; where a trace goes on behind one, it is no path of Windows.
_WRITTEN = re.compile(r"(?<!\\)(?:\\r)?\\n")
_GOES_ON = re.compile(
    r"\\n(?: {2}|\\t|#\d|@ |[\w.]+(?:Error|Exception)\b|\s*$)|[.:;,)\]}](?:\\r)?\\n(?:[A-Z\[{ ]|\\n)"
    r"|[a-z](?:\\r)?\\n[A-Z]|\\n(?:note|error|warning): "
)
#: An exception as Python shows it within a list: its class around the message.
_SHOWN = re.compile(
    r"(?P<name>(?:[A-Za-z_]\w*\.)*\w*(?:Error|Exception|Failure|Fail|Failed|Fault|Interrupt|InvalidArgument|InvalidGraph"
    r"|NotImplemented|Unsupported))\((?P<quote>['\"])(?P<said>[\s\S]+)(?P=quote),?\)"
)
_INDENTED = re.compile(r"(?<=[\n\t])\\t")
#: Job, step and clock time before each line.
_OF_CI = re.compile(r"^(?:[^\t\n]{1,80}\t){1,3}\ufeff?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z ?", re.MULTILINE)


#: The keys under which collectors of logs keep the line itself, the surest first.
_LINES = ("log", "message", "msg", "textPayload", "line", "text", "MESSAGE")

#: What they keep beside it: a record without any of these is the program's own.
_BESIDE = frozenset(
    ("stream", "time", "ts", "timestamp", "@timestamp", "pod", "level", "severity", "kubernetes", "host")
)


def _collected(text: str) -> str:
    """The lines that a collector of logs wrote as JSON, each by itself."""
    lines = []
    for line in text.splitlines():
        try:
            record = json.loads(line) if line[:1] == "{" else None
        except (ValueError, RecursionError):  # no record, or one that nests without end
            record = None
        if not isinstance(record, dict) or _BESIDE.isdisjoint(record):
            record = {}
        told = next((record[key] for key in _LINES if key in record), None)
        lines.append(told.rstrip("\n") if isinstance(told, str) else line)
    return "\n".join(lines)


def unescaped(text: str) -> str:
    """The text without that; nearly all come as they are."""
    if '{"' in text and (text[0] == "{" or '\n{"' in text):
        text = _collected(text)
    if "&" in text:
        text = _ENTITY.sub(lambda found: html.unescape(found[0]), text)
    shown = _SHOWN.fullmatch(text.strip()) if text.rstrip().endswith(")") else None
    if shown is not None:
        text = f"{shown['name']}: {shown['said']}".replace(f"\\{shown['quote']}", shown["quote"])
    if "\\n" in text and "\n" not in text.strip() and (shown is not None or _GOES_ON.search(text)):
        text = _INDENTED.sub("\t", _WRITTEN.sub("\n", text)).replace('\\"', '"').replace("\\\\", "\\")
    if "\t" in text and "Z" in text:
        text = _OF_CI.sub("", text)
    return text
