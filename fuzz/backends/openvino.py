"""OpenVINO on the CPU: the ONNX frontend (`read_model`) and the PyTorch frontend (`convert_model`)."""

from __future__ import annotations

import contextlib
import functools
import glob
import importlib
import importlib.util
import itertools
import os
import re
from typing import Any, Callable, Dict, Iterator, List, Sequence, Tuple

import numpy as np

from fuzz.backends import _openvino_passes, _openvino_sequences
from fuzz.backends._openvino_blame import blame as blame
from fuzz.backends._openvino_blame import converters as converters
from fuzz.wire import SMALL_DTYPES, CannotFeed, Job, Raw, Value, dtype_name

PACKAGES = ("openvino",)
PACKAGES_WITH: Dict[str, Tuple[str, ...]] = {"keras=tensorflow": ("openvino", "tensorflow-cpu")}
KINDS = ("onnx", "instance", "keras")
#: precision: f32 keeps the CPU plugin from computing in bfloat16 where the machine could; auto lets it choose.
#: engine: interpreter evaluates what the frontend made with OpenVINO's own reference kernels: no transformation
#: and no plugin has touched it; none leaves OpenVINO out, and TensorFlow runs the SavedModel (keras=tensorflow only).
#: device: what compiles and runs the model, as OpenVINO names it: GPU, NPU, HETERO:GPU,CPU.
#: disable: parts of the plugin that a setting turns off.
#: upto: a transformation as show=passes names it: the model that it leaves takes the place of the frontend's.
#: sequence: transformations of the Python package that come first, e.g. ConstantFolding,MOCTransformations.
#: torch: how the PyTorch frontend sees an instance, as an exported program or as traced TorchScript.
#: keras: how a Keras layer gets here, through Keras's own OpenVINO backend, as an exported ONNX model or as a
#: SavedModel for the TensorFlow frontend; the latter two as export says (fuzz/instance_keras_export.py).
OPTIONS: Dict[str, Tuple[str, ...]] = {
    "precision": ("f32", "auto"),
    "threads": ("1", "2", "4"),
    "device": ("CPU", "*"),
    "torch": ("export", "script"),
    "show": ("outputs", "operators", "declared", "passes"),
    "upto": ("all", "*"),
    "sequence": ("none", "*"),
    "engine": ("plugin", "interpreter", "none"),
    "disable": ("none", "snippets"),
    "part": ("all", "*"),
    "keras": ("native", "onnx", "tensorflow"),
    "export": ("dynamic", "static"),
}
#: What fails without a drawn sequence as well is no failure of the sequence.
REWRITES = {"sequence": "none"}
#: Keras's own backend for OpenVINO builds the graph: what it gets wrong is Keras's affair, and often its choice.
ANOTHER_WAY: Dict[str, Dict[str, str]] = {"keras=native": {"keras": "onnx"}}
UNCOMPILED_WITH: Dict[str, Dict[str, str]] = {"keras=tensorflow": {"engine": "none"}}

#: The symbols of ONNX's operator sets inside the frontend's library.
_SCHEMAS = re.compile(rb"OpSet_Onnx_ver(\d+)")
#: OpenVINO's names of the dtypes that numpy lacks; the last group packs two items a byte, low half first.
_SMALL = {
    "bfloat16": "bf16",
    "float8_e4m3fn": "f8e4m3",
    "float8_e5m2": "f8e5m2",
    "float8_e8m0fnu": "f8e8m0",
    "float4_e2m1fn": "f4e2m1",
    "int4": "i4",
    "uint4": "u4",
}
_PACKED = frozenset(("float4_e2m1fn", "int4", "uint4"))

#: What traced programs do with sizes and numbers on the way to the operators that compute values.
_BOOKKEEPING = ("aten::Int", "aten::Float", "aten::size", "aten::dim", "aten::ScalarImplicit")


#: What converting imports when it is called for the first time, where a release has it.
_DECODERS = "openvino.frontend.pytorch."
_PYTORCH_FRONTEND = ("openvino.tools.ovc", _DECODERS + "fx_decoder", _DECODERS + "ts_decoder")


def warm() -> None:
    """Import OpenVINO. Torch stays out until an instance comes: most jobs are ONNX models."""
    importlib.import_module("openvino")
    if importlib.util.find_spec("openvino.op"):  # releases before 2025.0 have it elsewhere, and import it by themselves
        importlib.import_module("openvino.op")


def warm_instance() -> None:
    """Import torch and the PyTorch frontend as well, in the parent of the workers that run operator instances."""
    from fuzz import instance_parts

    instance_parts.warm()
    for name in _PYTORCH_FRONTEND:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def warm_keras_native() -> None:
    """Import Keras with its OpenVINO backend, in the parent of the workers that run layers on it."""
    from fuzz.backends import _openvino_keras

    _openvino_keras.warm()


def warm_keras_onnx() -> None:
    """Import Keras on PyTorch, in the parent of the workers that export layers as ONNX models."""
    from fuzz import instance_keras

    instance_keras.use("torch")


def warm_keras_tensorflow() -> None:
    """Import Keras on TensorFlow, in the parent of the workers that convert SavedModels."""
    from fuzz.backends import _openvino_tensorflow

    _openvino_tensorflow.warm()


def devices() -> List[str]:
    """The devices that the installed plugins find."""
    found = [str(name) for name in _core().available_devices]
    if "CPU" not in found:
        raise RuntimeError("OpenVINO finds no CPU device (it finds: %s)" % (", ".join(found) or "none"))
    return found


@functools.lru_cache(maxsize=None)
def _core() -> Any:
    """One Core a process. Never called in the parent: its threads would not survive the fork."""
    import openvino as ov

    return ov.Core()


def execute(job: Job, enter: Callable[[str], None]) -> List[Tuple[str, Value]]:
    """Convert with a frontend, compile for a device's plugin, infer once."""
    if job.options.get("show") == "operators":
        return [("operators", np.array(_operators(job), dtype=object))]
    if job.options.get("engine") == "none":
        return _uncompiled(job, enter)
    model, given = _FRONTENDS[job.kind](job, enter)
    _openvino_sequences.optimise(model, job.options.get("sequence", "none"))
    if job.options.get("show") == "declared":
        return [("declared", np.array([_declared(port) for port in model.outputs], dtype=object))]
    if job.options.get("show") == "passes":
        with _openvino_passes.traced(len(job.model), lambda: _compiled(model, job)) as steps:
            return [("passes", np.array(list(steps), dtype=object))]
    if job.options.get("upto", "all") != "all":
        model = _transformed(model, job)
    if job.options.get("engine") == "interpreter":
        return _interpreted(model, given, enter)
    enter("compile")
    compiled = _compiled(model, job)
    enter("run")
    request = compiled.create_infer_request()
    tensors = [_tensor(value) for value in _in_order(compiled.inputs, given)]
    for port, tensor in zip(compiled.inputs, tensors):
        request.set_tensor(port, tensor)
    request.infer()
    return [(_name(port, at), _value(request.get_tensor(port))) for at, port in enumerate(compiled.outputs)]


def _compiled(model: Any, job: Job) -> Any:
    device = _device(job.options.get("device", "CPU"))
    settings: Dict[str, Any] = {}
    if job.options.get("precision", "f32") == "f32":
        settings["INFERENCE_PRECISION_HINT"] = "f32"
    if device == "CPU":  # other plugins refuse its settings
        settings["INFERENCE_NUM_THREADS"] = int(job.options.get("threads", "1"))
    if device == "CPU" and job.options.get("disable") == "snippets":
        settings["SNIPPETS_MODE"] = "DISABLE"
    return _core().compile_model(model, device, settings)


def _device(name: str) -> str:
    """The device, if this machine has it or all that it is put together of (HETERO:GPU,CPU). Raises CannotFeed."""
    if name == "CPU":
        return name  # to ask for the others loads their plugins
    found = [str(each) for each in _core().available_devices]
    kinds = {each.partition(".")[0] for each in found}
    for part in name.rpartition(":")[2].split(","):
        if part not in found and part not in kinds:
            raise CannotFeed("OpenVINO finds no device %s here (it finds: %s)" % (part, ", ".join(found)))
    return name


def _transformed(model: Any, job: Job) -> Any:
    """The model as the transformation `upto` leaves it. Raises CannotFeed where no such one changes the model."""
    wanted = job.options["upto"]
    with _openvino_passes.traced(len(job.model), lambda: _compiled(model, job)) as steps:
        if wanted not in steps:
            raise CannotFeed("no transformation %s changes this model" % wanted)
        with open(steps[wanted], "rb") as text, open(steps[wanted][: -len(".xml")] + ".bin", "rb") as weights:
            return _core().read_model(text.read(), weights.read())


def _uncompiled(job: Job, enter: Callable[[str], None]) -> List[Tuple[str, Value]]:
    if job.kind != "keras" or job.options.get("keras") != "tensorflow":
        raise CannotFeed("engine=none is for Keras layers with keras=tensorflow")
    from fuzz.backends import _openvino_tensorflow

    return _openvino_tensorflow.uncompiled(job, enter)


def _declared(port: Any) -> str:
    """Type and shape of an output in the frontend's graph, in numpy's words."""
    kind = port.element_type
    name = next((name for name, ours in _SMALL.items() if ours == str(kind.get_type_name())), "")
    if port.partial_shape.rank.is_dynamic or kind.is_dynamic():
        return "?"
    dims = ["?" if dim.is_dynamic else str(dim.get_length()) for dim in port.partial_shape]
    return "%s[%s]" % (name or np.dtype(kind.to_dtype()).name, ",".join(dims))


def _interpreted(model: Any, given: Dict[str, Value], enter: Callable[[str], None]) -> List[Tuple[str, Value]]:
    """The frontend's graph as it is, evaluated by OpenVINO's reference kernels. Raises CannotFeed where they cannot."""
    import openvino as ov

    enter("run")
    inputs = [_tensor(value) for value in _in_order(model.inputs, given)]
    outputs = [ov.Tensor(port.element_type, ov.Shape([0])) for port in model.outputs]
    if not model.evaluate(outputs, inputs):
        raise CannotFeed("OpenVINO has no reference kernel for an operator of this model")
    return [(_name(port, at), _value(tensor)) for at, (port, tensor) in enumerate(zip(model.outputs, outputs))]


def _from_onnx(job: Job, enter: Callable[[str], None]) -> Tuple[Any, Dict[str, Value]]:
    core = _core()
    enter("convert")
    return core.read_model(job.model, b""), dict(job.inputs)


def _from_torch(job: Job, enter: Callable[[str], None]) -> Tuple[Any, Dict[str, Value]]:
    import openvino as ov

    from fuzz import instance_parts, instance_torch

    module, arguments, names = instance_parts.build(job)
    if any(argument.is_complex() for argument in arguments):
        raise CannotFeed("OpenVINO has no complex tensors")
    script = job.options.get("torch") == "script"
    program = module if script else instance_parts.program(module, arguments)
    enter("convert")
    # Without shapes every dimension would be dynamic, which is another path with other limits.
    shapes = [ov.PartialShape(list(argument.shape)) for argument in arguments]
    extra = {"example_input": arguments} if script else {}
    try:
        model = ov.convert_model(program, input=shapes, **extra)
    except RuntimeError as error:
        if script and "Couldn't get TorchScript module" in str(error):
            instance_parts.require_traceable(module, arguments)
        raise
    return model, dict(zip(names, map(instance_torch.to_wire, arguments)))


def _from_keras(job: Job, enter: Callable[[str], None]) -> Tuple[Any, Dict[str, Value]]:
    path = job.options.get("keras", "native")
    if path == "native":
        from fuzz.backends import _openvino_keras

        return _openvino_keras.converted(job, enter)
    if path == "tensorflow":
        from fuzz.backends import _openvino_tensorflow

        return _openvino_tensorflow.converted(job, enter)
    from fuzz import instance_keras_export

    return _from_onnx(instance_keras_export.as_onnx(job), enter)


_FRONTENDS = {"onnx": _from_onnx, "instance": _from_torch, "keras": _from_keras}


def _in_order(ports: List[Any], given: Dict[str, Value]) -> List[Value]:
    """A value for each port, by name; a port that was renamed takes what fits of the values left over, in order.

    OpenVINO renames an input when it eliminates the operator behind it (Dropout), and drops an input
    that nothing reads. Raises CannotFeed where both happened and types and shapes do not tell which is which.
    """
    names = [next((name for name in port.get_names() if name in given), "") for port in ports]
    left = [given[name] for name in given if name not in names]
    renamed = [port for port, name in zip(ports, names) if not name]
    choices = list(itertools.islice(_fitting(renamed, left), 2))
    if len(choices) != 1:
        raise CannotFeed("OpenVINO's %d inputs cannot be told apart among the case's %d" % (len(ports), len(given)))
    spare = iter(choices[0])
    return [given[name] if name else next(spare) for name in names]


def _fitting(ports: List[Any], values: List[Value]) -> Iterator[Tuple[Value, ...]]:
    """The ways to give each port one of the values, in their order; where all are taken there is one way."""
    for chosen in itertools.combinations(values, len(ports)):
        if len(ports) == len(values) or all(map(_fits, ports, chosen)):
            yield chosen


def _fits(port: Any, value: Value) -> bool:
    import openvino as ov

    if not isinstance(value, (np.ndarray, Raw)):
        return False
    name = dtype_name(value)
    kind = _SMALL.get(name) or ("string" if name == "string" else ov.Type(np.dtype(name)).get_type_name())
    shape = ov.PartialShape(list(value.shape))
    return str(port.element_type.get_type_name()) == kind and bool(port.get_partial_shape().compatible(shape))


def _tensor(value: Value) -> Any:
    import openvino as ov

    name = dtype_name(value)
    if name in ("none", "sequence"):
        raise CannotFeed("OpenVINO has no run-time %s" % ("value for an absent optional" if name == "none" else name))
    if name == "string":
        return ov.Tensor(np.asarray(value, dtype=str))
    if name not in SMALL_DTYPES:
        return ov.Tensor(value)
    kind = getattr(ov.Type, _SMALL.get(name, ""), None)
    if kind is None:
        raise CannotFeed("this OpenVINO has no tensors of %s" % name)
    shape: Tuple[int, ...] = value.shape  # type: ignore[union-attr]
    data = value.data if isinstance(value, Raw) else np.ascontiguousarray(value).tobytes()
    tensor = ov.Tensor(kind, ov.Shape(list(shape)))
    content = _pack(data) if name in _PACKED else data
    if content:
        # The view has the dtype of OpenVINO's choice; only its bytes matter here.
        tensor.data.reshape(-1).view(np.uint8)[:] = np.frombuffer(content, np.uint8)
    return tensor


def _pack(data: bytes) -> bytes:
    """Two items a byte, the first one in the low half."""
    items = np.frombuffer(data, np.uint8) & 0x0F
    items = np.concatenate([items, np.zeros(len(items) % 2, np.uint8)])
    return (items[0::2] | (items[1::2] << 4)).astype(np.uint8).tobytes()


def _unpack(data: bytes, count: int, signed: bool) -> bytes:
    halves = np.frombuffer(data, np.uint8)
    items = np.stack([halves & 0x0F, halves >> 4], axis=1).ravel()[:count]
    return (np.where(items > 7, items | 0xF0, items) if signed else items).astype(np.uint8).tobytes()


def _value(tensor: Any) -> Value:
    """An output tensor as a wire value that owns its memory."""
    kind = str(tensor.element_type.get_type_name())
    if kind == "string":
        return np.array(tensor.str_data, dtype=object)
    name = next((name for name, ours in _SMALL.items() if ours == kind), "")
    if not name:
        return np.array(tensor.data, copy=True)
    shape = tuple(int(size) for size in tensor.shape)
    data = np.ascontiguousarray(tensor.data).tobytes() if tensor.size else b""
    if name in _PACKED:
        data = _unpack(data, int(tensor.size), name == "int4")
    return _named(Raw(name, shape, data))


def _named(raw: Raw) -> Value:
    try:
        import ml_dtypes
    except ImportError:
        return raw
    return np.frombuffer(raw.data, getattr(ml_dtypes, raw.dtype)).reshape(raw.shape)


def _name(port: Any, position: int) -> str:
    names = port.get_names()
    return str(min(names)) if names else "output_%d" % position


def _operators(job: Job) -> List[str]:
    """The aten operators that the frontend's own decoder finds in an instance, after its own decompositions."""
    import torch
    from openvino.frontend.pytorch.fx_decoder import TorchFXPythonDecoder
    from openvino.frontend.pytorch.ts_decoder import TorchScriptPythonDecoder

    from fuzz import instance_parts

    if job.options.get("torch") == "script":
        module, arguments, _ = instance_parts.build(job)
        with torch.no_grad():
            decoder: Any = TorchScriptPythonDecoder(module, example_input=arguments)
    else:
        decoder = TorchFXPythonDecoder.from_exported_program(instance_parts.exported(job))
    met: List[str] = []
    decoder.visit_subgraph(lambda node: met.append(str(node.get_op_type())))
    return list(dict.fromkeys(name for name in met if name.startswith("aten") and name not in _BOOKKEEPING))


def reproduce(kind: str, options: Dict[str, str], inputs: Sequence[str] = (), outputs: Sequence[str] = ()) -> str:
    """How a maintainer of OpenVINO would run it.

    numpy lacks some dtypes of `inputs` and `outputs`, and those travel as bits. Raises ValueError for
    dtypes of four bits and those that OpenVINO lacks.
    """
    if kind == "keras" and options.get("keras", "native") == "native":
        return _layer_script(outputs)
    small = sorted({name for name in inputs if name in SMALL_DTYPES})
    unshown = _PACKED.intersection([*inputs, *outputs]) | {name for name in small if name not in _SMALL}
    if unshown:
        raise ValueError("there is no short way to show %s in OpenVINO" % ", ".join(sorted(unshown)))
    device = options.get("device", "CPU")
    settings = ['"INFERENCE_PRECISION_HINT": "f32"'] if options.get("precision", "f32") == "f32" else []
    settings += ['"INFERENCE_NUM_THREADS": ' + options["threads"]] if "threads" in options and device == "CPU" else []
    settings += ['"SNIPPETS_MODE": "DISABLE"'] if options.get("disable") == "snippets" and device == "CPU" else []
    hint = '"%s"' % device + (", {%s}" % ", ".join(settings) if settings else "")
    if kind == "keras" and options.get("keras") == "tensorflow":
        from fuzz.backends import _openvino_tensorflow

        return _openvino_tensorflow.script(hint, options.get("export") == "static", len(outputs))
    sequence = options.get("sequence", "none")
    lines = ["import openvino as ov", *(["import ml_dtypes"] if small or set(outputs) & set(SMALL_DTYPES) else [])]
    lines += [*_openvino_sequences.imports(sequence), ""]
    steps = _openvino_sequences.statements(sequence)
    if kind == "onnx":
        lines += ["core = ov.Core()", "ov_model = core.read_model(model.SerializeToString())", *steps]
        lines += ["compiled = core.compile_model(ov_model, %s)" % hint]
    else:
        script = options.get("torch") == "script"
        program = "module, example_input=args" if script else "torch.export.export(module, args)"
        lines += [
            "ov_model = ov.convert_model(%s, input=[ov.PartialShape(list(a.shape)) for a in args])" % program,
            *steps,
            "compiled = ov.Core().compile_model(ov_model, %s)" % hint,
        ]
    feeds, definition = _feeds(kind, small)
    return "\n".join([*lines, *definition, *_results("compiled(%s)" % feeds, outputs)])


def _layer_script(outputs: Sequence[str]) -> str:
    """A Keras layer on Keras's own OpenVINO backend; `call` takes the arrays `inputs`."""
    return (
        "symbols = [keras.Input(batch_shape=(None, *x.shape[1:]), dtype=x.dtype.name) for x in inputs.values()]\n"
        "model = keras.Model(symbols, call(*symbols))\n"
        "found = keras.tree.flatten(model.predict(list(inputs.values()), verbose=0))\n"
        "actual = found" + ("[0]" if len(outputs) < 2 else "")
    )


def _feeds(kind: str, small: Sequence[str]) -> Tuple[str, List[str]]:
    """The argument of the compiled model, and the lines that define it."""
    if not small:
        # An input that nothing reads is gone from the compiled model, and must not be fed; one that comes through
        # unchanged has the name of what it becomes, too (a value that a Loop carries), and `any_name` may be that.
        named = "{p: v for p in compiled.inputs for k, v in inputs.items() if k in p.names}"
        return (named if kind == "onnx" else "[a.numpy() for a in args]"), []
    types = ", ".join('"%s": ov.Type.%s' % (name, _SMALL[name]) for name in small)
    tensor = "ov.Tensor(%s, v.shape, types[v.dtype.name]) if v.dtype.name in types else v"
    bits = tensor % "v.view(np.uint16 if v.itemsize == 2 else np.uint8)"
    lines = ["types = {%s}  # numpy lacks them: they travel as bits" % types]
    if kind == "onnx":
        return "feeds", [*lines, "feeds = {k: %s for k, v in inputs.items()}" % bits]
    arrays = "[a.view(torch.int16).numpy().view(ml_dtypes.bfloat16) if a.dtype == torch.bfloat16 else a.numpy()"
    return "feeds", [*lines, "arrays = %s for a in args]" % arrays, "feeds = [%s for v in arrays]" % bits]


def _results(call: str, outputs: Sequence[str]) -> List[str]:
    views = [".view(ml_dtypes.%s)" % name if name in SMALL_DTYPES else "" for name in outputs or ("float32",)]
    if len(views) == 1 and not views[0]:
        return ["actual = %s[0]" % call]
    if len(views) == 1:
        return ["found = %s" % call, "actual = found[0]%s" % views[0]]
    if not any(views):
        return ["actual = list(%s.values())" % call]
    return ["found = %s" % call, "actual = [%s]" % ", ".join("found[%d]%s" % pair for pair in enumerate(views))]


def newest_opset() -> int:
    """The newest operator set among the ONNX schemas that are compiled into the frontend's library."""
    import openvino

    newest = 0
    for path in glob.glob(os.path.join(os.path.dirname(openvino.__file__), "libs", "libopenvino_onnx_frontend*")):
        with open(path, "rb") as library:
            newest = max([newest, *(int(number) for number in _SCHEMAS.findall(library.read()))])
    return newest
