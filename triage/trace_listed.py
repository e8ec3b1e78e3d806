"""Frames that a failure lists one by one, as objects, lists or lines of text -> frames. Pure."""

from __future__ import annotations

import re

from fuzz.case import Frame
from triage.frame_order import OuterFirst
from triage.trace_native import NUMBERED, native, unnumbered
from triage.trace_windows import windows

_LONGEST_LINE = 1_500
_NUMBER = re.compile(r"\s*(?:\* )?(?:frame )?#(\d{1,7})\b")
_PYTHON = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)(?:,? in (?P<function>.+))?')
#: What Python calls the file of a program that was given as text.
_STRING = r"<[^<>\s]+>"
_PLACE_FIRST = re.compile(
    rf"(?P<file>(?:[A-Za-z]:)?[^\s:]+\.[A-Za-z]{{1,5}}|{_STRING}):(?P<line>\d+)(?::\d+)?"
    r"[:,]?\s*(?:in |at )?(?P<function>\S.*)?$"
)
_FILE_FIRST = re.compile(
    r"(?P<file>[^\s:]+\.[A-Za-z]{1,5}|<[^<>]+>)(?::| in |, |\s+)(?P<function>[^\s:]\S*?)(?::(?P<line>\d+))?$"
)
_PLACE_LAST = re.compile(
    rf"(?P<function><\w+>) \((?P<file>[^\s():]+\.[A-Za-z]{{1,5}}|{_STRING}):(?P<line>\d+)(?::\d+)?\)$"
)
_AT_SIGN = re.compile(r"(?P<function>[^\s@]+) ?@ ?(?P<file>\S+\.[A-Za-z]{1,5}):(?P<line>\d+)(?::\d+)?$")
_FUNCTION_LINE = re.compile(r"(?P<function>[^\s]*\w):(?P<line>\d+)(?P<file>)$")
_FILE_ONLY = re.compile(r"(?P<file>\S+\.(?:py|pyx|pxi|cc|cpp|cxx|c|hpp|h|cu|rs))(?P<line>)(?P<function>)$")
_WRITTEN = (_PYTHON, _PLACE_LAST, _AT_SIGN, _PLACE_FIRST, _FILE_ONLY, _FILE_FIRST, _FUNCTION_LINE)
_FILE_KEYS, _LINE_KEYS = ("file", "filename", "path"), ("line", "lineno", "line_number")
_FUNCTION_KEYS = ("function", "func", "name", "symbol", "method")


def listed(found: object) -> tuple[Frame, ...]:
    """Frames from JSON, in the order given; numbered ones (``#0 …`` first) outermost first.

    A frame is an object of file, line and function, a list of the three, or a line of text; the whole may be text.
    Raises ValueError that says what is wrong.
    """
    if found is None:
        return ()
    items = found.splitlines() if isinstance(found, str) else found
    if not isinstance(items, list):
        raise ValueError("frames is not a list")
    result = tuple(_frame(item) for item in items)
    numbers = [number for item in items if (number := _number(item)) is not None]
    if len(numbers) < max(2, len(items)) or numbers[0] == numbers[-1]:
        return result
    return OuterFirst(result[::-1] if numbers[0] < numbers[-1] else result)


def _number(item: object) -> int | None:
    """The number that a line of text begins with, nought for the innermost frame; None where there is none."""
    found = _NUMBER.match(item) if isinstance(item, str) else None
    return int(found[1]) if found else None


def _frame(item: object) -> Frame:
    if isinstance(item, str):
        return _line(item.strip()[:_LONGEST_LINE])
    if isinstance(item, list) and len(item) in (2, 3) and isinstance(item[0], str):
        item = {"file": item[0], "line": item[1], "function": item[-1] if isinstance(item[-1], str) else ""}
    if not isinstance(item, dict):
        raise ValueError("a frame is neither an object, a list of file, line and function, nor text")
    file, function = (
        next((value for key in keys if isinstance(value := item.get(key), str)), "")
        for keys in (_FILE_KEYS, _FUNCTION_KEYS)
    )
    number = next((value for key in _LINE_KEYS if isinstance(value := item.get(key), int | str)), 0)
    return Frame(file, int(number) if str(number).isdecimal() else 0, function)


def _line(text: str) -> Frame:
    """One frame written as text."""
    if found := NUMBERED.match(text):
        text = found[5]
    if "!" in text and (frame := windows(text)):
        return frame
    for pattern in _WRITTEN:
        if found := pattern.match(text):
            return Frame(found["file"], int((found["line"] or "0")[:9]), found["function"] or "")
    return unnumbered(text) or native(text)
