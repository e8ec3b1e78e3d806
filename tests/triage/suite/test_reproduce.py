"""The script of a new failure, run on a real compiler as a maintainer would run it."""

from __future__ import annotations

from bot import suitefile
from bot.suitefile import Wanted
from fuzz import catalogue
from fuzz.judge import Judge
from fuzz.runner import Runner
from triage import reproducer
from triage.signing import Signer
from triage.suite.reproduce import story


def test_the_script_of_a_failure_fails_in_the_same_way() -> None:
    with Runner(jobs=1) as runner:
        [entry] = suitefile.gather(Wanted(tests=("test_spacetodepth_crd_mode_example",)), "openvino", runner)
        judge = Judge(runner, catalogue.target("reference"))
        failure = judge.examine(entry.case, catalogue.target("openvino")).failure
        assert failure is not None
        told = story(failure, Signer(runner))
    assert told.title.startswith("[Bug]: [ONNX]") and told.operators
    message = failure.outcome.error.message if failure.outcome.error else ""
    assert reproducer.reproduces(failure.symptom, message, reproducer.rerun(told.script))
