"""A git repository that plays Apache TVM, and the bot running on it: for the story and for measuring it."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import tvm.relax.frontend.onnx as frontend

from tests.ports import unused

if TYPE_CHECKING:
    from tests.github.support import World

ROOT = Path(__file__).parents[2]
FILE = "python/tvm/relax/frontend/onnx/onnx_frontend.py"
GOOD, BAD = "return relax.op.floor(inputs[0])", "return relax.op.ceil(inputs[0])  # simpler"
COMPILER = """
backend = "tvm"
[provider]
kind = "overlay"
repository = "tvm"
package = "apache-tvm==0.27.0.post1"
branch = "main"
[provider.paths]
"python/tvm/relax/frontend/onnx" = "tvm/relax/frontend/onnx"
[[requires]]
packages = ["onnx"]
"""
CONFIGURATION = """
[server]
host = "localhost"
port = {port}
[github]
api = "{api}"
app_id = {app_id}
private_key_file = "{key}"
webhook_secret_file = "secret"
write_pause = 0
poll_minutes = 0.2
[projects.tvm]
repository = "{repository}"
compiler = "tvm.toml"
fetch = ""
slice = 40
budget = "30m"
triage_budget = "30m"
[projects.tvm.filing]
moderation = false
"""
#: Seconds that a step of the story may take on a busy machine.
PATIENCE = 2400.0

Found = TypeVar("Found")


@dataclass
class Compiler:
    """The git repository that plays the compiler."""

    folder: Path

    def git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self.folder), "-c", "user.name=x", "-c", "user.email=x@example.org", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, message: str, old: str = "", new: str = "") -> str:
        """Commit the frontend with `old` replaced by `new`, or with a line of comment more."""
        path = self.folder / FILE
        text = path.read_text(encoding="utf-8")
        assert not old or text.count(old) == 1
        path.write_text(text.replace(old, new) if old else text + f"\n# {message}\n", encoding="utf-8")
        self.git("add", "-A")
        self.git("commit", "-qm", message)
        return self.git("rev-parse", "HEAD")


def released(folder: Path) -> Compiler:
    """The frontend of the installed TVM as the first commit of a repository."""
    made = Compiler(folder)
    place = made.folder / FILE
    place.parent.mkdir(parents=True)
    for source in Path(str(frontend.__file__)).parent.glob("*.py"):
        shutil.copy(source, place.parent)
    made.git("init", "-q", "-b", "main")
    made.commit("The frontend as it is released")
    return made


@dataclass
class Bot:
    """The running bot in its folder, and the GitHub that it works at. `harmed`: somebody kills its processes."""

    folder: Path
    world: World
    port: int
    harmed: bool = False
    process: subprocess.Popen[bytes] = field(init=False)

    @property
    def log(self) -> Path:
        """What it says."""
        return self.folder / "log"

    def start(self) -> None:
        """Begin, or begin again after an end of whatever kind."""
        configuration = str(self.folder / "graphwarden.toml")
        command = [sys.executable, "-m", "bot.cli", "serve", "--config", configuration, "--plain-logs"]
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "GRAPHWARDEN_REVISIONS": str(self.folder / "revisions"),
        }
        with self.log.open("ab") as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=out, env=environment, cwd=self.folder)
        self.until("listening", lambda: _answers(self.port) and self.children("work") and self.children("post"))

    def stop(self) -> None:
        """End it as a service manager would."""
        self.process.terminate()
        self.process.wait()

    def children(self, name: str) -> list[int]:
        """The processes ``graphwarden NAME`` that the bot has started."""
        found = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        ids = [int(word) for path in found for word in path.read_text().split()]
        return [pid for pid in ids if f"\0{name}\0" in _command(pid)]

    def kill(self, name: str) -> None:
        """End one of its processes as the kernel would."""
        for pid in self.children(name):
            os.kill(pid, signal.SIGKILL)

    def until(self, what: str, look: Callable[[], Found]) -> Found:
        """What `look` finds, once it finds something."""
        deadline = time.monotonic() + PATIENCE
        while not (found := look()):
            ended = self.process.poll() is not None and not self.harmed
            assert not ended, f"the bot ended:\n{self.log.read_text()[-4000:]}"
            assert time.monotonic() < deadline, f"never {what}:\n{self.log.read_text()[-12000:]}"
            time.sleep(0.5)
        return found

    def pushed(self, before: str, after: str) -> None:
        """A push to the branch is delivered."""
        changes: dict[str, Any] = {"ref": "refs/heads/main", "before": before, "after": after, "deleted": False}
        self._delivered("push", "", changes | {"forced": False, "created": False})

    def opened(self, number: int, head: str, base: str) -> None:
        """A pull request of the repository's own is delivered."""
        repository = {"full_name": self.world.repository, "fork": False}
        told = {
            "number": number,
            "draft": False,
            "state": "open",
            "head": {"sha": head, "ref": "change", "repo": repository},
            "base": {"sha": base, "ref": "main", "repo": repository},
        }
        self._delivered("pull_request", "opened", {"number": number, "pull_request": told})

    def _delivered(self, event: str, action: str, changes: dict[str, Any]) -> None:
        """One that nobody took, or that could not be stored in time, the bot fetches from GitHub's list."""
        status = self.world.send(event, action, changes)
        assert status in (202, 503) or (self.harmed and status == 0), status

    def issue(self) -> dict[str, Any]:
        (found,) = self.world.issues()
        return found

    def said(self) -> str:
        """All that the bot has written below the issue."""
        return "\n".join(each["body"] for each in self.world.comments(self.issue()["number"]))


@contextmanager
def running(folder: Path, world: World) -> Iterator[Bot]:
    """The bot on the repository ``tvm`` in a folder, at a GitHub."""
    from tests.github.support import SECRET

    port = unused()
    (folder / "secret").write_bytes(SECRET)
    (folder / "tvm.toml").write_text(COMPILER)
    (folder / "graphwarden.toml").write_text(
        CONFIGURATION.format(
            port=port, api=world.url, app_id=world.app_id, key=world.key_file, repository=world.repository
        )
    )
    world.fake.hook.url = f"http://localhost:{port}/webhook"
    found = Bot(folder, world, port)
    found.start()
    try:
        yield found
    finally:
        found.stop()


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("localhost", port)) == 0


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
