"""The first paragraph of a report: what goes wrong, with which compiler, and how it was seen. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from fuzz.case import Status
from triage import extent, keys, likeness
from triage.behaviour import compared_with
from triage.facts import Facts
from triage.operators import node_count
from triage.projects import project
from triage.wording import headed

#: What each backend is called by its own people: the way into it by case kind, and what it compiles for without the
#: option ``device``.
_FRONTENDS = {
    ("tvm", "onnx"): ("Relax, `from_onnx`", "target llvm"),
    ("tvm", "instance"): ("Relax, `from_exported_program`", "target llvm"),
    ("openvino", "onnx"): ("ONNX frontend", "CPU"),
    ("openvino", "instance"): ("PyTorch frontend", "CPU"),
    ("onnxruntime", "onnx"): ("", "CPU execution provider"),
    ("inductor", "instance"): ("", "C++ for the CPU"),
    ("openvino", "keras"): ("the OpenVINO backend of Keras", "CPU"),
    ("xla", "keras"): ("`jax.jit` of a Keras layer", "CPU"),
}
#: The same for a Keras layer, by the option ``keras``, where that is not the default.
_KERAS = {
    ("openvino", "onnx"): ("ONNX frontend", "CPU"),
    ("openvino", "tensorflow"): ("TensorFlow frontend, SavedModel of a Keras layer", "CPU"),
    ("xla", "tensorflow"): ("`tf.function(jit_compile=True)` of a Keras layer", "CPU"),
}

#: Conditions that tell what the bug is and how far it reaches.
_WIDER = (likeness.KIND, extent.SHAPE, extent.KIND)


def summary(facts: Facts, happening: str) -> str:
    """One paragraph. `happening` is the clause that the title is made of."""
    return " ".join(sentence for sentence in _sentences(facts, happening) if sentence)


def _sentences(facts: Facts, happening: str) -> Iterator[str]:
    given = dict(facts.target.options)
    way, processor = _FRONTENDS.get((facts.target.backend, facts.case.kind), ("", ""))
    if facts.case.kind == "keras":
        way, processor = _KERAS.get((facts.target.backend, given.get("keras", "")), (way, processor))
    where = ", ".join(part for part in (way, "" if "device" in given else processor) if part)
    options = ", ".join(f"{key}={value}" for key, value in facts.target.options)
    ways = "; ".join(part for part in (where, options) if part)
    name = project(facts.target.backend)
    yield f"With {name} {facts.target.revision.version}{f' ({ways})' if ways else ''}: {happening}."
    yield _reference(facts)
    yield _detail(facts)
    yield next((one.sentence for one in facts.conditions if one.needed), "")
    yield from (one.sentence for one in facts.conditions if one.kind in _WIDER)
    yield _origin(facts)


def _reference(facts: Facts) -> str:
    if facts.reference is None or facts.reference.status is not Status.OK:
        return ""
    by = compared_with(facts.target.backend, facts.case, facts.outcome.status is not Status.WRONG)
    if facts.outcome.status is Status.WRONG:
        return f"The expected result is that of {by}."
    if facts.target.backend == "reference":
        return "Two other implementations run the same model and agree on the result."
    return f"{headed(by)} runs the same model."


def _detail(facts: Facts) -> str:
    """What was said beyond the class of an exception; a key alone is no sentence."""
    if facts.outcome.status is Status.WRONG:
        return ""
    error = facts.outcome.error
    name = error.type.rpartition(".")[2] if error else ""
    key = keys.key_of(error, name) if error else ""
    if error is None or not key:
        if facts.detail.strip() == name:
            return ""  # the title has the class
        return _quoted(facts.detail) if facts.outcome.status is Status.EXCEPTION else _sentence(facts.detail)
    return f"The key that is not found is `{key}`{keys.told(facts.case, error, name)}."


def _quoted(text: str) -> str:
    """The words of an exception, which are no sentence of the report's."""
    words = " ".join(text.split())
    plain = words if words.endswith("..") else words.removesuffix(".")
    if not plain:
        return ""
    return f"The error: “{plain}”." if '"' in plain else f'The error: "{plain}".'


def _sentence(text: str) -> str:
    plain = text.strip().rstrip(".")
    return f"{headed(plain)}." if plain else ""


def _origin(facts: Facts) -> str:
    size, count, reduced_from = node_count(facts.case), facts.tests, facts.reduced_from
    what = "tests" if facts.examples else "generated models"
    least = "at least " if facts.examples else ""  # those that the hunt has run
    tests = f"{least}{count} {what} fail this way" if count > 1 else ""
    nodes = "1 node" if size == 1 else f"{size} nodes"
    reduced = f"the model below was reduced from {reduced_from} nodes to {nodes}" if reduced_from > size else ""
    return _sentence("; ".join(part for part in (tests, reduced) if part))
