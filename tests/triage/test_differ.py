"""Where two results differ, for a reader."""

from __future__ import annotations

import numpy as np

from triage.differ import describe, shown


def test_strings_are_shown_side_by_side_as_numbers_are() -> None:
    want, got = np.array([["a", "Hello World"]], object), np.array([["a", ""]], object)
    row = describe("y", want, got)[-1]
    assert '["a", "Hello World"]' in row and '["a", ""]' in row
    assert shown("y", np.array(["b"], object))[0].endswith('["b"]')
