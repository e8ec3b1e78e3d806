"""New failures as SARIF 2.1.0, which code scanning services and editors show at the changed lines. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from triage.suite.changed import Place

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
#: What each kind of failure is called, by the symptom's first word; the rule's id.
_RULES: Mapping[str, str] = {
    "wrong": "The compiled model returns another result than the reference, and did not on the base revision",
    "exception": "The compiler raises an exception, and did not on the base revision",
    "crash": "The compiler dies, and did not on the base revision",
    "hang": "The compiler does not end, and did on the base revision",
    "oom": "The compiler runs out of memory, and did not on the base revision",
    "unsupported": "The compiler refuses a model that it took on the base revision",
}


@dataclass(frozen=True)
class Finding:
    """One new failure. `symptom` is its class (``wrong:values``), `place` the changed lines behind it, if known."""

    id: str
    title: str
    symptom: str
    conversion_function: str = ""
    place: Place | None = None


def document(findings: Sequence[Finding], version: str, revision: str) -> dict[str, Any]:
    """The SARIF log of one run. `version` is Graphwarden's, `revision` the build that was judged."""
    rules = [rule for rule in _RULES if any(_rule(finding) == rule for finding in findings)]
    driver = {
        "name": "Graphwarden",
        "version": version,
        "rules": [{"id": rule, "shortDescription": {"text": _RULES[rule]}} for rule in rules],
    }
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": "graphwarden/gate/"},
        "columnKind": "utf16CodeUnits",
        "properties": {"revision": revision},
        "results": [_result(finding, rules) for finding in findings],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(finding: Finding) -> str:
    word = finding.symptom.partition(":")[0]
    return word if word in _RULES else "exception"


def _result(finding: Finding, rules: Sequence[str]) -> dict[str, Any]:
    rule = _rule(finding)
    return {
        "ruleId": rule,
        "ruleIndex": rules.index(rule),
        "level": "error",
        "message": {"text": finding.title},
        "locations": list(_locations(finding)),
        "partialFingerprints": {"graphwarden/case": finding.id},
    }


def _locations(finding: Finding) -> Iterable[dict[str, Any]]:
    location: dict[str, Any] = {}
    if finding.place is not None:
        region = {"startLine": finding.place.first, "endLine": max(finding.place.first, finding.place.last)}
        artifact = {"uri": quote(finding.place.path), "uriBaseId": "%SRCROOT%"}
        location["physicalLocation"] = {"artifactLocation": artifact, "region": region}
    if finding.conversion_function:
        named = {"fullyQualifiedName": finding.conversion_function, "kind": "function"}
        location["logicalLocations"] = [named]
    if location:
        yield location
