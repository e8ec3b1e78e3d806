"""Neighbours of a failing case that differ in one thing each: what could be the condition of the bug. Pure.

A neighbour whose result is right proves that the thing it lacks matters; only then may a title name it.
Each module of this folder makes one kind of them by ``variants(case)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import onnx

from fuzz.case import Case
from fuzz.wire import Value


@dataclass(frozen=True)
class Variant:
    """A neighbour: the thing that it lacks, in a title's words, and the sentence to print when it passes.

    `kind` is ``attribute``, ``input``, ``dtype`` or ``value``. A value can be right by coincidence, so a
    neighbour may be several cases, which must all answer alike. Of variants with the same kind and text
    the first that answers counts. A `flag` is an attribute that is either on or off, and not as its default.
    """

    kind: str
    text: str
    sentence: str
    cases: tuple[Case, ...]
    flag: bool = False


def neighbour(case: Case, model: onnx.ModelProto, inputs: Mapping[str, Value] | None = None) -> Case:
    """`case` with another model and, if given, other inputs."""
    given = dict(case.inputs if inputs is None else inputs)
    return replace(case, model=model.SerializeToString(deterministic=True), inputs=given, expected=None)
