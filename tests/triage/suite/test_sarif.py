"""SARIF: what the standard asks of a log, and what code scanning services ask beyond it."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest

from tests.github.node import package
from triage.suite.changed import Place
from triage.suite.sarif import Finding, document

FINDINGS = [
    Finding("0f" * 8, "Resize returns zeros", "wrong:values", "Resize._impl_v18", Place("python/f.py", 10, 14)),
    Finding("1e" * 8, "Segmentation fault when compiling Pad", "crash:SIGSEGV"),
    Finding("2d" * 8, "Pad is refused", "unsupported", place=Place("op/pad.cpp", 7, 3)),
]

#: The schema of SARIF 2.1.0 as Microsoft's package has it.
SCHEMA = ("@microsoft/jest-sarif", "lib/schemas/sarif-2.1.0-rtm.5.json")
#: A pattern in it, of `language`, has a bracket that closes nothing, which strict readers refuse.
STRAY, MENDED = "[a-zA-Z]{2}]?$", "[a-zA-Z]{2}$"
#: Titles and names as compilers and people write them.
ODD = Finding("3c" * 8, "", "crash", "a::b<c>\x00", Place("dir with space/ü?#%.py", 1, 1))


@pytest.fixture(scope="module")
def schema() -> jsonschema_rs.Draft4Validator:
    text = package(*SCHEMA).read_text(encoding="utf-8")
    return jsonschema_rs.Draft4Validator(json.loads(text.replace(STRAY, MENDED)), validate_formats=True)


@pytest.mark.parametrize("findings", [FINDINGS, [], FINDINGS[1:2], [ODD], FINDINGS * 50])
def test_a_log_keeps_to_the_schema(schema: jsonschema_rs.Draft4Validator, findings: list[Finding]) -> None:
    log = json.loads(json.dumps(document(findings, "0.1.0", "abc")))
    assert [f"{list(error.instance_path)}: {error.message}" for error in schema.iter_errors(log)] == []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda run: run["results"][0].pop("message"),
        lambda run: run["results"][0].update(level="fatal"),
        lambda run: run["results"][0]["locations"][0]["physicalLocation"]["region"].update(startLine=0),
        lambda run: run["tool"].pop("driver"),
        lambda run: run.update(colour="red"),
    ],
)
def test_the_schema_would_show_a_mistake(schema: jsonschema_rs.Draft4Validator, spoil: Any) -> None:
    log = json.loads(json.dumps(document(FINDINGS, "0.1.0", "abc")))
    spoil(log["runs"][0])
    assert not schema.is_valid(log)


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


def test_a_path_is_written_as_an_address() -> None:
    [result] = document([ODD], "0.1.0", "abc")["runs"][0]["results"]
    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact["uri"] == "dir%20with%20space/%C3%BC%3F%23%25.py"


def test_no_findings_are_a_log_without_results() -> None:
    [run] = document([], "0.1.0", "abc")["runs"]
    assert run["results"] == [] and run["tool"]["driver"]["rules"] == []
