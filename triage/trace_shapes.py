"""Frames in the form of a tool that nobody knows, told by what every frame is made of. Pure.

A frame is a marker (a number, ``at``, ``in``, ``from``, ``called from``), a place (a path with an ending, a line,
perhaps a column), an address, a library, an offset and a symbol, in any order and any punctuation. Each is found by its
own shape and taken out; what remains is the symbol, if it is one name and no sentence. C#, Lua, Ruby, Elixir, OCaml,
Haskell, Zig, pytest, IPython, the crash logs of macOS and Android, Visual Studio's call stacks and bare lists of places
are read so.
"""

from __future__ import annotations

import re

from fuzz.case import Frame

_PATH = r"""(?:[A-Za-z]:(?=[\\/]))?[^\s:()"'`\[\]<>,]*[\w>\])-]\.[A-Za-z][A-Za-z0-9+]{0,5}"""
_PLACE = re.compile(
    rf"""[(\["']*(?P<file>{_PATH})["']?(?::line |, line | line |:|@|\()(?P<line>\d+)"""
    r"""(?:[:,.]\d+)*(?:, characters? \d+(?:-\d+)?)?[)\]]*"""
)
#: IPython before its eighth version: the path is all there is.
_IN_FILE = re.compile(rf"^(?:File )?(?P<file>{_PATH}) in (?P<function>[\w.<>]+)(?:\(.*\))?$")
#: Ruby's first line, which goes on with the message.
_QUOTED = re.compile(r":?\s?in [`'\"](?P<function>[^`'\"]+)['\"]: ")
#: A compiler's diagnosis of a program, which is no frame of the compiler.
_DIAGNOSIS = re.compile(r"^:? ?(?:fatal |runtime )?(?:error|warning|note|remark|info)\b", re.IGNORECASE)
#: Programs that are compiled, and what is no source at all.
_PROGRAM = re.compile(
    r"\.(?:mlir|mlirbc|ll|bc|hlo|stablehlo|onnx|pb|tflite|txt|log|json|so|dll|dylib|exe|bin)$", re.IGNORECASE
)

_MARKER = re.compile(
    r"^(?:(?:frame |level )?#?\d+[:#.)]? +|\[ *\d+\] +|\(\d+\) +)?"
    r"(?:(?:at|in|from|by|@|(?:called|raised|re-raised|thrown|invoked) (?:at|from|by)|in file|file) )?",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"\(?\b0x[0-9a-fA-F`]+\b\)?(?: (?:in|-)(?= ))?|\bpc [0-9a-f]{6,16}\b|\[0x[0-9a-fA-F]+\]")
_LIBRARY = re.compile(
    r"\((?:from |in )?[^()\s]*(?:\.so|\.dll|\.dylib|\.exe)\b[^()]*\)|\S*\.(?:so|dylib|apk|exe|dll)\b[\d.]*(?=$|[\s(])"
    r"|^\S+\.(?:dll|exe|so[\d.]*|dylib)!|\(BuildId: [^)]*\)"
)
_OFFSET = re.compile(r" ?\+ ?(?:0x[0-9a-fA-F]+|\d+)(?=$|[\s)])")
_LANGUAGE = re.compile(r"(?: Line \d+)?(?:\t(?:C\+\+|C#|C|Unknown|Python))?$")
#: Words that join the parts of a frame.
_JOINED = re.compile(
    r"^(?:(?:in|at|from|by|file|function|method|field|local|global|upvalue|called|PC:"
    r"|@|:|,|;|-|\||\d+)(?=$|\s) *|[:,;|] *)+"
    r"|(?:^|[\s,:;])(?:in file|called at|called from|raised at|called|file|from|in|at|by)?[ ,:;|-]*$",
    re.IGNORECASE,
)
_PACKAGE = re.compile(r"^\([\w.-]+ v?\d[\w.-]*\) ")
#: Haskell's package and module behind the place.
_MODULE = re.compile(r",? (?:called at +)?in [\w.-]+:[\w.]+$")
_ARITY = re.compile(r"/\d+$")
_NAME = re.compile(
    r"""(?:(?:virtual|static|async|void|auto|const|int|bool|float|double|inline|class|struct|new|func|fn"""
    r"""|def|unsigned|long) )*"""
    r"""[+-]?\[?(?=[^\s]*[A-Za-z_])[\w$~<>.:@&*%#^{}!/\\-]+(?:[\w$~<>.:@&*%#^{}!/\\ \[\],()+=-]*[\w$~>)\]}*&])?"""
)
#: A name holds no more words than this outside its brackets: what it returns, and what it is.
_MOST_WORDS = 3
_BRACKETS = re.compile(r"\([^()]*\)|<[^<>]*>|\[[^\[\]]*\]|\{[^{}]*\}")
_WORTH = re.compile(r"\d")
#: A word behind a place that names what was raised there, or that something was.
_RAISED = re.compile(
    r"(?:\w+[.:])*\w*(?:Error|Exception|Failure|Fault|Warning|[Ff]ailed|[Ff]atal|[Aa]ssert\w*|[Pp]anic\w*|[Aa]borted)$"
)
#: What several words must hold to be one name.
_QUALIFIED = re.compile(r"::|\(|\.\w+$|<")


def frame(line: str) -> Frame | None:
    """The frame that a line shows; None where it is text. `line` is stripped."""
    if " in " in line and (found := _IN_FILE.match(line)):
        return Frame(found["file"], 0, found["function"])
    if not _WORTH.search(line):
        return None
    marked = _MARKER.match(line)
    marker = marked[0].strip() if marked else ""
    place = _place(line)
    if place is None and "!" not in line and not ((marker or line.startswith("pc ")) and _ADDRESS.search(line)):
        return None
    rest = line[marked.end() :] if marked else line
    if place is not None:
        behind = line[place.end() :]
        if line[place.end("file") : place.end("file") + 1] in ('"', "'") and line[place.start("file") - 1] not in "\"'":
            return None  # the rest of a line that was cut
        if quoted := _QUOTED.match(behind):
            return Frame(place["file"], int(place["line"][:9]), quoted["function"])
        if _DIAGNOSIS.match(behind) or _PROGRAM.search(place["file"]):
            return None
        rest = f"{line[marked.end() if marked else 0 : place.start()]} {behind}"
    addressed = _ADDRESS.search(rest) is not None
    symbol = _symbol(_behind_the_address(rest))
    if symbol is None:
        return None
    if place is None and not (symbol and ((addressed and (marker or line.startswith("pc "))) or "!" in line)):
        return None
    if place is None:
        return Frame("", 0, symbol)
    if not marker and symbol.isalpha() and line.startswith(f"{symbol} "):
        return None  # a word of a sentence
    if not symbol and rest.strip(" :.,;()[]\"'") and not (place["file"].endswith(".py") and _RAISED.search(rest)):
        return None
    return Frame(place["file"].replace("\\", "/"), int(place["line"][:9]), symbol)


def _place(line: str) -> re.Match[str] | None:
    """The last place in a line: what stands before it may be what was called."""
    if "." not in line:
        return None
    last = None
    for last in _PLACE.finditer(line):  # noqa: B007
        pass
    return last


def _behind_the_address(rest: str) -> str:
    """What stands behind a frame's address, or before it where nothing does: a module may stand before."""
    found = re.search(r"(?:^|\s)0x[0-9a-fA-F`]+(?: in| -)?\s+(?=\S)", rest)
    return rest[found.end() :] if found else rest


def _symbol(rest: str) -> str | None:
    """The one name that is left of a frame, "" where nothing is left; None where it is a sentence."""
    rest = _LANGUAGE.sub("", rest)
    for pattern in (_LIBRARY, _ADDRESS, _OFFSET, _PACKAGE):
        rest = pattern.sub("", rest.strip())
    before = None
    while before != rest:
        before, rest = rest, _JOINED.sub("", rest.strip()).strip()
    if (rest.startswith("(") and rest.endswith(")") and "::" in rest) or re.fullmatch(r"\([\w.]+\)", rest):
        rest = rest[1:-1]
    rest = _MODULE.sub("", rest).strip("'`\"’‘ ")
    if not rest:
        return ""
    bare = rest
    while (shorter := _BRACKETS.sub("", bare)) != bare:
        bare = shorter
    if len(bare.split()) > _MOST_WORDS or not _NAME.fullmatch(rest):
        return None
    if " " in bare and not _QUALIFIED.search(rest):
        return None
    if _RAISED.fullmatch(rest):
        return ""
    return _ARITY.sub("", rest)
