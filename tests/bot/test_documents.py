"""The JSON documents about revisions keep the shapes that scripts rely on (issue 5); further keys may stand beside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from tests.bot import suites
from tests.bot.support import Run

Schema = dict[str, Any]

STATUSES = ("ok", "wrong", "exception", "unsupported", "oom", "signal", "timeout", "flaky", "skipped", "invalid")
TEXT: Schema = {"type": "string", "minLength": 1}
COUNT: Schema = {"type": "integer", "minimum": 0}
STATUS: Schema = {"enum": STATUSES}
MAYBE: Schema = {"type": ["string", "null"]}


def table(**keys: Schema) -> Schema:
    """An object that has these keys."""
    return {"type": "object", "properties": keys, "required": list(keys)}


def rows(entry: Schema) -> Schema:
    return {"type": "array", "items": entry}


FLIP: Schema = {"type": "array", "prefixItems": [TEXT, TEXT, STATUS, STATUS], "minItems": 4, "maxItems": 4}
DIFFERENCE = table(id=TEXT, title={"type": "string"}, status_base=STATUS, status_head=STATUS, reproducer=MAYBE)
SCHEMAS: dict[str, Schema] = {
    "bisect": table(
        first=MAYBE,
        last_before=MAYBE,
        confidence={"type": ["number", "null"], "minimum": 0, "exclusiveMaximum": 1},
        flips=rows(FLIP),
        tested=rows(table(revision=TEXT, status=STATUS, runs=COUNT, failed=COUNT)),
        skipped=rows(table(revision=TEXT, reason=TEXT)),
    ),
    "gate": table(
        **{change: rows(DIFFERENCE) for change in ("new_failures", "fixed", "still_failing", "flaky")},
        ran=COUNT,
        of=COUNT,
        conclusion={"enum": ["success", "failure", "neutral"]},
    ),
    "suite": table(
        revision=TEXT,
        ran=COUNT,
        of=COUNT,
        seconds={"type": "number", "minimum": 0},
        outcomes=rows(table(case=TEXT, status=STATUS)),
    ),
    "sweep": table(
        compiler=TEXT,
        revisions=rows(TEXT),
        cases={"type": "object", "additionalProperties": {"type": "string", "pattern": "^[PWECTF?-]+$"}},
    ),
    "revisions": rows(table(revision=TEXT, installed={"type": "boolean"})),
}
#: What is asked, with C for the compiler, M for a model that flips back, S for one that flips once, A for all of them.
QUESTIONS = {
    "one change": "bisect S --compiler C --from 1.0 --to 1.3 --fix",
    "no change": "bisect S --compiler C --from 1.1 --to 1.3",
    "there and back": "bisect M --compiler C --from 1.0 --to 1.3",
    "a failure": "gate --compiler C --base 1.0 --head 1.1 --cases A",
    "a success": "gate --compiler C --base 1.1 --head 1.3 --cases A",
    "nothing concluded": "gate --compiler C --base 1.0 --head 1.2 --cases A",
    "no base": "gate --compiler C --base 0.9 --head 1.3 --cases A",
    "a suite": "suite run --compiler C --revision 1.1 --cases A",
    "hardly any time": "suite run --compiler C --revision 1.1 --cases A --budget 0.001s",
    "a sweep": "sweep C --cases A",
    "a list": "revisions C",
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_document_has_the_keys_that_scripts_rely_on(question: str, gw: Run, place: Path, tiny: suites.Builds) -> None:
    folder = suites.cases(place / "cases", ("Relu", "Neg", "Sub", "Abs"))
    places = {"C": tiny.compiler, "M": folder / "Neg.onnx", "S": folder / "Sub.onnx", "A": folder}
    words = [places.get(word, word) for word in QUESTIONS[question].split()]
    given = ["--inputs", Path(str(words[1])).with_suffix(".npz")] if words[0] == "bisect" else []
    document = gw(*words, *given, "--json").json
    jsonschema_rs.validate(SCHEMAS[str(words[0])], document)


def test_the_place_of_a_release_in_a_sweep_is_that_of_its_letter(gw: Run, place: Path, tiny: suites.Builds) -> None:
    folder = suites.cases(place / "cases", ("Neg",))
    document = gw("sweep", tiny.compiler, "--cases", folder, "--json").json
    assert {len(row) for row in document["cases"].values()} == {len(document["revisions"])}
    assert document["cases"]["Neg"][document["revisions"].index("1.1")] == "C"
