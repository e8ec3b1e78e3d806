"""What a check run says: short enough, and harmless whatever it was told."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import pytest

from bot.baseline import Baseline
from bot.checks import words
from bot.checks.known import KnownBug
from bot.checks.run import Words
from bot.gating import LISTS, Answer
from bot.github import limits
from bot.github.deliver import check_body
from bot.github.markers import keys
from fuzz.case import Revision, Status, Target
from triage.ledger.records import Issue
from triage.lifecycle import State
from triage.records import Bug
from triage.scrub import guarded
from triage.suite.changed import Place
from triage.suite.compare import Change
from triage.suite.gate import Conclusion, Pair, Result
from triage.suite.running import Ran
from triage.suite.telling import Told

HOSTILE = (
    "@everyone Fixes #1, closes octo/tiny#2 GH-3 `](https://evil.example) ![](x) </details></summary> "
    "<!-- graphwarden:check:1 --> | <script>alert(1)</script> /home/alice/secret \x1b[31m\u202e"
)


def told(number: int, title: str = "Sub is wrong", **more: object) -> Told:
    place = Place("python/frontend.py", number + 1, number + 3)
    values = {"detail": "2 of 3 elements differ", "reproducer": "print(1)\n", "place": place, **more}
    return Told(f"{number:016x}", f"case-{number}", title, Status.OK, Status.WRONG, "wrong:values", **values)  # type: ignore[arg-type]


def answer(
    changes: Mapping[Change, Sequence[Told]], conclusion: Conclusion = Conclusion.FAILURE, why: str = ""
) -> Answer:
    ran = Ran("case", "0" * 16, "P", Status.OK)
    result = Result((Pair(ran, ran, Change.SAME),) * 431, 500, 61.2, conclusion, why)
    base = Revision("b" * 40, commit="b" * 40)
    lists = {change: list(changes.get(change, ())) for change in LISTS}
    return Answer("tiny", Baseline("a" * 40, base), Revision("c" * 40, commit="c" * 40), result, lists, ())


def finished(changes: Mapping[Change, Sequence[Told]], known: Mapping[str, Sequence[KnownBug]] | None = None) -> Words:
    return words.finished(answer(changes), known or {}, (), "octo/tiny", "10m")


@pytest.fixture
def known_bug() -> KnownBug:
    """A bug with an issue."""
    moment = datetime(2026, 11, 22, tzinfo=UTC)
    bug = Bug(
        *(3, "sub", Target("tiny", Revision("1.0")), State.REPORTED, "wrong:values", "", ("Sub",), "", "", 2),
        *(1, "1" * 16, 1, None, "Sub is wrong", "", moment, moment),
    )
    return KnownBug(bug, Issue(3, "octo/tiny", 12, ours=True))


def outside_code(text: str) -> str:
    """The text without its code blocks and code spans."""
    text = re.sub(r"^(`{3,})\w*\n.*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", text)


def harmless(text: str) -> None:
    outside = outside_code(text)
    assert not re.search(r"(?<!\w)[@]\w|#\d|GH-\d", outside)
    assert not re.search(r"(?<!\\)<(?!/?(?:details|summary)>)", outside)
    assert outside.count("<details>") == outside.count("</details>")
    assert outside.count("<summary>") == outside.count("</summary>")
    assert not re.search(r"(?<!\\)\[", outside) and "alice" not in outside
    assert not keys(text) and "\x1b" not in text and "\u202e" not in text


def test_the_title_is_one_line_of_numbers() -> None:
    changes = {Change.NEW_FAILURE: [told(1), told(2)], Change.FIXED: [told(3)]}
    assert words.title(answer(changes)) == "2 new failures, 1 fixed, 0 flaky; 431 of 500 cases"


def test_the_summary_tells_share_budget_base_and_a_script() -> None:
    said = finished({Change.NEW_FAILURE: [told(1)], Change.STILL_FAILING: [told(2), told(3)]})
    assert said.summary.startswith(
        "431 of 500 cases (86 %) ran on both builds in 61 s of 10m; 1 new failure, 0 fixed, "
    )
    assert "2 still failing as before" in said.summary
    assert f"Compared with `{'b' * 40}`, where this change left its base" in said.summary
    assert "```python\nprint(1)\n```" in said.summary


def test_every_new_failure_whose_lines_are_known_has_an_annotation() -> None:
    new = [told(number) for number in range(120)]
    hidden = [told(200, place=None), told(201, place=Place("../outside.py")), told(202, place=Place("a\nb.py"))]
    said = finished({Change.NEW_FAILURE: [*new, *hidden]})
    assert [note["start_line"] for note in said.annotations] == list(range(1, 121))
    assert limits.length(said.summary) <= limits.CHECK


@pytest.mark.parametrize("many", [1, 60, 400])
def test_hostile_words_act_on_nothing_and_fit(many: int) -> None:
    one = {"detail": HOSTILE, "reproducer": f"# {HOSTILE}\n```\n</details>\n" * 30}
    new = [told(number, HOSTILE, **one) for number in range(many)]
    said = finished(dict.fromkeys(LISTS, new))
    harmless(said.summary)
    for note in said.annotations:
        assert "@\u200beveryone" in note["title"] and "#1" not in note["title"] + note["message"]
        assert "alice" not in note["message"] and limits.length(note["title"]) <= limits.ANNOTATION_TITLE
    payload = {"name": "Graphwarden (tiny)", "status": "completed", "title": said.title, "summary": said.summary}
    sent = {"title": said.title, "summary": guarded(said.summary)}
    assert check_body(payload)["output"] == sent  # nothing else had to be cut


def test_hostile_reasons_names_and_logs_act_on_nothing() -> None:
    neutral = answer({}, Conclusion.NEUTRAL, HOSTILE)
    harmless(words.finished(neutral, {}, (), "octo/tiny", "none").summary)
    assert "@everyone" not in words.title(neutral) and "#1" not in words.title(neutral)
    harmless(words.running({Change.NEW_FAILURE: 30}, 100, [HOSTILE] * 30).summary)
    noted = words.note("Nothing is concluded", HOSTILE, f"{HOSTILE}\n```\n" * 2000)
    harmless(noted.summary)
    assert limits.length(noted.summary) < limits.CHECK


def test_lists_that_are_too_long_say_how_many_more_there_are() -> None:
    said = finished({Change.NEW_FAILURE: [told(number, f"Sub is wrong in {number} ways") for number in range(70)]})
    assert "### New failures (70)" in said.summary and "- and 20 more" in said.summary


def test_failures_that_read_the_same_are_one_line_with_the_number_of_their_cases() -> None:
    said = finished({Change.NEW_FAILURE: [told(1), told(2), told(3, "Add is wrong")]})
    assert "- Sub is wrong (`ok` → `wrong`, 2 cases)\n- Add is wrong (`ok` → `wrong`)\n" in said.summary
    assert "### New failures (3)" in said.summary


def test_further_cases_of_a_known_bug_are_no_news_beside_the_bug(known_bug: KnownBug) -> None:
    cases = {told(number).id for number in (1, 2)}
    fixed = answer({Change.FIXED: [told(1), told(2), told(3, "Add is wrong")]})
    said = words.finished(fixed, {told(1).id: [known_bug]}, cases, "octo/tiny", "10m")
    assert "### Known bugs that pass with this change (1)\n\n- #12: Sub is wrong" in said.summary
    assert "### Fixed, and never reported (1)\n\n- Add is wrong" in said.summary
