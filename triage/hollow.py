"""Messages that say no more than that something failed: made of the words for dying and taking too long alone. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

from triage.rules import rules

#: The words with which launchers, shells, debuggers and interpreters say that a program died or was ended.
_WORDS = frozenset(
    """
a abnormally abort aborted after an and at before bt bus by case catch child closed code compile compiled core crash
crashed debugger did died dies dump dumped during end ended error exceeded exception exit exited failed fatal fault
finish floating for frame frames from gdb has hang hangs hung illegal in infer inference instruction interrupted is it
job kernel killed lane last limit lldb lost lwp main memory ms no non not of on oom out period point pool process
processes progress python raised reached received reason response result return returned run running s sec second
seconds segfault segmentation segv signal signalled stage status stop stopped stuck subprocess sys task terminate
terminated termination test the thread threads time timed timeout to took unexpectedly unknown violation was wall
watchdog while with within without worker zero access trap stack overflow switching
    """.split()  # noqa: SIM905
)
#: What stands for a value once a message is normalised.
_VALUES = frozenset("N ADDR NAME SHAPE FILE HASH OP DTYPE VALUE BYTES".split())  # noqa: SIM905
_WORD = re.compile(r"[A-Za-z_]+")
_QUOTED = re.compile(
    r"\b[\w-]+(?:\.\w+)*\.(?:so(?:\.N)*|dll|dylib|exe)\b(?:\.N)*|'[^']*'|\"[^\"]*\"|\([^()]{0,60}\)|<[^<>]{0,60}>"
)
_SIGNAL = re.compile(r"SIG[A-Z]{3,5}|EXC(?:EPTION)?_[A-Z_]+|KERN_[A-Z_]+|SEGV_[A-Z]+|std|bad_alloc")
_LATE = re.compile(
    r"(?i)\b(?:time(?:d)? ?out|time limit|hang|hangs|hung|no progress|did not (?:end|finish)|took longer)\b"
    r"|\b(?:exceeded|after|within|over) (?:the )?(?:N|\d+) ?(?:s|sec|secs|seconds?|min|mins|minutes?)\b"
)
#: How a program ended; its name, of so many words, may stand beside.
_ENDED = re.compile(r"(?i)\b(?:exit (?:code|status)|exited|crashed|signal|killed|terminated|died)\b")
_KILLED = re.compile(
    r"\bSIG[A-Z]{3,5}\b|(?i:\b(?:segmentation fault|core dumped|abort(?:ed)?|fatal (?:python )?error|stack smashing)\b)"
    r"|\b(?:malloc|free|realloc|munmap_chunk)\(\)|\bdouble free\b|\bcorrupt|\w+Sanitizer\b"
)
#: The same as what a runner notes in the place of an exception: a signal, what Windows and Apple call it, a sanitizer.
_DEADLY = re.compile(
    r"SIG[A-Z]{3,5}\b.*|EXC_[A-Z_]+\b.*|EXCEPTION_[A-Z_]+|0xC[0-9A-Fa-f]{7}|\w*Sanitizer"
    r"|(?i:segmentation fault|access violation|abort(?:ed)?|segfault).*"
)
_MOST_STRANGE = 2
#: Longer messages than this say something.
_LONGEST = 300


@lru_cache(maxsize=1 << 14)
def hollow(message: str) -> bool:
    """Whether a normalised message says nothing that tells one bug from another."""
    if rules().empty.fullmatch(message) is not None:
        return True
    if len(message) > _LONGEST:
        return False
    told = [word for word in _WORD.findall(_QUOTED.sub(" ", message)) if word not in _VALUES]
    strange = [word for word in told if word.lower() not in _WORDS and not _SIGNAL.fullmatch(word)]
    return bool(told) and (not strange or (len(strange) <= _MOST_STRANGE and _ENDED.search(message) is not None))


@lru_cache(maxsize=1 << 14)
def ended(message: str) -> bool:
    """Whether a message tells that a program died: its end, a signal, or a heap that is found damaged."""
    return (_ENDED.search(message) or _KILLED.search(message)) is not None


def deadly(exception: str) -> bool:
    """Whether what a runner noted as the exception is how a program died: a signal, a sanitizer's stop."""
    return _DEADLY.fullmatch(exception) is not None


@lru_cache(maxsize=1 << 14)
def late(message: str) -> bool:
    """Whether a message speaks of a program that did not come to an end."""
    return _LATE.search(message) is not None


@lru_cache(maxsize=1 << 14)
def spoken(message: str) -> bool:
    """Whether a normalised message is what a language or its standard library says of a fault in anybody's code."""
    return rules().spoken.fullmatch(message) is not None
