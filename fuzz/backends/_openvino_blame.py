"""Whom OpenVINO's messages blame: converters of its frontends, nodes of its plugin, rules of its core."""

from __future__ import annotations

import functools
import glob
import mmap
import os
import re
from typing import FrozenSet, List, Tuple

from fuzz.wire import Job

#: A converter's own file, as error messages name it.
#: What takes one of an operator's results is named where the operator's own conversion left too few of them.
_CONVERTER = re.compile(
    r"src/frontends/(onnx|pytorch|tensorflow(?:_common)?)/(?:frontend/)?src/op/(?!getitem\.cpp)(\w+\.cpp):\d+"
)
#: Places behind the frontend, the telling ones first. Many operators pass through them, so the operator is added.
_BEHIND = (
    re.compile(r"src/(plugins/\w+/)src/(nodes/[\w/]+\.[ch]pp):\d+"),
    re.compile(r"src/(plugins/\w+/)src/([\w/]+\.[ch]pp):\d+"),
    re.compile(r"src/common/(transformations/)src/([\w/]+\.[ch]pp):\d+"),
)
#: Places that converters call: they tell less than the registry of converters.
_BENEATH = (
    re.compile(r"src/(core/)(?:shape_inference/|reference/)?(?:src|include)/([\w/]+\.[ch]pp):\d+"),
    re.compile(r"src/(frontends/\w+/)(?:frontend/)?src/(?!unconverted_ops_report)([\w/]+\.[ch]pp):\d+"),
)
_NO_RULE = re.compile(r"No conversion rule found for operations: ([^\s,]+)")
_OPERATORS = (
    re.compile(r"^-- (?!\w+Mark |torch::None|prim::|<built-in function getitem>)(.+?) with a message", re.MULTILINE),
    re.compile(r"Consumer: \S+ \w+/(aten\.\S+?)(?:/| )"),
    re.compile(r"\(util::SequenceMark \S+?/(aten\.[\w.]+)/SequenceMark\["),
    re.compile(r"^-- (<.+?>) with a message", re.MULTILINE),
    re.compile(r"While validating ONNX node '<Node\((\w+)\)"),
    re.compile(r"\[CPU\] (\w+) (?:node|layer) with name"),
    re.compile(r"Unsupported operation of type: (\w+)"),
)

#: The first line of one operator's part of the log, and the node that it speaks of.
_PART = re.compile(r"^-- (?:\S+|<[^<>\n]+>) with a message:[ \t]*$", re.MULTILINE)
#: Parts that follow from another: the results of what was not converted.
_FOLLOWS = re.compile(r"-- (?:<built-in function getitem>|\w+Mark|torch::None) with a message")
_OUTPUT = re.compile(r"'<Node\(\w+\): (?:, )*([^,>\n]+)")

#: Converter files whose names do not follow from the operator's.
_ONNX_FILES = {
    "BatchNormalization": "batch_norm",
    "InstanceNormalization": "instance_norm",
    "LpNormalization": "lp_norm",
    "NegativeLogLikelihoodLoss": "neg_log_like_loss",
}
#: The same for aten operators, without namespace and overload.
_TORCH_FILES = (
    (re.compile(r"conv_transpose\dd"), "conv_transposend"),
    (re.compile(r"_?convolution|conv\dd"), "convolution"),
    (re.compile(r"avg_pool\dd"), "avg_poolnd"),
    (re.compile(r"max_pool\dd(_with_indices)?"), "max_poolnd"),
    (re.compile(r"_?upsample_\w+|__interpolate"), "upsample"),
    (re.compile(r"lstm|gru|rnn_tanh|rnn_relu"), "lstm"),
    (re.compile(r"grid_sampler\w*"), "grid_sampler"),
    (re.compile(r"_native_batch_norm_legit\w*|(?:cudnn_|native_)?batch_norm"), "batch_norm"),
    (re.compile(r"concat|concatenate"), "cat"),
    (re.compile(r"scatter_\w+"), "scatter"),
)


def blame(error: BaseException, job: Job) -> Tuple[str, str]:
    """The operator and the source file of the converter, plugin node or shape rule that the message names.

    An operator without a converter has no conversion function, whatever else failed after it.
    """
    if job.kind == "keras" and job.options.get("keras", "native") == "native":
        from fuzz.backends import _openvino_keras

        return _openvino_keras.blame(error, job)
    message = str(error)
    missing = _NO_RULE.search(message)
    if missing:
        return _bare(missing.group(1)), ""
    message = _first_part(message, job.model)
    found = next((match for pattern in _OPERATORS for match in [pattern.search(message)] if match), None)
    operator = _bare(found.group(1)) if found else ""
    named = _CONVERTER.search(message)
    if named:
        return operator, "frontends/%s/op/%s" % named.groups()
    (converter,) = converters([("torch" if job.kind == "instance" else "", operator, 0)])
    return operator, _site(_BEHIND, message, operator) or converter or _site(_BENEATH, message, operator)


def _first_part(message: str, model: bytes) -> str:
    """Of a log of several operators that were not converted, sorted by name, the part of the one that stands first in
    the model, or does not say that it follows from another. The whole message where that cannot be told."""
    starts = [found.start() for found in _PART.finditer(message)]
    parts = [message[begin:end] for begin, end in zip(starts, [*starts[1:], len(message)])]
    causes = [part for part in parts if not _FOLLOWS.match(part)]
    if len(causes) == 1:
        return causes[0]
    places = [place for part in parts for place in [_place(part, model)] if place >= 0]
    if len(parts) < 2 or len(places) < len(parts):
        return message
    return parts[places.index(min(places))]


def _place(part: str, model: bytes) -> int:
    """Where in a serialised model the node of a part of the log stands, by its first output; -1 where it does not."""
    named = _OUTPUT.search(part)
    name = named.group(1).encode() if named else b""
    return model.find(b"\x12%c%s" % (len(name), name)) if 0 < len(name) < 128 else -1  # NodeProto.output is field 2


def _bare(operator: str) -> str:
    """``Softmax-13`` and ``ai.onnx.ml.Scaler-1`` without domain and opset; PyTorch's names as they are."""
    if operator.startswith(("aten", "<", "prim", "torchvision")):
        return operator
    return re.sub(r"-\d+$", "", operator).rpartition(".")[2]


def _site(places: Tuple["re.Pattern[str]", ...], message: str, operator: str) -> str:
    found = next((match for pattern in places for match in [pattern.search(message)] if match), None)
    if found is None:
        return ""
    return found.group(1) + found.group(2) + ("(%s)" % operator if operator else "")


def converters(operators: List[Tuple[str, str, int]]) -> List[str]:
    """Converter files, from the source paths that the frontends' libraries hold; "" when none matches."""
    files = {"torch": _torch_file, "keras": _no_file}
    return [files.get(domain, _onnx_file)(name) for domain, name, _ in operators]


def _onnx_file(op_type: str) -> str:
    plain = "reduce" if op_type.startswith("Reduce") else op_type
    return _converter_file("onnx", [_ONNX_FILES.get(op_type, ""), plain])


def _no_file(name: str) -> str:
    """A layer of Keras is many operators."""
    return ""


def _torch_file(name: str) -> str:
    """`name` is an aten operator as either decoder spells it: ``aten.add.Tensor``, ``aten::add``, ``aten::add_``."""
    parts = [part for part in re.split(r"[.:]+", name) if part]
    if len(parts) < 2 or parts[0] != "aten":
        return ""
    short = parts[1][:-1] if re.search(r"[a-z0-9]_$", parts[1]) else parts[1]
    return _converter_file("pytorch", [file for pattern, file in _TORCH_FILES if pattern.fullmatch(short)] + [short])


def _converter_file(frontend: str, guesses: List[str]) -> str:
    """The first guess that is a file, compared without case and underscores (``TopK`` is in ``topk.cpp``)."""
    known = {stem.replace("_", ""): stem for stem in _converter_files(frontend)}
    found = (known.get(guess.replace("_", "").lower(), "") for guess in guesses)
    return next(("frontends/%s/op/%s.cpp" % (frontend, stem) for stem in found if stem), "")


@functools.lru_cache(maxsize=None)
def _converter_files(frontend: str) -> FrozenSet[str]:
    """Stems of the converters' source files that checks inside the frontend's library mention."""
    import openvino

    pattern = os.path.join(os.path.dirname(openvino.__file__), "libs", "libopenvino_%s_frontend.so*" % frontend)
    path = next(iter(sorted(glob.glob(pattern))), "")
    if not path:
        return frozenset()
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as library:
        found = re.findall(rb"src/frontends/%s/(?:frontend/)?src/op/(\w+)\.cpp" % frontend.encode(), library)
    return frozenset(stem.decode() for stem in found)
