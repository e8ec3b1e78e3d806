"""What of a compiler's output tells nothing, as data: ``data/signatures/*.toml``, one file per compiler.

Every table is a list of regular expressions, each with the reason for it; those of all files are used together, since
the text of one compiler may quote another's. In the order in which they are applied:

``[[drop]]``      preambles and trailers that every message of a compiler carries
``[[mask]]``      what differs between two runs, machines or tests of one bug, and what is written instead (`by`);
                  ``by = "basename"`` keeps the last part of a path to source code. `common.toml` comes last
``[[wording]]``   what several versions write of one thing in a normalised message, and what is written instead (`by`);
                  only where failures are grouped, since a live signature keeps its words
``[[prefix]]``    how a runner writes exception, file and line before a sentence
``[[passing]]``   names of exceptions that pass on whatever was raised further in: they tell no bug from another
``[[converting]]`` where a message names what was being converted or run, more surely than whoever reported it; `needs`
                  is a text without which the pattern finds nothing, which is far quicker to see
``[[part]]``      the first line of an operator's part of a log of several failures
``[[operator]]``  where a sentence names the operator itself
``[[empty]]``     normalised messages that say no more than that something failed
``[[spoken]]``    normalised messages that a language or its standard library has for a fault in anybody's code
``[[refusal]]``   where a normalised message says that the operator which it names (OP) is not supported
``[[environment]]``  what a normalised message says the machine lacks: whoever asks for it, and for what, is chance
``[[chatter]]``   lines of a trace that are neither frames nor about the failure: headlines, warnings, logs
``[[aside]]``     whole lines of a log that are no message, though somebody took one for it: how a runner ends, advice
``[[ignore]]``    frames that tell nothing, by `file` or `function`, which are alternatives unless both are given;
                  `kind` is panic (how it died), runtime (the language's own), framework (on every path) or reporter
                  (the script that calls the compiler)
``[[shared]]``    frames that many conversions reach, by `file` or `function`: they tell only with who called them
``[[namesake]]``  functions of Python whose name many in one file share: the line of code tells them apart
``[[own]]``       what shows that a frame is of the compiler whose file of rules this is: its `file`, or how the
                  `name` of its function begins, as that of an exception does; `words` of a message that says
                  nothing else; and what it is `called` where its result is compared with another's
``[[end]]``       lines after which a trace shows something else than the compiler's own calls
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from fuzz.data import data_path
from triage.alternation import factored
from triage.prefilter import Filtered, filtered

Replacement = str | Callable[[re.Match[str]], str]
KINDS = ("panic", "runtime", "framework", "reporter")
#: The beginning of a group with a name: of several patterns as one, two may not have the same.
_GROUP = re.compile(r"\(\?P<\w+>")
#: A pattern that is found nowhere.
_NOTHING = r"(?!)"


class RuleError(ValueError):
    """A data file that cannot be used."""


@dataclass(frozen=True, eq=False)
class Kinds:
    """Patterns by kind, one for each and one for all: most texts are of no kind, which one search shows."""

    each: tuple[tuple[str, re.Pattern[str]], ...]
    all: re.Pattern[str]

    def of(self, text: str) -> str:
        """The first kind whose pattern is found, "" if none is."""
        if not self.all.search(text):
            return ""
        return next((kind for kind, pattern in self.each if pattern.search(text)), "")


@dataclass(frozen=True, eq=False)
class Ignored:
    """Which frames tell nothing. Patterns are few alternations: there are far more frames than rules."""

    files: Kinds
    functions: Kinds
    both: tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...]

    def file(self, path: str) -> str:
        """The kind of every frame in a file (forward slashes), "" if none."""
        return self.files.of(path)

    def function(self, name: str) -> str:
        """The kind of a function whatever its file, "" if none; `name` normalised."""
        return self.functions.of(name)

    def within(self, name: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
        """The kinds of a function by the files in which alone it is of them."""
        return tuple((kind, file) for kind, file, function in self.both if function.search(name))


@dataclass(frozen=True, eq=False)
class Owned:
    """Whose a frame, an exception or a word is: patterns with a group for each compiler."""

    files: re.Pattern[str]
    names: re.Pattern[str]
    words: re.Pattern[str]
    called: re.Pattern[str]

    def file(self, path: str) -> str:
        """The compiler whose file it is, "" where nobody's can be told."""
        found = self.files.search(path)
        return (found and found.lastgroup) or ""

    def name(self, name: str) -> str:
        """The compiler whose function or exception it is, "" where nobody's can be told."""
        found = self.names.match(name)  # its beginning: a search would try every place
        return (found and found.lastgroup) or ""

    def compilers(self, text: str) -> frozenset[str]:
        """The compilers that words name."""
        return frozenset(found.lastgroup or "" for found in self.words.finditer(text))

    def accused(self, text: str) -> frozenset[str]:
        """The first compiler that is called by its name, alone; none where there is none."""
        found = self.called.search(text)
        return frozenset((found.lastgroup or "",)) if found else frozenset()


@dataclass(frozen=True)
class Rules:
    """All rules, compiled."""

    drops: tuple[tuple[Filtered, str], ...]
    masks: tuple[tuple[Filtered, Replacement], ...]
    wordings: tuple[tuple[Filtered, Replacement], ...]
    prefixes: tuple[re.Pattern[str], ...]
    any_prefix: re.Pattern[str]
    passing: re.Pattern[str]
    converting: tuple[tuple[str, re.Pattern[str]], ...]
    parts: tuple[re.Pattern[str], ...]
    operators: tuple[re.Pattern[str], ...]
    empty: re.Pattern[str]
    spoken: re.Pattern[str]
    refusal: re.Pattern[str]
    environment: re.Pattern[str]
    chatter: re.Pattern[str]
    aside: re.Pattern[str]
    end: re.Pattern[str]
    namesakes: re.Pattern[str]
    ignored: Ignored
    shared: Ignored
    owned: Owned


@cache
def rules() -> Rules:
    """The rules of the project's data files, read once."""
    return read(data_path("signatures"))


@cache
def compilers() -> frozenset[str]:
    """The compilers that have rules, by the names of their files: folders of their sources are called so."""
    return frozenset(path.stem for path in data_path("signatures").glob("*.toml")) - {"common", "native"}


def read(folder: Path) -> Rules:
    """The rules in a folder. Raises RuleError that names the file and the rule."""
    paths = sorted(folder.glob("*.toml"), key=lambda path: (path.stem == "common", path.name))
    tables = [(path, _table(path)) for path in paths]

    def each(name: str) -> Iterator[tuple[Path, Mapping[str, Any]]]:
        return ((path, rule) for path, table in tables for rule in table.get(name, ()))

    def alternatives(name: str, flags: int = 0, edit: Callable[[str], str] = str) -> re.Pattern[str]:
        return _joined([(path, rule, "pattern") for path, rule in each(name)], lambda each: edit("|".join(each)), flags)

    def replacing(name: str) -> tuple[tuple[Filtered, Replacement], ...]:
        return tuple((filtered(_pattern(path, rule)), _replacement(path, rule)) for path, rule in each(name))

    return Rules(
        drops=tuple((filtered(_pattern(path, rule)), "") for path, rule in each("drop")),
        masks=replacing("mask"),
        wordings=replacing("wording"),
        prefixes=tuple(_pattern(path, rule) for path, rule in each("prefix")),
        any_prefix=alternatives("prefix", edit=partial(_GROUP.sub, "(?:")),
        passing=alternatives("passing"),
        converting=tuple((rule.get("needs", ""), _naming(path, rule)) for path, rule in each("converting")),
        parts=tuple(_naming(path, rule) for path, rule in each("part")),
        operators=tuple(_naming(path, rule) for path, rule in each("operator")),
        empty=alternatives("empty", re.IGNORECASE),
        spoken=alternatives("spoken"),
        refusal=alternatives("refusal", re.IGNORECASE),
        environment=alternatives("environment"),
        chatter=alternatives("chatter"),
        aside=alternatives("aside"),
        namesakes=alternatives("namesake"),
        end=alternatives("end"),
        ignored=_ignored(list(each("ignore"))),
        shared=_frames([(path, {**rule, "kind": "framework"}) for path, rule in each("shared")]),
        owned=Owned(*(_by_compiler(list(each("own")), key) for key in ("file", "name", "words", "called"))),
    )


_TABLES = frozenset(
    """
    drop mask wording prefix passing converting part operator empty spoken refusal environment chatter aside ignore
    shared namesake own end
    """.split()  # noqa: SIM905
)


def _table(path: Path) -> dict[str, list[dict[str, Any]]]:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise RuleError(f"{path}: is not TOML ({error})") from error
    unknown = sorted(table.keys() - _TABLES)
    if unknown:
        raise RuleError(f"{path}: there is no table [[{unknown[0]}]]")
    return table


def _source(path: Path, rule: Mapping[str, Any], key: str) -> str:
    text = rule.get(key)
    if not isinstance(text, str) or not text:
        raise RuleError(f"{path}: a rule without {key}: {dict(rule)}")
    return text


def _pattern(path: Path, rule: Mapping[str, Any], key: str = "pattern") -> re.Pattern[str]:
    text = _source(path, rule, key)
    try:
        return re.compile(text, re.MULTILINE | (re.IGNORECASE if rule.get("ignore_case") else 0))
    except re.error as error:
        raise RuleError(f"{path}: {text!r} is no regular expression ({error})") from error


def _joined(
    rules: Sequence[tuple[Path, Mapping[str, Any], str]], join: Callable[[list[str]], str], flags: int = 0
) -> re.Pattern[str]:
    """The patterns of rules as one. Each alone is compiled only where the one cannot be, to tell which is to blame."""
    try:
        return re.compile(join([_source(*rule) for rule in rules]) or _NOTHING, flags)
    except (re.error, IndexError):
        for rule in rules:
            _pattern(*rule)
        raise


def _by_compiler(found: Sequence[tuple[Path, Mapping[str, Any]]], key: str) -> re.Pattern[str]:
    """One pattern with a group for each file of rules, which is a compiler's."""
    groups = [f"(?P<{path.stem}>" for path, _ in found]
    return _joined(
        [(path, rule, key) for path, rule in found],
        lambda texts: "|".join(f"{group}{text})" for group, text in zip(groups, texts, strict=True)),
    )


def _naming(path: Path, rule: Mapping[str, Any]) -> re.Pattern[str]:
    """A pattern whose group `operator` is what it finds."""
    pattern = _pattern(path, rule)
    if "operator" not in pattern.groupindex:
        raise RuleError(f"{path}: the pattern names no group operator: {dict(rule)}")
    return pattern


def _replacement(path: Path, rule: Mapping[str, Any]) -> Replacement:
    by = rule.get("by")
    if not isinstance(by, str):
        raise RuleError(f"{path}: a mask without by: {dict(rule)}")
    return _basename if by == "basename" else by


_SOURCES = frozenset("c cc cpp cxx cu cuh h hh hpp hxx inl mlir py pxi pyx rs td so dll dylib lib".split())  # noqa: SIM905


def _basename(path: re.Match[str]) -> str:
    """The last part of a path to source or a library; another file or a node's long name tells nothing.

    What only looks like a path (and/or) stays.
    """
    parts = re.split(r"[/\\]", path[0])
    stem, dot, extension = parts[-1].strip(".").rpartition(".")
    if dot and stem and extension in _SOURCES:
        return parts[-1]
    if dot and stem and extension.isalnum():
        return "FILE"
    return "NAME" if len(parts) > 2 or any(sign.isdigit() for sign in path[0]) else path[0]


def _ignored(found: Sequence[tuple[Path, Mapping[str, Any]]]) -> Ignored:
    for path, rule in found:
        if rule.get("kind") not in KINDS:
            raise RuleError(f"{path}: kind is one of {', '.join(KINDS)}: {dict(rule)}")
    return _frames(found)


def _frames(found: Sequence[tuple[Path, Mapping[str, Any]]]) -> Ignored:
    for path, rule in found:
        if not rule.get("file") and not rule.get("function"):
            raise RuleError(f"{path}: a rule for frames needs file or function: {dict(rule)}")
    return Ignored(_alternatives(found, "file", "function"), _alternatives(found, "function", "file"), _both(found))


def _alternatives(found: Sequence[tuple[Path, Mapping[str, Any]]], key: str, without: str) -> Kinds:
    """For each kind one pattern of all rules that have `key` alone."""
    of: dict[str, list[tuple[Path, Mapping[str, Any], str]]] = {kind: [] for kind in KINDS}
    for path, rule in found:
        if key in rule and without not in rule:
            of[rule["kind"]].append((path, rule, key))
    every = [rule for together in of.values() for rule in together]
    return Kinds(
        tuple((kind, _joined(together, factored)) for kind, together in of.items() if together),
        _joined(every, factored),
    )


def _both(
    found: Sequence[tuple[Path, Mapping[str, Any]]],
) -> tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...]:
    both = [(path, rule) for path, rule in found if "file" in rule and "function" in rule]
    return tuple((rule["kind"], _pattern(path, rule, "file"), _pattern(path, rule, "function")) for path, rule in both)
