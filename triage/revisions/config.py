"""The configuration of one compiler: a TOML file that says where its builds come from (docs/revisions.md)."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from fuzz import registry
from fuzz.data import data_path
from triage.revisions import providers
from triage.revisions.kinds import Kind, flag, text, texts

_TOP = {"backend", "options", "python", "untrusted", "provider", "requires"}
_REQUIRES = {"packages", "versions", "why"}


class BadConfiguration(ValueError):
    """A configuration that cannot be used: what is wrong, in which file, and what would be right."""


@dataclass(frozen=True)
class Requires:
    """Packages beside the compiler, for all of its versions or for some."""

    packages: tuple[str, ...]
    versions: SpecifierSet = field(default_factory=SpecifierSet)


@dataclass(frozen=True)
class Compiler:
    """One compiler as configured. `python` is the interpreter its environments are made from ("": our own).

    `untrusted`: its workers run confined (`fuzz.confine`), as code of a pull request must.
    """

    name: str
    backend: str
    options: Mapping[str, str]
    provider: str
    settings: Mapping[str, object]
    python: str
    untrusted: bool
    requires: tuple[Requires, ...]
    source: Path

    def text(self, key: str, default: str = "") -> str:
        """A setting of the provider as text."""
        return str(self.settings.get(key, default))

    def texts(self, key: str) -> tuple[str, ...]:
        """A setting of the provider that is a list of texts."""
        found = self.settings.get(key, ())
        return tuple(str(item) for item in found) if isinstance(found, list | tuple) else (str(found),)

    def path(self, key: str) -> Path:
        """A setting that names a place; relative ones count from the configuration file."""
        return (self.source.parent / Path(self.text(key)).expanduser()).resolve()


def names() -> list[str]:
    """The compilers that have a configuration: those that come with Graphwarden and the user's own."""
    return sorted({path.stem for folder in _folders() for path in folder.glob("*.toml")})


def load(name_or_path: str) -> Compiler:
    """The compiler called `name_or_path`, or configured in that file. Raises BadConfiguration."""
    path = _path(name_or_path)
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadConfiguration(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    except tomllib.TOMLDecodeError as error:
        raise BadConfiguration(f"{path}: no TOML: {error}") from error
    return _compiler(path, told)


def _folders() -> list[Path]:
    """Where configurations lie, the user's own first."""
    own = os.environ.get("GRAPHWARDEN_COMPILERS")
    return [*([Path(own)] if own else []), data_path("compilers")]


def _path(name_or_path: str) -> Path:
    if name_or_path.endswith(".toml"):
        return Path(name_or_path).expanduser().resolve()
    for folder in _folders():
        path = folder / f"{name_or_path}.toml"
        if path.is_file():
            return path.resolve()
    known = ", ".join(names())
    raise BadConfiguration(f"no configuration of a compiler {name_or_path!r}: choose one of {known}, or a .toml file")


def _compiler(path: Path, told: Mapping[str, object]) -> Compiler:
    _only(path, "", told, _TOP)
    settings = _table(path, told, "provider")
    kind = str(settings.get("kind", ""))
    module = _provider(path, kind)
    _only(path, "provider.", settings, {"kind", *module.SETTINGS})
    for key, value in settings.items():
        _must(path, f"provider.{key}", value, module.SETTINGS.get(key, text))
    _must(path, "untrusted", told.get("untrusted", False), flag)
    missing = sorted(key for key in module.NEEDED if key not in settings)
    if missing:
        raise BadConfiguration(f"{path}: provider {kind!r} needs {missing[0]!r} (docs/revisions.md)")
    name = str(told.get("backend", path.stem))
    try:
        backend = registry.backend(name if not name.endswith(".py") else str((path.parent / name).resolve()))
        options = backend.settle({key: str(value) for key, value in _table(path, told, "options").items()})
    except registry.UnknownBackend as error:
        raise BadConfiguration(f"{path}: {error}") from error
    python = str(told.get("python", ""))
    if python and "/" in python:
        python = str((path.parent / Path(python).expanduser()).absolute())
    return Compiler(
        name=path.stem,
        backend=backend.source,
        options=options,
        provider=kind,
        settings=settings,
        python=python,
        untrusted=bool(told.get("untrusted", module.UNTRUSTED)),
        requires=_requires(path, told.get("requires", [])),
        source=path,
    )


def _provider(path: Path, kind: str) -> ModuleType:
    try:
        return providers.load(kind)
    except providers.UnknownProvider as error:
        raise BadConfiguration(f"{path}: {error}") from error


def _table(path: Path, told: Mapping[str, object], key: str) -> Mapping[str, object]:
    found = told.get(key, {})
    if not isinstance(found, dict):
        raise BadConfiguration(f"{path}: {key!r} must be a table")
    return found


def _must(path: Path, key: str, value: object, be: Kind) -> None:
    try:
        be(value)
    except ValueError as error:
        raise BadConfiguration(f"{path}: {key} is {repr(value)[:100]}: it must be {error}") from error


def _only(path: Path, where: str, told: Mapping[str, object], allowed: set[str]) -> None:
    unknown = sorted(set(told) - allowed)
    if unknown:
        raise BadConfiguration(f"{path}: unknown key {where}{unknown[0]} (known: {', '.join(sorted(allowed))})")


def _requires(path: Path, told: object) -> tuple[Requires, ...]:
    if not isinstance(told, list) or not all(isinstance(entry, dict) for entry in told):
        raise BadConfiguration(f"{path}: 'requires' must be an array of tables: [[requires]] packages = [...]")
    found = []
    for entry in told:
        _only(path, "requires.", entry, _REQUIRES)
        _must(path, "requires.packages", entry.get("packages", ["numpy"]), texts)
        try:
            packages = tuple(str(Requirement(str(text))) for text in entry.get("packages", []))
            found.append(Requires(packages, SpecifierSet(str(entry.get("versions", "")), prereleases=True)))
        except (InvalidRequirement, InvalidSpecifier) as error:
            raise BadConfiguration(f"{path}: requires: {' '.join(str(error).split())}") from error
    return tuple(found)
