"""A gate that is asked without a command line, on real builds of the tiny compiler."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bot import builds, gating
from bot.failures import Refusal
from bot.gating import Answer, Question
from bot.suitefile import Wanted
from fuzz.limits import Limits
from fuzz.runner import Runner
from tests.bot import suites
from tests.bot.support import ROOT
from triage.suite.compare import Change
from triage.suite.gate import Conclusion, Pair

LIMITS = Limits(600, 4096)


class Stopped(Exception):
    """Whoever asks has had enough."""


@pytest.fixture
def question(place: Path, tiny: suites.Builds) -> Question:
    folder = suites.cases(place / "cases", ("Relu", "Neg", "Sub"))
    return Question(builds.compiler(tiny.compiler), "1.0", "1.1", Wanted(folder), LIMITS)


def test_it_needs_no_command_line() -> None:
    check = "import sys, bot.gating; sys.exit('typer' in sys.modules or 'click' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], cwd=ROOT, check=False).returncode == 0


def test_every_pair_is_told_once_and_the_answer_given_once(question: Question) -> None:
    pairs: list[Pair] = []
    given: list[Answer] = []
    with Runner(LIMITS) as runner:
        answer = gating.judge(runner, question, given.append, pairs.append)
    assert given == [answer]
    assert sorted((pair.name, pair.change) for pair in pairs) == [
        ("Neg", Change.NEW_FAILURE),
        ("Relu", Change.SAME),
        ("Sub", Change.FIXED),
    ]
    assert answer.conclusion is Conclusion.FAILURE
    [result] = answer.sarif["runs"][0]["results"]
    [broken] = answer.document["new_failures"]
    assert result["partialFingerprints"]["graphwarden/case"] == broken["id"]


def test_a_gate_that_is_stopped_goes_on_where_it_was(question: Question, tiny: suites.Builds) -> None:
    told: list[str] = []

    def stop(pair: Pair) -> None:
        told.append(pair.id)
        raise Stopped

    def fail(answer: Answer) -> None:
        raise Stopped

    with Runner(LIMITS, 1) as runner:
        with pytest.raises(Stopped):
            gating.judge(runner, question, lambda answer: None, stop)
        [kept] = (tiny.root / "runs").glob("gate-*")
        with pytest.raises(Stopped):
            gating.judge(runner, question, fail, lambda pair: told.append(pair.id))
        assert kept.exists()
        answer = gating.judge(runner, question, lambda answer: None, lambda pair: told.append(pair.id))
    assert not kept.exists()
    assert sorted(told) == sorted(pair.id for pair in answer.result.pairs)


@pytest.mark.parametrize(("base", "told"), [("", "no base was given"), ("1.2", "1.2 cannot be tested")])
def test_what_concludes_nothing_is_given_too(
    place: Path, tiny: suites.Builds, question: Question, base: str, told: str
) -> None:
    given: list[Answer] = []
    asked = Question(question.compiler, base, "1.3", question.wanted, LIMITS)
    with Runner(LIMITS) as runner:
        answer = gating.judge(runner, asked, given.append)
    assert given == [answer]
    assert answer.conclusion is Conclusion.NEUTRAL and told in answer.result.reason
    assert answer.told == {change: [] for change in gating.LISTS} and not answer.sarif["runs"][0]["results"]


def test_a_head_that_nobody_knows_is_refused(question: Question) -> None:
    asked = Question(question.compiler, "1.0", "9.9", question.wanted, LIMITS)
    with Runner(LIMITS) as runner, pytest.raises(Refusal, match=r"no revision '9\.9'"):
        gating.judge(runner, asked, lambda answer: None)
