"""What Schemathesis makes of the interface's own description: every answer, to good and to odd requests, is as told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.bot.pages.conftest import served
from tests.bot.pages.door import Browser, appoint
from triage.store import open_store

#: So many drawn requests of each operation, besides those at the bounds of each parameter.
EXAMPLES = 15


def schemathesis(site: str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    program = "from schemathesis.cli import schemathesis; schemathesis()"
    asked = ("run", f"{site}/api/v1/openapi.json", "--checks", "all", "--max-examples", str(EXAMPLES))
    command = [sys.executable, "-c", program, *asked, "--generation-deterministic", "--no-color", *options]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)


def test_every_answer_is_one_that_the_description_tells(site: str, tmp_path: Path) -> None:
    done = schemathesis(site, tmp_path)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "Tested: 9" in done.stdout and "GET /api/v1/queue" in done.stdout.partition("Authentication failed")[2]


def test_so_is_every_answer_to_a_moderator(database: Path, tmp_path: Path) -> None:
    with open_store(database, create=False) as store:
        secret = appoint(store, "ada")["ada"]
    with served(database) as site:
        browser = Browser(site)
        assert browser.sign_in("ada", secret).status_code == 303
        cookies = "; ".join(f"{each.name}={each.value}" for each in browser.session.cookies)
        done = schemathesis(site, tmp_path, "--include-path", "/api/v1/queue", "-H", f"Cookie: {cookies}")
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "Tested: 1" in done.stdout and "Authentication failed" not in done.stdout
