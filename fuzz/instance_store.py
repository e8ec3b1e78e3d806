"""Files of operator instances: JSON Lines, one instance a line, each under an id made of its content.

The format is described in docs/instances.md. A line is the content (the canonical form of the instance, with
neither version nor source) followed by what is told about it: the id, the library's version, the source and the
flags. So a line written here is checked by hashing a part of its own bytes, and its JSON is read when it is wanted.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import IO, Any, cast

from fuzz import instance as instances
from fuzz import instance_names, instance_onnx
from fuzz.case import Case, Origin, canonical_json

#: Flags: a result that differs from run to run; a result that float64 and the recorded dtype disagree about.
NONDETERMINISTIC, ILL_CONDITIONED = "nondeterministic", "ill-conditioned"
FLAGS = (NONDETERMINISTIC, ILL_CONDITIONED)
#: The keys of a line that tell about the instance and are no part of it.
TOLD = ("comment", "flags", "id", "source", "version")
_TAIL = b',"id":"'
_API = b'{"api":"'
_SPELLED = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}


class StoreError(ValueError):
    """A file of instances that cannot be used; one line saying what, where and how to mend it."""


@dataclass(frozen=True)
class Source:
    """Where an instance comes from: the kind (``pytorch-opinfo``, ``pytest`` …) and the test within it."""

    kind: str
    test: str = ""


@dataclass(frozen=True)
class Stored:
    """One instance of a file. `content` is canonical JSON; `id` is 16 hex digits of its hash.

    `id` is the id of the instance's `Case`, too, except for the library ``onnx``, whose cases are models.
    """

    id: str
    content: bytes = field(repr=False)
    source: Source
    version: str = ""
    flags: tuple[str, ...] = ()

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """The content as JSON: ``library``, ``api`` (``op_type`` for onnx), ``args``, ``kwargs``, ``tensors`` …"""
        document: dict[str, Any] = json.loads(self.content)
        return document

    @property
    def library(self) -> str:
        """The library whose operator is called: ``torch``, ``keras``, ``onnx``."""
        return str(self.document.get("library", "torch"))

    @property
    def operator(self) -> str:
        """The operator's public name, e.g. ``torch.nn.functional.conv2d`` or ``Conv``."""
        document = self.document
        return str(document["op_type"] if "op_type" in document else document["api"])

    def case(self, origin: Origin) -> Case:
        """The instance as a case for the compilers. The id of the case is that of the instance."""
        return Case(instances.kind_of(self.content), self.content, {}, origin)


def content_id(content: bytes) -> str:
    """The id of an instance of this canonical content: 16 hex digits, those of its `Case`."""
    return Case(instances.kind_of(content), content, {}, Origin("")).id


def content_of(document: Mapping[str, Any]) -> bytes:
    """The canonical content of an instance given as JSON; what only tells about it is left out.

    Raises fuzz.instance.InstanceError for what is no instance.
    """
    if document.get("library") == "onnx":
        instance_onnx.check(document)
        return canonical_json({key: value for key, value in document.items() if key not in TOLD})
    if "op_type" in document:
        raise instances.InstanceError('has op_type, so it is of ONNX and needs "library": "onnx" (docs/instances.md)')
    rest = {key: value for key, value in document.items() if key not in ("id", "flags", "source")}
    return instances.canonical(replace(instances.parse(json.dumps(rest)), version=""))


def stored(
    document: Mapping[str, Any], source: Source, flags: Iterable[str] = (), version: str | None = None
) -> Stored:
    """An instance given as JSON, ready to be written. Raises fuzz.instance.InstanceError."""
    content = content_of(document)
    told = str(document.get("version", "")) if version is None else version
    return Stored(content_id(content), content, source, told, tuple(sorted(flags)))


# ---------------------------------------------------------------- reading


def load(path: Path) -> list[Stored]:
    """Every instance of a file, in its order. Ids are checked against the content. Raises StoreError."""
    return list(read(path))


def read(path: Path) -> Iterator[Stored]:
    """The instances of a file (``.gz``: compressed) one by one; equal ones after the first are left out.

    Raises StoreError that names the line.
    """
    if path.is_dir():
        raise StoreError(f"{path}: is a folder, not a file of instances")
    seen: set[str] = set()
    try:
        with _opened(path) as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    found = _line(line.strip(), f"{path}:{number}")
                    if found.id not in seen:
                        seen.add(found.id)
                        yield found
    except FileNotFoundError as error:
        raise StoreError(f"{path}: no such file") from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise StoreError(f"{path}: is no whole gzip file ({error}); write it again") from error
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}") from error


def _opened(path: Path) -> IO[bytes]:
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]


def _line(line: bytes, where: str) -> Stored:
    """A line as `write` made it, told by its hash; any other line is read as an instance that a person wrote."""
    if told := as_written(line):
        content = line[: line.rfind(_TAIL)] + b"}"
        return _told(told, content, told["id"], where)
    given = document(line, where)
    try:
        content = content_of(given)
        name = content_id(content)
        if given.get("id", name) != name:
            raise StoreError(f"{where}: the id {given['id']!r} is not that of the instance ({name}); leave it out")
        check(given)
    except instances.InstanceError as error:
        raise StoreError(f"{where}: {error}") from error
    return _told(given, content, name, where)


def as_written(line: bytes) -> dict[str, Any] | None:
    """What a line tells about its instance if it is as `line` makes it and its id is that of its content; else None."""
    cut = line.rfind(_TAIL)
    if cut <= 0:
        return None
    content = line[:cut] + b"}"
    try:
        told: dict[str, Any] = json.loads(b"{" + line[cut + 1 :], parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None
    return told if told.get("id") == content_id(content) and _names_operator(content) else None


def _names_operator(content: bytes) -> bool:
    """Whether canonical content begins with the name of an operator that its library has (not so for ONNX)."""
    if not content.startswith(_API):
        return False
    api = content[len(_API) : content.find(b'"', len(_API))].decode("utf-8", "replace")
    return api in instance_names.listed("keras" if instances.kind_of(content) == "keras" else "torch")


def document(line: bytes, where: str) -> dict[str, Any]:
    """The JSON object of a line. Raises StoreError, which begins with `where`, for anything else."""
    try:
        # Decoded first: of bytes, Python guesses the encoding.
        found = json.loads(line.decode(), parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise StoreError(f"{where}: is not JSON: {error.msg.lower()} at column {error.colno}") from error
    except UnicodeDecodeError as error:
        raise StoreError(f"{where}: is not UTF-8 text; write the file again") from error
    except RecursionError as error:
        raise StoreError(f"{where}: is nested too deeply to be an instance") from error
    except _NoJson as error:
        raise StoreError(f"{where}: {error}") from error
    except ValueError as error:  # a whole number of thousands of digits
        raise StoreError(f"{where}: is not JSON that can be read: {error}") from error
    if not isinstance(found, dict):
        raise StoreError(f"{where}: is not a JSON object")
    return found


def check(document: Mapping[str, Any]) -> bytes:
    """The canonical content of an instance whose operator is one of its library. Raises fuzz.instance.InstanceError."""
    content = content_of(document)
    if document.get("library") != "onnx":
        instance_names.check(str(document.get("library", "torch")), document["api"])
    return content


class _NoJson(ValueError):
    """A word that Python's parser takes and JSON does not have."""


def _no_constant(word: str) -> Any:
    raise _NoJson(f'is not JSON: {word} is no JSON value; write {{"float": "{_SPELLED[word]}"}}')


def _told(document: Mapping[str, Any], content: bytes, name: str, where: str) -> Stored:
    source, flags = document.get("source", {}), document.get("flags", [])
    if not isinstance(source, dict) or not all(isinstance(source.get(key, ""), str) for key in ("kind", "test")):
        raise StoreError(f'{where}: source must be {{"kind": "…", "test": "…"}}')
    unknown = [flag for flag in flags if flag not in FLAGS] if isinstance(flags, list) else [flags]
    if unknown:
        raise StoreError(f"{where}: unknown flag {unknown[0]!r} (known: {', '.join(FLAGS)})")
    origin = Source(source.get("kind", ""), source.get("test", ""))
    return Stored(name, content, origin, str(document.get("version", "")), tuple(flags))


# ---------------------------------------------------------------- writing


def line(instance: Stored) -> bytes:
    """The line of an instance in a file, without the newline."""
    told: dict[str, Any] = {"id": instance.id}
    if instance.version:
        told["version"] = instance.version
    told["source"] = {"kind": instance.source.kind, "test": instance.source.test}
    if instance.flags:
        told["flags"] = list(instance.flags)
    tail = json.dumps(told, separators=(",", ":"), ensure_ascii=False).encode()
    return instance.content[:-1] + b"," + tail[1:]


def thinned(instances: Iterable[Stored], most: int) -> list[Stored]:
    """At most so many instances of every operator, in their order: those of the smallest ids, which is a fair draw."""
    found = {each.id: each for each in instances}
    groups: dict[str, list[str]] = {}
    for each in found.values():
        groups.setdefault(each.operator, []).append(each.id)
    kept = {name for group in groups.values() for name in sorted(group)[:most]}
    return [each for name, each in found.items() if name in kept]


class Writer(AbstractContextManager["Writer"]):
    """Writes a file of instances, each content once. The file appears whole, or (after an exception) not at all."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._part = path.with_name(f".{path.name}.part")
        self._closing = ExitStack()
        file: IO[bytes] = self._closing.enter_context(self._part.open("wb"))
        if path.suffix == ".gz":
            # No time stamp and no name: the same instances give the same bytes.
            packed = gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0)
            file = cast(IO[bytes], self._closing.enter_context(closing(packed)))
        self._file = file
        self._seen: set[str] = set()
        self.operators: Counter[str] = Counter()
        self.sources: Counter[str] = Counter()
        self.flags: Counter[str] = Counter()
        self.duplicates = 0

    def __len__(self) -> int:
        return len(self._seen)

    def add(self, instance: Stored) -> bool:
        """Write an instance, unless the file has its content; say whether it was written."""
        if instance.id in self._seen:
            self.duplicates += 1
            return False
        self._seen.add(instance.id)
        self._file.write(line(instance) + b"\n")
        self.operators[instance.operator] += 1
        self.sources[instance.source.kind] += 1
        self.flags.update(instance.flags)
        return True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.close()
        if kind is None:
            self._part.replace(self._path)
        else:
            self._part.unlink(missing_ok=True)
