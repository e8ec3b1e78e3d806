"""What a worker's answer means."""

from __future__ import annotations

from typing import Any

from fuzz import catalogue
from fuzz.case import Status
from fuzz.limits import Reply
from fuzz.outcomes import ended


def raising(kind: str, message: str) -> Reply:
    told: dict[str, Any] = {"type": kind, "message": message, "frames": [], "operator": "", "function": ""}
    return Reply({"error": told}, {}, stage="load")


def test_a_call_that_an_older_library_does_not_have_is_no_failure_of_its_compiler() -> None:
    missing = raising("fuzz.instance_values.InstanceError", "api torch.new does not exist in torch 2.11.0")
    assert ended(missing, catalogue.target("inductor")).status is Status.SKIPPED
    assert ended(missing, catalogue.target("reference")).status is Status.EXCEPTION  # then it is no test at all


def test_an_exception_of_the_compiler_stays_one() -> None:
    assert ended(raising("builtins.ValueError", "no"), catalogue.target("inductor")).status is Status.EXCEPTION
