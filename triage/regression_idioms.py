"""Regression tests on a project's own helpers, as its other tests of that file are written. Pure.

The helpers are stood in for by files of ``templates/regression/support``, so that such a test can be run outside.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fuzz.case import Case, Outcome, Status
from fuzz.oracles import differential
from fuzz.wire import Raw, Value
from triage.checks import checks
from triage.construct_meaning import parsed
from triage.construct_torch import module_and_inputs
from triage.layout import listing, named, parted, render
from triage.literals import value_expr
from triage.regression_rendering import Regression, names, rendered
from triage.script import subject_code

#: How ``reproduce()`` of TVM calls what it compiled.
_CALL = re.compile(r"vm\[\"main\"\]\(\*\[.*?\]\)")


@dataclass(frozen=True)
class Failing:
    """A failure as a test needs it. `snippet` is the backend's ``reproduce()``, `subject` what the bug is about, and
    `agreeing` are the other backends that give the reference's result; `refused` the operators of the model that the
    compiler refuses by themselves as not supported."""

    case: Case
    outcome: Outcome
    reference: Outcome | None
    symptom: str
    snippet: str
    subject: str
    agreeing: Collection[str] = ()
    refused: Sequence[str] = ()

    @property
    def names(self) -> dict[str, str]:
        """The names of the test, of its class, and what its file is about."""
        return names(self.subject, self.symptom, self.outcome)

    @property
    def mirrored(self) -> Failing:
        """The failure of a compiler that is right where this one is wrong."""
        assert self.reference is not None
        right = replace(self.outcome, outputs=self.reference.outputs)
        return replace(self, outcome=right, reference=replace(self.reference, outputs=self.outcome.outputs))

    def expected(self, call: str) -> str:
        """The code that compares what a `call` has made of `actual` with the reference's result."""
        assert self.reference is not None
        found = checks(self.case, self.outcome, self.reference, self.symptom, call)
        return "\n".join(found.lines())


def layer_tests(failing: Failing) -> Iterator[Regression]:
    """Tests on OpenVINO's `PytorchLayerTest`: as its suite runs by default, and by torch.export with fixed shapes."""
    module, inputs = module_and_inputs(failing.case.model)
    if not all(isinstance(value, np.ndarray) and _in_numpy(value) for value in inputs):
        return  # its helper feeds numpy arrays
    values = {
        **failing.names,
        "module": module,
        "arrays": "\n".join(render(named("return ", listing([value_expr(value) for value in inputs])))),
    }
    for static, variables in ((False, {}), (True, {"PYTORCH_TRACING_MODE": "EXPORT"})):
        made = rendered("openvino_instance.layer.py.j2", {**values, "static": static}, "")
        yield replace(made, variables=variables)


def relax_onnx_tests(failing: Failing) -> Iterator[Regression]:
    """Tests on TVM's `check_correctness`, where ONNX Runtime is right, then on `run_in_tvm` and the right values."""
    model = parsed(failing.case.model)
    opset = next((one.version for one in model.opset_import if one.domain in ("", "ai.onnx")), 0)
    if not opset or not _CALL.search(failing.snippet):
        return
    arguments = f"model, inputs, ir_version={model.ir_version}, opset={opset}"
    call = next(line for line in failing.snippet.splitlines() if _CALL.search(line))
    run = _CALL.sub(f"run_in_tvm({arguments})", call)
    wrong = failing.outcome.status is Status.WRONG
    probe = [run, failing.mirrored.expected(run)] if wrong else []
    if "onnxruntime" in failing.agreeing and _fed_as_they_are(failing):
        dtypes = ", check_dtypes=True" if failing.symptom == differential.DTYPE else ""
        yield _relax_onnx(failing, "check_correctness", [f"check_correctness({arguments}{dtypes})"], probe)
    if failing.reference is not None and failing.reference.status is Status.OK:
        yield _relax_onnx(failing, "run_in_tvm", [run, failing.expected(run)], probe)


def _fed_as_they_are(failing: Failing) -> bool:
    """Whether NumPy has the types of all inputs and results: ONNX Runtime takes and gives the others as their bytes."""
    results = [value for _, value in failing.reference.outputs] if failing.reference else []
    return all(map(_in_numpy, [*failing.case.inputs.values(), *results]))


def _in_numpy(value: Value) -> bool:
    """Whether NumPy has a value's type, or it is no tensor."""
    return not isinstance(value, Raw) and (not isinstance(value, np.ndarray) or value.dtype.isbuiltin == 1)


def _relax_onnx(failing: Failing, helper: str, lines: list[str], probe: list[str]) -> Regression:
    model = subject_code(failing.case)
    imports, body = parted([*model, *lines])
    values = {**failing.names, "helpers": helper, "body": body, "probe": ""}
    made = rendered("tvm_onnx.helpers.py.j2", values, imports)
    if not probe:
        return made
    more, second = parted([*model, *probe])
    helpers = ", ".join(dict.fromkeys([helper, "run_in_tvm"]))
    both = rendered("tvm_onnx.helpers.py.j2", {**values, "helpers": helpers, "probe": second}, f"{imports}\n{more}")
    return replace(made, probe=both.code)


def relax_torch_tests(failing: Failing) -> Iterator[Regression]:
    """A test on TVM's `verify_model_numerically`, which compares shapes and values with eager PyTorch."""
    imports, subject = parted(subject_code(failing.case))
    yield rendered("tvm_instance.helpers.py.j2", {**failing.names, "subject": subject}, imports)


#: Tests on helpers of the project's own, by (backend, kind of case).
IDIOMS: Mapping[tuple[str, str], Callable[[Failing], Iterator[Regression]]] = {
    ("openvino", "instance"): layer_tests,
    ("tvm", "onnx"): relax_onnx_tests,
    ("tvm", "instance"): relax_torch_tests,
}
