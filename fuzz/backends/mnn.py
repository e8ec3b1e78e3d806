"""MNN on the CPU: its converter makes an MNN file of an ONNX file, its interpreter loads and runs that.

The converter tells nobody but the terminal why it wrote no file, so what MNN prints becomes the exception's message.
Both files are anonymous files in memory (memfd_create), which go with the process, however it ends.

MNN has tensors of float32, int32, int8 and uint8 only. Its converter takes float64 for float32, and int64, int16,
uint16 and bool for int32 (`onnxOpConverter::convertDataType`); here values are narrowed and widened in the same way.
What does not survive that is not fed, and where values of the reference do not,
the judge excuses wrong ones (`CARRIED`).
"""

from __future__ import annotations

import contextlib
import importlib
import os
import re
from typing import Any, Callable, Dict, Iterator, List, Sequence, Tuple

import numpy as np

from fuzz.wire import CannotFeed, Job, Value, dtype_name

PACKAGES = ("MNN", "onnx")
KINDS = ("onnx",)
#: level: the converter's ``--optimizeLevel``: 1 optimises where every input gives the same, 2 where most do.
OPTIONS: Dict[str, Tuple[str, ...]] = {
    "level": ("1", "2"),
    "threads": ("1", "2", "4"),
    "rule": ("chebyshev", "ratio"),
}
#: Hunted in only where it is asked for by name: see docs/mnn.md.
ON_REQUEST = True

#: The dtype that MNN has for each dtype of ONNX that its converter takes.
CARRIED: Dict[str, str] = {
    "float32": "float32",
    "float64": "float32",
    "int32": "int32",
    "int64": "int32",
    "int16": "int32",
    "uint16": "int32",
    "bool": "int32",
    "int8": "int8",
    "uint8": "uint8",
}
#: Lines that the converter prints for every model, and the time of day before others.
_BANNER = re.compile(
    r"Start to |Don't has bizCode|inputTensors : |outputTensors: |The device supports: |Converted (?:Success|Failed)!"
    r"|:\d+: ONNX Model (?:ir|opset) version: "
)
_CLOCK = re.compile(r"^\[\d\d:\d\d:\d\d\] ")
_OPERATOR = re.compile(
    r"These Op Not Support: (?:ONNX::)?(\w+)|Convert Onnx's Op \S* ?, type = (\w+)|support type \[(\w+)\]"
)


def warm() -> None:
    """Import the converter and the interpreter, but not `MNN.tools.mnnconvert`, which installs packages."""
    for name in ("_tools", "MNN.nn", "MNN.expr", "onnx"):
        importlib.import_module(name)


def devices() -> List[str]:
    """The CPU; the package holds no other backend of MNN."""
    return ["CPU"]


def execute(job: Job, enter: Callable[[str], None]) -> List[Tuple[str, Value]]:
    """Convert the model, load it with the interpreter's Module API, run it.

    Raises RuntimeError where MNN gives nothing without an exception of its own, SystemError where its bindings do.
    """
    import onnx

    graph = onnx.load_from_string(job.model).graph
    constants = {tensor.name for tensor in graph.initializer}
    names = [each.name for each in graph.input if each.name not in constants and each.name in job.inputs]
    given = {name: _narrowed(name, job.inputs[name]) for name in names}
    wanted = {each.name: _dtype(each) for each in graph.output}
    with _files(job.model) as (source, target):
        enter("convert")
        _convert(source, target, job.options.get("level", "1"))
        enter("compile")
        module = _loaded(target, names, list(wanted), int(job.options.get("threads", "1")))
        enter("run")
        found = _run(module, list(given.values()), len(wanted))
    return [(name, _widened(value, wanted[name])) for name, value in zip(wanted, found)]


def _dtype(info: Any) -> str:
    """The name of an output's dtype. Raises CannotFeed for what MNN has no tensors of."""
    import onnx

    if info.type.WhichOneof("value") != "tensor_type":
        raise CannotFeed("MNN returns tensors only, and %s is none" % info.name)
    number = info.type.tensor_type.elem_type
    name = "string" if number == onnx.TensorProto.STRING else str(onnx.helper.tensor_dtype_to_np_dtype(number))
    _carrier(name)
    return name


def _carrier(name: str) -> str:
    if name not in CARRIED:
        raise CannotFeed("MNN has no tensors of %s" % name)
    return CARRIED[name]


def _narrowed(name: str, value: Value) -> np.ndarray:
    """An input in the dtype that MNN has for it. Raises CannotFeed where it cannot hold a value."""
    if not isinstance(value, np.ndarray):
        raise CannotFeed("MNN takes tensors only, and %s is none" % name)
    with np.errstate(over="ignore"):
        narrow = value.astype(_carrier(dtype_name(value)))
    lost = np.isinf(narrow) & ~np.isinf(value) if value.dtype.kind == "f" else narrow != value
    if lost.any():
        raise CannotFeed("%s holds values that are beyond %s, which MNN has for %s" % (name, narrow.dtype, value.dtype))
    return narrow


@contextlib.contextmanager
def _files(model: bytes) -> Iterator[Tuple[str, str]]:
    """Paths of a file with the model and of an empty one, both in memory."""
    source, target = os.memfd_create("model.onnx"), os.memfd_create("model.mnn")
    try:
        with open(source, "wb", closefd=False) as file:
            file.write(model)
        yield "/proc/self/fd/%d" % source, "/proc/self/fd/%d" % target
    finally:
        os.close(source)
        os.close(target)


def _convert(source: str, target: str, level: str) -> None:
    """Write the model in MNN's format. Raises RuntimeError when the converter, which never fails, has written none."""
    import _tools

    command = ["mnnconvert", "-f", "ONNX", "--modelFile", source, "--MNNModel", target, "--optimizeLevel", level]
    _tools.mnnconvert(command)
    if not os.path.getsize(target):
        raise RuntimeError(_overheard(lambda: _tools.mnnconvert(command)) or "the converter wrote no model")


def _loaded(path: str, inputs: List[str], outputs: List[str], threads: int) -> Any:
    """The interpreter's module. Raises SystemError, as the bindings do, with what MNN prints."""
    from MNN import nn

    def load() -> Any:
        return nn.load_module_from_file(path, inputs, outputs, thread_num=threads)

    try:
        return load()
    except SystemError as error:
        raise SystemError(_overheard(load) or str(error.__cause__ or error)) from error


def _run(module: Any, values: List[np.ndarray], count: int) -> List[np.ndarray]:
    """The outputs. Raises RuntimeError where MNN computes less than `count`."""
    variables = [_variable(value) for value in values]
    found = module.onForward(variables)
    if len(found) != count:
        said = _overheard(lambda: module.onForward(variables))
        raise RuntimeError(said or "%d outputs instead of %d" % (len(found), count))
    return [_read(each) for each in found]


def _variable(value: np.ndarray) -> Any:
    """A constant of MNN; the bindings make none of int8, which is cast from int32."""
    from MNN import expr

    kinds = {"float32": expr.float, "int32": expr.int, "uint8": expr.uint8}
    if value.dtype == np.int8:
        return expr.cast(_variable(value.astype(np.int32)), expr.int8)
    return expr.const(np.array(value, order="C"), list(value.shape), expr.NCHW, kinds[value.dtype.name])


def _read(variable: Any) -> np.ndarray:
    """The values of a result. MNN cannot map a tensor without elements: its shape and dtype are all there is."""
    from MNN import expr

    shape = tuple(variable.shape)
    if not all(shape):
        kinds = {str(expr.int): "int32", str(expr.uint8): "uint8", str(expr.int8): "int8"}
        return np.zeros(shape, kinds.get(str(variable.dtype), "float32"))
    if str(variable.data_format) == str(expr.NC4HW4):  # channels in packs of four
        variable = expr.convert(variable, expr.NCHW)
    try:
        return np.array(variable.read()).reshape(shape)
    except SystemError as error:
        raise SystemError(str(error.__cause__ or error)) from error


def _widened(value: np.ndarray, wanted: str) -> np.ndarray:
    """A result in the dtype of ONNX that MNN carries in its own; as it is, where that is not the one for it."""
    return value.astype(wanted) if value.dtype.name == CARRIED[wanted] else value


def _overheard(action: Callable[[], Any]) -> str:
    """What MNN prints while it fails again, without what it always prints.

    Only a second run is listened to: in the first one MNN may die, and then its words must be on stderr already.
    """
    kept, log = os.dup(1), os.memfd_create("log")
    os.dup2(log, 1)
    try:
        with contextlib.suppress(SystemError):  # as before; what it prints tells more
            action()
    finally:
        os.dup2(kept, 1)
        os.close(kept)
    said = os.pread(log, 1 << 16, 0).decode("utf-8", "replace")
    os.close(log)
    lines = [_CLOCK.sub("", line).strip() for line in said.splitlines()]
    return "\n".join(line for line in lines if line and not _BANNER.match(line))


def blame(error: BaseException, job: Job) -> Tuple[str, str]:
    """The operator that MNN names; of its converters, which are C++ classes, it tells no names."""
    found = _OPERATOR.search(str(error))
    return next((group for group in found.groups() if group), "") if found else "", ""


def converters(operators: List[Tuple[str, str, int]]) -> List[str]:
    """The converter is registered under the operator's name, whatever its domain and opset."""
    return ["converter %s" % op_type for _, op_type, _ in operators]


#: How a script feeds a dtype: the numpy dtype in which it is handed over, and MNN's name for that.
_FED = {
    "float32": ("float32", "float"),
    "int32": ("int32", "int"),
    "uint8": ("uint8", "uint8"),
    "int8": ("int32", "int"),
}


def reproduce(kind: str, options: Dict[str, str], inputs: Sequence[str] = (), outputs: Sequence[str] = ()) -> str:
    """How a user of MNN's Python package would convert and run it. Raises ValueError for dtypes that MNN lacks."""
    lacking = sorted({*inputs, *outputs} - {*CARRIED})
    if lacking:
        raise ValueError("MNN has no tensors of %s" % ", ".join(lacking))
    level, threads = options.get("level", "1"), options.get("threads", "1")
    command = ["mnnconvert", "-f", "ONNX", "--modelFile", "model.onnx", "--MNNModel", "model.mnn"]
    if level != "1":
        command += ["--optimizeLevel", level]
    lines = [
        "import os",
        "import _tools",
        "from MNN import expr as F, nn",
        "import onnx",
        "",
        'onnx.save(model, "model.onnx")',
        "_tools.mnnconvert([%s])" % ", ".join('"%s"' % word for word in command),
        'if not os.path.exists("model.mnn"):',
        '    raise RuntimeError("the converter wrote no model")',
        'module = nn.load_module_from_file("model.mnn", list(inputs), [one.name for one in model.graph.output]%s)'
        % ("" if threads == "1" else ", thread_num=%s" % threads),
        *_forward(inputs),
        "if len(found) != %d:" % len(outputs or ("",)),
        '    raise RuntimeError("%%d outputs instead of %d" %% len(found))' % len(outputs or ("",)),
    ]
    results = ["found[%d].read()%s" % (at, _cast(name)) for at, name in enumerate(outputs or ("float32",))]
    lines.append("actual = %s" % (results[0] if len(results) == 1 else "[%s]" % ", ".join(results)))
    return "\n".join(lines)


#: MNN takes no constant of int8: one of int32 is cast.
_AS_INT8 = "feeds = [F.cast(x, F.int8) if v.dtype == np.int8 else x for x, v in zip(feeds, inputs.values())]"


def _forward(inputs: Sequence[str]) -> List[str]:
    """The call with what is fed, as short as the inputs' dtypes allow."""
    feeds = [_feed("x[%d]" % at, name) for at, name in enumerate(inputs)]
    alike = "[%s for v in inputs.values()]" % _feed("v", inputs[0]) if len(set(inputs)) == 1 else ""
    if alike:
        return ["feeds = %s" % alike, "found = module.onForward(feeds)"]
    if len(feeds) < 3:
        return ["x = list(inputs.values())", *_listed(feeds), "found = module.onForward(feeds)"]
    kinds = ", ".join("(np.%s, F.%s)" % _FED[CARRIED[name]] for name in inputs)
    return [
        "kinds = [%s]" % kinds,
        "feeds = [F.const(v.astype(t), list(v.shape), F.NCHW, k) for v, (t, k) in zip(inputs.values(), kinds)]",
        *([_AS_INT8] if "int8" in inputs else []),
        "found = module.onForward(feeds)",
    ]


def _listed(feeds: Sequence[str]) -> List[str]:
    return ["feeds = [", *("    %s," % feed for feed in feeds), "]"] if feeds else ["feeds = []"]


def _feed(given: str, name: str) -> str:
    carrier = CARRIED[name]
    dtype, kind = _FED[carrier]
    converted = "" if name == dtype else ".astype(np.%s)" % dtype
    made = "F.const(%s%s, list(%s.shape), F.NCHW, F.%s)" % (given, converted, given, kind)
    return "F.cast(%s, F.int8)" % made if carrier == "int8" else made


def _cast(name: str) -> str:
    """MNN's own dtype stands for this one of ONNX."""
    return "" if CARRIED[name] == name else ".astype(np.%s)" % ("bool_" if name == "bool" else name)
