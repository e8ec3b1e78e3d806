"""ONNX Runtime, on the CPU or another execution provider, with all graph optimisations or with none."""

from __future__ import annotations

import importlib
import os
import re
import tempfile
from typing import Any, Callable, Dict, List, Mapping, Sequence, Tuple

import numpy as np

from fuzz.wire import SMALL_DTYPES, CannotFeed, Job, Raw, Value, dtype_name

PACKAGES = ("onnxruntime",)
KINDS = ("onnx", "keras")
#: export: how Keras writes a layer as an ONNX model (fuzz/instance_keras_export.py).
#: device: an execution provider without its last two words, e.g. CUDA; the CPU takes what that one does not.
#: disable: names of graph transformers, as the session's log spells them, e.g. ConstantFolding,GeluFusionL1.
OPTIONS: Dict[str, Tuple[str, ...]] = {
    "opt": ("all", "off", "basic", "extended"),
    "threads": ("1", "2", "4"),
    "device": ("CPU", "*"),
    "show": ("outputs", "passes"),
    "disable": ("none", "*"),
    "export": ("dynamic", "static"),
}
VARIANTS: Tuple[Dict[str, str], ...] = ({}, {"opt": "off"})

_PROVIDER = "ExecutionProvider"
_LEVELS = {
    "all": "ORT_ENABLE_ALL",
    "off": "ORT_DISABLE_ALL",
    "basic": "ORT_ENABLE_BASIC",
    "extended": "ORT_ENABLE_EXTENDED",
}
#: TensorProto.DataType numbers of the dtypes that numpy lacks (onnx.proto), and items per byte.
_SMALL_TYPES = {
    "bfloat16": (16, 1),
    "float8_e4m3fn": (17, 1),
    "float8_e4m3fnuz": (18, 1),
    "float8_e5m2": (19, 1),
    "float8_e5m2fnuz": (20, 1),
    "uint4": (21, 2),
    "int4": (22, 2),
    "float4_e2m1fn": (23, 2),
    "uint2": (25, 4),
    "int2": (26, 4),
}
_ORT_NAMES = {
    "tensor(bfloat16)": "bfloat16",
    "tensor(float8e4m3fn)": "float8_e4m3fn",
    "tensor(float8e4m3fnuz)": "float8_e4m3fnuz",
    "tensor(float8e5m2)": "float8_e5m2",
    "tensor(float8e5m2fnuz)": "float8_e5m2fnuz",
    "tensor(uint4)": "uint4",
    "tensor(int4)": "int4",
    "tensor(float4e2m1)": "float4_e2m1fn",
    "tensor(uint2)": "uint2",
    "tensor(int2)": "int2",
}
_BEGUN = re.compile(r"Applying graph transformer (\S+) on step")
_ENDED = re.compile(r"GraphTransformer (\S+) modified: ([01])")
#: The log names a rule-based transformer as a whole. Its rules, which can be left out one by one, are those of
#: core/optimizer/graph_transformer_utils.cc; a name that a release does not know is none to leave out.
_RULES = (
    "EliminateIdentity",
    "EliminateSlice",
    "UnsqueezeElimination",
    "EliminateDropout",
    "ExpandElimination",
    "CastElimination",
    "CastChainElimination",
    "PreShapeNodeElimination",
    "NoopElimination",
    "DivMulFusion",
    "FuseReluClip",
    "GemmSumFusion",
    "GemmTransposeFusion",
    "NotWhereFusion",
    "ConvAddFusion",
    "ConvMulFusion",
    "ConvBNFusion",
    "Pad_Fusion",
    "MatMul_BatchNormalization_Fusion",
    "LabelEncoderFusion",
    "ClipQuantRewrite",
    "ReluQuantRewrite",
)
#: A place in ONNX Runtime's sources and the function there, whose type and modifiers stand before its name.
_SITE = re.compile(r"(?:^|[\s/(])([\w./]+\.(?:cc|h|cpp)):\d+ (?:(?:[^()\n]{0,200}?[\s*&])?([\w:~<>]+)\(|([\w:~<>]+))")
_SITE_ENDINGS = (".cc:", ".h:", ".cpp:")
_NODE_WORDS = ("running", "Op", "for the node", "of operator (")
_NODE = re.compile(
    r"(?:running|Op) ?\(?(\w+)\)? (?:node|\[)|Op \((\w+)\)|for the node.*? ([A-Z]\w+)\(\d+\)|of operator \((\w+)\)",
    re.DOTALL,
)


def warm() -> None:
    """Import only: a session in the parent would start threads."""
    # Telemetry writes a database into HOME in the background, which costs time and tells nothing here.
    importlib.import_module("onnxruntime").disable_telemetry_events()


def warm_keras() -> None:
    """Import Keras on PyTorch as well, in the parent of the workers that run Keras layers."""
    from fuzz import instance_keras

    instance_keras.use("torch")


def devices() -> List[str]:
    """Devices that this build has execution providers for; Azure is a service, not a device."""
    import onnxruntime

    providers = [str(name) for name in onnxruntime.get_available_providers()]
    return [name.replace(_PROVIDER, "") for name in providers if not name.startswith("Azure")]


def execute(job: Job, enter: Callable[[str], None]) -> List[Tuple[str, Value]]:
    """Create a session (parsing, optimisation and kernel look-up in one call) and run it."""
    import onnxruntime as ort

    if job.kind == "keras":
        from fuzz import instance_keras_export

        job = instance_keras_export.as_onnx(job)
    options = ort.SessionOptions()
    options.intra_op_num_threads = int(job.options.get("threads", "1"))
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, _LEVELS[job.options.get("opt", "all")])
    disabled = job.options.get("disable", "none")
    disabling = {} if disabled == "none" else {"disabled_optimizers": disabled.split(",")}
    enter("compile")
    if job.options.get("show") == "passes":
        options.log_severity_level = 0
        return [("passes", np.array(_transformers(job, options, disabling), dtype=object))]
    session = ort.InferenceSession(job.model, options, providers=_providers(job.options), **disabling)
    _require_device(session, job.options)
    enter("run")
    names = [output.name for output in session.get_outputs()]
    given = {info.name: job.inputs[info.name] for info in session.get_inputs() if info.name in job.inputs}
    exotic = any(info.type in _ORT_NAMES for info in session.get_outputs())
    small = any(dtype_name(value) in SMALL_DTYPES for value in given.values())
    if not exotic and not small and not any(isinstance(value, Raw) for value in given.values()):
        return list(zip(names, session.run(names, given)))
    feeds = {name: _ort_value(value) for name, value in given.items()}
    found = session.run_with_ort_values(names, feeds)
    return [(name, _from_ort_value(value)) for name, value in zip(names, found)]


def _providers(options: Mapping[str, str]) -> List[str]:
    """The execution providers for the option ``device``, the CPU last."""
    wanted = options.get("device", "CPU")
    return [name + _PROVIDER for name in dict.fromkeys((wanted, "CPU"))]


def _require_device(session: Any, options: Mapping[str, str]) -> None:
    """Raise CannotFeed where ONNX Runtime has fallen back to the CPU, which it does without an error."""
    wanted = _providers(options)[0]
    if wanted not in session.get_providers():
        raise CannotFeed("ONNX Runtime has no working %s here (it has: %s)" % (wanted, ", ".join(devices())))


def _transformers(job: Job, options: Any, disabling: Dict[str, List[str]]) -> List[str]:
    """The graph transformers that change a model, or fail on it, each once, in order; only the session's log tells."""
    import onnxruntime as ort

    with tempfile.TemporaryFile() as log:
        kept = os.dup(2)
        os.dup2(log.fileno(), 2)
        try:
            ort.InferenceSession(job.model, options, providers=_providers(job.options), **disabling)
        except Exception:
            if not _failing(_read(log)):
                raise  # not in a transformer
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        said = _read(log)
    met = [name for name, changed in _ENDED.findall(said) if changed == "1"] + _failing(said)
    rules = [_RULES if name.endswith("_RuleBasedTransformer") else (name,) for name in met]
    return list(dict.fromkeys(name for names in rules for name in names))


def _read(log: Any) -> str:
    log.seek(0)
    return str(log.read().decode("utf-8", "replace"))


def _failing(said: str) -> List[str]:
    """The transformer that a log sees begin and not end."""
    begun = list(_BEGUN.finditer(said))
    return [] if not begun or _ENDED.search(said, begun[-1].end()) else [begun[-1].group(1)]


def _ort_value(value: Value) -> Any:
    import onnxruntime as ort

    name = dtype_name(value)
    if name not in SMALL_DTYPES:
        return ort.OrtValue.ortvalue_from_numpy(value)
    if name not in _SMALL_TYPES:
        raise CannotFeed("this ONNX Runtime has no OrtValue of %s" % name)
    number, per_byte = _SMALL_TYPES[name]
    shape = list(value.shape)  # type: ignore[union-attr]
    data = value.data if isinstance(value, Raw) else np.ascontiguousarray(value).tobytes()
    if per_byte > 1:
        return _packed(data, shape, number, per_byte)
    flat = np.frombuffer(data, {1: np.uint8, 2: np.uint16}[SMALL_DTYPES[name]]).reshape(shape)
    return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(flat.copy(), number)


def _packed(data: bytes, shape: List[int], number: int, per_byte: int) -> Any:
    """A tensor of several items a byte, the first one in the lowest bits (onnx.proto)."""
    import ctypes

    import onnxruntime as ort

    places, mask = _places(per_byte)
    items = np.frombuffer(data, np.uint8) & mask
    items = np.concatenate([items, np.zeros(-len(items) % per_byte, np.uint8)])
    packed = np.bitwise_or.reduce(items.reshape(-1, per_byte) << places, axis=1).astype(np.uint8).tobytes()
    value = ort.OrtValue.ortvalue_from_shape_and_type(shape, number)
    ctypes.memmove(value.data_ptr(), packed, len(packed))
    return value


def _places(per_byte: int) -> Tuple[np.ndarray, int]:
    """By how many bits each item of a byte is moved, and the bits of one."""
    bits = 8 // per_byte
    return np.arange(per_byte, dtype=np.uint8) * np.uint8(bits), (1 << bits) - 1


def _from_ort_value(value: Any) -> Value:
    if not value.is_tensor() or value.data_type() not in _ORT_NAMES:
        found: Value = value.numpy()
        return found
    import ctypes

    name = _ORT_NAMES[value.data_type()]
    shape = tuple(value.shape())
    count = int(np.prod(shape, dtype=np.int64))
    per_byte = _SMALL_TYPES[name][1]
    size = -(-count // per_byte) if per_byte > 1 else count * SMALL_DTYPES[name]
    data = ctypes.string_at(value.data_ptr(), size)
    if per_byte > 1:
        places, mask = _places(per_byte)
        items = ((np.frombuffer(data, np.uint8)[:, None] >> places) & mask).ravel()[:count]
        negative = name.startswith("int") & (items > mask >> 1)
        data = np.where(negative, items | (0xFF ^ mask), items).astype(np.uint8).tobytes()
    return _named(Raw(name, shape, data))


def _named(raw: Raw) -> Value:
    """The ml_dtypes array, where that package is there."""
    try:
        import ml_dtypes
    except ImportError:
        return raw
    return np.frombuffer(raw.data, getattr(ml_dtypes, raw.dtype)).reshape(raw.shape)


def blame(error: BaseException, job: Job) -> Tuple[str, str]:
    """ONNX Runtime has no converters: the operator, and the C++ function its message names."""
    message = str(error)
    # Most messages hold neither, and a search that tries every character costs more than all else that is told.
    starts = [at for at in map(message.find, _NODE_WORDS) if at >= 0]
    node = _NODE.search(message, min(starts)) if starts else None
    site = _SITE.search(message) if any(ending in message for ending in _SITE_ENDINGS) else None
    operator = next((group for group in node.groups() if group), "") if node else ""
    return operator, "%s %s" % (site.group(1).rpartition("/")[2], site.group(2) or site.group(3)) if site else ""


def converters(operators: List[Tuple[str, str, int]]) -> List[str]:
    """The kernel is registered under the operator's name."""
    known = [("%s." % domain if domain else "") + op_type for domain, op_type, _ in operators]
    return ["" if name.startswith("keras.") else "kernel %s" % name for name in known]


def reproduce(kind: str, options: Dict[str, str], inputs: Sequence[str] = (), outputs: Sequence[str] = ()) -> str:
    """How a user of ONNX Runtime would run it. Raises ValueError for dtypes that need a long way round."""
    small = {name for name in (*inputs, *outputs) if name in SMALL_DTYPES}
    if not small <= {"bfloat16"}:
        raise ValueError("no short ONNX Runtime script takes %s" % ", ".join(sorted(small)))
    level = options.get("opt", "all")
    chosen = [] if level == "all" else ["graph_optimization_level = ort.GraphOptimizationLevel.%s" % _LEVELS[level]]
    chosen += ["intra_op_num_threads = " + options["threads"]] if "threads" in options else []
    settings = ["options = ort.SessionOptions()", *("options." + each for each in chosen)] if chosen else []
    given = "options, " if chosen else ""
    disabled = options.get("disable", "none")
    left_out = ", disabled_optimizers=[%s]" % _quoted(disabled.split(",")) if disabled != "none" else ""
    last = "providers=[%s]%s" % (_quoted(_providers(options)), left_out)
    session = "session = ort.InferenceSession(model.SerializeToString(), %s%s)" % (given, last)
    lines = ["import onnxruntime as ort", "", *settings, session]
    if small:
        return "\n".join(["import ctypes", "import ml_dtypes", *lines, *_bitwise(outputs)])
    return "\n".join([*lines, "actual = session.run(None, inputs)" + ("[0]" if len(outputs) < 2 else "")])


def _quoted(names: Sequence[str]) -> str:
    return ", ".join('"%s"' % name for name in names)


def _bitwise(outputs: Sequence[str]) -> List[str]:
    """Lines that feed and fetch bfloat16, which numpy lacks, as its bits."""
    tensor = "ort.OrtValue.ortvalue_from_numpy_with_onnx_type(v.view(np.uint16), TensorProto.BFLOAT16)"
    plain = "ort.OrtValue.ortvalue_from_numpy(v)"
    lines = [
        "feeds = {",
        "    k: %s" % tensor,
        "    if v.dtype == ml_dtypes.bfloat16",
        "    else %s" % plain,
        "    for k, v in inputs.items()",
        "}",
        "found = session.run_with_ort_values([output.name for output in session.get_outputs()], feeds)",
    ]
    fetched = [_fetched("found[%d]" % at, name) for at, name in enumerate(outputs or ("float32",))]
    return [*lines, "actual = %s" % (fetched[0] if len(fetched) == 1 else "[%s]" % ", ".join(fetched))]


def _fetched(value: str, dtype: str) -> str:
    if dtype != "bfloat16":
        return value + ".numpy()"
    memory = "ctypes.string_at(%s.data_ptr(), %s.tensor_size_in_bytes())" % (value, value)
    return "np.frombuffer(%s, ml_dtypes.bfloat16).reshape(%s.shape())" % (memory, value)
