"""The bytes that pass between the campaign and a worker: values, jobs and frames.

Jobs go to the worker as `marshal` data, which is quick to read and may be: the campaign is trusted.
Results come back as frames of JSON and raw bytes.

This module runs on both sides, the worker's side possibly under another interpreter that has only
numpy and one compiler, so it uses the standard library and numpy alone and Python 3.8 syntax.
Nothing here evaluates what it reads: a worker runs foreign native code, so its bytes are hostile data.

A *value* is what an ONNX graph or an operator call consumes and yields:

- ``numpy.ndarray`` — numpy's own dtypes, ``object`` arrays of ``str`` for strings, and ml_dtypes'
  (bfloat16, float8, int4 …) where ml_dtypes is installed;
- ``Raw`` — the same small dtypes where ml_dtypes is missing (one byte-aligned element per item);
- ``list`` — a sequence of values;
- ``None`` — an absent optional.
"""

from __future__ import annotations

import json
import marshal
import struct
from typing import Any, Dict, Iterator, List, NamedTuple, Tuple, Union

import numpy as np

#: Item sizes, in bytes, of the dtypes that numpy lacks and ml_dtypes brings.
SMALL_DTYPES: Dict[str, int] = {
    "bfloat16": 2,
    "float8_e4m3fn": 1,
    "float8_e4m3fnuz": 1,
    "float8_e5m2": 1,
    "float8_e5m2fnuz": 1,
    "float8_e8m0fnu": 1,
    "float6_e2m3fn": 1,
    "float6_e3m2fn": 1,
    "float4_e2m1fn": 1,
    "int4": 1,
    "uint4": 1,
    "int2": 1,
    "uint2": 1,
}

#: Begins every frame, so that bytes which strayed into the pipe are noticed at once.
_MAGIC = b"GWf1"
_HEADER = struct.Struct("<4sII")  # magic, length of the JSON header, length of the payload
_from_json = json.JSONDecoder().raw_decode
_quoted = json.encoder.encode_basestring_ascii
_to_json = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode
_NATIVE: Dict[str, np.dtype] = {
    np.dtype(code).name: np.dtype(code)
    for code in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16")
}


#: Wire names by dtype, in the machine's byte order only (`numpy.dtype.name` does not tell, and is slow).
_NAME_OF: Dict[Any, str] = {dtype: name for name, dtype in _NATIVE.items()}


class Raw(NamedTuple):
    """A tensor whose dtype this interpreter has no numpy type for."""

    dtype: str
    shape: Tuple[int, ...]
    data: bytes


Value = Union[np.ndarray, Raw, List[Any], None]


class Job(NamedTuple):
    """What a backend is asked to do: one case, seen from inside the worker.

    ``kind`` is ``"onnx"`` (``model`` holds a serialised ModelProto), ``"instance"`` or ``"keras"``
    (``model`` holds the JSON of an operator instance, of PyTorch or Keras). ``options`` are the target's, all strings.
    """

    kind: str
    model: bytes
    inputs: Dict[str, Value]
    options: Dict[str, str]


#: No frame is larger (the header has 32 bits for each length).
FRAME_LIMIT = 1 << 31


class WireError(ValueError):
    """A frame or value that cannot be encoded or decoded."""


class CannotFeed(Exception):
    """Raised by a backend for a value that it has no way to hand to its compiler: skipped, not failed."""


def _small_dtype(name: str) -> Any:
    """The ml_dtypes type called ``name``, or None where ml_dtypes is missing or older."""
    try:
        import ml_dtypes
    except ImportError:
        return None
    return getattr(ml_dtypes, name, None)


def dtype_name(value: Value) -> str:
    """The wire name of a value's dtype: numpy's name, ``string``, ``sequence`` or ``none``."""
    if isinstance(value, np.ndarray):
        return "string" if value.dtype.kind in "OUST" else value.dtype.name
    if isinstance(value, Raw):
        return value.dtype
    return "none" if value is None else "sequence"


def _other_name(dtype: Any) -> str:
    if dtype.kind in "OUST":
        return "string"
    name = str(dtype.name)
    if name in SMALL_DTYPES or name in _NATIVE:
        return name
    raise WireError("dtype %s cannot be sent" % dtype)


def nbytes(value: Value) -> int:
    """About how many bytes a value takes on the wire."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if isinstance(value, Raw):
        return len(value.data)
    return sum(nbytes(item) for item in value) if isinstance(value, (list, tuple)) else 0


def _texts(value: np.ndarray) -> List[str]:
    return [
        text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text) for text in value.ravel().tolist()
    ]


def _encode_value(value: Value, chunks: List[bytes]) -> str:
    """Append the value's bytes to ``chunks`` and return its description, which is JSON."""
    if isinstance(value, np.ndarray):
        name = _NAME_OF.get(value.dtype) or _other_name(value.dtype)
        if name == "string":
            data = json.dumps(_texts(value)).encode()
        else:
            data = value.tobytes() if value.dtype.isnative else value.astype(value.dtype.newbyteorder("=")).tobytes()
        chunks.append(data)
        return '["%s",%s,%d]' % (name, list(value.shape), len(data))
    if isinstance(value, Raw):
        chunks.append(value.data)
        return '["%s",%s,%d]' % (value.dtype, list(value.shape), len(value.data))
    if isinstance(value, (list, tuple)):
        return "[%s]" % ",".join([_encode_value(item, chunks) for item in value] + ['"seq"'])
    if value is None:
        return "null"
    if isinstance(value, (np.generic, bool, int, float, complex)):
        return _encode_value(np.asarray(value), chunks)
    raise WireError("a %s cannot be sent" % type(value).__name__)


def _decode_value(meta: Any, payload: bytes, at: int, end: int) -> Tuple[Value, int]:
    """Rebuild one value from its description; returns it and the offset after its bytes."""
    if meta is None:
        return None, at
    if not isinstance(meta, list) or not meta:
        raise WireError("malformed value description %r" % (meta,))
    if meta[-1] == "seq":
        items: List[Any] = []
        for item in meta[:-1]:
            decoded, at = _decode_value(item, payload, at, end)
            items.append(decoded)
        return items, at
    name, shape, size = meta
    if not 0 <= size <= end - at:
        raise WireError("value of %d bytes is cut short" % size)
    native = _NATIVE.get(name)
    if native is None:
        return _tensor(name, tuple(shape), payload[at : at + size]), at + size
    array: np.ndarray = np.ndarray(shape, native, payload, at)
    if array.nbytes != size:
        raise WireError("%d bytes for %s%s" % (size, name, shape))
    # A copy is writable and aligned; compilers get what a user's program would give them.
    return array.copy(), at + size


def _tensor(name: str, shape: Tuple[int, ...], data: bytes) -> Value:
    """A tensor of strings or of a dtype that numpy lacks."""
    if name == "string":
        flat = np.array(json.loads(data), dtype=object)
        return flat.reshape(shape)
    if name in SMALL_DTYPES:
        small = _small_dtype(name)
        if small is None:
            return Raw(name, shape, data)
        return np.frombuffer(data, small).reshape(shape).copy()
    raise WireError("unknown dtype %r" % name)


def pack(header: Union[Dict[str, Any], str], values: Dict[str, Value], blob: bytes = b"") -> bytes:
    """One frame: a JSON header (or its text), a blob (the model) and named values.

    Raises WireError for a value that has no wire form.
    """
    chunks: List[bytes] = [blob]
    # Formatted by hand: an encoder takes longer for these few words than for the rest of the work.
    described = ",".join(["[%s,%s]" % (_quoted(name), _encode_value(value, chunks)) for name, value in values.items()])
    text = header if isinstance(header, str) else _to_json(header)
    head = ('{"blob":%d,"values":[%s],"header":%s}' % (len(blob), described, text)).encode()
    size = sum(map(len, chunks))
    if size >= FRAME_LIMIT:
        raise WireError("%d bytes are too many for one frame" % size)
    return b"".join([_HEADER.pack(_MAGIC, len(head), size), head, *chunks])


class Frame(NamedTuple):
    """One decoded frame."""

    header: Dict[str, Any]
    blob: bytes
    values: Dict[str, Value]


def _unpack(data: bytes, start: int, middle: int, end: int) -> Frame:
    """The frame whose JSON lies from `start` to `middle` and whose payload ends at `end`."""
    try:
        described = _from_json(str(data[start:middle], "utf-8"))[0]
        at = middle + described["blob"]
        if not middle <= at <= end:
            raise WireError("blob of %r bytes" % (described["blob"],))
        values: Dict[str, Value] = {}
        position = at
        for name, meta in described["values"]:
            values[name], position = _decode_value(meta, data, position, end)
        return Frame(dict(described["header"]), data[middle:at], values)
    except (KeyError, IndexError, TypeError, ValueError, RecursionError) as error:
        raise WireError("malformed frame: %s" % error) from error


class Unpacker:
    """Collects bytes as they arrive and yields whole frames."""

    def __init__(self, limit: int = FRAME_LIMIT) -> None:
        self._buffer = bytearray()
        self._limit = limit  # a larger frame is a fault of the sender, not a result

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Add bytes; yield every frame that is now complete. Raises WireError on garbage."""
        if self._buffer:
            self._buffer += data
            if self._frame_end(self._buffer, 0) > len(self._buffer):
                return
            data = bytes(self._buffer)
            self._buffer.clear()
        # Whole frames, the usual case, are read from where they arrived.
        at = 0
        try:
            while at < len(data):
                end = self._frame_end(data, at)
                if end > len(data):
                    return
                start = at + _HEADER.size
                middle, at = start + _HEADER.unpack_from(data, at)[1], end
                yield _unpack(data, start, middle, end)
        finally:
            self._buffer += memoryview(data)[at:]

    def _frame_end(self, data: Union[bytes, bytearray], at: int) -> int:
        """Where the frame that begins at `at` ends, or where at least its header does."""
        if len(data) - at < _HEADER.size:
            return at + _HEADER.size
        magic, head, payload = _HEADER.unpack_from(data, at)
        if magic != _MAGIC:
            raise WireError("not a frame: %r" % bytes(data[at : at + 80]))
        size = _HEADER.size + int(head) + int(payload)
        if size > self._limit:
            raise WireError("frame of %d bytes" % size)
        return at + size


# ---------------------------------------------------------------- jobs: from the campaign to its worker

#: The header of nearly every job, which is not sent.
_RUN = {"op": "run"}
_USUAL = {"op", "kind", "options"}
_JOB_SIZE = struct.Struct("<Q")
#: The newest format that every Python from 3.8 on reads.
_MARSHAL_VERSION = 4


def pack_job(sequence: int, header: Dict[str, Any], model: bytes, inputs: Dict[str, Value]) -> bytes:
    """One job for a worker. Raises WireError for a value that has no wire form."""
    more = None if header.keys() == _USUAL and header["op"] == "run" else header
    try:
        values = [(name, _plain(value)) for name, value in inputs.items()]
        data = marshal.dumps((sequence, header["kind"], header["options"], more, model, values), _MARSHAL_VERSION)
    except ValueError as error:
        raise WireError("a job cannot be sent: %s" % error) from error
    return _JOB_SIZE.pack(len(data)) + data


def _plain(value: Value) -> Any:
    """A value in lists, tuples, numbers and bytes; the opposite of `_rebuilt`."""
    if isinstance(value, np.ndarray):
        name = _NAME_OF.get(value.dtype) or _other_name(value.dtype)
        if name == "string":
            return name, value.shape, _texts(value)
        native = value if value.dtype.isnative else value.astype(value.dtype.newbyteorder("="))
        return name, value.shape, native.tobytes()
    if isinstance(value, Raw):
        return value.dtype, tuple(value.shape), value.data
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if value is None:
        return None
    if isinstance(value, (np.generic, bool, int, float, complex)):
        return _plain(np.asarray(value))
    raise WireError("a %s cannot be sent" % type(value).__name__)


def _rebuilt(plain: Any) -> Value:
    if type(plain) is not tuple:
        return plain if plain is None else [_rebuilt(item) for item in plain]
    name, shape, data = plain
    if name in _NATIVE:
        # A copy is writable and aligned; compilers get what a user's program would give them.
        return np.ndarray(shape, _NATIVE[name], data).copy()
    if name == "string":
        return np.array(data, dtype=object).reshape(shape)
    return _tensor(name, shape, data)


class JobReader:
    """The worker's end: collects bytes as they arrive and yields whole jobs."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._wanted = 0  # how many bytes the first unfinished job has, once known

    def feed(self, data: bytes) -> List[Tuple[int, Dict[str, Any], Job]]:
        """Add bytes; (sequence number, header, job) of every job that is now complete."""
        if self._rest:
            self._rest += data
            if len(self._rest) < self._wanted:
                return []
            data = bytes(self._rest)
        found, at = [], 0
        view = memoryview(data)
        while len(data) - at >= _JOB_SIZE.size:
            start = at + _JOB_SIZE.size
            end = start + _JOB_SIZE.unpack_from(data, at)[0]
            if end > len(data):
                self._wanted = end - at
                break
            sequence, kind, options, header, model, values = marshal.loads(view[start:end])
            inputs = {name: _rebuilt(plain) for name, plain in values}
            found.append((sequence, header or _RUN, Job(kind, model, inputs, options)))
            at = end
        self._rest = bytearray(data[at:])
        return found
