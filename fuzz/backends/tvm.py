"""Apache TVM Relax: the ONNX frontend (`from_onnx`) and the PyTorch frontend (`from_exported_program`)."""

from __future__ import annotations

import importlib
import re
import sys
from typing import Any, Callable, Collection, Dict, List, Optional, Tuple

import numpy as np

from fuzz.wire import SMALL_DTYPES, CannotFeed, Job, Value, dtype_name

PACKAGES = ("apache-tvm", "apache-tvm-ffi")
KINDS = ("onnx", "instance")
OPTIONS: Dict[str, Tuple[str, ...]] = {}

#: No run-time tensor can be made of these: strings, and items of less than a byte, which TVM packs.
_NO_ARGUMENT = ("string", "int4", "uint4", "int2", "uint2", "float4_e2m1fn")
_IMPLEMENTATION = re.compile(r"\._impl_v\d+$")
_IMPORTER = ("ONNXGraphImporter._construct_nodes", "ONNXGraphImporter._convert_operator")
_REFUSED = re.compile(r"not supported for frontend ONNX:\s*\n?\s*(\S+)")


def warm() -> None:
    """Import TVM and the ONNX frontend. The PyTorch frontend imports torch: only when needed."""
    for name in ("tvm", "tvm.relax.frontend.onnx"):
        importlib.import_module(name)


def warm_instance() -> None:
    """Import torch as well, in the parent of the workers that run operator instances."""
    for name in ("torch", "tvm.relax.frontend.torch", "fuzz.instance_torch"):
        importlib.import_module(name)


def devices() -> List[str]:
    """The CPU; TVM's LLVM target is what this backend compiles for."""
    import tvm

    if not tvm.runtime.enabled("llvm"):
        raise RuntimeError("this build of TVM has no LLVM code generator")
    return ["CPU"]


def execute(job: Job, enter: Callable[[str], None]) -> List[Tuple[str, Value]]:
    """Convert with the frontend, compile for LLVM, run on Relax's virtual machine."""
    import tvm
    from tvm import relax

    if job.kind == "instance":
        module, names, inputs, sequences = _from_torch(job, enter)
    else:
        module, names, inputs, sequences = _from_onnx(job, enter)
    enter("compile")
    executable = tvm.compile(module, target="llvm")
    enter("run")
    machine = relax.VirtualMachine(executable, tvm.cpu())
    found = machine["main"](*[_argument(value) for value in inputs])
    outputs = _flatten(found) if sequences is None else _collect(found, sequences)
    return [(names[at] if at < len(names) else "output_%d" % at, value) for at, value in enumerate(outputs)]


#: A Relax module, the names of its outputs, its arguments, and which outputs are sequences (None: no ONNX model).
_Program = Tuple[Any, List[str], List[Value], Optional[List[bool]]]


def _from_onnx(job: Job, enter: Callable[[str], None]) -> _Program:
    import onnx
    from tvm.relax.frontend.onnx import from_onnx

    model = onnx.load_from_string(job.model)
    enter("convert")
    module = from_onnx(model)
    # TVM turns weights into constants and names parameters after the inputs, in its own order.
    wanted = [str(getattr(parameter, "name", None) or parameter.name_hint) for parameter in module["main"].params]
    given = list(job.inputs)
    names = [name if name in job.inputs else given[at] for at, name in enumerate(wanted)]
    outputs = model.graph.output
    sequences = [output.type.WhichOneof("value") == "sequence_type" for output in outputs]
    return module, [output.name for output in outputs], [job.inputs[name] for name in names], sequences


def _from_torch(job: Job, enter: Callable[[str], None]) -> _Program:
    import torch
    from tvm.relax.frontend.torch import from_exported_program

    from fuzz import instance, instance_torch

    module, arguments, _ = instance_torch.build(instance.parse(job.model))
    exported = torch.export.export(module, arguments)
    enter("convert")
    converted = from_exported_program(exported, unwrap_unit_return_tuple=True)
    return converted, [], [instance_torch.to_wire(argument) for argument in arguments], None


def _argument(value: Value) -> Any:
    import tvm

    if isinstance(value, list):
        return [_argument(item) for item in value]
    if isinstance(value, np.ndarray) and dtype_name(value) not in _NO_ARGUMENT:
        return tvm.runtime.tensor(value)
    raise CannotFeed("TVM has no run-time value for %s" % dtype_name(value))


def _collect(found: Any, sequences: List[bool]) -> List[Value]:
    """The outputs of an ONNX model; TVM returns the only output bare, and a sequence as a tuple of tensors."""
    import tvm

    bare = isinstance(found, (tvm.runtime.Tensor, tvm.runtime.ShapeTuple, bool, int, float))
    parts = [found] if len(sequences) == 1 and (sequences[0] or bare) else list([found] if bare else found)
    if len(parts) != len(sequences):
        return _flatten(found)
    collected: List[Value] = []
    for part, sequence in zip(parts, sequences):
        values = _flatten(part)
        collected += [values] if sequence else values
    return collected


def _flatten(found: Any) -> List[Value]:
    """Results may be tensors, lists and tuples of them, or shape tuples."""
    import tvm

    if isinstance(found, tvm.runtime.Tensor):
        return [_to_numpy(found)]
    if isinstance(found, tvm.runtime.ShapeTuple):
        return [np.array(list(found), dtype=np.int64)]
    if isinstance(found, (bool, int, float)):
        return [np.asarray(found)]
    return [value for item in found for value in _flatten(item)]


def _to_numpy(tensor: Any) -> Value:
    if str(tensor.dtype) in SMALL_DTYPES and SMALL_DTYPES[str(tensor.dtype)] == 1:
        import ml_dtypes

        return np.asarray(tensor.numpy()).astype(getattr(ml_dtypes, str(tensor.dtype)))
    value: Value = tensor.numpy()
    return value


def blame(error: BaseException, job: Job) -> Tuple[str, str]:
    """The converter in the traceback; else the one that the frontend's registry would have called.

    Several operators share one implementation, so the function is the key, not the operator.
    """
    operator = function = ""
    trace = error.__traceback__
    while trace is not None:
        code, local = trace.tb_frame.f_code, trace.tb_frame.f_locals
        name = getattr(code, "co_qualname", code.co_name)
        if code.co_filename.endswith("onnx_frontend.py"):
            if name in _IMPORTER and "op_name" in local:
                operator = str(local["op_name"])
                importer = local.get("self")
                function = function or _converter(operator, int(getattr(importer, "opset", 0) or 0))
            if _IMPLEMENTATION.search(name):
                return operator, name
        if "from_exported_program" in code.co_filename or "exported_program_translator" in code.co_filename:
            operator, function = _torch_frame(name, local, operator, function)
        trace = trace.tb_next
    refused = _REFUSED.search(str(error))
    return operator or (refused.group(1) if refused else ""), function


def _torch_frame(name: str, local: Dict[str, Any], operator: str, function: str) -> Tuple[str, str]:
    node = local.get("node")
    target = getattr(node, "target", None)
    if getattr(node, "op", "") == "call_function" and target is not None:
        operator = getattr(target, "__name__", str(target))
    if name.startswith(("ExportedProgramImporter._", "BaseFXGraphImporter._")) and not name.endswith(
        ("_translate_fx_graph", "_check_unsupported_func_type", "_retrieve_args")
    ):
        # One closure serves many operators: the name alone would merge unrelated bugs.
        function = "%s(%s)" % (name, operator) if "<locals>" in name else name
    return operator, function


def _torch_converter(api: str) -> str:
    """The function in the PyTorch frontend's map for the aten operator that an API is named after.

    "" where the map has no such name, or where its variants go different ways.
    """
    from tvm.relax.frontend.torch.exported_program_translator import ExportedProgramImporter

    stem = api.rpartition(".")[2].strip("_")
    entries = ExportedProgramImporter().convert_map.items()
    names = {
        str(getattr(function, "__qualname__", "")) for key, function in entries if str(key).partition(".")[0] == stem
    }
    if len(names) != 1:
        return ""
    name = names.pop()
    return "%s(%s)" % (name, stem) if "<locals>" in name else name


def _converter(operator: str, opset: int) -> str:
    """The implementation that the ONNX frontend's registry holds for an operator at an opset."""
    try:
        frontend = sys.modules["tvm.relax.frontend.onnx.onnx_frontend"]
        converter = frontend._get_convert_map()[operator].get_converter(opset or 1)
    except (KeyError, NotImplementedError, AttributeError):
        return ""
    inner = getattr(converter, "__func__", converter)
    return str(getattr(inner, "__qualname__", ""))


def converters(operators: List[Tuple[str, str, int]]) -> List[str]:
    """Look operators up in the frontends' registries."""
    found = []
    for domain, op_type, opset in operators:
        if domain == "torch":
            found.append(_torch_converter(op_type))
        else:
            found.append(_converter(op_type if domain in ("", "ai.onnx") else "%s.%s" % (domain, op_type), opset))
    return found


def reproduce(kind: str, options: Dict[str, str], dtypes: Collection[str] = ()) -> str:
    """How a maintainer of TVM would run it. Raises ValueError for what is no run-time tensor."""
    without = sorted(set(dtypes) & (set(_NO_ARGUMENT) | {"sequence", "none"}))
    if without:
        raise ValueError("no short TVM script takes or returns %s" % ", ".join(without))
    if kind == "instance":
        return (
            "import tvm\n"
            "from tvm import relax\n"
            "from tvm.relax.frontend.torch import from_exported_program\n\n"
            "program = torch.export.export(module, args)\n"
            "mod = from_exported_program(program, unwrap_unit_return_tuple=True)\n"
            'executable = tvm.compile(mod, target="llvm")\n'
            "machine = relax.VirtualMachine(executable, tvm.cpu())\n"
            'found = machine["main"](*[tvm.runtime.from_dlpack(a.contiguous()) for a in args])\n'
            "found = [found] if isinstance(found, tvm.runtime.Tensor) else list(found)\n"
            "actual = [t.numpy() for t in found]"
        )
    return (
        "import tvm\n"
        "from tvm import relax\n"
        "from tvm.relax.frontend.onnx import from_onnx\n\n"
        "mod = from_onnx(model)\n"
        'executable = tvm.compile(mod, target="llvm")\n'
        "machine = relax.VirtualMachine(executable, tvm.cpu())\n"
        'found = machine["main"](*[tvm.runtime.tensor(v) for v in inputs.values()])\n'
        "found = [found] if isinstance(found, tvm.runtime.Tensor) else list(found)\n"
        "actual = [t.numpy() if hasattr(t, 'numpy') else np.array(list(t)) for t in found]"
    )
