"""Running a reproducer script the way a maintainer would: alone, in a fresh process and folder."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fuzz import confine
from fuzz.zygote import private_environment
from triage.messages import core
from triage.script import confirms
from triage.signature import normalise

#: A reproducer pays for importing its compiler, so it gets more time than a warm case.
SECONDS = 180.0
#: So many lines of an exception's message, without those that all of its kind have, are looked for.
_TELLING = 2
#: Of what a script prints, its beginning and its end are kept: a traceback may end in a message of megabytes.
LONGEST_OUTPUT = 20_000
#: A confined script's home is the folder that it is given; this other one is empty.
_EMPTY = Path("/tmp/empty")


@dataclass(frozen=True)
class Rerun:
    """How the script ended: `status` as subprocess gives it (negative: signal), None when it was stopped."""

    status: int | None
    output: str


_LACKS = re.compile(r"^ModuleNotFoundError: No module named '([\w.]+)'", re.MULTILINE)

#: What a test file is run with, by the runner that it is written for.
RUNNERS = {
    "unittest": (),
    "pytest": ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=native"),
}


def rerun(
    script: str,
    python: str = "",
    seconds: float = SECONDS,
    *,
    runner: str = "unittest",
    variables: Mapping[str, str] | None = None,
    support: Mapping[str, str] | None = None,
    untrusted: bool = False,
) -> Rerun:
    """Execute the script under `python` ("" means our own) with nothing of ours in its environment.

    `runner` ``pytest`` runs the tests that the script defines; `variables` are set in its environment,
    and the files of `support` (name -> text) lie beside it. What `python` has may be anybody's where it is
    `untrusted`: then the script is confined as a worker is (`fuzz.confine`). Raises OSError where nothing can do that.
    """
    with tempfile.TemporaryDirectory(prefix="graphwarden-") as folder:
        home = Path(folder)
        environment = {**private_environment(home), **(variables or {})}
        environment.pop("CI", None)  # a maintainer's shell is none, and PyTorch's tests want further packages there
        path = home / "work" / "test_reproducer.py"
        path.write_text(script, encoding="utf-8")
        for name, text in (support or {}).items():
            path.with_name(name).write_text(text, encoding="utf-8")
        command = [python or sys.executable, "-I", *RUNNERS[runner], path.name]
        try:
            done = subprocess.run(
                _confined(command, home, path.parent) if untrusted else command,
                cwd=path.parent,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired as stopped:
            return Rerun(None, _text(stopped.output))
    # Whoever confines a program tells its signal as a shell does.
    died = untrusted and done.returncode > 128
    return Rerun(128 - done.returncode if died else done.returncode, _text(done.stdout))


def _confined(command: Sequence[str], home: Path, folder: Path) -> list[str]:
    """The command, seeing its interpreter and its own folder alone."""
    read = confine.interpreter_folders(command[0])
    return confine.command(confine.Cage(_EMPTY, read, (home,), processes=True, folder=folder), command)


def reproduces(symptom: str, message: str, found: Rerun) -> bool:
    """Whether the script ended the way the symptom says.

    Beyond `script.confirms`, an exception must show the first two telling lines of its message, up to what differs
    from run to run, so that a script that raises the same class for another reason is not taken for a
    reproducer: every error of OpenVINO's frontends begins alike.
    """
    if found.status is None:
        return symptom.endswith("hang")
    if not confirms(symptom, found.status, found.output):
        return False
    if not symptom.startswith("exception:"):
        return True
    telling = [told for line in core(message).splitlines() if (told := normalise(line))][:_TELLING]
    shown = [normalise(line) for line in (*found.output.splitlines(), *core(found.output).splitlines())]
    return all(any(told[:80] in line for line in shown) for told in telling)


def lacking(found: Rerun) -> str:
    """The package without which the script could not even begin, "" if it had all: that says nothing of the bug."""
    missing = _LACKS.findall(found.output)
    return str(missing[-1]).partition(".")[0] if missing and found.status == 1 else ""


def _text(output: bytes | None) -> str:
    told = output or b""
    if len(told) > 2 * LONGEST_OUTPUT:
        told = told[:LONGEST_OUTPUT] + b"\n[...]\n" + told[-LONGEST_OUTPUT:]
    return told.decode("utf-8", "replace")
