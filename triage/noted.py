"""The class of a symptom, however a runner calls it: ``CRASH (signal 11)``, ``exc.compile``, ``results differ``.

The classes are those of the project's own failures (a hang, exhausted memory, a wrong result, a crash, an exception),
and results that change from run to run, and what is merely slow. Pure.
"""

from __future__ import annotations

import re
from functools import lru_cache

#: The classes by the words that show them, the surest first: what ends is told before what merely fails, and what can
#: only be said of numbers before what is said of anything.
_CLASSES = tuple(
    (name, re.compile(rf"\b(?:{words})\b"))
    for name, words in (
        (
            "hang",
            r"hangs?|hung|hanging|time[ds]? ?outs?|too slow|stuck|deadlock\w*|endless|liveness|watchdog|no progress",
        ),
        ("oom", r"\w*oom\w*|out of memory|memory (?:exhausted|grows|leak\w*|limit)"),
        (
            "crash",
            r"crash\w*|abort\w*|terminat\w*|segfault\w*|segv|segmentation|sig|sig[a-z]{3,4}|signal\w*|killed|die[ds]|death"
            r"|core ?dump\w*|access violation|asan|\w*sanitizer|panic\w*|stack overflow"
            r"|illegal (?:memory access|instruction)",
        ),
        ("nondeterministic", r"non ?determin\w*|flaky|unstable"),
        (
            "wrong result",
            r"wrong\w*|incorrect\w*|inconsisten\w*|miscompil\w*|diff|diffs|differ\w*|diverge\w*|discrepanc\w*|accuracy|acc"
            r"|numeric\w*|garbage|corrupt\w*|nans?|not close|tolerance|ulps?",
        ),
        ("slow", r"performance|perf|slow\w*|regression"),
        (
            "exception",
            r"exc|exceptions?|errors?|fail\w*|raise[sd]?|throws?|refus\w*|reject\w*|cannot|could not"
            r"|unsupported|not ?sup\w*",
        ),
        ("wrong result", r"mismatch\w*|precision|golden"),
        (
            "exception",
            r"no entry|missing|build|\w?compil\w*|run ?time|conver\w*|import\w*|load\w*|legal\w*|exit\w*",
        ),
    )
)
#: A program that was killed has such a status.
_KILLED = re.compile(r"(?i)\bexit\w*\W{0,3}(?:status|code)?\W{0,3}(?:-\d+|(?<!\d)1[2-9]\d|2\d\d)\b")
#: What a runner says of a wrong result behind a dot or the like.
_WAY = re.compile(r"(?:diff|wrong|mismatch|incorrect)[.:/_-](?P<way>nan|inf|shape|d?type|values?)\w*")
_WAYS = {"type": "dtype", "value": "values"}
#: The project's own symptoms, which say more.
_OWN = re.compile(r"(?:dies-on-invalid|exception|crash|wrong|signal):\S+")
_JOINED = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@lru_cache(maxsize=1 << 12)
def classed(symptom: str) -> str:
    """The class of a symptom, ``wrong:`` with the way where it tells that; "" if of none."""
    noted = " ".join(symptom.lower().split())
    if _OWN.fullmatch(noted):
        return noted
    if found := _WAY.fullmatch(noted):
        return f"wrong:{_WAYS.get(found['way'], found['way'])}"
    if _KILLED.search(symptom):
        return "crash"
    plain = spoken(symptom)
    return next((name for name, pattern in _CLASSES if pattern.search(plain)), "")


def spoken(symptom: str) -> str:
    """A symptom in small letters, its words apart."""
    return " ".join(re.sub(r"[^a-z0-9]+", " ", _JOINED.sub(" ", symptom).lower()).split())


def broad(symptom: str) -> str:
    """The class in which a symptom is compared at one place: a build with checks raises where another one dies."""
    return "" if symptom in ("crash", "exception") else symptom
