"""A stand-in for the file of this name in TVM's tests/python/relax: two of its helpers, to run a test outside of it.

Like the originals they set the model's IR version and operator set, import it with its constants as parameters,
decompose and legalise, and compile for llvm. What comes out is compared with ONNX Runtime's result, or returned.
"""

import numpy as np
import tvm
import tvm.testing
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx


def run_in_tvm(model, inputs, ir_version=8, opset=14):
    model.ir_version = ir_version
    for one in model.opset_import:
        if one.domain in ("", "ai.onnx"):
            one.version = opset
    mod = from_onnx(model, opset=opset, keep_params_in_input=True)
    mod = relax.transform.LegalizeOps()(relax.transform.DecomposeOpsForInference()(mod))
    mod, params = relax.frontend.detach_params(mod)
    with tvm.transform.PassContext(opt_level=3):
        vm = relax.VirtualMachine(tvm.compile(mod, target="llvm"), tvm.cpu())
    names = [getattr(one, "name_hint", None) or one.name for one in mod["main"].params]  # name_hint until 0.26
    fed = [inputs[name] for name in names if name in inputs]
    vm.set_input("main", *fed, *(params["main"] if params else []))
    vm.invoke_stateful("main")
    return vm.get_outputs("main")


def check_correctness(model, inputs, ir_version=8, opset=14, rtol=1e-7, atol=1e-5, check_dtypes=False):
    import onnxruntime

    found = run_in_tvm(model, inputs, ir_version, opset)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    expected = session.run([], inputs)
    found = [found] if len(expected) == 1 else list(found)
    assert len(found) == len(expected), "Unequal number of outputs"
    for one, wanted in zip(found, expected, strict=True):
        values = one.numpy() if isinstance(one, tvm.runtime.Tensor) else np.array(one)
        assert not check_dtypes or values.dtype == wanted.dtype
        tvm.testing.assert_allclose(values, wanted, rtol=rtol, atol=atol)
