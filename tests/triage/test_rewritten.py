"""How a title tells that the compiler rewrote the case before it failed, or on how many threads it did."""

import pytest

from fuzz.case import Revision, Target
from triage.rewritten import rewritten


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, ""),
        ({"sequence": "none", "functions": "none"}, ""),
        ({"sequence": "FuseOps"}, "after FuseOps"),
        ({"sequence": "A,B,C"}, "after A, B and C"),
        ({"functions": "closure", "sequence": "FuseOps"}, "in a local function after FuseOps"),
        ({"threads": "1"}, "on one thread"),
        ({"functions": "closure", "threads": "4"}, "in a local function on 4 threads"),
    ],
)
def test_a_title_names_what_came_before_the_compiler(options: dict[str, str], told: str) -> None:
    assert rewritten(Target("tvm", Revision("1.0"), tuple(options.items()))) == told
