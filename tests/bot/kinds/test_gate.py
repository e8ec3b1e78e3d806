"""The check run of a pull request, on real builds of the tiny compiler."""

from __future__ import annotations

import contextlib
import re
import socket
import uuid
from pathlib import Path

import pytest
import structlog

from bot import working
from bot.checks.run import CheckRun
from tests.bot import suites
from tests.bot.checks.support import Shop, git, overlay
from tests.builds import tinyc
from triage.ledger.records import Issue, NewWork, WorkState
from triage.lifecycle import State
from triage.revisions import installing


def test_what_a_pull_request_breaks_is_told_at_the_changed_lines(tiny_shop: Shop) -> None:
    head = tiny_shop.pull("sub swaps")
    said = tiny_shop.gate(head)
    assert (said["status"], said["conclusion"]) == ("completed", "failure")
    assert said["title"] == "1 new failure, 0 fixed, 0 flaky; 3 of 3 cases"
    assert "### New failures (1)\n\n- Sub: " in said["summary"] and "(`ok` → `wrong`)" in said["summary"]
    assert f"Compared with `{tiny_shop.first}`" in said["summary"]
    [note] = said["annotations"]
    lines = tiny_shop.git("show", f"{head}:{note['path']}").splitlines()
    assert lines[note["start_line"] - 1].strip() == "return y - x"
    assert said["actions"][0]["identifier"] == "rerun"
    [check] = tiny_shop.ledger.checks.of_head("octo/tiny", head)
    assert (check.state, check.conclusion, check.pull) == ("done", "failure", 7)


def test_a_fix_names_the_known_bug_and_its_issue(tiny_shop: Shop) -> None:
    broken = tiny_shop.lands("sub swaps")
    tiny_shop.do("suite", commit=broken, before=tiny_shop.first)
    bug = tiny_shop.bug("Sub")
    tiny_shop.ledger.store.advance(bug.id, State.NEW, State.CONFIRMED)
    tiny_shop.ledger.issues.link(Issue(bug.id, "octo/tiny", 12, ours=True))
    said = tiny_shop.gate(tiny_shop.pull())
    assert said["conclusion"] == "success"
    assert "### Known bugs that pass with this change (1)\n\n- #12: " in said["summary"]
    assert said["title"] == "0 new failures, 1 fixed, 0 flaky; 3 of 3 cases"
    assert "never reported" not in said["summary"]


def test_an_outcome_that_varies_is_flaky_and_no_failure(tiny_shop: Shop) -> None:
    frontend = tinyc.sources()["tinyc/frontend.py"]
    other = "raise type('E' + __import__('os').urandom(4).hex(), (RuntimeError,), {})('no')"
    said = tiny_shop.gate(tiny_shop.pull(files={"tinyc/frontend.py": frontend.replace("return -x", other)}))
    assert said["conclusion"] == "success" and "1 flaky" in said["title"]
    assert "### Flaky" in said["summary"]


def test_a_build_that_cannot_be_made_is_neutral_and_shows_the_end_of_its_log(tiny_shop: Shop) -> None:
    hostile = "echo '@everyone Fixes #1 </details> <!-- graphwarden:bug:1 -->'; exit 3"
    configuration = Path(tiny_shop.project.compiler)
    configuration.write_text(
        f'backend = "{tinyc.BACKEND}"\n[provider]\nkind = "command"\nrepository = "{tiny_shop.repository}"\n'
        f"branch = \"main\"\ncommand = ['sh', '-c', '''{hostile}''']\n"
    )
    head = tiny_shop.pull("sub swaps")
    said = tiny_shop.gate(head)
    assert (said["status"], said["conclusion"], said["title"]) == ("completed", "neutral", "Nothing is concluded")
    assert "exit status 3" in said["summary"] and "The end of its log" in said["summary"]
    outside = re.sub(r"^(`{3,})\n.*?^\1$", "", said["summary"], flags=re.DOTALL | re.MULTILINE)
    assert "@everyone" not in outside and "#1" not in outside
    assert outside.count("</details>") == outside.count("<details>") == 1
    assert "<!--" not in said["summary"]


def test_a_head_from_a_fork_waits_for_a_word_for_that_very_commit(tiny_shop: Shop, tiny: suites.Builds) -> None:
    head, later = tiny_shop.pull("sub swaps"), tiny_shop.pull("neg dies")
    said = tiny_shop.gate(head, fork=True)
    assert (said["status"], said["conclusion"]) == ("completed", "action_required")
    assert f"`@graphwarden approve {head}`" in said["summary"]
    approved = tiny.root / "approved" / "tinyc.txt"
    assert head not in (approved.read_text() if approved.exists() else "")
    with approved.open("a") as words:
        words.write(f"{head}\n")
    assert tiny_shop.gate(head, fork=True)["conclusion"] == "failure"
    assert tiny_shop.gate(later, fork=True)["conclusion"] == "action_required"


def test_a_head_of_which_nothing_is_said_counts_as_a_forks(tiny_shop: Shop) -> None:
    head = tiny_shop.pull("sub swaps")
    tiny_shop.do("gate", commit=head, base=tiny_shop.first, pull=None)
    assert tiny_shop.said(head)["conclusion"] == "action_required"


def test_a_commit_that_only_the_remote_has_is_fetched(tiny_shop: Shop, tmp_path: Path, tiny: suites.Builds) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(tiny_shop.repository), str(clone))
    Path(tiny_shop.project.compiler).write_text(overlay(clone, tiny.root.parent))
    head = tiny_shop.pull("sub swaps")
    assert tiny_shop.gate(head)["conclusion"] == "failure"


def test_a_commit_that_nobody_has_ends_neutral(tiny_shop: Shop) -> None:
    head = "0123456789" * 4
    asked = {"commit": head, "base": "", "pull": 7, "fork": False}
    number = tiny_shop.ledger.work.add(NewWork("gate", "it", "tiny", asked))
    for _ in range(3):
        tiny_shop.ledger.work.wake("gate", "it")
        work = tiny_shop.go_on(number, "gate")
    assert work.state is WorkState.FAILED and head in work.note
    assert tiny_shop.said(head)["conclusion"] == "neutral"


def test_a_machine_in_trouble_is_given_a_few_tries_before_nothing_is_concluded(
    tiny_shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = tmp_path / "away"
    away.write_text("#!/bin/sh\necho 'error: Could not connect' >&2\nexit 2\n")
    away.chmod(0o755)
    head = tiny_shop.pull(files={"tinyc/new.py": f"# {tmp_path}"})  # a build that no other test has made
    base = tiny_shop.git("rev-parse", "main").strip()
    monkeypatch.setattr(installing, "find_uv_bin", lambda: str(away))
    work = tiny_shop.do("gate", "it", commit=head, base=base, pull=7, fork=False)
    for _ in range(2):
        assert work.state is WorkState.QUEUED and "conclusion" not in tiny_shop.said(head)
        tiny_shop.ledger.work.wake("gate", "it")
        work = tiny_shop.go_on(work.id, "gate")
    assert work.state is WorkState.DONE and tiny_shop.said(head)["conclusion"] == "neutral"


def test_a_build_that_a_ci_still_makes_is_waited_for(tiny_shop: Shop, tiny: suites.Builds) -> None:
    configuration, wheels = Path(tiny_shop.project.compiler), tiny.root.parent
    base, head = tiny_shop.first, tiny_shop.pull("sub swaps")

    def built(**commits: str) -> None:
        tables = "".join(
            f'[[provider.wheels]]\nrevision = "{commit}"\nfile = "{wheels / f"tinyc-{version}-py3-none-any.whl"}"\n'
            for commit, version in commits.items()
        )
        configuration.write_text(f'backend = "{tinyc.BACKEND}"\n[provider]\nkind = "wheel"\n{tables}')

    built(**{base: "1.3"})
    added = tiny_shop.ledger.work.add(
        NewWork("gate", "it", "tiny", {"commit": head, "base": base, "pull": 7, "fork": False})
    )
    work = tiny_shop.go_on(added, "gate")
    assert work.state is WorkState.QUEUED and work.not_before is not None
    said = tiny_shop.said(head)
    assert (said["status"], said["title"]) == ("queued", "Waiting for a build") and "conclusion" not in said
    built(**{base: "1.3", head: "1.0"})
    tiny_shop.ledger.work.wake("gate", "it")
    assert tiny_shop.go_on(added, "gate").state is WorkState.DONE
    assert tiny_shop.said(head)["conclusion"] == "failure"


@pytest.mark.parametrize("place", ['folder = "."', 'url = "http://127.0.0.1:9/{revision}/tinyc-1.0-py3-none-any.whl"'])
def test_a_build_that_does_not_come_in_time_is_neutral(tiny_shop: Shop, place: str) -> None:
    Path(tiny_shop.project.compiler).write_text(f'backend = "{tinyc.BACKEND}"\n[provider]\nkind = "wheel"\n{place}\n')
    tiny_shop.configure(build_wait="0.000001s")
    head = tiny_shop.pull("sub swaps")
    said = tiny_shop.gate(head)
    assert (said["status"], said["conclusion"]) == ("completed", "neutral")
    assert said["title"] == "Nothing is concluded: there is no build" and "0.000001s" in said["summary"]


def test_a_configuration_of_releases_waits_for_nothing(tiny_shop: Shop) -> None:
    Path(tiny_shop.project.compiler).write_text(
        f'backend = "{tinyc.BACKEND}"\n[provider]\nkind = "release"\npackage = "tinyc"\n'
    )
    said = tiny_shop.gate(tiny_shop.pull("sub swaps"))
    assert said["conclusion"] == "neutral" and "knows releases only" in said["summary"]


def moved(tiny_shop: Shop, *heads: str) -> None:
    """Pull request 7 was at these heads, one after the other."""
    for head in heads:
        CheckRun(tiny_shop.ledger, tiny_shop.project, head, 7, tiny_shop.first, fork=False).is_newest()


def test_a_newer_head_ends_the_gate_of_an_older_one_that_runs(tiny_shop: Shop) -> None:
    old, new = tiny_shop.pull("sub swaps"), tiny_shop.pull()
    asked = {"base": tiny_shop.first, "pull": 7, "fork": False}
    moved(tiny_shop, old)
    first = tiny_shop.ledger.work.add(NewWork("gate", "it", "tiny", {"commit": old, **asked}))
    work = tiny_shop.ledger.work.claim(["gate"])
    assert work is not None and work.id == first
    moved(tiny_shop, new)
    second = tiny_shop.ledger.work.add(NewWork("gate", "other", "tiny", {"commit": new, **asked}))
    working.do(work, tiny_shop.desk)
    assert tiny_shop.ledger.work.get(first).state is WorkState.DONE
    said = tiny_shop.said(old)
    assert (said["status"], said["conclusion"], said["title"]) == ("completed", "cancelled", "Superseded")
    assert new in said["summary"]
    tiny_shop.go_on(second, "gate")
    assert tiny_shop.said(new)["conclusion"] == "success"


def test_the_gate_of_an_older_head_that_comes_late_leaves_the_newest_alone(tiny_shop: Shop) -> None:
    """Whatever queued it, and whoever was killed before."""
    old, new = tiny_shop.pull("sub swaps"), tiny_shop.pull()
    moved(tiny_shop, old, new)
    assert tiny_shop.gate(new)["conclusion"] == "success"
    said = tiny_shop.gate(old, again=True)
    assert (said["conclusion"], said["title"]) == ("cancelled", "Superseded") and new in said["summary"]
    assert tiny_shop.said(new)["conclusion"] == "success"
    newest = tiny_shop.ledger.checks.newest("octo/tiny", "tiny", 7)
    assert newest is not None and (newest.head_sha, newest.state) == (new, "done")


def test_work_that_is_cancelled_stops_and_its_check_says_why(tiny_shop: Shop) -> None:
    head = tiny_shop.pull("sub swaps")
    added = tiny_shop.ledger.work.add(
        NewWork("gate", "it", "tiny", {"commit": head, "base": tiny_shop.first, "pull": 7, "fork": False})
    )
    work = tiny_shop.ledger.work.claim(["gate"])
    assert work is not None
    tiny_shop.ledger.work.cancel("gate", "it", "the pull request was closed")
    working.do(work, tiny_shop.desk)
    assert tiny_shop.ledger.work.get(added).state is WorkState.CANCELLED
    said = tiny_shop.said(head)
    assert said["conclusion"] == "cancelled" and "the pull request was closed" in said["summary"]


def test_a_fault_of_the_bot_itself_leaves_no_check_that_never_ends(
    tiny_shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = tiny_shop.pull("sub swaps")
    monkeypatch.setenv("GRAPHWARDEN_REVISIONS", "/dev/null/nowhere")
    said = tiny_shop.gate(head)
    assert (said["status"], said["conclusion"]) == ("completed", "neutral")
    assert "internal error" in said["title"]


_HOSTILE = """
        import os, socket, time
        found = []

        def attempt(what, action):
            try:
                if action():
                    found.append(what)
            except Exception:
                pass

        def others():
            for pid in filter(str.isdigit, os.listdir("/proc")):
                try:
                    if b"{secret}" in open("/proc/%s/environ" % pid, "rb").read():
                        return True
                except OSError:
                    pass

        def stray():
            if os.fork() == 0:
                open("/proc/self/comm", "w").write("{stray}")
                os.setsid()
                time.sleep(600)
                os._exit(0)

        attempt("environment", lambda: "{secret}" in os.environ.values())
        attempt("environments", others)
        attempt("key", lambda: open("{folder}/key.pem").read())
        attempt("database", lambda: open("{folder}/bot.db", "rb").read(1))
        attempt("configuration", lambda: open("{folder}/tinyc.toml", "a").write("# mine"))
        attempt("writing", lambda: open("{folder}/written", "w").write("x"))
        attempt("socket", lambda: socket.create_connection(("127.0.0.1", {port}), 1))
        attempt("fork", stray)
        raise RuntimeError("got hold of: %s." % " ".join(found or ["nothing"]))
"""


def _strays(name: str) -> list[str]:
    found = []
    for comm in Path("/proc").glob("[0-9]*/comm"):
        with contextlib.suppress(OSError):
            found += [comm.parent.name] if comm.read_text().strip() == name else []
    return found


def test_a_pull_request_that_reaches_for_keys_files_and_network_gets_hold_of_nothing(
    tiny_shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, stray = uuid.uuid4().hex, f"s{uuid.uuid4().hex[:12]}"
    monkeypatch.setenv("GRAPHWARDEN_WEBHOOK_SECRET", secret)
    (tmp_path / "key.pem").write_text("PRIVATE KEY")
    with socket.create_server(("127.0.0.1", 0)) as server:
        told = {"secret": secret, "stray": stray, "folder": tmp_path, "port": server.getsockname()[1]}
        text = _HOSTILE
        for name, value in told.items():
            text = text.replace(f"{{{name}}}", str(value))
        frontend = tinyc.sources()["tinyc/frontend.py"].replace("        return -x\n", text.lstrip("\n"))
        with structlog.testing.capture_logs() as lines:
            said = tiny_shop.gate(tiny_shop.pull(files={"tinyc/frontend.py": frontend}))
    assert said["conclusion"] == "failure"
    refused = [(line["case"], line["what"]) for line in lines if line["event"] == "refused"]
    assert refused == [("Neg", "network"), ("Neg", "process"), ("Neg", "reading"), ("Neg", "writing")]
    assert any("got hold of: nothing." in note["message"] for note in said["annotations"]), said["annotations"]
    assert not (tmp_path / "written").exists() and "mine" not in (tmp_path / "tinyc.toml").read_text()
    assert not _strays(stray)


def test_what_an_import_reaches_for_is_logged_and_an_honest_change_is_not(tiny_shop: Shop) -> None:
    frontend = tinyc.sources()["tinyc/frontend.py"]
    telling = 'import socket\ntry:\n    socket.create_connection(("192.0.2.1", 80), 1)\nexcept OSError:\n    pass\n'
    for files, told in (({}, set()), ({"tinyc/frontend.py": telling + frontend}, {"network"})):
        with structlog.testing.capture_logs() as lines:
            assert tiny_shop.gate(tiny_shop.pull("sub swaps", files=files))["status"] == "completed"
        assert {line["what"] for line in lines if line["event"] == "refused"} == told


def test_a_gate_shows_as_queued_before_its_turn_has_come(tiny_shop: Shop) -> None:
    head = tiny_shop.pull("sub swaps")
    CheckRun(tiny_shop.ledger, tiny_shop.project, head, 7, "").queues()
    said = tiny_shop.said(head)
    assert (said["status"], said["title"]) == ("queued", "Queued") and "conclusion" not in said
    assert tiny_shop.gate(head)["conclusion"] == "failure"


def test_a_build_that_failed_is_tried_again_when_a_person_asks_for_it(tiny_shop: Shop) -> None:
    mended = tiny_shop.folder / "mended"

    def configure(timeout: str) -> None:
        Path(tiny_shop.project.compiler).write_text(
            f'untrusted = false\nbackend = "{tinyc.BACKEND}"\n[provider]\nkind = "command"\n'
            f'repository = "{tiny_shop.repository}"\nbranch = "main"\ntimeout = {timeout}\n'
            f"command = ['sh', '-c', 'test -e {mended} || sleep 3600; cp -r tinyc {{output}}']\n"
            '[[requires]]\npackages = ["numpy", "onnx"]\n'
        )

    head = tiny_shop.pull("sub swaps")
    configure("0.5")
    assert "did not end within" in tiny_shop.gate(head)["summary"]
    mended.touch()
    configure("3600")
    assert tiny_shop.gate(head)["conclusion"] == "neutral"  # it is remembered
    assert tiny_shop.gate(head, again=True)["conclusion"] == "failure"
