"""Reproducers are run alone, and must fail the way the bug does."""

from __future__ import annotations

import os
import signal
import socket
import sys
from pathlib import Path

import pytest

from fuzz import confine
from triage.reproducer import LONGEST_OUTPUT, Rerun, reproduces, rerun


def test_a_script_that_passes_has_status_zero() -> None:
    assert rerun("print('PASS')") == Rerun(0, "PASS\n")


def test_a_script_sees_nothing_of_its_caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "12345")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found = rerun("import os, sys\nprint('SECRET_TOKEN' in os.environ, *sys.path, os.getcwd(), sep='\\n')")
    secret, *paths, folder = found.output.splitlines()
    assert secret == "False" and str(tmp_path) not in paths
    assert folder != os.getcwd() and not Path(folder).exists()


def test_a_script_that_dies_tells_its_signal() -> None:
    found = rerun("import os, signal\nprint('before', flush=True)\nos.kill(os.getpid(), signal.SIGSEGV)")
    assert found.status == -signal.SIGSEGV and found.output.startswith("before")
    assert reproduces("crash:SIGSEGV", "", found) and not reproduces("crash:SIGABRT", "", found)


def test_a_compiler_that_is_a_program_may_die_under_the_script() -> None:
    told = Rerun(
        1, "CompilerToolError: Error invoking IREE compiler tool iree-compile\nError code: -11\nDiagnostics:\n"
    )
    assert reproduces("crash:SIGSEGV", "", told) and not reproduces("crash:SIGABRT", "", told)
    assert not reproduces("crash:SIGSEGV", "", Rerun(1, "it said: Error code: -11, and went on"))


def test_a_script_that_does_not_end_is_stopped() -> None:
    for seconds in (1.0, 8.0, 64.0):  # starting it takes as long as it takes
        found = rerun("print('waiting', flush=True)\nwhile True: pass", seconds=seconds)
        if found.output:
            break
    assert found == Rerun(None, "waiting\n")
    assert reproduces("hang", "", found) and reproduces("dies-on-invalid:hang", "", found)
    assert not reproduces("wrong:values", "", found) and not reproduces("crash:SIGSEGV", "", found)


def test_of_a_long_output_its_beginning_and_its_end_are_kept() -> None:
    found = rerun("print('x' * 1000000)\nraise ValueError('the end')")
    assert len(found.output) <= 2.1 * LONGEST_OUTPUT and found.output.endswith("ValueError: the end\n")


def test_an_exception_whose_message_is_endless_is_recognised() -> None:
    message = "cannot convert " + "A" * 200_000
    found = rerun("raise ValueError('cannot convert ' + 'A' * 200_000)")
    assert reproduces("exception:ValueError", message, found)
    assert not reproduces("exception:ValueError", "another message", found)


_SPY = """
import pathlib, socket
for place in {places}:
    try:
        print(pathlib.Path(place).read_text())
    except OSError as error:
        print(type(error).__name__)
try:
    socket.create_connection(("127.0.0.1", {port}), timeout=60)
    print("connected")
except OSError:
    print("no network")
pathlib.Path("own").write_text("mine")
print(pathlib.Path("own").read_text())
"""


@pytest.mark.skipif(not confine.means(), reason="nothing confines programs here")
def test_what_may_be_anybodys_reads_no_file_of_ours_and_reaches_no_network(tmp_path: Path) -> None:
    secret = tmp_path / "app.pem"
    secret.write_text("the key")
    secret.chmod(0o600)
    with socket.create_server(("127.0.0.1", 0)) as server:
        script = _SPY.format(places=[str(secret), f"/proc/{os.getpid()}/environ"], port=server.getsockname()[1])
        assert "the key" in rerun(script).output and "connected" in rerun(script).output
        found = rerun(script, sys.executable, untrusted=True)
    assert found.status == 0, found.output
    first, second, network, own = found.output.splitlines()
    assert {first, second} <= {"FileNotFoundError", "PermissionError"} and (network, own) == ("no network", "mine")


@pytest.mark.skipif(not confine.means(), reason="nothing confines programs here")
def test_a_confined_script_tells_its_signal_and_is_stopped_like_any_other() -> None:
    died = rerun("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", sys.executable, untrusted=True)
    assert died.status == -signal.SIGSEGV
    assert rerun("raise SystemExit(3)", sys.executable, untrusted=True).status == 3
    assert rerun("while True: pass", sys.executable, seconds=2, untrusted=True).status is None


def test_another_interpreter_can_run_it() -> None:
    assert rerun("import sys; print(sys.executable)", python=sys.executable).output.strip() == sys.executable


RAISES = "raise {}"


@pytest.mark.parametrize(
    ("message", "raised", "same"),
    [
        ("cannot lower", "ValueError('cannot lower')", True),
        ("cannot lower", "ValueError('cannot raise')", False),
        ("cannot lower", "KeyError('cannot lower')", False),
        ("at 0x7f0001 of (2, 3)\nmore", "ValueError('at 0x7fabcd of (1, 1)\\nmore')", True),
        ("at 0x7f0001 of (2, 3)\nmore", "ValueError('at 0x7fabcd of (1, 1)\\nother')", False),
        ("one\ntwo\nthree", "ValueError('one\\ntwo\\nfour')", True),
        ("/usr/lib/python3/dist-packages/x/y.py:12: no", "ValueError('/opt/x/y.py:99: no')", True),
        ("\n\n  first words", "ValueError('\\n\\n  first words')", True),
        ("", "ValueError()", True),
        ("\x1b[31mred\x1b[0m", "ValueError('red')", True),
    ],
)
def test_an_exception_is_the_same_up_to_what_differs_from_run_to_run(message: str, raised: str, same: bool) -> None:
    assert reproduces("exception:builtins.ValueError", message, rerun(RAISES.format(raised))) is same


def test_what_all_errors_of_a_frontend_begin_with_says_nothing() -> None:
    """A regression test of OpenVINO's other way into PyTorch failed for want of a conversion rule, and was offered."""
    report = "Check 'false' failed at src/frontends/common_translators/src/unconverted_ops_report.cpp:151:\n"
    ours = f"{report}FrontEnd API failed with OpConversionFailure:\nThe type must be a floating point number."
    other = f"{report}FrontEnd API failed with OpConversionFailure:\nNo conversion rule found for aten::nansum"
    for raised, same in ((ours, True), (other, False)):
        found = rerun(RAISES.format(f"ValueError({raised!r})"))
        assert reproduces("exception:builtins.ValueError", ours, found) is same


def test_a_wrong_value_is_shown_by_a_failed_assertion_and_nothing_else() -> None:
    assert reproduces("wrong:values", "", rerun("assert 1 == 2"))
    assert not reproduces("wrong:values", "", rerun("import no_such_package"))
    assert not reproduces("wrong:values", "", rerun("pass"))


def test_a_script_does_not_run_as_in_continuous_integration() -> None:
    """PyTorch's test runner then wants packages that no maintainer has."""
    assert rerun('import os\nassert "CI" not in os.environ').status == 0
