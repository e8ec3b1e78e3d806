"""The class of a symptom, however a runner calls it: ``CRASH (signal 11)``, ``exc.compile``, ``results differ``.

The classes are those of the project's own failures: a hang, exhausted memory, a wrong result, a crash, an exception.
Pure.
"""

from __future__ import annotations

import re
from functools import lru_cache

#: The classes by the words that show them, the surest first: what ends is told before what merely fails.
_CLASSES = (
    (
        "hang",
        re.compile(r"hang|hung|time(?:d|s)?[ _-]?out|too slow|stuck|deadlock|endless|liveness|watchdog|no progress"),
    ),
    ("crash", re.compile(r"exit(?:ed)? (?:status|code):? ?(?:-\d+|1[2-9]\d|2\d\d)\b")),
    ("oom", re.compile(r"\boom|out[ _-]?of[ _-]?memory|memory (?:exhausted|grows|leak|limit)")),
    (
        "crash",
        re.compile(
            r"crash|abort|terminat|segfault|segv|segmentation|\bsig[a-z]{3,4}\b|signal|killed|\bsig\b|\bdied\b|\bdeath\b"
            r"|core[ _-]?dump|access[ _-]violation|\basan\b|sanitizer|panic"
        ),
    ),
    (
        "wrong result",
        re.compile(
            r"wrong|incorrect|inconsisten|mismatch|\bdiff(?:er|ers|erent|erence|s)?\b|diverge|\bacc\b|accuracy|precision|numeric"
            r"|garbage|golden|not[ _-]?close|tolerance|\bulps?\b"
        ),
    ),
    ("nondeterministic", re.compile(r"non-?determin|flaky|unstable")),
    (
        "exception",
        re.compile(
            r"exc\b|exception|error|fail|raise|throw|refus|reject|cannot|could not|unsupported|not[ _-]?sup|no[ _]entry"
            r"|missing|build|compil|run[ _-]?time|conver|import|load|legal|exit(?:ed)?\b"
        ),
    ),
)
#: What a runner says of a wrong result behind a dot or the like.
_WAY = re.compile(r"(?:diff|wrong|mismatch|incorrect)[.:/_-](?P<way>nan|inf|shape|d?type|values?)\w*")
_WAYS = {"type": "dtype", "value": "values"}
#: The project's own symptoms, which say more.
_OWN = re.compile(r"(?:dies-on-invalid|exception|crash|wrong|signal):\S+")


@lru_cache(maxsize=1 << 12)
def classed(symptom: str) -> str:
    """The class of a symptom, ``wrong:`` with the way where it tells that; "", which is unknown, if of none."""
    noted = " ".join(symptom.lower().split())
    if _OWN.fullmatch(noted):
        return noted
    if found := _WAY.fullmatch(noted):
        return f"wrong:{_WAYS.get(found['way'], found['way'])}"
    return next((name for name, pattern in _CLASSES if pattern.search(noted)), "")


def broad(symptom: str) -> str:
    """The class in which a symptom is compared at one place: a build with checks raises where another one dies."""
    return "" if symptom in ("crash", "exception") else symptom
