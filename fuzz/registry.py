"""Which backends exist: the files of `fuzz/backends`, or any backend file named by its path."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

BACKENDS = Path(__file__).parent / "backends"
#: Among the allowed values of an option: any text.
ANY = "*"


class UnknownBackend(ValueError):
    """No backend file of that name, or an option that it does not have."""


@dataclass(frozen=True)
class Backend:
    """What the parent knows of a backend without importing its compiler."""

    name: str  # as shown: ``tvm``
    source: str  # what the worker is given: the name, or an absolute path to a ``.py`` file
    packages: tuple[str, ...]
    kinds: tuple[str, ...]
    options: dict[str, tuple[str, ...]]
    variants: tuple[dict[str, str], ...]  # the option sets that a hunt tries
    warmed_kinds: tuple[str, ...]  # the kinds, and ``KIND_VALUE`` of options called like a kind, that it warms for
    uncompiled: dict[str, str] | None  # the options that leave its compiler out, where it can run a case so
    packages_with: dict[str, tuple[str, ...]]  # by ``option=value``: what it needs under that option instead
    uncompiled_with: dict[str, dict[str, str]]  # the same of `uncompiled`
    another_way: dict[str, dict[str, str]]  # by ``option=value``: options by which the same compiler gets the case
    carried: dict[str, str]  # by dtype: the dtype in which the compiler holds it; empty where it holds all as they are
    rewrites: dict[str, str]  # options that rewrite a case before it is compiled -> the value that does not
    on_request: bool  # whether a hunt tries it only where it is named
    reproduce: Callable[..., str] | None

    @property
    def refuses_as(self) -> str:
        """The registered backend whose honest refusals are this one's, too: itself, or one of the same compiler.

        A backend file around a known compiler (the same first package) raises what that one raises. "" for no other.
        """
        if self.source == self.name:
            return self.name
        first = self.packages[:1]
        return next((name for name in names() if first and backend(name).packages[:1] == first), "")

    def warmed(self, kind: str, options: Mapping[str, str]) -> str:
        """Which ``warm_…()`` the parent of the workers for such a case calls: the rest of its name, "" for none."""
        value = options.get(kind) or next(iter(self.options.get(kind, ())), "")
        return next((name for name in (f"{kind}_{value}", kind) if name in self.warmed_kinds), "")

    def packages_under(self, options: Mapping[str, str]) -> tuple[str, ...]:
        """The packages that it needs under these options, the one that gives its version first."""
        return next((self.packages_with[key] for key in _pairs(options) if key in self.packages_with), self.packages)

    def uncompiled_under(self, options: Mapping[str, str]) -> dict[str, str] | None:
        """The options that leave its compiler out under these, None where it cannot run a case so."""
        return next(
            (self.uncompiled_with[key] for key in _pairs(options) if key in self.uncompiled_with), self.uncompiled
        )

    def another_way_under(self, options: Mapping[str, str]) -> dict[str, str] | None:
        """Options by which the compiler gets the same case on another way than under these, None where there is none.

        An option that is not given has its first value.
        """
        settled = {**{key: values[0] for key, values in self.options.items()}, **options}
        return next((self.another_way[key] for key in _pairs(settled) if key in self.another_way), None)

    def unrewritten(self, options: Mapping[str, str]) -> dict[str, str] | None:
        """The same options with no case rewritten, None where none is under these."""
        plain = {key: self.rewrites[key] for key in options if key in self.rewrites}
        changed = any(options[key] != value for key, value in plain.items())
        return {key: value for key, value in options.items() if key not in plain} if changed else None

    def special(self, options: Mapping[str, str]) -> list[str]:
        """The values among these options that need other packages, and so may have an environment of their own."""
        return [key.partition("=")[2] for key in _pairs(options) if key in self.packages_with]

    def settle(self, chosen: dict[str, str]) -> dict[str, str]:
        """`chosen` checked against OPTIONS. Raises UnknownBackend naming what is allowed."""
        for key, value in chosen.items():
            allowed = self.options.get(key)
            if allowed is None:
                known = ", ".join(self.options) or "none"
                raise UnknownBackend(f"backend {self.name} has no option {key!r} (it has: {known})")
            if value not in allowed and ANY not in allowed:
                choice = ", ".join(allowed)
                raise UnknownBackend(f"option {key}={value!r} of backend {self.name} must be one of: {choice}")
        return chosen


def _pairs(options: Mapping[str, str]) -> list[str]:
    return [f"{key}={value}" for key, value in sorted(options.items())]


def names() -> list[str]:
    """Registered backend names, the reference first, then in alphabetical order."""
    found = sorted(path.stem for path in BACKENDS.glob("*.py") if not path.stem.startswith("_"))
    return sorted(found, key=lambda name: name != "reference")


@cache
def backend(name: str) -> Backend:
    """The backend called `name`, or the one in the file `name` (``./faulty.py``).

    Raises UnknownBackend when there is none. Importing a backend file does not import its compiler.
    """
    module, source = _module(name)
    try:
        return Backend(
            name=module.__name__.rpartition(".")[2],
            source=source,
            packages=tuple(module.PACKAGES),
            kinds=tuple(module.KINDS),
            options=dict(module.OPTIONS),
            variants=tuple(getattr(module, "VARIANTS", ({},))),
            warmed_kinds=tuple(sorted(name[5:] for name in dir(module) if name.startswith("warm_"))),
            uncompiled=getattr(module, "UNCOMPILED", None),
            packages_with=dict(getattr(module, "PACKAGES_WITH", {})),
            uncompiled_with=dict(getattr(module, "UNCOMPILED_WITH", {})),
            another_way=dict(getattr(module, "ANOTHER_WAY", {})),
            carried=dict(getattr(module, "CARRIED", {})),
            rewrites=dict(getattr(module, "REWRITES", {})),
            on_request=bool(getattr(module, "ON_REQUEST", False)),
            reproduce=getattr(module, "reproduce", None),
        )
    except AttributeError as error:
        raise UnknownBackend(f"{name} is no backend: {error} (see fuzz/backends/__init__.py)") from error


def _module(name: str) -> tuple[ModuleType, str]:
    if not name.endswith(".py"):
        if name not in names():
            known = ", ".join(names())
            raise UnknownBackend(f"unknown backend {name!r}: choose one of {known}, or a path to a .py file")
        return importlib.import_module(f"fuzz.backends.{name}"), name
    path = Path(name).resolve()
    if not path.is_file():
        raise UnknownBackend(f"backend file {name} does not exist")
    spec = importlib.util.spec_from_file_location(f"fuzz.backends.{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # it is the user's program
        said = (str(error).splitlines() or [""])[0]
        raise UnknownBackend(f"backend file {name} cannot be imported: {type(error).__name__}: {said}") from error
    return module, str(path)
