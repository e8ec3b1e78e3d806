"""The wire: every value survives the trip, and hostile bytes are refused instead of believed."""

import json
import struct
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from fuzz import wire
from fuzz.wire import Raw, Unpacker, Value, WireError


def travel(value: Value) -> Value:
    [frame] = Unpacker().feed(wire.pack({"op": "run"}, {"v": value}, b"model"))
    assert frame.header["op"] == "run" and frame.blob == b"model"
    return frame.values["v"]


def hand_over(value: Value) -> Value:
    """The trip of an input from the campaign to its worker."""
    [(sequence, header, job)] = wire.JobReader().feed(wire.pack_job(7, RUN, b"model", {"v": value}))
    assert (sequence, header["op"], job.model, job.kind, job.options) == (7, "run", b"model", "onnx", RUN["options"])
    return job.inputs["v"]


RUN = {"op": "run", "kind": "onnx", "options": {"opt": "off"}}
Trip = Callable[[Value], Value]
TRIPS = [travel, hand_over]


def same(got: Value, want: Value) -> bool:
    if isinstance(want, list):
        return isinstance(got, list) and len(got) == len(want) and all(map(same, got, want))
    if isinstance(want, np.ndarray):
        alike = isinstance(got, np.ndarray) and got.dtype == want.dtype and got.shape == want.shape
        return alike and (got.tolist() == want.tolist() if want.dtype == object else got.tobytes() == want.tobytes())
    return got == want


NATIVE = sorted(wire._NATIVE)


@pytest.mark.parametrize("trip", TRIPS)
@pytest.mark.parametrize("dtype", NATIVE)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 4), (2, 3, 4)])
def test_native_arrays_keep_dtype_shape_and_bits(trip: Trip, dtype: str, shape: tuple[int, ...]) -> None:
    count = int(np.prod(shape))
    array = np.arange(count).astype(dtype).reshape(shape)
    assert same(trip(array), array)


@pytest.mark.parametrize("trip", TRIPS)
@pytest.mark.parametrize("name", [name for name in wire.SMALL_DTYPES if hasattr(ml_dtypes, name)])
def test_small_dtypes_keep_their_bits(trip: Trip, name: str) -> None:
    array = np.array([0.0, 1.0, 1.0, 0.0], dtype=np.float32).astype(getattr(ml_dtypes, name)).reshape(2, 2)
    assert same(trip(array), array)


@pytest.mark.parametrize("trip", TRIPS)
@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        [None, [np.zeros(2), [np.ones((1, 1))]], None],
        np.array(["", "ü", "a\x00b", "日本"], dtype=object).reshape(2, 2),
        np.array([], dtype=object),
        np.array([np.nan, -np.nan, np.inf, -0.0, 5e-324]),
        np.array(7.5),
    ],
    ids=repr,
)
def test_values_of_every_kind_survive(trip: Trip, value: Value) -> None:
    assert same(trip(value), value)


@pytest.mark.parametrize("trip", TRIPS)
def test_payload_bits_of_nan_survive(trip: Trip) -> None:
    array = np.array([0x7FF8_0000_DEAD_BEEF, 0xFFF0_0000_0000_0001], dtype=np.uint64).view(np.float64)
    assert same(trip(array), array)


@pytest.mark.parametrize("trip", TRIPS)
def test_arrays_in_foreign_byte_order_keep_their_numbers(trip: Trip) -> None:
    assert same(trip(np.array([1.5, -2.0], dtype=">f4")), np.array([1.5, -2.0], dtype="<f4"))
    assert same(trip(np.array([1, 2**40], dtype=">i8")), np.array([1, 2**40], dtype="<i8"))


@pytest.mark.parametrize("trip", TRIPS)
def test_the_two_integers_of_eight_bytes_are_one(trip: Trip) -> None:
    assert same(trip(np.array([1, 2], dtype="q")), np.array([1, 2], dtype=np.int64))
    assert same(trip(np.array([1, 2], dtype="l")), np.array([1, 2], dtype=np.int64))


@pytest.mark.parametrize("trip", TRIPS)
def test_arrays_that_are_not_contiguous_keep_their_order(trip: Trip) -> None:
    array = np.arange(24).reshape(2, 3, 4).transpose(2, 0, 1)[::-1]
    assert same(trip(array), np.ascontiguousarray(array))


@pytest.mark.parametrize("trip", TRIPS)
def test_python_and_numpy_scalars_become_arrays(trip: Trip) -> None:
    assert same(trip(np.float32(1.5)), np.array(1.5, dtype=np.float32))  # type: ignore[arg-type]
    assert same(trip(True), np.array(True))  # type: ignore[arg-type]


@pytest.mark.parametrize("trip", TRIPS)
def test_numpy_strings_and_bytes_become_text(trip: Trip) -> None:
    want = np.array(["ab", "c"], dtype=object)
    assert same(trip(np.array(["ab", "c"])), want)
    assert same(trip(np.array([b"ab", b"c"])), want)


@pytest.mark.parametrize("trip", TRIPS)
def test_received_arrays_are_writable_and_aligned(trip: Trip) -> None:
    array = trip(np.arange(5, dtype=np.float64))
    assert isinstance(array, np.ndarray) and array.flags.writeable and array.flags.aligned


@pytest.mark.parametrize("trip", TRIPS)
def test_a_dtype_without_a_numpy_type_stays_raw(trip: Trip, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "_small_dtype", lambda name: None)
    array = np.array([1.5, -2.0], dtype=ml_dtypes.bfloat16)
    raw = Raw("bfloat16", (2,), array.tobytes())
    assert trip(array) == raw
    assert trip(raw) == raw


@pytest.mark.parametrize(
    "value",
    [
        object(),
        {"a": 1},
        np.zeros(2, dtype=[("a", "i4")]),
        np.zeros(1, dtype="M8[s]"),
        np.zeros(1, np.longdouble),
        b"x",
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_without_a_wire_form_is_refused(value: Any) -> None:
    with pytest.raises(WireError):
        wire.pack({}, {"v": value})


def test_a_frame_may_arrive_byte_by_byte() -> None:
    data = wire.pack({"n": 1}, {"v": np.arange(3)}) + wire.pack({"n": 2}, {})
    unpacker = Unpacker()
    frames = [frame for at in range(len(data)) for frame in unpacker.feed(data[at : at + 1])]
    assert [frame.header["n"] for frame in frames] == [1, 2]


def test_names_and_headers_may_hold_any_text() -> None:
    name = 'quote " backslash \\ newline \n \ud800 日本'
    [found] = Unpacker().feed(wire.pack({"options": {name: name}}, {name: None}))
    assert found.header == {"options": {name: name}} and found.values == {name: None}


def test_many_frames_may_arrive_at_once() -> None:
    data = b"".join(wire.pack({"n": n}, {"v": np.full(n, n)}) for n in range(100))
    assert [frame.values["v"].shape for frame in Unpacker().feed(data)] == [(n,) for n in range(100)]  # type: ignore[union-attr]


def frame(header: bytes, payload: bytes = b"") -> bytes:
    return struct.pack("<4sII", b"GWf1", len(header), len(payload)) + header + payload


def described(meta: Any) -> bytes:
    return json.dumps({"blob": 0, "values": [["v", meta]], "header": {}}).encode()


@pytest.mark.parametrize(
    "data",
    [
        b"Segmentation fault (core dumped)\n",
        frame(b""),
        frame(b"{"),
        frame(b"[]"),
        frame(b"\xff\xfe"),
        frame(b'{"blob": 0, "header": {}}'),
        frame(b'{"blob": 0, "values": []}'),
        frame(b'{"blob": 0, "values": [], "header": 1}'),
        frame(b'{"blob": "x", "values": [], "header": {}}'),
        frame(b'{"blob": 0, "values": [1], "header": {}}'),
        frame(b'{"blob": 0, "values": [[[], null]], "header": {}}'),
        frame(described(["float32", [2], 8]), b"1234"),
        frame(described(["float32", [3], 8]), b"12345678"),
        frame(described(["float32", [-1, 2], 8]), b"12345678"),
        frame(described(["float32", "ab", 8]), b"12345678"),
        frame(described(["nonsense", [1], 1]), b"1"),
        frame(described(["float32"])),
        frame(described("text")),
        frame(described(["string", [2], 5]), b'["a"]'),
        frame(described(["string", [1], 3]), b"{x}"),
        frame(("[" * 100_000).encode()),
        frame(b'{"blob": 0, "values": [["v", ' + b"[" * 400 + b'"seq"' + b"]" * 400 + b"]]}"),
    ],
    ids=range(22),
)
def test_garbage_is_refused(data: bytes) -> None:
    with pytest.raises(WireError):
        list(Unpacker().feed(data))


def test_a_frame_beyond_the_limit_is_refused_before_it_arrives() -> None:
    with pytest.raises(WireError, match="frame of"):
        list(Unpacker(limit=1000).feed(struct.pack("<4sII", b"GWf1", 10, 2000)))


def test_nbytes_counts_what_nested_values_hold() -> None:
    assert wire.nbytes([np.zeros(3), [Raw("int4", (2,), b"ab"), None]]) == 26


def test_jobs_may_arrive_byte_by_byte_and_many_at_once() -> None:
    data = b"".join(wire.pack_job(n, RUN, b"m" * n, {"v": np.full(n, n)}) for n in range(5))
    reader = wire.JobReader()
    piecemeal = [job for at in range(len(data)) for job in reader.feed(data[at : at + 1])]
    at_once = wire.JobReader().feed(data)
    assert [n for n, _, _ in piecemeal] == [n for n, _, _ in at_once] == [0, 1, 2, 3, 4]
    assert [len(job.model) for _, _, job in piecemeal] == [0, 1, 2, 3, 4]


def test_an_input_without_a_wire_form_cannot_be_sent() -> None:
    with pytest.raises(WireError):
        wire.pack_job(1, RUN, b"", {"v": object()})  # type: ignore[dict-item]


@pytest.mark.parametrize("more", [{"op": "devices"}, {"fresh": True, "perturb": 170}, {"prompt": True}])
def test_a_job_with_more_to_say_says_it(more: dict[str, Any]) -> None:
    [(_, header, job)] = wire.JobReader().feed(wire.pack_job(1, {**RUN, **more}, b"", {}))
    assert header == {**RUN, **more} and job.options == {"opt": "off"}
