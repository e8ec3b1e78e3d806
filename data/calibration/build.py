"""Writes cases.jsonl, the calibration set of the court: ``python data/calibration/build.py``.

Half of the cases are bugs: planted ones close to the tolerance (faulty.py), and real ones of the compilers
that requirements.lock names, found by this project's hunts. The others are traps: ill-conditioned models,
ties, open behaviour and rounding, on a compiler that takes every liberty (honest.py) and on real ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, printer

HERE = Path(__file__).parent
FAULTY, HONEST = "faulty.py", "honest.py"
FLOAT, HALF, INT64 = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT64
Node = tuple[Any, ...]
_random = np.random.default_rng(7)


def normal(*shape: int) -> np.ndarray:
    return _random.standard_normal(shape).astype(np.float32)


def model(
    nodes: Sequence[Node], inputs: dict[str, np.ndarray], constants: dict[str, Any], outputs: int, opset: int
) -> str:
    """The text of a model whose last node gives the outputs; their types are inferred."""
    made = [helper.make_node(*node[:3], **(node[3] if len(node) > 3 else {})) for node in nodes]
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in inputs.items()
    ]
    initializers = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(made, "g", infos, [], initializers)
    built = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    known = {info.name: info for info in onnx.shape_inference.infer_shapes(built, data_prop=True).graph.value_info}
    for name in made[-1].output[:outputs]:
        graph.output.append(known[name])
    text: str = printer.to_text(helper.make_model(graph, opset_imports=built.opset_import, ir_version=8))
    return text


def entry(
    name: str,
    label: str,
    backend: str,
    nodes: Sequence[Node],
    inputs: dict[str, np.ndarray],
    constants: dict[str, Any] | None = None,
    opset: int = 17,
    outputs: int = 1,
    **options: str,
) -> dict[str, Any]:
    return {
        "id": name,
        "label": label,
        "backend": backend,
        **({"options": options} if options else {}),
        "model": model(nodes, inputs, constants or {}, outputs, opset),
        "inputs": {key: tensor(value) for key, value in inputs.items()},
    }


def tensor(value: np.ndarray) -> dict[str, Any]:
    flat = [item if np.isfinite(item) else {"float": str(float(item))} for item in value.ravel().tolist()]
    return {"dtype": value.dtype.name, "shape": list(value.shape), "values": flat}


# ---------------------------------------------------------------- planted bugs


def planted() -> Iterator[dict[str, Any]]:
    def bug(name: str, fault: str, nodes: Sequence[Node], inputs: dict[str, np.ndarray], **more: Any) -> dict[str, Any]:
        return entry(f"planted {fault} {name}", "bug", FAULTY, nodes, inputs, fault=fault, **more)

    x, y, square = normal(4, 5), normal(4, 5), normal(8, 64)
    add = [("Add", ["x", "y"], ["z"])]
    product = [("MatMul", ["x", "w"], ["z"])]
    for fault in ("scaled", "shifted", "one_element", "half_precision", "unsigned", "uninitialised"):
        yield bug("Add", fault, add, {"x": 5 * x, "y": y})
    for operator in ("Sigmoid", "Sin", "Sqrt", "Erf", "Log", "Atan", "Softplus", "Elu", "Gelu"):
        opset = 20 if operator == "Gelu" else 17
        yield bug(operator, "shifted", [(operator, ["x"], ["z"])], {"x": np.abs(x) + 0.5}, opset=opset)
    for operator in ("Div", "Mul", "Sub", "Max"):
        yield bug(operator, "one_element", [(operator, ["x", "y"], ["z"])], {"x": x, "y": np.abs(y) + 0.5})
    for operator in ("ReduceMax", "ReduceL2", "ReduceLogSumExp"):
        yield bug(operator, "scaled", [(operator, ["x"], ["z"])], {"x": 3 + np.abs(square)})
    yield bug(
        "AveragePool", "shifted", [("AveragePool", ["x"], ["z"], {"kernel_shape": [2, 2]})], {"x": normal(1, 2, 6, 6)}
    )
    yield bug("GlobalAveragePool", "shifted", [("GlobalAveragePool", ["x"], ["z"])], {"x": normal(1, 4, 6, 6)})
    turned = [("Transpose", ["x"], ["a"], {"perm": [1, 0]}), ("Reshape", ["a", "n"], ["z"])]
    yield bug("Transpose", "tail", turned, {"x": normal(5, 5)}, constants={"n": np.array([25])})
    norms = {"s": np.ones(4, "f"), "b": np.zeros(4, "f")}
    instance = [("InstanceNormalization", ["x", "s", "b"], ["z"])]
    yield bug("InstanceNormalization", "shifted", instance, {"x": normal(1, 4, 6, 6)}, constants=norms)
    yield bug("MatMul", "scaled", product, {"x": square}, constants={"w": normal(64, 8)})
    yield bug("MatMul", "tail", product, {"x": normal(3, 64)}, constants={"w": normal(64, 5)})
    yield bug("Softmax", "shifted", [("Softmax", ["x"], ["z"])], {"x": x})
    yield bug("Tanh", "shifted", [("Tanh", ["x"], ["z"])], {"x": x})
    yield bug("Exp", "scaled", [("Exp", ["x"], ["z"])], {"x": np.abs(x)})
    yield bug("Exp", "saturated", [("Exp", ["x"], ["z"])], {"x": np.abs(x) * 3})
    yield bug("ReduceMean", "scaled", [("ReduceMean", ["x"], ["z"])], {"x": 10 + square})
    norm = [("LayerNormalization", ["x", "s"], ["z"])]
    yield bug("LayerNormalization", "shifted", norm, {"x": square}, constants={"s": np.ones(64, np.float32)})
    deep = [
        ("Relu", ["x"], ["a"]),
        ("MatMul", ["a", "w"], ["b"]),
        ("Sigmoid", ["b"], ["c"]),
        ("MatMul", ["c", "w"], ["z"]),
    ]
    yield bug("four layers", "scaled", deep, {"x": square}, constants={"w": normal(64, 64)})
    conv = [("Conv", ["x", "w"], ["z"])]
    yield bug("Conv", "scaled", conv, {"x": normal(1, 8, 8, 8)}, constants={"w": normal(4, 8, 3, 3)})
    yield bug("Gather", "one_element", [("Gather", ["x", "i"], ["z"])], {"x": x}, constants={"i": np.array([2, 0])})
    half = {"x": x.astype("f2"), "y": y.astype("f2")}
    yield bug("float16 Mul", "unsigned", [("Mul", ["x", "y"], ["z"])], half)


# ---------------------------------------------------------------- real bugs of the pinned compilers


def real() -> Iterator[dict[str, Any]]:
    x = normal(2, 3, 4)
    norm = [("LayerNormalization", ["x", "s"], ["z", "m"])]
    yield entry("TVM LayerNormalization mean", "bug", "tvm", norm, {"x": x}, {"s": np.ones(4, np.float32)}, outputs=2)
    infinite = np.array([1, np.inf, -np.inf, np.nan], np.float32)
    signed = [("IsInf", ["x"], ["z"], {"detect_negative": 0})]
    yield entry("TVM IsInf of one sign", "bug", "tvm", signed, {"x": infinite}, opset=20)
    outside = [("OneHot", ["x", "d", "v"], ["z"])]
    ranges = {"d": np.array(4), "v": np.array([0, 1], np.float32)}
    yield entry("TVM OneHot outside the depth", "bug", "tvm", outside, {"x": np.array([9, -1, 2])}, ranges)
    train = [("BatchNormalization", ["x", "s", "b", "m", "v"], ["z", "mm", "vv"], {"training_mode": 1})]
    state = {"s": np.ones(3, "f"), "b": np.zeros(3, "f"), "m": np.ones(3, "f"), "v": np.ones(3, "f")}
    yield entry("TVM BatchNormalization in training", "bug", "tvm", train, {"x": x}, state, outputs=3)
    dtype = [("Dropout", ["x"], ["z", "m"])]
    yield entry("TVM Dropout mask", "bug", "tvm", dtype, {"x": x}, outputs=2)


# ---------------------------------------------------------------- traps


def traps() -> Iterator[dict[str, Any]]:
    def trap(
        name: str,
        nodes: Sequence[Node],
        inputs: dict[str, np.ndarray],
        constants: dict[str, Any] | None = None,
        *backends: str,
        **more: Any,
    ) -> Iterator[dict[str, Any]]:
        for backend in backends or (HONEST,):
            yield entry(f"trap {name} {Path(backend).stem}", "not-a-bug", backend, nodes, inputs, constants, **more)

    real_ones = ("onnxruntime", "openvino", "tvm")
    big = {"c": np.float32(1e8)}
    yield from trap(
        "cancellation", [("Add", ["x", "c"], ["a"]), ("Sub", ["a", "c"], ["z"])], {"x": normal(4)}, big, "openvino"
    )
    half = normal(100)
    zero_sum = np.concatenate([half, -half])
    yield from trap(
        "division by a sum near zero",
        [("ReduceSum", ["x"], ["s"]), ("Div", ["x", "s"], ["z"])],
        {"x": zero_sum},
        {},
        HONEST,
        *real_ones,
    )
    yield from trap("tan near pi/2", [("Tan", ["x"], ["z"])], {"x": np.array([1.5707963, 4.712389, 7.8539816], "f")})
    yield from trap("sine of large numbers", [("Sin", ["x"], ["z"])], {"x": (np.abs(normal(20)) * 1e6).astype("f")})
    tenths = (np.arange(100) * 0.1).astype("f")
    yield from trap(
        "floor near a tie",
        [("Div", ["x", "c"], ["a"]), ("Floor", ["a"], ["z"])],
        {"x": tenths},
        {"c": np.float32(0.1)},
        HONEST,
        "openvino",
    )
    compare = [
        ("Div", ["x", "c"], ["a"]),
        ("Mul", ["a", "c"], ["b"]),
        ("Less", ["b", "x"], ["d"]),
        ("Cast", ["d"], ["z"], {"to": FLOAT}),
    ]
    yield from trap("comparison near a tie", compare, {"x": normal(100)}, {"c": np.float32(3)}, HONEST, "openvino")
    yield from trap("ArgMax tie", [("ArgMax", ["x"], ["z"], {"axis": 0})], {"x": np.array([1, 3, 3, 0], "f")})
    yield from trap("ArgMin tie of integers", [("ArgMin", ["x"], ["z"], {"axis": 0})], {"x": np.array([1, 0, 3, 0])})
    yield from trap(
        "TopK tie",
        [("TopK", ["x", "k"], ["v", "z"])],
        {"x": np.array([1, 1, 1, 1, 2], "f")},
        {"k": np.array([3])},
        outputs=2,
    )
    yield from trap(
        "Exp at the overflow border",
        [("Exp", ["x"], ["z"])],
        {"x": np.array([88.72283, 88.7228, 1], "f")},
        {},
        HONEST,
        "openvino",
    )
    long = [("Expand", ["x", "n"], ["a"]), ("ReduceSum", ["a"], ["z"])]
    yield from trap(
        "long sum", long, {"x": np.array([0.1], "f")}, {"n": np.array([1000000])}, HONEST, "tvm", "openvino"
    )
    flat = normal(4, 64)
    yield from trap(
        "LayerNormalization of nearly constant data",
        [("LayerNormalization", ["x", "s"], ["z"])],
        {"x": (1000 + 0.1 * flat).astype("f")},
        {"s": np.ones(64, "f")},
        HONEST,
        "tvm",
    )
    affine = {"s": np.ones(2, "f"), "b": np.zeros(2, "f")}
    yield from trap(
        "InstanceNormalization of nearly constant data",
        [("InstanceNormalization", ["x", "s", "b"], ["z"])],
        {"x": (100 + 0.5 * normal(1, 2, 6, 6)).astype("f")},
        affine,
    )
    folded = {**affine, "m": np.full(2, 1e4, "f"), "v": np.full(2, 1e-2, "f")}
    yield from trap(
        "folded BatchNormalization",
        [("BatchNormalization", ["x", "s", "b", "m", "v"], ["z"])],
        {"x": (1e4 + normal(1, 2, 5)).astype("f")},
        folded,
        HONEST,
        "onnxruntime",
        "openvino",
    )
    wide = normal(2, 2048).astype("f2")
    yield from trap(
        "float16 product",
        [("MatMul", ["x", "w"], ["z"])],
        {"x": wide},
        {"w": normal(2048, 2).astype("f2")},
        HONEST,
        "tvm",
    )
    yield from trap(
        "float16 sum",
        [("Expand", ["x", "n"], ["a"]), ("ReduceSum", ["a"], ["z"])],
        {"x": np.array([0.3], "f2")},
        {"n": np.array([5000])},
        HONEST,
        "tvm",
    )
    yield from trap(
        "float16 mean that overflows",
        [("Expand", ["x", "n"], ["a"]), ("ReduceMean", ["a"], ["z"])],
        {"x": np.array([300], "f2")},
        {"n": np.array([1000])},
        "onnxruntime",
        "openvino",
    )
    root = [("Mul", ["x", "x"], ["a"]), ("Div", ["a", "x"], ["b"]), ("Sub", ["b", "x"], ["c"]), ("Sqrt", ["c"], ["z"])]
    yield from trap("root of a tiny negative", root, {"x": np.abs(normal(60))}, {}, HONEST, "openvino")
    flush = [("Mul", ["x", "c"], ["a"]), ("Mul", ["a", "d"], ["z"])]
    yield from trap(
        "subnormal flushed to zero",
        flush,
        {"x": np.array([1e-9, 1e-10, 1], "f")},
        {"c": np.float32(1e-30), "d": np.float32(1e38)},
    )
    yield from trap(
        "subnormal input", [("Mul", ["x", "d"], ["z"])], {"x": np.array([1e-39, 1], "f")}, {"d": np.float32(1e38)}
    )
    lost = [("Tanh", ["x"], ["a"]), ("Sub", ["c", "a"], ["b"]), ("Mul", ["b", "k"], ["z"])]
    yield from trap(
        "approximated tanh, amplified",
        lost,
        {"x": (np.abs(normal(40)) * 3).astype("f")},
        {"c": np.float32(1), "k": np.float32(1000)},
    )
    yield from trap(
        "cancelling product",
        [("MatMul", ["x", "w"], ["z"])],
        {"x": zero_sum[None] * np.float32(1e4)},
        {"w": np.full((200, 1), 7.3, "f")},
        HONEST,
        "onnxruntime",
        "tvm",
    )
    yield from trap(
        "sign of zero",
        [("Mul", ["x", "c"], ["a"]), ("Reciprocal", ["a"], ["z"])],
        {"x": np.array([1, -1], "f")},
        {"c": np.float32(0)},
        "tvm",
    )
    yield from trap(
        "NaN among numbers",
        [("Max", ["x", "y"], ["z"])],
        {"x": np.array([np.nan, 1], "f"), "y": np.array([1, 2], "f")},
        {},
        "openvino",
        "tvm",
    )
    yield from trap(
        "cast out of range",
        [("Cast", ["x"], ["z"], {"to": TensorProto.INT32})],
        {"x": np.array([1e20, 2], "f")},
        {},
        "tvm",
    )
    steps = ((np.arange(40) - 20 + 0.5) * 0.1).astype("f")
    yield from trap(
        "quantization near a tie",
        [("QuantizeLinear", ["x", "s", "p"], ["z"])],
        {"x": steps},
        {"s": np.float32(0.1), "p": np.uint8(128)},
        "openvino",
    )
    yield from trap("random numbers", [("RandomNormalLike", ["x"], ["z"])], {"x": normal(3)}, {}, "onnxruntime")


# ---------------------------------------------------------------- what is open in one element; words; reference bugs


def elements() -> Iterator[dict[str, Any]]:
    """Wrong beside what is open, and open alone."""
    x = {"x": np.array([np.nan, 1, 5, 6], "f"), "y": np.array([1, 2, 3, 7], "f")}
    most, limits = [("Max", ["x", "y"], ["z"])], {"a": np.float32(0), "b": np.float32(10)}
    yield entry("planted one_element Max beside NaN", "bug", FAULTY, most, x, fault="one_element")
    then = [("Max", ["x", "y"], ["m"]), ("Mul", ["m", "m"], ["z"])]
    yield entry("planted scaled product beside NaN", "bug", FAULTY, then, x, fault="scaled")
    clip = [("Clip", ["x", "a", "b"], ["z"])]
    yield entry("planted one_element Clip beside NaN", "bug", FAULTY, clip, {"x": x["x"]}, limits, fault="one_element")
    for backend in ("openvino", "tvm"):
        yield entry(f"trap NaN clipped {backend}", "not-a-bug", backend, clip, {"x": x["x"]}, limits)
    pool = [("MaxPool", ["x"], ["z"], {"kernel_shape": [2]})]
    window = {"x": np.array([[[2, np.nan, -1]]], "f")}
    yield entry("trap NaN in a window tvm", "not-a-bug", "tvm", pool, window)


def decided_by_words() -> Iterator[dict[str, Any]]:
    """Where rounding decides what has no width, and where the reference breaks the specification's words."""
    start = {"l": np.float32(0), "h": np.float32(0.3), "d": np.float32(0.1)}
    yield entry("trap length of a range openvino", "not-a-bug", "openvino", [("Range", [*start], ["z"])], start)
    nodes = [("Relu", ["x"], ["a"]), ("Reciprocal", ["a"], ["z"])]
    zeros = {"x": np.array([-0.0, 2], "f")}
    yield entry("trap sign of a zero of Relu", "not-a-bug", "onnxruntime", nodes, zeros)
    rows = [[1 / (row + column + 1) for column in range(7)] for row in range(7)]
    solved = [("Det", ["x"], ["d"]), ("Reciprocal", ["d"], ["z"])]
    yield entry("trap singular matrix onnxruntime", "not-a-bug", "onnxruntime", solved, {"x": np.array(rows, "f")})
    ties = {"x": np.random.default_rng(0).integers(0, 5, (2, 200)).astype("f")}
    top = [("TopK", ["x", "k"], ["v", "z"])]
    yield entry("trap TopK of many ties openvino", "not-a-bug", "openvino", top, ties, {"k": np.array([30])}, outputs=2)
    pooled = {"x": np.array([[[1, 5, 2]]], "f")}
    flat = [("GlobalMaxPool", ["x"], ["z"])]
    yield entry("reference GlobalMaxPool of three axes", "bug", "openvino", flat, pooled)
    channels = {"x": normal(1, 6, 2, 2)}
    lrn = [("LRN", ["x"], ["z"], {"size": 3, "alpha": 1.0})]
    yield entry("reference LRN of six channels", "bug", "onnxruntime", lrn, channels)
    cut = [("LpPool", ["x"], ["z"], {"kernel_shape": [1, 3], "strides": [1, 2], "ceil_mode": 1})]
    norm = {"x": np.array([[[[3, 4, 0, 5]]]], "f")}
    yield entry("reference LpPool of a cut-off window", "bug", "onnxruntime", cut, norm, opset=18)


# ---------------------------------------------------------------- a bug beside an excuse, and excuses alone


def beside() -> Iterator[dict[str, Any]]:
    """Random numbers, NaN and what a type does not hold, in one tensor with what is defined, and alone."""
    x = np.array([3, 1, 5], "f")
    drawn = [("RandomUniformLike", ["x"], ["u"]), ("Concat", ["u", "x"], ["z"], {"axis": 0})]
    yield entry("planted one_element beside random numbers", "bug", FAULTY, drawn, {"x": x}, fault="one_element")
    yield entry("trap random numbers beside others", "not-a-bug", "onnxruntime", drawn, {"x": x})
    scattered = {"x": np.array([1, 2, 3], "f"), "i": np.array([0, 2]), "u": np.array([np.nan, 9], "f")}
    most = [("ScatterElements", ["x", "i", "u"], ["z"], {"reduction": "max"})]
    yield entry(
        "planted one_element beside scattered NaN", "bug", FAULTY, most, scattered, opset=18, fault="one_element"
    )
    for backend in ("onnxruntime", "tvm"):
        yield entry(f"trap scattered NaN {backend}", "not-a-bug", backend, most, scattered, opset=18)
    product = [("Expand", ["x", "m"], ["a"]), ("Expand", ["x", "n"], ["b"]), ("MatMulInteger", ["a", "b"], ["z"])]
    sizes = {"m": np.array([1, 140000]), "n": np.array([140000, 1])}
    byte = {"x": np.array([255], np.uint8)}
    yield entry("trap product of bytes beyond 32 bits", "not-a-bug", "openvino", product, byte, sizes)
    large = {"x": np.array([200.0, 1.0])}
    yield entry("trap exponential beyond float32", "not-a-bug", "openvino", [("Exp", ["x"], ["z"])], large)
    declared = entry("trap input of another type", "not-a-bug", "onnxruntime", [("Relu", ["x"], ["z"])], {"x": x})
    yield {**declared, "inputs": {"x": tensor(x.astype("f8"))}}
    text = '<ir_version: 8, opset_import: ["": 17]> g (float[n,2] x, float[n,2] y) => (float[m,2] z) { z = Add (x, y) }'
    inputs = {"x": tensor(np.ones((2, 2), "f")), "y": tensor(np.ones((1, 2), "f"))}
    yield {"id": "trap one size for two", "label": "not-a-bug", "backend": "tvm", "model": text, "inputs": inputs}


def call(
    name: str, label: str, backend: str, api: str, args: list[Any], *tensors: np.ndarray, **more: Any
) -> dict[str, Any]:
    """A call of PyTorch with `tensors` as its first arguments; `more` are keywords of the call, and ``fault``."""
    fault = {"options": {"fault": more.pop("fault")}} if "fault" in more else {}
    given = [*({"tensor": at} for at in range(len(tensors))), *args]
    instance = {"library": "torch", "api": api, "args": given, "kwargs": more, "tensors": list(map(tensor, tensors))}
    return {"id": name, "label": label, "backend": backend, **fault, "instance": instance}


def calls() -> Iterator[dict[str, Any]]:
    """Ties, quotients, distances and deviations of PyTorch: what compilers make of them, and wrong values beside."""
    draw = np.random.default_rng(11)
    functional = "torch.nn.functional."
    ties, tenths = draw.integers(0, 3, (3, 40)).astype("f"), (np.arange(40) * 0.1).astype("f")
    rows = (1000 + draw.standard_normal((30, 4)) * 1e-3).astype("f")
    flat = (123.4 + draw.standard_normal((3, 64)) * 1e-5).astype("f")
    far = tensor(draw.standard_normal((30, 4)).astype("f"))
    planted: dict[str, tuple[str, list[Any], np.ndarray]] = {
        "topk with ties": ("torch.topk", [7], ties),
        "max with ties": ("torch.max", [1], ties),
        "mode with ties": ("torch.mode", [1], ties),
        "distances": ("torch.cdist", [far], draw.standard_normal((30, 4)).astype("f")),
        "layer_norm": (functional + "layer_norm", [[64]], draw.standard_normal((3, 64)).astype("f")),
    }
    for name, (api, args, x) in planted.items():
        yield call(f"planted one_element torch {name}", "bug", FAULTY, api, args, x, fault="one_element")
    quotient = {"rounding_mode": "floor", "fault": "one_element"}
    yield call(
        "planted one_element torch div", "bug", FAULTY, "torch.div", [], tenths, np.array([0.5], "f"), **quotient
    )
    tenth = np.array([0.1], "f")
    for backend in ("tvm", "openvino"):
        yield call(
            f"trap torch div {backend}", "not-a-bug", backend, "torch.div", [], tenths, tenth, rounding_mode="floor"
        )
    yield call("trap torch max with ties", "not-a-bug", "openvino", "torch.max", [1], ties)
    yield call("trap torch distances of near points", "not-a-bug", "tvm", "torch.cdist", [{"tensor": 0}], rows)
    yield call("trap torch layer_norm", "not-a-bug", "tvm", functional + "layer_norm", [[64]], flat)


def main() -> None:
    """Write the set beside this file."""
    earlier = (*planted(), *real(), *traps(), *elements(), *decided_by_words())
    lines = [json.dumps(line) for line in (*earlier, *beside(), *calls())]
    (HERE / "cases.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
