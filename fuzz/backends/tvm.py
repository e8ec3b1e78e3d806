"""Apache TVM Relax: the ONNX frontend (`from_onnx`) and the PyTorch frontend (`from_exported_program`)."""

from __future__ import annotations

import importlib
import re
import sys
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from fuzz.backends import _relax_functions, _tvm_devices, _tvm_script, _tvm_sequences
from fuzz.wire import SMALL_DTYPES, CannotFeed, Job, Value, dtype_name

PACKAGES = ("apache-tvm", "apache-tvm-ffi")
KINDS = ("onnx", "instance", "keras")
#: export: how Keras writes a layer as an ONNX model (fuzz/instance_keras_export.py).
#: functions: parts of the Relax module as functions (_relax_functions.py).
#: sequence: passes of relax.transform that come first, e.g. FoldConstant,FuseOps; target: LLVM's processor.
#: device: what TVM calls it, e.g. cuda, in place of the processor.
#: disable: names of passes that TVM's sequences leave out, e.g. FuseOps,tirx.StorageRewrite.
OPTIONS: Dict[str, Tuple[str, ...]] = {
    "show": ("outputs", "operators", "passes", "declared", "raising", "retyping"),
    "disable": ("none", "*"),
    "sequence": ("none", "*"),
    "target": ("generic", "native"),
    "device": ("CPU", "*"),
    "part": ("all", "*"),
    "export": ("dynamic", "static"),
    "functions": ("none", *_relax_functions.FORMS),
}
REWRITES = {"functions": "none", "sequence": "none"}

_IMPLEMENTATION = re.compile(r"\._impl_v\d+$")
_IMPORTER = ("ONNXGraphImporter._construct_nodes", "ONNXGraphImporter._convert_operator")
#: What the ONNX frontend reads before it converts any operator, by the function that does.
_READ_FIRST = {
    "ONNXGraphImporter._parse_graph_initializers": "initializer",
    "ONNXGraphImporter._parse_graph_input": "graph input",
}
_REFUSED = re.compile(r"not supported for frontend ONNX:\s*\n?\s*(\S+)")


def warm() -> None:
    """Import TVM and the ONNX frontend. The PyTorch frontend imports torch: only when needed."""
    for name in ("tvm", "tvm.relax.frontend.onnx"):
        importlib.import_module(name)


def warm_instance() -> None:
    """Import torch as well, in the parent of the workers that run operator instances."""
    from fuzz import instance_parts

    importlib.import_module("tvm.relax.frontend.torch")
    instance_parts.warm()


def warm_keras() -> None:
    """Import Keras on PyTorch as well, in the parent of the workers that run Keras layers."""
    from fuzz import instance_keras

    instance_keras.use("torch")


def devices() -> List[str]:
    """The CPU, and what else this build compiles for and finds. Raises RuntimeError without an LLVM code generator."""
    import tvm

    if not tvm.runtime.enabled("llvm"):
        raise RuntimeError("this build of TVM has no LLVM code generator")
    return [_tvm_devices.CPU, *_tvm_devices.accelerators()]


def execute(job: Job, enter: Callable[[str], None]) -> List[Tuple[str, Value]]:
    """Convert with the frontend, compile for the target, run on Relax's virtual machine."""
    import tvm
    from tvm import relax

    if job.kind == "keras":
        from fuzz import instance_keras_export

        job = instance_keras_export.as_onnx(job)
    shown = job.options.get("show", "outputs")
    if shown == "operators":
        return [("operators", np.array(_operators(job), dtype=object))]
    if job.kind == "instance":
        module, names, inputs, sequences = _from_torch(job, enter)
    else:
        module, names, inputs, sequences = _from_onnx(job, enter)
    if shown == "declared":
        return [("declared", np.array(_declared(module), dtype=object))]
    enter("compile")
    form = job.options.get("functions", "none")
    if form != "none":
        module = _relax_functions.rewritten(module, form)
    typed = _declared(module) if shown == "retyping" else None
    with _PassesSeen(job.options.get("disable", "none"), typed) as passes:
        try:
            module = _tvm_sequences.optimised(module, job.options.get("sequence", "none"))
            executable = tvm.compile(module, target=_tvm_devices.target(job.options))
        except Exception:
            if shown != "raising":
                raise
    if shown == "raising":
        return [("raising", np.array(passes.running, dtype=object))]
    if shown == "passes":
        return [("passes", np.array(passes.names, dtype=object))]
    if shown == "retyping":
        return [("retyping", np.array(passes.retyping, dtype=object))]
    enter("run")
    device = _tvm_devices.device(job.options)
    machine = relax.VirtualMachine(executable, device)
    found = machine["main"](*[_argument(value, device) for value in inputs])
    outputs = _results(found) if sequences is None else _collect(found, sequences)
    return [(names[at] if at < len(names) else "output_%d" % at, value) for at, value in enumerate(outputs)]


def _declared(module: Any) -> List[str]:
    """The types that the frontend has inferred for the results of ``main``."""
    kind = module["main"].ret_ty
    return [_spelled(each) for each in getattr(kind, "fields", [kind])]


def _declared_still(module: Any) -> Optional[List[str]]:
    """As `_declared`; None once ``main`` is lowered so far that it has no such types."""
    main = next((function for name, function in module.functions.items() if name.name_hint == "main"), None)
    return _declared(module) if getattr(main, "ret_ty", None) is not None else None


def _spelled(kind: Any) -> str:
    dims = getattr(getattr(kind, "shape", None), "values", None)
    if getattr(kind, "dtype", None) is None or dims is None:
        return "?"
    return "%s[%s]" % (kind.dtype, ",".join(str(getattr(dim, "value", "?")) for dim in dims))


class _PassesSeen:
    """TVM's context for a compilation: without the disabled passes, and noting the others by name.

    With nothing to note or to disable it would only cost time, but a compilation takes longer by far.
    """

    def __init__(self, disabled: str, declared: Optional[List[str]] = None) -> None:
        """`declared`: the types of the results of ``main``, to note the passes that change them (None: not asked)."""
        from tvm import instrument, transform

        self.names: List[str] = []
        self.running: List[str] = []  # the passes that have begun and not ended, the outermost first
        self.retyping: List[str] = []
        noted, running, retyping, types = self.names, self.running, self.retyping, [declared]

        class Note:
            def run_before_pass(self, module: Any, info: Any) -> None:
                running.append(str(info.name))
                if info.name not in noted:
                    noted.append(str(info.name))

            def run_after_pass(self, module: Any, info: Any) -> None:
                if running and running[-1] == info.name:
                    running.pop()
                if types[0] is not None and (now := _declared_still(module)) not in (None, types[0]):
                    retyping.append(str(info.name))
                    types[0] = now

        left_out = [] if disabled == "none" else disabled.split(",")
        note = instrument.pass_instrument(Note)()
        self._context = transform.PassContext(opt_level=3, instruments=[note], disabled_pass=left_out)

    def __enter__(self) -> "_PassesSeen":
        self._context.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._context.__exit__(*error)


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
    from tvm.relax.frontend.torch import from_exported_program

    from fuzz import instance_parts, instance_torch

    module, arguments, _ = instance_parts.build(job)
    exported = instance_parts.program(module, arguments)
    enter("convert")
    converted = from_exported_program(exported, unwrap_unit_return_tuple=True)
    return converted, [], [instance_torch.to_wire(argument) for argument in arguments], None


def _argument(value: Value, device: Any) -> Any:
    import tvm

    if isinstance(value, list):
        return [_argument(item, device) for item in value]
    if isinstance(value, np.ndarray) and dtype_name(value) not in _tvm_script.NO_ARGUMENT:
        return tvm.runtime.tensor(value, device)
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


def _results(found: Any) -> List[Value]:
    """The results of a call of PyTorch; what is None there is None here and no result, as the reference has it."""
    import tvm

    if found is None:
        return []
    if isinstance(found, (tvm.runtime.Tensor, tvm.runtime.ShapeTuple, bool, int, float)):
        return _flatten(found)
    return [value for item in found for value in _results(item)]


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


#: The files of the PyTorch frontend that hold its walk over a graph and its converters.
_TORCH_FRONTEND = ("exported_program_translator.py", "base_fx_graph_translator.py")


def blame(error: BaseException, job: Job) -> Tuple[str, str]:
    """The converter in the traceback; else the one that the frontend's registry would have called.

    Several operators share one implementation, so the function is the key, not the operator. What fails before any is
    converted is no operator's: an ``initializer``, a ``graph input``.
    """
    operator = function = ""
    trace = error.__traceback__
    while trace is not None:
        code, local = trace.tb_frame.f_code, trace.tb_frame.f_locals
        name = getattr(code, "co_qualname", code.co_name)
        if code.co_filename.endswith("onnx_frontend.py"):
            if name in _READ_FIRST:
                return _READ_FIRST[name], name
            if name in _IMPORTER and "op_name" in local:
                operator = str(local["op_name"])
                importer = local.get("self")
                function = function or _converter(operator, int(getattr(importer, "opset", 0) or 0))
            if _IMPLEMENTATION.search(name):
                return operator, name
        if code.co_filename.endswith(_TORCH_FRONTEND):
            operator, function = _torch_frame(name, local, operator, function)
        trace = trace.tb_next
    refused = _REFUSED.search(str(error))
    return operator or (refused.group(1) if refused else ""), function


def _torch_frame(name: str, local: Dict[str, Any], operator: str, function: str) -> Tuple[str, str]:
    node = local.get("node")
    target = getattr(node, "target", None)
    if getattr(node, "op", "") == "call_function" and target is not None:
        operator = str(target) if hasattr(target, "overloadpacket") else getattr(target, "__name__", str(target))
    if name.endswith("_translate_fx_graph"):
        return operator, ""  # the walk over a graph: what it calls next is the converter, whatever that calls
    if name.startswith(("ExportedProgramImporter._", "BaseFXGraphImporter._")) and not name.endswith(
        ("_check_unsupported_func_type", "_retrieve_args")
    ):
        function = function or _told_apart(name, operator)
    return operator, function


def _told_apart(function: str, operator: str) -> str:
    """One closure serves many operators: its name alone would merge unrelated bugs."""
    stem = operator.partition("aten.")[2] or operator
    return "%s(%s)" % (function, stem.partition(".")[0]) if "<locals>" in function else function


def _operators(job: Job) -> List[str]:
    """The aten operators that `from_exported_program` meets: those that are left of an instance once decomposed."""
    from fuzz import instance_parts

    return instance_parts.operators(instance_parts.exported(job).run_decompositions().graph)


def _torch_converter(operator: str) -> str:
    """The function in the PyTorch frontend's map for an aten operator, "" where the map has none."""
    from tvm.relax.frontend.torch.exported_program_translator import ExportedProgramImporter

    function = ExportedProgramImporter().convert_map.get(operator.partition("aten.")[2])
    return _told_apart(str(getattr(function, "__qualname__", "")), operator)


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
        if domain == "keras":
            found.append("")
        elif domain == "torch":
            found.append(_torch_converter(op_type))
        else:
            found.append(_converter(op_type if domain in ("", "ai.onnx") else "%s.%s" % (domain, op_type), opset))
    return found


def reproduce(kind: str, options: Dict[str, str], inputs: Sequence[str] = (), outputs: Sequence[str] = ()) -> str:
    """How a maintainer of TVM would run it. Raises ValueError for what is no run-time tensor, and for other devices."""
    if options.get("device", _tvm_devices.CPU) != _tvm_devices.CPU:
        raise ValueError("scripts are written for the processor alone, not for %s" % options["device"])
    return _tvm_script.script(kind, options, inputs, outputs)


def newest_opset() -> int:
    """The newest version that any converter of the ONNX frontend is written for; the frontend itself has no limit."""
    from tvm.relax.frontend.onnx import onnx_frontend

    found = {name for converter in onnx_frontend._get_convert_map().values() for name in dir(converter)}
    return max((int(name[7:]) for name in found if re.fullmatch(r"_impl_v\d+", name)), default=0)
