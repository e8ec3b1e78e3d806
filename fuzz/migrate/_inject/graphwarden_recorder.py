"""The recorder: writes every call of a PyTorch operator in this process as an operator instance (docs/instances.md).

It stands alone (standard library, torch; Python 3.8 syntax), because it is loaded into processes of other people's
programs. What it is told stands in the environment variable GRAPHWARDEN_RECORD, as JSON: ``folder``, where each
process writes a file, and ``namespaces``, ``refused``, ``properties``, where operators are looked up.
"""

from __future__ import annotations

import atexit
import base64
import contextlib
import functools
import hashlib
import inspect
import json
import math
import os
import sys
import threading
from collections import Counter
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple
from weakref import WeakKeyDictionary

import torch
from torch.overrides import TorchFunctionMode

VARIABLE = "GRAPHWARDEN_RECORD"
#: The largest tensor whose elements are written, and the largest of which the range is.
MOST_WRITTEN, MOST_ELEMENTS = 2**14, 2**24
_MOST_NESTING = 16
#: Modules that only hold others: what they hold is recorded.
_CONTAINERS = frozenset(
    ("Module", "Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict", "Container")
)
_EIGHT_BITS = ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu")
#: How elements of a dtype are written: little-endian bytes of this one, which has all its values.
_WRITTEN_AS = {getattr(torch, name): torch.float32 for name in ("bfloat16", *_EIGHT_BITS) if hasattr(torch, name)}
_DTYPES = frozenset(
    (
        "bool",
        "bfloat16",
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
        *_EIGHT_BITS,
        *tuple(sign + "int%d" % bits for sign in ("", "u") for bits in (8, 16, 32, 64)),
    )
)


class Unrecordable(Exception):
    """A call that cannot be an instance; says why."""


# ---------------------------------------------------------------- arguments as JSON


class Encoder:
    """Encodes the arguments of one call; equal tensors (the same object) are written once."""

    def __init__(self) -> None:
        self.tensors: List[Dict[str, Any]] = []
        self._known: Dict[int, int] = {}
        self._kept: List[Any] = []  # so that no other tensor gets the address of one that is known

    def argument(self, value: Any, depth: int = 0) -> Any:
        """One argument in the encoding of docs/instances.md. Raises Unrecordable."""
        if depth > _MOST_NESTING:
            raise Unrecordable("arguments are nested too deeply")
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, torch.Tensor):
            return {"tensor": self._tensor(value)}
        if type(value) is int or type(value) is float:
            return value if type(value) is int or math.isfinite(value) else {"float": str(value)}
        if type(value) is complex:
            return {"complex": [self.argument(value.real), self.argument(value.imag)]}
        if type(value) is list:
            return [self.argument(item, depth + 1) for item in value]
        if isinstance(value, tuple):
            return {"tuple": [self.argument(item, depth + 1) for item in value]}
        return self._constant(value)

    def _constant(self, value: Any) -> Any:
        if value is Ellipsis:
            return {"ellipsis": True}
        if isinstance(value, slice):
            parts = [value.start, value.stop, value.step]
            if any(type(part) not in (int, type(None)) for part in parts):
                raise Unrecordable("a slice that holds more than integers")
            return {"slice": parts}
        if isinstance(value, torch.device):
            if value.type != "cpu":
                raise Unrecordable("a device that is not the CPU")
            return {"device": "cpu"}
        for key in ("dtype", "memory_format", "layout"):
            if isinstance(value, getattr(torch, key)):
                return {key: str(value).replace("torch.", "")}
        if type(value).__module__ == "numpy" and hasattr(value, "item") and not getattr(value, "ndim", 1):
            return self.argument(value.item())
        raise Unrecordable("an argument of type %s" % type(value).__name__)

    def _tensor(self, tensor: Any) -> int:
        if id(tensor) not in self._known:
            self.tensors.append(described(tensor, len(self.tensors)))
            self._known[id(tensor)] = len(self.tensors) - 1
            self._kept.append(tensor)
        return self._known[id(tensor)]


def described(tensor: Any, seed: int) -> Dict[str, Any]:
    """A tensor as its entry in ``tensors``, with its elements; of a large one, the range. Raises Unrecordable."""
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter, torch.nn.parameter.Buffer):
        raise Unrecordable("a tensor of class %s" % type(tensor).__name__)
    if tensor.device.type != "cpu":
        raise Unrecordable("a tensor that is not on the CPU")
    if tensor.is_quantized or tensor.is_nested or tensor.layout is not torch.strided:
        raise Unrecordable("a quantised, nested or sparse tensor")
    name = str(tensor.dtype)[len("torch.") :]
    if name not in _DTYPES:
        raise Unrecordable("a tensor of dtype %s" % name)
    if tensor.numel() > MOST_ELEMENTS:
        raise Unrecordable("a tensor of more than %d elements" % MOST_ELEMENTS)
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        raise Unrecordable("a tensor inside torch.func")
    plain = tensor.detach().resolve_conj().resolve_neg()
    entry: Dict[str, Any] = {"dtype": name, "shape": list(tensor.shape)}
    if tensor.numel() > MOST_WRITTEN:
        entry.update(_range(plain), seed=seed)
        return entry
    written = plain.to(_WRITTEN_AS.get(tensor.dtype, tensor.dtype)).contiguous()
    entry["data"] = {str(written.dtype)[len("torch.") :]: base64.b64encode(_bytes(written)).decode("ascii")}
    return entry


def _bytes(tensor: Any) -> bytes:
    return bytes(tensor.reshape(-1).view(torch.uint8).numpy()) if tensor.numel() else b""


def _range(tensor: Any) -> Dict[str, Any]:
    """``low`` and ``high`` of many elements that are drawn anew."""
    if tensor.dtype == torch.bool:
        return {}
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor)
    tensor = tensor.to(_WRITTEN_AS.get(tensor.dtype, tensor.dtype))
    low, high = tensor.min().item(), tensor.max().item()
    if not (math.isfinite(low) and math.isfinite(high)) or low == high:
        raise Unrecordable("a tensor of more than %d elements that cannot be drawn" % MOST_WRITTEN)
    return {"low": low, "high": high + 1 if isinstance(high, int) else high}


# ---------------------------------------------------------------- what a process writes


class Log:
    """Takes instances and reasons; this one writes each at once, so that a killed process loses nothing."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._file = -1
        self._process = 0
        self._seen: "set[bytes]" = set()
        self._omitted: Counter[str] = Counter()
        atexit.register(self.flush)

    def instance(self, document: Dict[str, Any]) -> None:
        """Write an instance, with its source, unless this process has written its equal."""
        text = json.dumps(document, sort_keys=True, separators=(",", ":"))
        digest = hashlib.sha256(text.encode()).digest()
        if digest not in self._seen:
            self._seen.add(digest)
            self._write(json.dumps({"instance": document, "source": _source()}, separators=(",", ":")))

    def omitted(self, reason: str) -> None:
        """Count a call that is no instance. Every 64th is written at once, the others when the process ends."""
        self._omitted[reason] += 1
        if self._omitted[reason] in (1, 64):
            self._tell(reason)

    def flush(self) -> None:
        """Write what is only counted so far."""
        for reason in list(self._omitted):
            self._tell(reason)

    def _tell(self, reason: str) -> None:
        if self._process not in (0, os.getpid()):  # a forked process: its parent's counts are its parent's
            self._omitted = Counter({reason: 1})
        if self._omitted[reason]:
            self._write(json.dumps({"omitted": reason, "count": self._omitted[reason], "source": _source()}))
        self._omitted[reason] = 0

    def _write(self, line: str) -> None:
        if self._process != os.getpid():
            self._process = os.getpid()
            path = os.path.join(self._folder, "%d.jsonl" % self._process)
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        data = line.encode() + b"\n"
        while data:
            data = data[os.write(self._file, data) :]


def _source() -> Dict[str, str]:
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    if test:
        return {"kind": "pytest", "test": test}
    script = (getattr(sys, "argv", None) or [""])[0]
    inside = os.path.relpath(script) if script not in ("", "-c", "-m") else script
    return {"kind": "script", "test": os.path.basename(script) if inside.startswith("..") else inside}


# ---------------------------------------------------------------- watching calls


class Names:
    """The public names of PyTorch's operators and modules."""

    def __init__(self, namespaces: List[str], refused: List[str], properties: List[str]) -> None:
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            operators = frozenset(torch.overrides.get_testing_overrides())
        self._functions: Dict[Any, str] = {}
        # One operator has one name: the most particular one.
        for namespace in sorted(namespaces, key=lambda name: -_RANK.get(name, 0)):
            holder = functools.reduce(getattr, namespace.split(".")[1:], torch)
            for name in dir(holder):
                found = getattr(holder, name, None)
                if _is_public(name) and name not in refused and _hashable(found) and found in operators:
                    self._functions.setdefault(found, "%s.%s" % (namespace, name))
        for name in properties:
            self._functions[getattr(torch.Tensor, name).__get__] = "torch.Tensor.%s" % name
        self._classes = {
            found: "torch.nn.%s" % name
            for name, found in vars(torch.nn).items()
            if isinstance(found, type) and issubclass(found, torch.nn.Module)
        }

    def function(self, function: Any) -> Optional[str]:
        """The name of an operator, None for what is none."""
        return self._functions.get(function) if _hashable(function) else None

    def module(self, module: Any) -> Optional[str]:
        """The name of a module's class in ``torch.nn``; None for any other and for those that are not watched."""
        name = self._classes.get(type(module))
        return name if _is_watched(type(module)) else None

    def classes(self) -> List[Any]:
        """The module classes whose constructors are watched."""
        return [found for found in self._classes if _is_watched(found)]


_RANK = {"torch": 2, "torch.functional": 1}
_RANK.update({"torch.%s" % name: 3 for name in ("nn.functional", "linalg", "fft", "special")})


def _is_watched(cls: Any) -> bool:
    """Containers hold others, which are recorded; lazy modules have no parameters before their first call."""
    return cls.__name__ not in _CONTAINERS and not cls.__name__.startswith("Lazy")


def _is_public(name: str) -> bool:
    return not name.startswith("_") or name.endswith("__")


def _hashable(value: Any) -> bool:
    return getattr(type(value), "__hash__", None) is not None


class Recorder(TorchFunctionMode):  # type: ignore[misc]
    """While entered, gives every call of an operator, with its arguments as they were before, to a log."""

    def __init__(self, log: Any, names: Names) -> None:
        super().__init__()
        self._log = log
        self._names = names
        self._quiet = threading.local()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Optional[Dict[str, Any]] = None) -> Any:
        kwargs = kwargs or {}
        if torch.compiler.is_compiling() or getattr(self._quiet, "on", False):
            return func(*args, **kwargs)
        api = self._names.function(func)
        if api is None:
            result = func(*args, **kwargs)
            if _tensors(result):
                self._log.omitted("not an operator that PyTorch lists: %s" % getattr(func, "__name__", func))
            return result
        document, why = self._encoded(api, args, kwargs, None)
        result = self._made(lambda: func(*args, **kwargs))
        self._tell(document, why, result)
        return result

    def module_call(self, module: Any, made: Optional["Made"], args: Any, kwargs: Any, call: Callable[[], Any]) -> Any:
        """Make the call of a module of ``torch.nn`` that was `made` like this, and record it as one instance."""
        api = self._names.module(module)
        if api is None or getattr(self._quiet, "on", False) or torch.compiler.is_compiling():
            return call()
        try:
            if made is None:
                raise Unrecordable("made before the recorder came, copied or loaded")
            document, why = self._encoded(api, args, kwargs, made.constructor(module))
            if document is None:
                raise Unrecordable(why)
        except Unrecordable as error:
            self._log.omitted("%s (of a module: its calls are recorded)" % error)
            return call()
        with self.quiet():
            result = self._made(call)
        self._tell(document, "", result)
        return result

    def _made(self, call: Callable[[], Any]) -> Any:
        """The result of a call of the program's, which is counted where it raises."""
        try:
            return call()
        except Exception as error:
            self._log.omitted("the test's own call raises %s" % type(error).__name__)
            raise

    @contextlib.contextmanager
    def quiet(self) -> Iterator[None]:
        """Records nothing in this thread."""
        before = getattr(self._quiet, "on", False)
        self._quiet.on = True
        try:
            yield
        finally:
            self._quiet.on = before

    def _encoded(self, api: str, args: Any, kwargs: Any, init: Any) -> Tuple[Optional[Dict[str, Any]], str]:
        """The call as an instance, or None and why not."""
        encoder = Encoder()
        try:
            with _unseen():
                document = {
                    "library": "torch",
                    "version": str(torch.__version__).partition("+")[0],
                    "api": api,
                    "args": [encoder.argument(value) for value in args],
                    "kwargs": {name: encoder.argument(value) for name, value in kwargs.items()},
                }
                if init is not None:
                    document["init"] = {
                        "args": [encoder.argument(value) for value in init[0]],
                        "kwargs": {name: encoder.argument(value) for name, value in init[1].items()},
                    }
        except Unrecordable as error:
            return None, str(error)
        except (RuntimeError, NotImplementedError, TypeError, ValueError) as error:
            return None, "PyTorch does not show its elements: %s" % (str(error).splitlines() or [""])[0][:100]
        document["tensors"] = encoder.tensors
        return document, ""

    def _tell(self, document: Optional[Dict[str, Any]], why: str, result: Any) -> None:
        if not _tensors(result):
            self._log.omitted("the result holds no tensor")
        elif document is None:
            self._log.omitted(why)
        else:
            self._log.instance(document)


@contextlib.contextmanager
def _unseen() -> Iterator[None]:
    """What is called inside reaches neither this recorder nor what the program itself has that watches calls: autograd,
    a trace, modes of dispatch."""
    with contextlib.ExitStack() as stack:
        tracing = torch._C._get_tracing_state()
        if tracing is not None:
            torch._C._set_tracing_state(None)
            stack.callback(torch._C._set_tracing_state, tracing)
        if torch._C._len_torch_dispatch_stack():
            stack.enter_context(torch.utils._python_dispatch._disable_current_modes())
        stack.enter_context(torch._C.DisableTorchFunction())
        stack.enter_context(torch.no_grad())
        yield


def _tensors(result: Any) -> bool:
    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, (list, tuple)):
        return any(_tensors(item) for item in result)
    return isinstance(result, torch.Tensor)


# ---------------------------------------------------------------- modules


class Made:
    """How a module was made: its constructor's arguments, and what it was like afterwards."""

    def __init__(self, module: Any, args: Any, kwargs: Dict[str, Any]) -> None:
        self._args, self._kwargs = args, kwargs
        self._settings, self._dtypes = _settings(module), _dtypes(module)
        self._default = torch.get_default_dtype()

    def constructor(self, module: Any) -> Tuple[Any, Dict[str, Any]]:
        """The arguments that make a module as this one is now. Raises Unrecordable where none do."""
        if any(each._forward_hooks or each._forward_pre_hooks for each in module.modules()):
            raise Unrecordable("hooks")
        if _settings(module) != self._settings:
            raise Unrecordable("settings that were changed after it was made")
        dtypes = _dtypes(module)
        if not dtypes or (dtypes == self._dtypes and self._default is torch.float32):
            return self._args, self._kwargs
        if len(set(dtypes)) > 1 or not _takes_dtype(type(module)):
            raise Unrecordable("a dtype that its constructor cannot be told")
        return self._args, dict(self._kwargs, dtype=dtypes[0])


def _settings(module: Any) -> Dict[str, Any]:
    """The public attributes that say what a module computes."""
    plain = (int, float, bool, str, tuple, type(None))
    return {
        name: value
        for name, value in vars(module).items()
        if type(value) in plain and name != "training" and not name.startswith("_")
    }


def _dtypes(module: Any) -> List[Any]:
    """The dtypes of what a module computes with."""
    tensors = [*module.parameters(), *module.buffers()]
    return [each.dtype for each in tensors if each.dtype.is_floating_point or each.dtype.is_complex]


def _takes_dtype(cls: Any) -> bool:
    parameters = inspect.signature(cls.__init__).parameters
    return "dtype" in parameters or any(each.kind is each.VAR_KEYWORD for each in parameters.values())


# ---------------------------------------------------------------- entering a process


def watch_modules(recorder: Recorder, names: Names) -> None:
    """From now on, remember how modules of ``torch.nn`` are made, and tell `recorder` of their calls."""
    made: "WeakKeyDictionary[Any, Any]" = WeakKeyDictionary()

    def watched(cls: Any) -> None:
        original = cls.__init__

        @functools.wraps(original)
        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            with recorder.quiet():  # how parameters are filled is no test
                original(self, *args, **kwargs)
                if type(self) is cls:
                    made[self] = Made(self, args, kwargs)

        cls.__init__ = __init__

    for cls in names.classes():
        watched(cls)
    plain_call = torch.nn.Module.__call__

    @functools.wraps(plain_call)
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        if torch.compiler.is_compiling() or not _entered(recorder):
            return plain_call(self, *args, **kwargs)
        known = made.get(self) if names.module(self) else None  # a class of the program's may have no hash
        return recorder.module_call(self, known, args, kwargs, lambda: plain_call(self, *args, **kwargs))

    torch.nn.Module.__call__ = __call__


def _entered(recorder: Recorder) -> bool:
    """Whether the mode is on for this thread (it is off inside calls that are being recorded)."""
    stack = torch.overrides._get_current_function_mode_stack()
    return any(mode is recorder for mode in stack)


def start_in_this_process() -> None:
    """Record until the process ends, in all its threads. A fault of the recorder's own is told, never raised."""
    told = json.loads(os.environ[VARIABLE])
    log = Log(told["folder"])
    names = Names(told["namespaces"], told["refused"], told["properties"])
    recorder = Recorder(log, names)
    watch_modules(recorder, names)
    recorder.__enter__()
    run = threading.Thread.run

    @functools.wraps(run)
    def recorded_run(self: Any) -> None:
        with recorder:
            run(self)

    threading.Thread.run = recorded_run  # type: ignore[method-assign]
