"""SARIF: what the standard asks of a log, and what code scanning services ask beyond it."""

from __future__ import annotations

import json

from triage.suite.changed import Place
from triage.suite.sarif import Finding, document

FINDINGS = [
    Finding("0f" * 8, "Resize returns zeros", "wrong:values", "Resize._impl_v18", Place("python/f.py", 10, 14)),
    Finding("1e" * 8, "Segmentation fault when compiling Pad", "crash:SIGSEGV"),
    Finding("2d" * 8, "Pad is refused", "unsupported", place=Place("op/pad.cpp", 7, 3)),
]


def test_each_finding_is_a_result_of_a_rule_that_is_described() -> None:
    log = document(FINDINGS, "0.1.0", "abc")
    assert json.loads(json.dumps(log)) == log
    assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-2.1.0.json")
    [run] = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rules[one["ruleIndex"]]["id"] for one in run["results"]] == [one["ruleId"] for one in run["results"]]
    assert [one["ruleId"] for one in run["results"]] == ["wrong", "crash", "unsupported"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    assert all(one["message"]["text"] and one["level"] == "error" for one in run["results"])
    assert len({one["partialFingerprints"]["graphwarden/case"] for one in run["results"]}) == 3


def test_results_stand_on_the_changed_lines_where_these_are_known() -> None:
    first, second, third = document(FINDINGS, "0.1.0", "abc")["runs"][0]["results"]
    [location] = first["locations"]
    assert location["physicalLocation"]["region"] == {"startLine": 10, "endLine": 14}
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "python/f.py"
    assert location["logicalLocations"] == [{"fullyQualifiedName": "Resize._impl_v18", "kind": "function"}]
    assert second["locations"] == []
    assert third["locations"][0]["physicalLocation"]["region"] == {"startLine": 7, "endLine": 7}


def test_no_findings_are_a_log_without_results() -> None:
    [run] = document([], "0.1.0", "abc")["runs"]
    assert run["results"] == [] and run["tool"]["driver"]["rules"] == []
