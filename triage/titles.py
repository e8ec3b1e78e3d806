"""Titles in the style of each project's own issue list."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import onnx

from fuzz.case import Case, Outcome, Stage
from fuzz.operators.graph import bodies, walk
from fuzz.oracles import refusal
from fuzz.wire import Raw
from triage import extent, ignored_beside, keys, leftout, likeness
from triage.conditions import Condition
from triage.construct_meaning import parsed
from triage.drawing import dtype_text
from triage.effect import effect, number
from triage.literals import as_array
from triage.localize import Part
from triage.messages import part
from triage.operators import CALL, GRAPH_INPUT, INITIALIZER, READ_FIRST, value_names
from triage.precise import MODE
from triage.schemas import CASTS, attribute_text, formal_inputs, output_name
from triage.scrub import scrub
from triage.sufficiency import is_option
from triage.variants import kernels, relations
from triage.variants.values import ALL
from triage.wording import telling

LONGEST = 140
#: How much of a title the conditions may take.
_ROOM = 60
#: A longer word is cut rather than left out.
_LONGEST_WORD = 30
#: Where it may be cut.
_PARTING = re.compile(r"::|\.|->|[(\[{,]")
#: Where all that were tried of a call's integer types fail, which is some of both kinds, they are named together;
#: so are all that are not float32, where the other floats fail as well.
_SIGNED, _UNSIGNED, _INTEGERS = ("int64", "int32", "int8"), ("uint8",), "integers"
_LONG_AND_SHORT, _ALL_OTHERS = ("float64", "float16"), "types other than float32"
#: How much of it an exception's message may take.
_MESSAGE = 80
#: How each project marks the component: (backend, case kind) -> prefix.
PREFIXES = {
    ("tvm", "onnx"): "[Bug][Relax][ONNX]",
    ("tvm", "instance"): "[Bug][Relax][PyTorch]",
    ("openvino", "onnx"): "[Bug]: [ONNX]",
    ("openvino", "instance"): "[Bug]: [PyTorch]",
    ("onnxruntime", "onnx"): "[CPU EP]",
    ("inductor", "instance"): "[inductor]",
    ("tensorrt", "onnx"): "[TensorRT][ONNX]",
    ("openvino", "keras"): "[Bug]: [Keras]",
    ("xla", "keras"): "[XLA:CPU]",
    ("reference", "onnx"): "[Reference Evaluator]",
}
#: What is marked otherwise where the fault lies before what the backend is named for.
_BEFORE = {"inductor": "[torch.compile]"}
_STAGES = {
    Stage.START: "starting with",
    Stage.LOAD: "loading",
    Stage.CONVERT: "converting",
    Stage.COMPILE: "compiling",
    Stage.RUN: "running",
}
_SIGNALS = {
    "SIGSEGV": "Segmentation fault",
    "SIGBUS": "Bus error",
    "SIGABRT": "Abort",
    "SIGFPE": "Floating-point exception (SIGFPE)",
    "SIGILL": "Illegal instruction",
}
#: What people call an operator that has no name of its own.
_SPOKEN = {
    "torch.Tensor.__getitem__": "Tensor indexing",
    "torch.Tensor.__setitem__": "Assignment to an index",
    CALL: "a local function",
    INITIALIZER: "an initializer",
    GRAPH_INPUT: "a graph input",
}
#: Behind conditions with which other inputs pass, where no plural has "some" before it.
ON_SOME = " on some inputs"
#: Between an operator and the attribute or input that the compiler does not look at.
IGNORES = " ignores "
#: Between an operator and the value of an attribute that it seems to have taken for another.
ACTS = " computes as if "
#: The value of an attribute that is a list: to which one is not looked does not matter.
_LIST = re.compile(r"=\[.*\]$")
#: What a long title does without rather than without its end, first to last: the core operator behind a call's name,
#: the path to a function, which of several results it is, a word between two members of its family, the second of them.
_DISPENSABLE = (
    (re.compile(r" \(aten\.[\w.]+(?:(?P<more>; )|\))"), lambda found: " (" if found["more"] else ""),
    (re.compile(r"\btorch\.(?:\w+\.)+(?=\w)"), lambda found: ""),
    (re.compile(r" for outputs? [\w, ]+$"), lambda found: ""),
    (re.compile(r"(?<=also )(\w+) and (\w+)(?=[);])"), lambda found: f"{found[1]}, {found[2]}"),
    (re.compile(r"(?<=also )(\w+), \w+(?=[);])"), lambda found: f"{found[1]} and 1 more"),
)
#: How a condition begins that is about an input which may be left out.
OPTIONAL_INPUT = "optional input "
#: How a value comes to an operator, in other words than its name's own.
_FED = {"non-constant": "an input", "constant": "a constant"}
#: A condition that does not hold, all that some exceptions say: ``u0 <= 100``.
_BOUND = re.compile(r"[a-z]\w{0,9} ?(?:[<>]=?|[!=]=) ?\d{1,9}")
#: What a body holds of necessity: copies, and numbers.
_WIRING = ("Identity", "Constant")
#: The kinds of condition that a subject takes in by "with"; a dtype has its own place.
_JOINED = ("attribute", leftout.KIND, "input", "value", relations.KIND, relations.TYPES)


def title(prefix: str, sentence: str) -> str:
    """One line of at most `LONGEST` characters, without anything private or anything GitHub acts upon."""
    flat = " ".join(scrub(f"{prefix} {sentence}").replace("`", "'").replace("@", "(at)").split())
    for dispensable, instead in _DISPENSABLE:
        if len(flat) > LONGEST:
            flat = dispensable.sub(instead, flat)
    if len(flat) <= LONGEST:
        return flat
    whole, _, rest = flat[: LONGEST - 1].rpartition(" ")
    return f"{whole if len(rest) < _LONGEST_WORD else f'{whole} {_cut_word(rest)}'.rstrip()} …"


def prefix(backend: str, kind: str, device: str = "", part: Part = Part.UNKNOWN) -> str:
    """The project's mark for the component that a case of this kind goes through, with a `device` besides the CPU.

    A fault in `part` may lie before that component.
    """
    usual = PREFIXES.get((backend, kind), f"[{backend}]")
    usual = _BEFORE.get(backend, usual) if part is Part.FRONTEND else usual
    if not device:
        return usual
    return usual.replace("CPU", device) if "CPU" in usual else f"{usual}[{device.upper()}]"


#: The types and the operators that fail as well, within a title's brackets.
_ALSO = re.compile(r"[,;]? ?\balso [^;()]*")


def ignored(title: str) -> str:
    """What a title says that the compiler ignores, e.g. ``layout=1``; "" where it says no such thing."""
    return title.partition(IGNORES)[2].partition(":")[0]


def mistaken(title: str) -> str:
    """What a title says that the compiler takes for another: ``axis were 1 instead of -2``; "" where it is silent."""
    return title.partition(ACTS)[2].partition(":")[0]


def needed(title: str) -> str:
    """What a title says that the bug needs, e.g. ``axes``, ``axis=0``; "" where it says no such thing."""
    found = re.search(r" with (.+?) (?:fails with|returns) ", title)
    return found[1] if found else ""


def dies_with(title: str) -> str:
    """How a title says that a compiler dies, e.g. ``running with empty data``; "" where it says no such thing."""
    found = re.search(rf" when ({'|'.join(_STAGES.values())}) .+? (with .+)$", title)
    return f"{found[1]} {found[2]}" if found else ""


def raising(title: str, operator: str) -> str:
    """How a title says that a compiler raises, without the operator and those that do as well: ``Compiling (bool)``.

    "" where it says no more than the operator.
    """
    found = re.search(rf"\] (({'|'.join(map(str.capitalize, _STAGES.values()))}) .+?) fails with ", title)
    if found is None:
        return ""
    name = re.escape(operator.rpartition(".")[2])
    bare = re.sub(rf"(?:[\w.]+\.)?\b{name}\b", "", _ALSO.sub("", found[1]), count=1)
    told = " ".join(bare.replace("(; ", "(").replace("()", "").split())
    return told if told != found[2] else ""


def result(title: str) -> str:
    """What a title says comes out: ``returns zeros``; "" where it says no such thing."""
    found = re.search(r" returns .*", title)
    return found[0].strip() if found else ""


def tells_of(title: str, operator: str) -> bool:
    """Whether a title says of another operator that it fails as well: ``Elu (int8; also Selu)``.

    Functions of a library stand there by their last names: ``torch.sub (also add)``.
    """
    found = re.search(r"[(;] ?also ([^();]*)\)", title)
    return found is not None and operator.rpartition(".")[2] in re.split(r", | and ", found[1])


def subject(case: Case, operators: Sequence[str], conditions: Sequence[Condition] = (), *, typed: bool = True) -> str:
    """What the bug is about: ``AveragePool (float16) with ceil_mode=1``, ``Conv + Relu``, ``torch.nn.functional.pad``.

    Of attributes, values and types only those are named whose absence was seen to make the bug go away;
    a dtype also where no other one could be tried, and a flag that the model cannot be without beside an attribute, or
    where nothing else is told.
    The types of a cast are its meaning; without `typed` no type is named that was not asked about. What was seen to be
    needed and not enough is said to be "some".
    """
    conditions = [replace(one, text=_owned(case, operators, _spoken(one.text))) for one in conditions]
    operators = _each_node(case, _but_wiring(case, operators))
    operators, conditions = _with_target(case, operators, conditions)
    named = _within(case, operators) or _joined([_SPOKEN.get(name, name) for name in operators]) or "the model"
    types = [one for one in conditions if one.kind == "dtype"]
    mixed = any(one.kind == relations.TYPES and (one.needed or one.refuted) for one in conditions)
    if typed and not mixed and (not types or any(one.needed or one.also for one in types) or _casts(case)):
        also = [name for one in types for name in one.also]
        read = _types_read(case, operators)
        named += _with_kin(read, also) if read else _dtypes(case, also) or _type_of_several(case, types)
    called = [_with_kin(f"({one.text})", one.also)[1:-1] for one in types if one.needed and case.kind == "instance"][:1]
    sizes = [one.text for one in conditions if one.needed and one.text.startswith(kernels.TEXT)]
    conditions = [one for one in conditions if one.text not in sizes]
    for text in (*called, *sizes, *(one.text for one in conditions if one.kind == extent.KIND and one.text)):
        named = f"{named.removesuffix(')')}; {text})" if named.endswith(")") else f"{named} ({text})"
    needed = [_some(one) for one in conditions if one.needed and one.kind in _JOINED]
    ignored = next((one for one in conditions if one.ignored), None)
    if ignored:
        also = [one.text for one in conditions if one.kind == ignored_beside.KIND and ignored.kind == "attribute"]
        return f"{named}{IGNORES}{' and '.join([_looked_over(ignored, needed), *also])}"
    mistaken = next((one for one in conditions if one.kind == likeness.KIND), None)
    if mistaken:
        return f"{named}{ACTS}{mistaken.text}"
    settings = [one.text for one in conditions if one.kind == "setting"]
    options = any(one.needed and one.kind == "attribute" for one in conditions)
    silent = not needed and not any(one.refuted for one in conditions)
    bare = silent or any(text.endswith(leftout.TEXT) for text in needed)
    modes = [one.text for one in conditions if one.kind == MODE and bare and not settings]
    telling = _fitting([*needed, *(settings if options or silent else []), *modes])
    bounded = any(one.partly and one.text in telling for one in conditions)
    return f"{named} with {' and '.join(telling)}{ON_SOME * bounded}" if telling else named


def _looked_over(ignored: Condition, needed: Sequence[str]) -> str:
    """``layout=1``, ``input P``; ``constant_value as an input`` where it is heeded if it comes in another way.

    What is heeded once another input is no constant is told with that: ``… beside constant pads``.
    """
    name = ignored.text.removeprefix(OPTIONAL_INPUT)
    fed = next((text for text in (_spoken(f"{how} {name}") for how in _FED) if text in needed), "")
    beside = next((text for text in needed if text.startswith("constant ") and text != fed), "") if fed else ""
    return f"{fed} beside {beside}" if beside else fed or _LIST.sub("", ignored.text.removeprefix("optional "))


def _joined(operators: Sequence[str]) -> str:
    """``Conv + Relu``; the first three of more."""
    return " + ".join(operators[:3]) + (" + …" if len(operators) > 3 else "")


def _but_wiring(case: Case, operators: Sequence[str]) -> Sequence[str]:
    """``Scan`` for ``Scan + Identity`` where the copy stands in the body, which must hold something."""
    outer = [node.op_type for node in parsed(case.model).graph.node] if case.kind == "onnx" else []
    kept = [name for name in operators if name in outer or name not in _WIRING]
    return kept if kept and outer else operators


def _each_node(case: Case, operators: Sequence[str]) -> Sequence[str]:
    """``RNN``, ``RNN`` where a model needs two nodes of its only operator: one of them alone is right."""
    names = [node.op_type for node in parsed(case.model).graph.node] if case.kind == "onnx" else []
    return names if len(names) > 1 and set(names) == set(operators) and len(operators) == 1 else operators


def _with_target(
    case: Case, operators: Sequence[str], conditions: Sequence[Condition]
) -> tuple[Sequence[str], Sequence[Condition]]:
    """``RNN``, ``Cast to bool`` where a bug of several nodes hangs on the type, which is told there and not again."""
    cast_to = "to="
    told = [one for one in conditions if one.kind == "attribute" and one.needed and one.text.startswith(cast_to)]
    if len(operators) < 2 or not told:
        return operators, conditions
    kept, texts = [one for one in conditions if one not in told], {one.text for one in told}
    nodes = parsed(case.model).graph.node
    given = [(node.op_type, attribute_text(one)) for node in nodes for one in node.attribute]
    types = {name: text.removeprefix(cast_to) for name, text in given if text in texts}
    return [f"{name} to {types[name]}" if name in types else name for name in operators], kept


def _within(case: Case, operators: Sequence[str]) -> str:
    """``Dropout + Sigmoid in a body of If`` for an operator that stands in a body alone; "" for any other.

    Somebody who tries the operator by itself finds nothing wrong with it.
    """
    graph = parsed(case.model).graph if case.kind == "onnx" and len(operators) == 1 else onnx.GraphProto()
    if any(node.op_type in operators for node in graph.node):
        return ""
    for node in walk(graph):
        for body in bodies(node):
            held = [inner.op_type for inner in body.node if inner.op_type not in _WIRING]
            if operators[0] in held:
                return f"{_joined(list(dict.fromkeys(held)))} in a body of {node.op_type}"
    return ""


def _spoken(text: str) -> str:
    """``constant_value as an input`` for ``non-constant constant_value``, ``all +inf data`` for ``all-+inf data``."""
    if text.startswith((f"{ALL}+", f"{ALL}-")):
        return text.replace(ALL, "all ", 1)
    how, _, name = text.partition(" ")
    if how in _FED and "constant" in name:
        return f"{name} as {_FED[how]}"
    return text


def _owned(case: Case, operators: Sequence[str], text: str) -> str:
    """``non-constant ends of Slice`` beside Gather, which has no ends, where it is of a node that no one has named."""
    feeding = text.partition(" ")[0] in _FED or text.startswith(OPTIONAL_INPUT)
    model = parsed(case.model) if case.kind == "onnx" and feeding else onnx.ModelProto()
    name = text.rpartition(" ")[2]
    owners = [node.op_type for node in model.graph.node if any(one.name == name for one in formal_inputs(node, model))]
    return text if not owners or not set(owners).isdisjoint(operators) else f"{text} of {owners[0]}"


def _some(condition: Condition) -> str:
    """``some fractional scales`` where others pass; of an option or a singular `ON_SOME` says so."""
    plural = condition.text.endswith("s") and not is_option(condition.kind, condition.text)
    return f"some {condition.text}" if condition.partly and plural else condition.text


def _casts(case: Case) -> bool:
    return case.kind == "onnx" and any(node.op_type in CASTS for node in parsed(case.model).graph.node)


def _fitting(texts: Sequence[str]) -> list[str]:
    """As many texts as there is room for, each once."""
    chosen: list[str] = []
    for text in dict.fromkeys(text for text in texts if not _said_closer(text, texts)):
        if len(" and ".join([*chosen, text])) <= _ROOM and len(chosen) < 2:
            chosen.append(text)
    return chosen


def _said_closer(text: str, texts: Sequence[str]) -> bool:
    """Whether ``optional input min`` is beside ``constant min``, which tells more, or ``empty dim`` by ``dim=[]``."""
    emptied = text.removeprefix("empty ")
    if emptied != text and not {f"{emptied}=[]", f"{emptied}=()"}.isdisjoint(texts):
        return True
    name = text.removeprefix(OPTIONAL_INPUT)
    closer = [_spoken(f"{how} {name}") for how in _FED]
    return name != text and any(other in texts for other in closer)


#: Types that most tests are in, and those of results that follow from the operator (masks, indices).
_ORDINARY = (0, onnx.TensorProto.FLOAT)
_FOLLOWS = (*_ORDINARY, onnx.TensorProto.BOOL, onnx.TensorProto.INT64)


def _types_read(case: Case, operators: Sequence[str]) -> str:
    """`` (int4)`` where a compiler fails at the tensors of a model before it comes to an operator (`READ_FIRST`)."""
    if case.kind != "onnx" or set(operators).isdisjoint(READ_FIRST):
        return ""
    graph = parsed(case.model).graph
    kinds = [tensor.data_type for tensor in graph.initializer]
    if INITIALIZER not in operators:
        kinds = [info.type.tensor_type.elem_type for info in graph.input]
    unusual = [dtype_text(kind) for kind in dict.fromkeys(kinds) if kind not in _FOLLOWS]
    return f" ({' and '.join(unusual)})" if unusual else ""


def _dtypes(case: Case, also: Sequence[str] = ()) -> str:
    """`` (int8)`` or `` (float32 to float8e4m3fn)`` where that is unusual, for a model of one node.

    With `also`, other types that fail as well: `` (int8, also uint8)``.
    """
    return _with_kin(_plain_dtypes(case), also)


def _with_kin(plain: str, also: Sequence[str]) -> str:
    if not plain or not also:
        return plain
    own = plain.strip(" ()")
    if {own, *also} >= {_SIGNED[0], *_LONG_AND_SHORT}:
        return plain.replace(own, _ALL_OTHERS)
    if {own, *also} >= {*_SIGNED, *_UNSIGNED}:
        return plain.replace(own, _INTEGERS)
    if own not in (*_SIGNED, *_UNSIGNED) and set(also) == {_SIGNED[0], *_UNSIGNED}:
        return f"{plain[:-1]}, also {_INTEGERS})"
    more = f"{also[0]} and {len(also) - 1} more" if len(also) > 2 else " and ".join(also)
    return f"{plain[:-1]}, also {more})"


def _type_of_several(case: Case, types: Sequence[Condition]) -> str:
    """`` (float64)`` for a model of several nodes that passes in an ordinary type, or fails in the type's kin."""
    several = case.kind == "onnx" and len(parsed(case.model).graph.node) > 1
    found = next((one for one in types if one.needed or one.also), None) if several else None
    return _with_kin(f" ({found.text})", found.also) if found else ""


def _plain_dtypes(case: Case) -> str:
    if case.kind != "onnx" or len(parsed(case.model).graph.node) != 1:
        return ""
    graph = parsed(case.model).graph
    types = {info.name: info.type.tensor_type.elem_type for info in [*graph.input, *graph.output]}
    types |= {tensor.name: tensor.data_type for tensor in graph.initializer}
    telling = _of_several_types(case)
    taken = types.get(telling, 0)
    given = next((types.get(name, 0) for name in graph.node[0].output if name), 0)
    if not telling:
        return f" ({dtype_text(given)})" if given not in _FOLLOWS else ""
    if (taken and given not in (taken, *_FOLLOWS)) or (taken != given and given and graph.node[0].op_type in CASTS):
        return f" ({dtype_text(taken)} to {dtype_text(given)})"
    return f" ({dtype_text(taken)})" if taken not in _ORDINARY else ""


def _of_several_types(case: Case) -> str:
    """The first input of the only node that may have more than one type, e.g. `X` of Where; "" where none may.

    Where the specification knows one type alone, that type tells nothing, and neither does the first of a list of any
    types (what a Scan reads).
    """
    model = parsed(case.model)
    node = model.graph.node[0]
    formals = formal_inputs(node, model)
    if not formals:  # an operator that no schema knows
        return next(iter(node.input), "")
    pairs = zip(node.input, formals, strict=False)
    telling = (name for name, formal in pairs if name and len(formal.types) > 1 and formal.is_homogeneous)
    return next(telling, "")


def happening(
    case: Case,
    outcome: Outcome,
    reference: Outcome | None,
    symptom: str,
    subject: str,
    *,
    message: bool = True,
    rule: str = "",
) -> str:
    """What goes wrong in a clause: ``Segmentation fault when compiling Conv``, ``Gather returns zeros``.

    An exception's own words are part of it when `message` is wanted, and so is the `rule` that an invalid model breaks.
    """
    invalid = f"(invalid model: {rule})" if rule and message else "(invalid model)"
    kind, _, tail = symptom.partition(":")
    doing = f"{_STAGES[outcome.stage]} {subject}"
    if kind == "wrong":
        clause = IGNORES in subject or ACTS in subject
        return f"{subject}{':' * clause} {wrong(case, outcome, reference)}"
    if kind == "crash":
        return f"{_SIGNALS.get(tail, tail or 'Crash')} when {doing}"
    if kind == "dies-on-invalid":
        died = tail.rpartition(":")[2]
        return f"{_SIGNALS.get(died, died or 'Crash')} instead of an error when {doing} {invalid}"
    if kind == refusal.ASSERTS:
        return f"{tail.rpartition('.')[2]} instead of a clear error when {doing} {invalid}"
    if kind == refusal.ACCEPTS:
        return f"{subject} with an invalid {tail} is accepted without an error{f': {rule}' * bool(rule and message)}"
    if kind in ("hang", "timeout"):
        return f"Hang when {doing}"
    if kind == "oom":
        return f"Out of memory when {doing}"
    return f"{doing[0].upper()}{doing[1:]} fails with {_exception(case, outcome, message)}"


def wrong(case: Case, outcome: Outcome, reference: Outcome | None) -> str:
    """What is wrong with a result: ``returns 0 instead of -1``, with the output's name where there are several."""
    if reference is None:
        return "returns a wrong result"
    want, got = reference.outputs, outcome.outputs
    if len(want) != len(got):
        return f"returns {len(got)} outputs instead of {len(want)}"
    found = [
        (told, _output(case, at, name, len(want)))
        for at, ((name, expected), (_, actual)) in enumerate(zip(want, got, strict=True))
        if (told := effect(expected, actual, case.inputs))
    ]
    if not found:
        return "returns a wrong result"
    (told, name), *others = found
    if not others:
        return f"{told} for output {name}" if name else told
    names = f"{', '.join([name, *(one for _, one in others[:-1])])} and {others[-1][1]}"
    if all(other == told for other, _ in others):
        return f"{told} for outputs {names}"
    if not name.isdigit():
        return f"returns wrong {names}"
    rest = " and ".join(one for _, one in others)
    return f"{told} for output {name} and {f'wrong outputs {rest}' if len(others) > 1 else f'a wrong output {rest}'}"


def instead(reference: Outcome | None) -> str:
    """`` instead of inf``: the one number that the whole expected result is, else ""."""
    if reference is None or len(reference.outputs) != 1:
        return ""
    value = reference.outputs[0][1]
    texts = {number(one) for one in as_array(value).ravel()} if isinstance(value, np.ndarray | Raw) else set()
    return f" instead of {texts.pop()}" if len(texts) == 1 else ""


def _output(case: Case, position: int, name: str, count: int) -> str:
    """Which of several outputs, in the specification's words where it has some; "" where there is but one."""
    if case.kind != "onnx":
        return str(position) if count > 1 else ""
    model = parsed(case.model)
    for node in model.graph.node:
        if name in node.output and len(node.output) > 1:
            return output_name(node, model, list(node.output).index(name)) or name
    return name if count > 1 else ""


def _exception(case: Case, outcome: Outcome, message: bool) -> str:
    error = outcome.error
    name = (error.type if error else "").rpartition(".")[2] or "Exception"
    said = telling(part(error.message, error.operator), value_names(case)) if error and message else ""
    text = scrub(said).strip()
    if error and message and not text and (keys.key_of(error, name) or _BOUND.fullmatch(error.message.strip())):
        text = scrub(error.message.strip())  # too short for words, and yet what is missing or does not hold
    known = keys.told(case, error, name) if error and message else ""
    return f"{name}: {_cut(text)}{known}" if text else name


def _cut(text: str) -> str:
    """A message in the room that a title has: whole, its first sentence or clause, or as many words as fit."""
    if len(text) <= _MESSAGE:
        return text
    for first in (text[: text.find(". ") + 1], text.partition("; ")[0]):
        if 20 <= len(first) <= _MESSAGE:
            return first
    return f"{text[:_MESSAGE].rpartition(' ')[0] or text[:_MESSAGE]} …"


def _cut_word(text: str) -> str:
    """A long word, such as an expression of C++, up to the last sign within it that parts names."""
    found = list(_PARTING.finditer(text))
    return text[: found[-1].start()] if found else text
