"""NVIDIA TensorRT: the ONNX parser, the builder and an execution context on one GPU.

Written against the documented Python API of TensorRT 10 and 11 (docs.nvidia.com/deeplearning/tensorrt:
Builder, OnnxParser, IExecutionContext with named tensors). **It has not been run**: no machine with
libnvinfer was at hand. Device memory comes from the CUDA driver itself (libcuda.so.1, by ctypes),
which every NVIDIA driver installs, so the CPU build of PyTorch stays and no CUDA package is needed.
"""

from __future__ import annotations

import ctypes
import math
import re
from types import TracebackType
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Type

import numpy as np

from fuzz.wire import SMALL_DTYPES, CannotFeed, Job, Raw, Value, dtype_name

PACKAGES = ("tensorrt",)
KINDS = ("onnx",)
#: opt: the builder's optimisation level, 3 is TensorRT's own default.
OPTIONS: Dict[str, Tuple[str, ...]] = {"opt": ("3", "0", "1", "2", "4", "5"), "tf32": ("off", "on")}

#: trt.DataType names of our dtypes; packed and unlisted ones cannot be fed.
_TYPES = {
    "float32": "FLOAT",
    "float16": "HALF",
    "bfloat16": "BF16",
    "float8_e4m3fn": "FP8",
    "int8": "INT8",
    "uint8": "UINT8",
    "int32": "INT32",
    "int64": "INT64",
    "bool": "BOOL",
}
_SITE = re.compile(r"In node \d+ with name: .*? and operator: (\w+) \((\w+)\)")


class ParseError(RuntimeError):
    """The parser's errors, one a line: what, node, operator, and the C++ function that refused it."""

    def __init__(self, message: str, operator: str, function: str) -> None:
        super().__init__(message)
        self.operator, self.function = operator, function


class BuildError(RuntimeError):
    """The builder returned no engine; the message is what TensorRT logged."""


def warm() -> None:
    """Import the bindings; this loads libnvinfer but touches no device."""
    _bindings()


def _bindings() -> Any:
    try:
        import tensorrt
    except ImportError as error:
        raise ImportError("TensorRT is not installed (pip install 'graphwarden[tensorrt]'): %s" % error) from error
    except (OSError, RuntimeError, AttributeError) as error:
        # The bindings without the libraries: their package is a stub that fetches from the vendor.
        raise RuntimeError("libnvinfer not found: %s" % error) from error
    if not hasattr(tensorrt, "Builder"):
        raise RuntimeError("libnvinfer not found: the tensorrt package holds no bindings")
    return tensorrt


def devices() -> List[str]:
    """Names such as ``cuda:0 NVIDIA H200``. Raises ImportError or RuntimeError saying what is missing."""
    _bindings()
    with _Cuda() as cuda:
        return cuda.names()


def execute(job: Job, enter: Callable[[str], None]) -> List[Tuple[str, Value]]:
    """Parse the ONNX model, build an engine, run it once."""
    trt = _bindings()
    log = _logger(trt)
    builder = trt.Builder(log)
    # Networks are strongly typed only in TensorRT 11; in 10 the flag asks for it.
    flag = getattr(trt.NetworkDefinitionCreationFlag, "STRONGLY_TYPED", None)
    network = builder.create_network(0 if flag is None else 1 << int(flag))
    parser = trt.OnnxParser(network, log)
    enter("convert")
    if not parser.parse(job.model):
        raise _parse_error(parser)
    enter("compile")
    plan = builder.build_serialized_network(network, _settings(trt, builder, network, job))
    if plan is None:
        raise BuildError("\n".join(log.messages) or "build_serialized_network returned None")
    engine = trt.Runtime(log).deserialize_cuda_engine(plan)
    enter("run")
    with _Cuda() as cuda:
        return _run(trt, engine, job, cuda, log)


def _logger(trt: Any) -> Any:
    class Log(trt.ILogger):  # type: ignore[misc]
        """Keeps errors and warnings: the builder reports failures nowhere else."""

        def __init__(self) -> None:
            trt.ILogger.__init__(self)
            self.messages: List[str] = []

        def log(self, severity: Any, message: str) -> None:
            if severity in (trt.ILogger.Severity.INTERNAL_ERROR, trt.ILogger.Severity.ERROR):
                self.messages.append(message)

    return Log()


def _parse_error(parser: Any) -> ParseError:
    errors = [parser.get_error(at) for at in range(parser.num_errors)]
    lines = [
        "%s: %s (node %d %r, operator %s, %s)"
        % (error.code(), error.desc(), error.node(), error.node_name(), error.node_operator(), error.func())
        for error in errors
    ]
    first = errors[0] if errors else None
    return ParseError(
        "\n".join(lines) or "the parser refused the model without an error",
        str(first.node_operator()) if first else "",
        str(first.func()) if first else "",
    )


def _settings(trt: Any, builder: Any, network: Any, job: Job) -> Any:
    """The builder's configuration, with a profile that pins run-time shapes to those of the inputs."""
    config = builder.create_builder_config()
    config.builder_optimization_level = int(job.options.get("opt", "3"))
    if job.options.get("tf32", "off") == "off":
        config.clear_flag(trt.BuilderFlag.TF32)
    profile = builder.create_optimization_profile()
    for at in range(network.num_inputs):
        tensor = network.get_input(at)
        value = _given(job, tensor.name)
        if tensor.is_shape_tensor:
            content = [int(item) for item in np.asarray(value).ravel()]
            profile.set_shape_input(tensor.name, content, content, content)
        elif -1 in tuple(tensor.shape):
            profile.set_shape(tensor.name, _shape(value), _shape(value), _shape(value))
    config.add_optimization_profile(profile)
    return config


def _given(job: Job, name: str) -> Value:
    value = job.inputs.get(name)
    if dtype_name(value) not in _TYPES:
        raise CannotFeed("TensorRT has no run-time value for %s (input %s)" % (dtype_name(value), name))
    return value


def _shape(value: Value) -> Tuple[int, ...]:
    return tuple(value.shape)  # type: ignore[union-attr]


def _bytes(value: Value) -> bytes:
    return value.data if isinstance(value, Raw) else np.ascontiguousarray(value).tobytes()


def _run(trt: Any, engine: Any, job: Job, cuda: "_Cuda", log: Any) -> List[Tuple[str, Value]]:
    context = engine.create_execution_context()
    names = [engine.get_tensor_name(at) for at in range(engine.num_io_tensors)]
    inputs = [name for name in names if engine.get_tensor_mode(name) == trt.TensorIOMode.INPUT]
    held = []  # shape inputs are read from host memory, which must outlive the call
    for name in inputs:
        value = _given(job, name)
        if engine.is_shape_inference_io(name):
            held.append(np.ascontiguousarray(value))
            context.set_tensor_address(name, held[-1].ctypes.data)
        else:
            context.set_input_shape(name, _shape(value))
            context.set_tensor_address(name, cuda.upload(_bytes(value)))
    results = [(name, *_receive(trt, engine, context, name, cuda)) for name in names if name not in inputs]
    if not context.execute_async_v3(cuda.stream):
        raise RuntimeError("\n".join(log.messages) or "execute_async_v3 returned False")
    cuda.synchronize()
    return [(name, _value(dtype, shape, read())) for name, dtype, shape, read in results]


def _receive(
    trt: Any, engine: Any, context: Any, name: str, cuda: "_Cuda"
) -> Tuple[str, Tuple[int, ...], Callable[[], bytes]]:
    """Give an output its memory; returns its dtype, its shape and how to read it after the run."""
    kinds = {getattr(trt.DataType, theirs): ours for ours, theirs in _TYPES.items() if hasattr(trt.DataType, theirs)}
    dtype, shape = kinds.get(engine.get_tensor_dtype(name)), tuple(context.get_tensor_shape(name))
    if dtype is None or -1 in shape:
        raise CannotFeed("output %s of type %s and shape %s" % (name, engine.get_tensor_dtype(name), shape))
    size = math.prod(shape) * (SMALL_DTYPES.get(dtype) or np.dtype(dtype).itemsize)
    if engine.get_tensor_location(name) == trt.TensorLocation.HOST:
        host = ctypes.create_string_buffer(max(size, 1))
        context.set_tensor_address(name, ctypes.addressof(host))
        return dtype, shape, lambda: host.raw[:size]
    address = cuda.allocate(size)
    context.set_tensor_address(name, address)
    return dtype, shape, lambda: cuda.download(address, size)


def _value(dtype: str, shape: Tuple[int, ...], data: bytes) -> Value:
    if dtype not in SMALL_DTYPES:
        return np.frombuffer(data, dtype).reshape(shape)
    try:
        import ml_dtypes
    except ImportError:
        return Raw(dtype, shape, data)
    return np.frombuffer(data, getattr(ml_dtypes, dtype)).reshape(shape)


class _Cuda:
    """The CUDA driver API: the first device's primary context, one stream, memory freed on exit."""

    def __init__(self) -> None:
        try:
            self._driver = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise RuntimeError("no CUDA device: libcuda.so.1 (the NVIDIA driver) is not installed") from error
        self._held: List[int] = []
        self._stream = ctypes.c_void_p()
        self._device = ctypes.c_int()

    def __enter__(self) -> "_Cuda":
        self._call("cuInit", ctypes.c_uint(0))
        count = ctypes.c_int()
        self._call("cuDeviceGetCount", ctypes.byref(count))
        if not count.value:
            raise RuntimeError("no CUDA device: the driver lists none")
        context = ctypes.c_void_p()
        self._call("cuDeviceGet", ctypes.byref(self._device), ctypes.c_int(0))
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self._device)
        self._call("cuCtxSetCurrent", context)
        self._call("cuStreamCreate", ctypes.byref(self._stream), ctypes.c_uint(0))
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if error is None:  # after a device fault every call fails; the worker is replaced anyway
            for address in self._held:
                self._call("cuMemFree_v2", ctypes.c_uint64(address))
            self._call("cuStreamDestroy_v2", self._stream)

    def _call(self, function: str, *arguments: Any) -> None:
        code = getattr(self._driver, function)(*arguments)
        if code:
            text = ctypes.c_char_p()
            self._driver.cuGetErrorString(code, ctypes.byref(text))
            raise RuntimeError("%s: CUDA error %d, %s" % (function, code, (text.value or b"unknown").decode()))

    @property
    def stream(self) -> int:
        """The stream's handle as an integer, as execute_async_v3 wants it."""
        return int(self._stream.value or 0)

    def names(self) -> List[str]:
        """The device that this backend uses."""
        text = ctypes.create_string_buffer(256)
        self._call("cuDeviceGetName", text, ctypes.c_int(256), self._device)
        return ["cuda:0 " + text.value.decode()]

    def allocate(self, size: int) -> int:
        """Device memory of `size` bytes (at least one: TensorRT wants an address for empty tensors too)."""
        address = ctypes.c_uint64()
        self._call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(size, 1)))
        self._held.append(address.value)
        return address.value

    def upload(self, data: bytes) -> int:
        """A copy of `data` on the device; returns its address."""
        address = self.allocate(len(data))
        if data:
            self._call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), data, ctypes.c_size_t(len(data)))
        return address

    def download(self, address: int, size: int) -> bytes:
        """`size` bytes from the device."""
        data = ctypes.create_string_buffer(max(size, 1))
        if size:
            self._call("cuMemcpyDtoH_v2", data, ctypes.c_uint64(address), ctypes.c_size_t(size))
        return data.raw[:size]

    def synchronize(self) -> None:
        """Wait for the stream. Raises RuntimeError for a fault on the device."""
        self._call("cuStreamSynchronize", self._stream)


def blame(error: BaseException, job: Job) -> Tuple[str, str]:
    """The parser's own words: the operator and the C++ function that refused it."""
    if isinstance(error, ParseError):
        return error.operator, error.function
    found = _SITE.search(str(error))
    return (found.group(1), found.group(2)) if found else ("", "")


def converters(operators: List[Tuple[str, str, int]]) -> List[str]:
    """The ONNX parser defines one importer an operator, named after it (onnxOpImporters.cpp)."""
    return ["import%s" % op_type if domain in ("", "ai.onnx") else "" for domain, op_type, _ in operators]


def reproduce(kind: str, options: Dict[str, str], inputs: Sequence[str] = (), outputs: Sequence[str] = ()) -> str:
    """How a maintainer of TensorRT would run it, through Polygraphy. Raises ValueError for an instance."""
    if kind != "onnx":
        raise ValueError("TensorRT takes ONNX models, not %s" % kind)
    level = options.get("opt", "3")
    tf32 = options.get("tf32", "off") == "on"
    return (
        "from polygraphy.backend.trt import CreateConfig, EngineFromNetwork, NetworkFromOnnxBytes, TrtRunner\n\n"
        "network = NetworkFromOnnxBytes(model.SerializeToString(), strongly_typed=True)\n"
        f"engine = EngineFromNetwork(network, CreateConfig(tf32={tf32}, builder_optimization_level={level}))\n"
        "with TrtRunner(engine) as runner:\n"
        "    found = runner.infer(inputs)\n"
        "actual = %s"
        % ("found[model.graph.output[0].name]" if len(outputs) < 2 else "[found[o.name] for o in model.graph.output]")
    )
