"""From a bug in the store to its report: gathers the facts, and writes the files a person reads."""

from __future__ import annotations

import getpass
import importlib.metadata
import os
import platform
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from fuzz import instance, registry
from fuzz.case import Failure
from fuzz.lane import Limits
from fuzz.wire import dtype_name
from triage import report
from triage.messages import core
from triage.operators import node_count
from triage.records import Bug, StoredDraft
from triage.signing import Signer
from triage.store import Store

_MOST_EXAMPLES = 6


class CannotDraft(ValueError):
    """No reproducer can be written for this failure; the message says why."""


def write(
    store: Store, bug: Bug, failure: Failure, limits: Limits, signer: Signer, perturb: int | None = None
) -> StoredDraft:
    """The report of a bug, from its reduced failure and what else the store knows of it.

    `perturb` is the byte that fresh memory must be filled with for the bug to show. Raises CannotDraft
    where no reproducer can be written.
    """
    snippet = _snippet(bug, failure)
    backend = registry.backend(bug.backend)
    described = signer.describe(failure)
    assert bug.best_failure_id is not None
    original = store.failure(bug.best_failure_id).failure
    facts = report.Facts(
        case=failure.case,
        target=failure.target,
        outcome=failure.outcome,
        reference=failure.reference,
        symptom=failure.symptom,
        detail=failure.detail if failure.oracle == "inconsistency" else _shown(core(failure.detail)),
        why=described.why,
        fingerprint=bug.fingerprint,
        snippet=snippet,
        conversion_function=described.conversion_function,
        operators=described.operators,
        count=bug.count,
        examples=_examples(store, bug),
        versions=_versions(failure, backend.packages),
        machine=_machine(),
        reduced_from=node_count(original.case),
        timeout=limits.seconds,
        memory_mb=limits.memory_mb if failure.symptom == "oom" else 0,
        environment={} if perturb is None else {"MALLOC_PERTURB_": str(perturb)},
        private=_private_words(),
    )
    text = report.draft(facts)
    return StoredDraft(text.title, text.body, text.script, text.labels)


def _snippet(bug: Bug, failure: Failure) -> str:
    backend = registry.backend(bug.backend)
    if backend.reproduce is None:
        raise CannotDraft(f"no report without reproduce() in the backend file of {backend.name}")
    try:
        return backend.reproduce(failure.case.kind, dict(failure.target.options), _dtypes(failure))
    except ValueError as error:
        raise CannotDraft(f"no reproducer: {error}") from error


def _dtypes(failure: Failure) -> set[str]:
    """The dtypes of a case's inputs and outputs: some need more lines in a script than others."""
    values = [*failure.case.inputs.values(), *(value for _, value in failure.outcome.outputs)]
    if failure.reference:
        values += [value for _, value in failure.reference.outputs]
    if failure.case.kind == "instance":
        values += instance.tensors(instance.parse(failure.case.model))
    return {dtype_name(value) for value in values}


def _shown(message: str) -> str:
    """The first sentence or two of a long message."""
    flat = " ".join(message.split())
    return flat if len(flat) <= 300 else flat[:299].rsplit(" ", 1)[0] + " …"


def _examples(store: Store, bug: Bug) -> tuple[str, ...]:
    names = [f"{origin.test} ({origin.variant})" for origin in store.origins(bug.id)]
    return tuple(dict.fromkeys(names))[:_MOST_EXAMPLES]


def _versions(failure: Failure, packages: Sequence[str]) -> dict[str, str]:
    wanted = [*packages, "torch", "numpy"] if failure.case.kind == "instance" else [*packages, "onnx", "numpy"]
    versions = {name: _version(name) for name in dict.fromkeys(wanted)}
    if packages and failure.target.revision.python:
        versions[packages[0]] = failure.target.revision.version
    return {name: version for name, version in versions.items() if version}


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


@cache
def _machine() -> dict[str, str]:
    return {
        "OS": _distribution(),
        "CPU": f"{platform.machine()}{_cpu_model()}",
        "Python": platform.python_version(),
    }


def _distribution() -> str:
    try:
        name = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        name = platform.system()
    return f"{name}, Linux {platform.release().split('-')[0]}" if platform.system() == "Linux" else name


def _cpu_model() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return ""
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return f", {found.group(1)}" if found else ""


def _private_words() -> tuple[str, ...]:
    """Host and user names, which no report may hold; words too short to be told from others stay."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container may have no name for its user
        user = os.environ.get("USER", "")
    return tuple(word for word in (platform.node(), user) if len(word) > 3)


def save(folder: Path, bug: Bug, text: StoredDraft) -> Path:
    """Write ``NNN-slug.md`` and the reproducer ``NNN-slug.py`` below `folder`; returns the report's path."""
    slug = re.sub(r"[^a-z0-9]+", "-", text.title.lower()).strip("-")[:60].strip("-")
    home = folder / Path(bug.backend).stem
    home.mkdir(parents=True, exist_ok=True)
    path = home / f"{bug.id:04d}-{slug}.md"
    for stale in home.glob(f"{bug.id:04d}-*"):
        stale.unlink()
    path.with_suffix(".py").write_text(text.script, encoding="utf-8")
    path.write_text(f"# {text.title}\n\n{text.body}", encoding="utf-8")
    return path


def index(folder: Path, bugs: Sequence[Bug]) -> Path:
    """Write ``README.md``: one line a draft, the most frequent first."""
    drafted = sorted((bug for bug in bugs if bug.report_path), key=lambda bug: (bug.backend, -bug.count, bug.id))
    lines = ["# Drafted reports", "", "| bug | compiler | failing cases | nodes | report |", "|---|---|---|---|---|"]
    for bug in drafted:
        link = os.path.relpath(str(bug.report_path), folder)
        title = (bug.title or "").replace("|", "\\|").replace("[", "\\[").replace("]", "\\]")
        compiler = f"{Path(bug.backend).stem} {bug.revision}"
        lines.append(f"| {bug.id} | {compiler} | {bug.count} | {bug.nodes or ''} | [{title}]({link}) |")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "README.md"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
