"""What is never a bug: random operators, values that the specification leaves open, and models that break it.

The rules are data (``data/undefined.toml``, ``data/violations.toml``), their conditions predicates over
the concrete values of one node. See docs/decisions/002-undefined-behaviour.md.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from typing import Any

import numpy as np
import onnx

from fuzz import instance as instances
from fuzz.backends import _tap
from fuzz.data import data_path
from fuzz.operators import graph as onnx_graph
from fuzz.operators.table import formal_inputs, opsets, schema
from fuzz.oracles import _predicates, _violations
from fuzz.oracles._elements import ELEMENTS
from fuzz.oracles._site import Predicate, Site
from fuzz.wire import Value

#: Every predicate by its name, as `when` of a rule gives it.
PREDICATES: Mapping[str, Predicate] = {
    "always": lambda site: True,
    **_predicates.PREDICATES,
    **_violations.PREDICATES,
}
#: The operator type under which the rules speak of a declared input of the graph.
DECLARATION = "(declaration)"
#: The condition of the one rule that leaves nothing open but an order.
UNSORTED = _predicates.unsorted.__name__


class Kind(StrEnum):
    """Why an operator's value, or the whole model, proves nothing against a compiler."""

    NONDETERMINISTIC = "nondeterministic"  # random, or differs from run to run
    UNDEFINED = "undefined"  # anything may happen
    IMPLEMENTATION_DEFINED = "implementation-defined"  # every implementation may choose
    VIOLATION = "violation"  # the model breaks a stated precondition: it is no valid test at all


_RANDOM = frozenset({Kind.NONDETERMINISTIC})
_OPEN = frozenset(Kind) - {Kind.VIOLATION}
_FILES = ("undefined.toml", "violations.toml")


@dataclass(frozen=True)
class Rule:
    """One entry of the data files; the head of ``data/undefined.toml`` explains the fields."""

    operators: tuple[str, ...]
    library: str
    kind: Kind
    when: str
    reason: str
    spec: str
    measured: str = ""
    source: str = ""
    before: int = 0
    since: int = 0
    inputs: tuple[str, ...] = ()
    refusable: bool = False
    traps: str = ""
    sizes: bool = False
    steps: int = 0

    def covers(self, version: int) -> bool:
        """Whether the rule speaks of this version of its operators."""
        return self.since <= version and not (self.before and version >= self.before)


@dataclass(frozen=True)
class Objection:
    """Why a case proves nothing. `spec` is "" for a gap of the standard; `traps` is a signal by which it may end.

    `steps` is how far apart two whole numbers are that may both be the operator's result (0: no matter how far).
    """

    operator: str
    node_name: str
    kind: Kind
    reason: str
    spec: str
    refusable: bool = False
    traps: str = ""
    steps: int = 0


class RuleError(ValueError):
    """A data file does not have the form that the head of ``data/undefined.toml`` describes."""


def _rule(entry: Mapping[str, Any], file: str = _FILES[0]) -> Rule:
    lists = {key: tuple(entry[key]) for key in ("operators", "inputs") if key in entry}
    try:
        rule = Rule(**{**entry, **lists, "kind": Kind(entry["kind"])})
    except (KeyError, TypeError, ValueError) as error:
        raise RuleError(f"data/{file}: a rule of {entry.get('operators')}: {error}") from error
    if rule.when not in PREDICATES:
        raise RuleError(f"data/{file}: a rule of {rule.operators}: unknown predicate {rule.when!r}")
    if not (rule.spec or rule.measured):
        raise RuleError(f"data/{file}: a rule of {rule.operators} has neither spec nor measured")
    return rule


@cache
def rules() -> tuple[Rule, ...]:
    """All rules in the files' order. Raises RuleError for a malformed file."""
    documents = {file: tomllib.loads(data_path(file).read_text("utf-8")) for file in _FILES}
    return tuple(_rule(entry, file) for file, document in documents.items() for entry in document["rule"])


@cache
def _rules_of(library: str, operator: str) -> tuple[Rule, ...]:
    return tuple(rule for rule in rules() if rule.library == library and operator in rule.operators)


def nondeterministic(
    kind: str, model: bytes, values: Mapping[str, Value] | None = None, outputs: set[str] | None = None
) -> Objection | None:
    """The first random operator that can reach `outputs` (default: all), found without running anything.

    `kind` and `model` are a Case's; `values` (its inputs, if at hand) tell whether Dropout trains.
    Raises ValueError (DecodeError, InstanceError) for a model that cannot be read.
    """
    return next(_objections(_sites(kind, model, values or {}, outputs), _RANDOM), None)


def screen(
    kind: str, model: bytes, intermediates: Mapping[str, Value], outputs: set[str] | None = None
) -> Objection | None:
    """The first node whose value the specification leaves open and that can reach `outputs` (default: all).

    `intermediates` are the concrete values by name: graph inputs and all intermediate tensors, as
    the reference evaluator gives them (`validity.recorded`). Where a rule depends on a value that is missing
    it does not object. Instances carry their own values. Raises ValueError for a model that cannot be read.
    """
    return next(_objections(_sites(kind, model, intermediates, outputs), _OPEN), None)


def refusable(kind: str, model: bytes, intermediates: Mapping[str, Value]) -> Objection | None:
    """The first node that an implementation may refuse to compute: as `screen`, but only `refusable` rules."""
    found = _objections(_sites(kind, model, intermediates, None), _OPEN)
    return next((objection for objection in found if objection.refusable), None)


def trapping(kind: str, model: bytes, intermediates: Mapping[str, Value], signal: str) -> Objection | None:
    """The first node of which a processor makes that signal: as `screen`, but only rules that name it as a trap."""
    found = _objections(_sites(kind, model, intermediates, None), _OPEN)
    return next((objection for objection in found if signal and objection.traps == signal), None)


def open_elements(
    model: bytes,
    intermediates: Mapping[str, Value],
    outputs: set[str] | None = None,
    ordered: frozenset[str] = frozenset(),
    random_only: bool = False,
) -> dict[str, np.ndarray] | None:
    """By the name of a tensor of an ONNX model's main graph: which of its elements the specification leaves open.

    All those of random numbers are; `random_only` leaves out the others. Only of what can reach `outputs` (default:
    all). None where a rule holds that speaks of a whole result, or of a node in a body or function. Of the tensors in
    `ordered` the caller knows that their order is open. `intermediates` as for `screen`, same errors.
    """
    parsed = onnx.load_model_from_string(model)
    scope = _main_scope(parsed, intermediates)
    found: dict[str, np.ndarray] = {}
    for index, node in _reaching_main(parsed.graph, outputs):
        for at, (site, _) in enumerate(_node_sites(node, index, scope)):
            for rule in _rules_of(site.library, site.op_type):
                if not _speaks(rule, site) or (random_only and rule.kind not in _RANDOM):
                    continue
                if at == 0 and rule.when == UNSORTED and ordered.issuperset(filter(None, node.output)):
                    continue
                mask = _mask(rule, site) if at == 0 else None
                if mask is None:
                    return None
                for name in filter(None, node.output):
                    found[name] = found.get(name, False) | mask
    return found


def open_elements_of_call(model: bytes, shape: tuple[int, ...]) -> np.ndarray | None:
    """Which elements of the result of an operator instance are open; None where that cannot be told, or none is."""
    site, found = call(model), None
    for rule in _rules_of(site.library, site.op_type):
        if not _speaks(rule, site):
            continue
        mask = None if rule.kind in _RANDOM else _elements(rule, site)
        if mask is None or mask.shape != shape:
            return None
        found = mask if found is None else found | mask
    return found


def hangs_on_nan(model: bytes) -> bool:
    """Whether all that is open in an operator instance is how it orders NaN."""
    site = call(model)
    held = {rule.when for rule in _rules_of(site.library, site.op_type) if _speaks(rule, site)}
    return held == {_predicates.torch_orders_nan.__name__}


def open_tensors(
    model: bytes, intermediates: Mapping[str, Value], outputs: set[str] | None = None
) -> frozenset[str] | None:
    """The tensors of an ONNX model's main graph in which values, but not their number, are open or random.

    Only of what can reach `outputs` (default: all). None where sizes are open, too, or a rule holds that speaks of a
    node in a body or function: what that makes of the sizes is not known. `intermediates` as for `screen`, same errors.
    """
    parsed = onnx.load_model_from_string(model)
    scope = _main_scope(parsed, intermediates)
    found: set[str] = set()
    for index, node in _reaching_main(parsed.graph, outputs):
        for at, (site, _) in enumerate(_node_sites(node, index, scope)):
            held = [rule for rule in _rules_of(site.library, site.op_type) if _speaks(rule, site)]
            if held and (at or any(rule.sizes for rule in held)):
                return None
            found.update(name for name in node.output if held and name)
    return frozenset(found)


def _speaks(rule: Rule, site: Site) -> bool:
    """Whether an open or random value is what the rule says of this operator."""
    return rule.kind in _OPEN and rule.covers(site.version) and _holds(rule, site)


def _mask(rule: Rule, site: Site) -> np.ndarray | None:
    result = site.result()
    shapes = {value.shape if isinstance(value, np.ndarray) else None for value in site.outputs.values()}
    if result is None or len(shapes) != 1:
        return None  # results of different shapes: which element belongs to which is not known
    if rule.kind in _RANDOM:
        return np.ones(result.shape, bool)
    mask = _elements(rule, site)
    return mask if mask is not None and mask.shape == result.shape else None


def _elements(rule: Rule, site: Site) -> np.ndarray | None:
    """The elements of which a rule speaks that holds; None where they cannot be worked out."""
    elements = ELEMENTS.get(rule.when)
    try:
        return None if elements is None else elements(replace(site, subject=rule.inputs))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return None


def violation(kind: str, model: bytes, intermediates: Mapping[str, Value], *, bodies: bool = False) -> Objection | None:
    """The first place where a case or its values break a precondition that the specification states.

    Of a model every declared input and node of the main graph counts, whether it reaches an output or not; those of
    bodies only on demand, as far as they ran: the standard's own tests are lax there. `intermediates` as for `screen`,
    same errors.
    """
    if kind != "onnx":
        return next(_objections(_sites(kind, model, intermediates, None), frozenset({Kind.VIOLATION})), None)
    main = {name: value for name, value in intermediates.items() if _tap.MARK not in name}
    values = intermediates if bodies else main
    return next(_objections(_executed_sites(model, values), frozenset({Kind.VIOLATION})), None)


def _objections(sites: Iterator[Located], kinds: frozenset[Kind]) -> Iterator[Objection]:
    for site, name in sites:
        for rule in _rules_of(site.library, site.op_type):
            if rule.kind not in kinds or not rule.covers(site.version):
                continue
            if _holds(rule, site):
                yield Objection(
                    site.op_type, name, rule.kind, rule.reason, rule.spec, rule.refusable, rule.traps, rule.steps
                )


def _holds(rule: Rule, site: Site) -> bool:
    """Whether the rule's condition holds.

    Checker and evaluator let models pass whose attributes are senseless (an axis beyond the rank, a text for a
    number); a condition that cannot be worked out is not known to hold.
    """
    try:
        return PREDICATES[rule.when](replace(site, subject=rule.inputs))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return False


Located = tuple[Site, str]  # the site and the node's name


def _sites(kind: str, model: bytes, values: Mapping[str, Value], outputs: set[str] | None) -> Iterator[Located]:
    if kind == "keras":
        return iter(())  # no rule is about a layer; what is random shows when the reference runs it
    return _torch_sites(model) if kind == "instance" else _onnx_sites(model, values, outputs)


def _executed_sites(model_bytes: bytes, values: Mapping[str, Value]) -> Iterator[Located]:
    """The declared inputs, the nodes of the main graph, and those of bodies in each recorded run."""
    model = onnx.load_model_from_string(model_bytes)
    scope = replace(_main_scope(model, values), executed=True)
    yield from _declarations(model.graph, dict(scope.known))
    for index, node in enumerate(model.graph.node):
        yield from _node_sites(node, index, scope)


def _declarations(graph: onnx.GraphProto, known: Mapping[str, Value]) -> Iterator[Located]:
    """The declared inputs whose values are known; of computed values the reference may have the wrong shape itself."""
    tensors = [declared for declared in graph.input if declared.type.HasField("tensor_type")]
    sizes: dict[str, set[int]] = {}
    for declared in tensors:
        value = known.get(declared.name)
        if isinstance(value, np.ndarray):
            for name, size in zip(_variables(declared), value.shape, strict=False):
                sizes.setdefault(name, set()).add(size)
    for declared in tensors:
        if declared.name not in known:
            continue
        attributes = {"type": declared.type.tensor_type.elem_type, "sizes": sizes, "variables": set()}
        if declared.type.tensor_type.HasField("shape"):
            dims = declared.type.tensor_type.shape.dim
            attributes["shape"] = [dim.dim_value if dim.HasField("dim_value") else None for dim in dims]
            attributes["variables"] = set(_variables(declared)) - {""}
        yield Site(DECLARATION, attributes, {"value": known[declared.name]}, {}), declared.name


def _variables(declared: onnx.ValueInfoProto) -> list[str]:
    """By dimension: the name of its symbolic size, "" for one that has none."""
    return [dim.dim_param for dim in declared.type.tensor_type.shape.dim]


def _onnx_sites(model_bytes: bytes, values: Mapping[str, Value], outputs: set[str] | None) -> Iterator[Located]:
    model = onnx.load_model_from_string(model_bytes)
    scope = _main_scope(model, values)
    for index, node in _reaching_main(model.graph, outputs):
        yield from _node_sites(node, index, scope)


def _reaching(nodes: Sequence[onnx.NodeProto], outputs: Iterable[str]) -> list[tuple[int, onnx.NodeProto]]:
    """The nodes of a graph or function whose results can flow into its `outputs`, in order, with their places."""
    needed, kept = set(outputs), []
    for index, node in reversed(list(enumerate(nodes))):
        if needed.intersection(node.output):
            kept.append((index, node))
            needed.update(node.input)
            for body in onnx_graph.bodies(node):
                needed.update(_read_by(body))
    return kept[::-1]


def _reaching_main(graph: onnx.GraphProto, outputs: set[str] | None) -> list[tuple[int, onnx.NodeProto]]:
    return _reaching(graph.node, _outputs(graph) if outputs is None else outputs)


def _outputs(graph: onnx.GraphProto) -> list[str]:
    return [info.name for info in graph.output]


def _read_by(graph: onnx.GraphProto) -> set[str]:
    """Every name that a body reads, from the outer scope too: inputs of its nodes and its outputs."""
    read = {name for node in onnx_graph.walk(graph) for name in node.input}
    return read.union(_outputs(graph))


@dataclass(frozen=True)
class _Scope:
    """What is known where a node stands: the tensors it can read, and what the bodies of the model computed.

    `run` is the place of the body's run (`fuzz.backends._tap`), `runs` are those of all bodies by their place. With
    `executed` nothing counts in bodies that did not run, nor in functions.
    """

    known: Mapping[str, Value]
    versions: Mapping[str, int]
    functions: Mapping[tuple[str, str], onnx.FunctionProto]
    runs: Mapping[str, Sequence[tuple[str, Mapping[str, Value]]]]
    run: str = ""
    executed: bool = False

    def bodies_at(self, node: str, part: str) -> Sequence[tuple[str, Mapping[str, Value]]]:
        """Each run of a body with its tensors; one of which nothing is known where none was recorded."""
        body = _tap.body_at(node, part)
        return self.runs.get(body) or ([] if self.executed else [(f"{body}@", {})])


def _main_scope(model: onnx.ModelProto, values: Mapping[str, Value]) -> _Scope:
    functions = {(function.domain, function.name): function for function in model.functions}
    return _Scope({**onnx_graph.constants(model), **values}, opsets(model), functions, _tap.runs(values))


def _node_sites(node: onnx.NodeProto, index: int, scope: _Scope) -> Iterator[Located]:
    """The node, then the nodes of its bodies and of the function it calls, once for every recorded run of these."""
    bound = any(attribute.ref_attr_name for attribute in node.attribute)  # to what its function's caller gives
    yield _site(node, {} if bound else scope.known, scope.versions), node.name
    at = _tap.place(scope.run, index)
    for part, body in onnx_graph.named_bodies(node):
        constants = onnx_graph.constants(onnx.helper.make_model(body))
        shadowed = {name for inner in onnx_graph.walk(body) for name in inner.output} | {i.name for i in body.input}
        outer = {name: value for name, value in scope.known.items() if name not in shadowed} | constants
        for run, tensors in scope.bodies_at(at, part):
            inner = replace(scope, known={**outer, **tensors}, run=run)
            yield from _inner_sites(body.node, _outputs(body), inner)
    called = scope.functions.get((node.domain, node.op_type))
    if called is not None and not scope.executed:
        own = {o.domain: o.version for o in called.opset_import}
        rest = {key: function for key, function in scope.functions.items() if function is not called}
        for run, tensors in scope.bodies_at(at, _tap.CALL):
            inner = replace(scope, known=tensors, versions=own, functions=rest, run=run)
            yield from _inner_sites(called.node, called.output, inner)


def _inner_sites(nodes: Sequence[onnx.NodeProto], outputs: Iterable[str], scope: _Scope) -> Iterator[Located]:
    for index, node in _reaching(nodes, outputs):
        yield from _node_sites(node, index, scope)


def _site(node: onnx.NodeProto, known: Mapping[str, Value], versions: Mapping[str, int]) -> Site:
    inputs: dict[str, Value] = {}
    given: set[str] = set()
    for position, (formal, name) in enumerate(zip(formal_inputs(node, versions), node.input, strict=True)):
        if not name:
            continue
        key = formal if formal and formal not in given else f"{formal}#{position}"
        given.add(key)
        if name in known:
            inputs[key] = known[name]
    outputs = {name: known[name] for name in node.output if name in known}
    found = schema(node, versions)
    version = 0 if found is None else found.since_version
    return Site(node.op_type, onnx_graph.attributes(node), inputs, outputs, frozenset(given), version=version)


def _torch_sites(model: bytes) -> Iterator[Located]:
    yield call(model), ""


def call(model: bytes) -> Site:
    """The one call of an operator instance, with the tensors that its arguments refer to. Raises InstanceError."""
    parsed = instances.parse(model)
    tensors = instances.tensors(parsed)
    arguments = [(str(position), argument) for position, argument in enumerate(parsed.args)]
    inputs: dict[str, Value] = {}
    attributes: dict[str, Any] = {}
    for name, argument in [*arguments, *parsed.kwargs.items()]:
        at = _tensor_index(argument)
        if at is None:
            attributes[name] = _scalar(argument)
            inputs.update((f"{name}.{item}", tensors[index]) for item, index in _tensor_list(argument))
        else:
            inputs[name] = tensors[at]
    return Site(parsed.api, attributes, inputs, {}, frozenset(inputs), library="torch")


def _tensor_index(argument: Any) -> int | None:
    """The tensor an argument refers to; of a list (``indices`` of index_put), a single one in it."""
    if isinstance(argument, (list, tuple)) and len(argument) == 1:
        return _tensor_index(argument[0])
    if isinstance(argument, dict) and list(argument) == ["tensor"]:
        return int(argument["tensor"])
    return None


def _tensor_list(argument: Any) -> Iterator[tuple[int, int]]:
    """(place in the list, position of the tensor) of the tensors in a list or tuple of arguments."""
    listed = argument.get("tuple") if isinstance(argument, dict) else argument
    for item, each in enumerate(listed if isinstance(listed, list) else ()):
        if (at := _tensor_index(each)) is not None:
            yield item, at


def _scalar(argument: Any) -> Any:
    """``{"dtype": "int32"}`` as ``"int32"``; everything else as it is."""
    if isinstance(argument, dict) and len(argument) == 1:
        return next(iter(argument.values()))
    return argument
