"""The checks of a reproducer or a regression test: what is expected, and the statements that compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fuzz.case import Case, Outcome, Status
from fuzz.oracles import differential
from fuzz.oracles.differential import tolerance
from fuzz.wire import Raw, Value, dtype_name
from triage.differ import differing, differing_beyond_type, is_inexact, widened
from triage.drawn import form_alone
from triage.layout import STEP, mapping, named, render
from triage.literals import SMALL, as_array, value_expr
from triage.mended import mended

#: The reference, as code computes it where its values are too many to be written out.
_REFERENCE = {
    "onnx": "ReferenceEvaluator(model).run(None, inputs)",
    "keras": "[keras.ops.convert_to_numpy(t) for t in keras.tree.flatten(call(**inputs))]",
    "instance": "[t.detach().numpy() for t in torch.utils._pytree.tree_leaves(module(*args))]",
}


@dataclass(frozen=True)
class Checks:
    """Lines that define what is expected, (expected, actual) pairs of expressions, and lines that compare them.

    With a `loop`, the head of a for statement, pairs and comparing lines stand for each output in it.
    """

    definitions: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    statements: tuple[str, ...]
    loop: str = ""

    def lines(self, *, shown: bool = False) -> list[str]:
        """The checks as code, which prints what is compared where it is to be `shown`."""
        shows = [f'print("expected:", {want}, "actual:", {got}, sep="\\n")' for want, got in self.pairs * shown]
        body = [*shows, *self.statements]
        return [*self.definitions, *([self.loop, *(STEP + line for line in body)] if self.loop else body)]


def checks(case: Case, outcome: Outcome, reference: Outcome, symptom: str, snippet: str = "") -> Checks:
    """The checks of `actual` (an array for one output, else a list), which raise AssertionError while it is wrong.

    `snippet` is the code that computes `actual`: where that is the reference, every expected value is written out.
    Of a wrong result only the outputs that differ are checked; where there is no result yet, all. Of a wrong type those
    whose numbers are right, if there are any: other numbers may be another bug's.
    """
    want = [value for _, value in reference.outputs]
    got: list[Value] | None = [value for _, value in outcome.outputs] if outcome.status is Status.WRONG else None
    if got is not None and len(got) != len(want):
        return Checks((), (), (f"assert len(actual) == {len(want)}, len(actual)",))
    every = range(len(want))
    random = form_alone(case, outcome, reference)
    wrong = [at for at in every if got is not None and _differs(want[at], got[at], typed=at in random)] or list(every)
    if got is not None and symptom == differential.DTYPE:
        wrong = [at for at in wrong if _is_type_alone(want[at], got[at])] or wrong
    computed = "ReferenceEvaluator" not in snippet and _is_computed(case, want, wrong)
    names = _names(wrong, computed)
    check_dtype = case.kind == "onnx" or symptom == differential.DTYPE
    together = None if computed or got is None or random else _together(want, got, wrong, check_dtype)
    if together:
        return together
    statements: list[str] = []
    pairs: list[tuple[str, str]] = []
    for at in wrong:
        actual = "actual" if len(want) == 1 else f"actual[{at}]"
        value = got[at] if got else want[at]
        if at in random:
            shows, compares = _form(actual, want[at], value)
        else:
            shows, compares = [(names[at], actual)], _statements(actual, names[at], want[at], value, check_dtype)
        pairs += shows
        statements += compares
    compared = [at for at in wrong if at not in random]
    return Checks(tuple(_definitions(case, want, compared, names, computed)), tuple(pairs), tuple(statements))


def _form(actual: str, want: Value, got: Value) -> tuple[list[tuple[str, str]], list[str]]:
    """What is expected and found, and the statements, of a tensor whose numbers are drawn at random."""
    if not isinstance(want, np.ndarray | Raw):
        return [], [
            f"assert {actual} is None, {actual}"
            if want is None
            else f"assert {actual} is not None and len({actual}) == {len(want)}"
        ]
    shape, found = tuple(want.shape), _type_statements(actual, want, got, True)
    of = [("dtype", repr(dtype_name(want))), ("shape", repr(shape))]
    return [(text, f"{actual}.{part}") for part, text in of if any(f".{part}" in line for line in found)], found


def _is_type_alone(want: Value, got: Value) -> bool:
    beyond = differing_beyond_type(want, got)
    return beyond is not None and not beyond.any()


def _together(want: Sequence[Value], got: Sequence[Value], wrong: Sequence[int], check_dtype: bool) -> Checks | None:
    """One loop over several wrong tensors that are compared alike; None where they are not, or where it is but one."""
    pairs = [(want[at], got[at]) for at in wrong]
    dense = [(one, other) for one, other in pairs if isinstance(one, np.ndarray | Raw) and dtype_name(one) != "string"]
    if len(wrong) < 2 or len(dense) < len(wrong) or not all(isinstance(other, np.ndarray | Raw) for _, other in dense):
        return None
    comparisons = {_comparison("actual[at]", "want", one) for one, _ in dense}
    values = [named(f"{at}: ", value_expr(_plain(want[at]))) for at in wrong]
    if len(comparisons) > 1:
        return None
    statements = list(comparisons)
    if any(tuple(one.shape) != tuple(other.shape) for one, other in dense if isinstance(other, np.ndarray | Raw)):
        statements.insert(0, "assert actual[at].shape == want.shape, actual[at].shape")
    if check_dtype and any(dtype_name(one) != dtype_name(other) for one, other in dense):
        statements.insert(0, "assert actual[at].dtype == want.dtype, actual[at].dtype")
    definitions = tuple(render(mapping("expected = ", values)))
    return Checks(definitions, (("want", "actual[at]"),), tuple(statements), "for at, want in expected.items():")


def _names(wrong: Sequence[int], computed: bool) -> dict[int, str]:
    if len(wrong) == 1:
        return {wrong[0]: "expected"}
    return {at: f"expected[{at}]" if computed else f"expected_{at}" for at in wrong}


def _definitions(
    case: Case, want: Sequence[Value], wrong: Sequence[int], names: dict[int, str], computed: bool
) -> list[str]:
    if computed:
        return [f"expected = {_REFERENCE[case.kind]}" + (f"[{wrong[0]}]" if len(wrong) == 1 else "")]
    return [line for at in wrong for line in render(named(f"{names[at]} = ", value_expr(_plain(want[at]))))]


def _plain(value: Value) -> Value:
    """The value with every NaN of one sign, which no comparison sees."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, np.ndarray | Raw):
        return value
    array = as_array(value)
    if array.dtype.kind != "f" and not _is_small_float(array):
        return array
    return np.where(np.isnan(widened(array)), np.array(np.nan, array.dtype), array)


def _is_computed(case: Case, want: Sequence[Value], wrong: Sequence[int]) -> bool:
    """Whether the values are too many to be written; eager tensors of small floats have no numpy form.

    What onnx's own evaluator gets wrong is written out, however long.
    """
    if mended(case) or sum(_elements(want[at]) for at in wrong) <= SMALL:
        return False
    return case.kind == "onnx" or all(isinstance(v, np.ndarray) and v.dtype.isbuiltin == 1 for v in want)


def _elements(value: Value) -> int:
    if isinstance(value, list):
        return sum(_elements(item) for item in value)
    return as_array(value).size if isinstance(value, np.ndarray | Raw) else 1


def _is_small_float(value: np.ndarray | Raw) -> bool:
    array = as_array(value)
    return is_inexact(array) and array.dtype.itemsize < 4


def _differs(want: Value, got: Value, typed: bool) -> bool:
    """Whether two results differ, in type or shape if they are to be looked at as `typed` alone."""
    if isinstance(want, list) and isinstance(got, list):
        return len(want) != len(got) or any(_differs(one, other, typed) for one, other in zip(want, got, strict=True))
    if not isinstance(want, np.ndarray | Raw) or not isinstance(got, np.ndarray | Raw):
        return (want is None) != (got is None) or type(want) is not type(got)
    if tuple(want.shape) != tuple(got.shape) or dtype_name(want) != dtype_name(got):
        return True
    return not typed and bool(differing(as_array(want), as_array(got)).any())


def _statements(actual: str, expected: str, want: Value, got: Value, check_dtype: bool) -> list[str]:
    """Statements that raise AssertionError when `actual` is not `expected`, whose value is known here."""
    if want is None:
        return [f"assert {actual} is None, {actual}"]
    if isinstance(want, list):
        lines = [f"assert len({actual}) == len({expected}), len({actual})"]
        if want:
            inner = _statements("got", "want", want[0], want[0], check_dtype)
            lines += [f"for got, want in zip({actual}, {expected}):", *(STEP + line for line in inner)]
        return lines
    return [*_type_statements(actual, want, got, check_dtype), _comparison(actual, expected, want)]


def _type_statements(actual: str, want: np.ndarray | Raw, got: Value, check_dtype: bool) -> list[str]:
    """Checks of shape and dtype where those differ: the comparison of values lets scalars and other dtypes pass."""
    if not isinstance(got, np.ndarray | Raw):
        return [f"assert isinstance({actual}, np.ndarray), type({actual})"]
    lines = []
    if tuple(got.shape) != tuple(want.shape):
        lines.append(f"assert {actual}.shape == {tuple(want.shape)}, {actual}.shape")
    if check_dtype and dtype_name(got) != dtype_name(want) and dtype_name(want) != "string":
        lines.append(f'assert {actual}.dtype.name == "{dtype_name(want)}", {actual}.dtype')
    return lines


def _comparison(actual: str, expected: str, want: np.ndarray | Raw) -> str:
    if not is_inexact(as_array(want)):
        return f"np.testing.assert_array_equal({actual}, {expected})"
    allowed = tolerance(dtype_name(want))
    limits = f"rtol={allowed.relative:g}, atol={allowed.absolute:g}"
    if _is_small_float(want):
        # numpy can compare no bfloat16 or float8.
        actual, expected = f"{actual}.astype(np.float32)", f"{expected}.astype(np.float32)"
    return f"np.testing.assert_allclose({actual}, {expected}, {limits})"
