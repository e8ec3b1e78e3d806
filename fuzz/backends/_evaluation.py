"""An ONNX model evaluated three ways by hooks around the reference evaluator's nodes.

With the tensors' own dtypes, which tells these dtypes; widened to float64; and widened with every result
moved within the bound that `fuzz.backends._rounding` gives. Where widening would change what an operator
means, it is given its own dtypes.
"""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from fuzz.backends import _definitions as definitions
from fuzz.backends import _loops as loops
from fuzz.backends import _ranges as ranges
from fuzz.backends import _rounding as rounding
from fuzz.backends import _shaken as shaken
from fuzz.backends import _slices as slices
from fuzz.backends._jumps import Jump
from fuzz.backends._quantizing import disturbed
from fuzz.backends._trials import Trial, moved


class Site(NamedTuple):
    """One node of the model or of one of its bodies, as the hooks know it."""

    node: Any
    run: Any
    kind: str


class Known(NamedTuple):
    """The dtypes of a node's inputs and outputs, as the model itself has them."""

    inputs: Tuple[str, ...]
    outputs: Tuple[str, ...]


#: Operators that tell the place of a value.
PICKING = frozenset(("ArgMax", "ArgMin", "TopK", "Hardmax", "MaxPool"))
#: Operators that jump: what they are given decides between values that are far apart.
JUMPING = frozenset(
    (
        *("Cast", "CastLike", "Ceil", "Equal", "Floor", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "OneHot"),
        *("Round", "Sign"),
    )
)
CASTS = frozenset(("Cast", "CastLike"))
#: Operators that divide by their last input: past a divisor of zero lies an infinity, and the other sign.
DIVIDING = frozenset(("Div", "Reciprocal"))
#: The classes whose inputs are moved too: what they compute inside may be off by as much.
_NUDGED = rounding.FUNCTIONS | {"composite", "quantizing", "solver"}


class Evaluation:
    """One model and its inputs, evaluated as often as wanted."""

    def __init__(self, model: Any, inputs: Dict[str, Any]) -> None:
        from fuzz.backends._evaluator import Evaluator

        self._evaluator = Evaluator(model)
        self._inputs = inputs
        self._known: Dict[int, Known] = {}
        self._bounds: Dict[Tuple[int, int], List[Optional[np.ndarray]]] = {}
        self._calls: Dict[int, int] = {}
        self._trial: Optional[Trial] = None
        self._recording = True
        self.dtypes: List[str] = []
        self._clean: Dict[str, Any] = {}
        self._jumps: Dict[str, Dict[Tuple[int, int], Jump]] = {}
        self._met: Dict[int, int] = {}
        #: How far the trials move what an operator that picks among values (`PICKING`) is given, by its first output.
        self.picked_from: Dict[str, np.ndarray] = {}
        #: By operator of the main graph that `_definitions` knows: whether the reference's code agrees with that.
        self.seconded: Dict[str, bool] = {}
        self._by_definition = False
        self._versions = {entry.domain: entry.version for entry in model.opset_import}
        self.unwidened: Dict[str, None] = {}
        self.first: Dict[str, str] = {}
        self.subnormal = self.zeros = self.overflow = False
        for site in list(_sites(self._evaluator)):
            self._hook(site)

    def native(self) -> List[Any]:
        """The outputs in the model's own dtypes; the other evaluations need this one first."""
        self._recording = True
        found = list(self._evaluator.run(None, dict(self._inputs)))
        self.dtypes = [_dtype(value) for value in found]
        return found

    def wide(self, trial: Optional[Trial] = None, by_definition: bool = False) -> List[Any]:
        """The outputs in float64, without noise or in one trial; or with the results that `_definitions` gives."""
        self._recording, self._trial, self._calls, self._met = False, trial, {}, {}
        self._by_definition = by_definition
        found = [rounding.widened(value) for value in self._evaluator.run(None, dict(self._inputs))]
        return [rounding.stored(value, name) for value, name in zip(found, self.dtypes)]

    def _hook(self, site: Site) -> None:
        def run(*inputs: Any, **context: Any) -> Any:
            if self._recording:
                return self._record(site, inputs, context)
            return self._widen(site, inputs, context)

        site.node.run = run

    def _record(self, site: Site, inputs: Sequence[Any], context: Dict[str, Any]) -> Any:
        with np.errstate(all="ignore"):
            found = site.run(*inputs, **context)
        self._known[id(site.node)] = Known(tuple(map(_dtype, inputs)), tuple(map(_dtype, found)))
        for kind, test in (("NaN", np.isnan), ("infinity", np.isinf)):
            if kind not in self.first and _any(test, found) and not _any(test, inputs):
                self.first[kind] = "%s %s" % (site.node.op_type, site.node.onnx_node.name or site.node.output[0])
        return found

    def _widen(self, site: Site, inputs: Sequence[Any], context: Dict[str, Any]) -> Any:
        known = self._known.get(id(site.node))
        wide = [rounding.widened(value) for value in inputs]
        if known is not None:
            wide = self._flushed(known, wide)
        if site.node.op_type in PICKING and wide and isinstance(wide[0], np.ndarray):
            self._watch(site.node.output[0], wide[0])
        with np.errstate(all="ignore"):
            jump = self._at_jump(site, known, wide)
            divides = site.node.op_type in DIVIDING
            if jump is not None and not divides:
                wide = jump.decided(wide, self._trial)
            found = list(self._outputs(site, known, wide, context))
            if jump is not None and divides:
                found = [jump.divided(found[0], self._trial)]
            elif jump is not None and known is not None and _hits_one_value(site, known):
                found = [jump.tossed(found[0], self._trial)]
            names = known.outputs if known else ("",) * len(found)
            for at, (value, name) in enumerate(zip(found, names)):
                if name in rounding.NARROW and isinstance(value, np.ndarray):
                    if value.dtype != np.float64:
                        if site.kind != "exact":
                            self.unwidened[site.node.op_type] = None
                        value = value.astype(np.float64)
                    found[at] = value if self._trial and self._trial.unbounded else rounding.in_range(value, name)
            if known and self._trial is None:
                found = self._seconded(site, wide, found)
            return tuple(self._noisy(site, known, wide, context, found) if known else found)

    def _outputs(self, site: Site, known: Optional[Known], wide: List[Any], context: Dict[str, Any]) -> Sequence[Any]:
        """The node on widened inputs; on its own dtypes where those are part of its meaning."""
        if known is None:
            return tuple(site.run(*wide, **context))
        operator = site.node.op_type
        if operator in ("Cast", "CastLike") and known.inputs[0] in rounding.NARROW:
            if known.outputs[0] == known.inputs[0]:
                return (wide[0],)
            if known.outputs[0].startswith(("float8", "float4", "int4", "uint4", "int2", "uint2")):
                return tuple(site.run(*self._narrowed(wide, known), **context))
            second = self._narrowed(wide, known)[1:]
            return tuple(site.run(wide[0], *second, **context))
        if site.kind == "narrow":
            return tuple(site.run(*self._counted(site, self._narrowed(wide, known)), **context))
        if operator in ("Resize", "Upsample"):
            return self._resized(site, [wide[0], *self._narrowed(wide, known)[1:]], context)
        try:
            if self._trial is None:
                return tuple(site.run(*wide, **context))
            return self._moved_outputs(site, known, wide, context)
        except Exception:  # noqa: BLE001  the operator's code is foreign, and wants its own dtypes
            self.unwidened[operator] = None
            return tuple(site.run(*self._narrowed(wide, known), **context))

    def _moved_outputs(self, site: Site, known: Known, wide: List[Any], context: Dict[str, Any]) -> Sequence[Any]:
        """The node on moved inputs. A move that leads out of a function's domain says nothing of rounding: acos(1)."""
        assert self._trial is not None
        given = self._backward(site, known, wide)
        found = tuple(site.run(*given, **context))
        if given is wide or not _any(np.isnan, found):
            return found
        return tuple(map(_inside_the_domain, found, site.run(*wide, **context)))

    def _seconded(self, site: Site, wide: List[Any], found: List[Any]) -> List[Any]:
        """The results by definition, if they are wanted; whether the reference's are the same is noted."""
        operator, version = site.node.op_type, self._versions.get("", 0)
        if operator not in definitions.DEFINITIONS or not version or not isinstance(found[0], np.ndarray):
            return found
        import onnx

        given = _attributes(site.node.onnx_node)
        given["since"] = onnx.defs.get_schema(operator, version).since_version
        try:
            other = definitions.compute(operator, wide, given, found[0].shape)[: len(found)]
        except (ArithmeticError, IndexError, KeyError, TypeError, ValueError):
            return found  # the node is not as the words want it: no second opinion
        if not other:
            return found
        self.seconded[operator] = self.seconded.get(operator, True) and all(map(_agree, other, found))
        return [*other, *found[len(other) :]] if self._by_definition else found

    def _narrowed(self, wide: Sequence[Any], known: Known) -> List[Any]:
        return [
            value.astype(rounding.numpy_dtype(name)) if rounding.is_wide(value) and name in rounding.NARROW else value
            for value, name in zip(wide, known.inputs)
        ]

    @property
    def is_near_a_jump(self) -> bool:
        """Whether the trials so far moved what an operator that jumps is given, a divisor as far as zero."""
        return any(
            jump.crosses_zero if operator in DIVIDING else jump.is_moved
            for operator, found in self._jumps.items()
            for jump in found.values()
        )

    def _at_jump(self, site: Site, known: Optional[Known], wide: Sequence[Any]) -> Optional[Jump]:
        """What is known of the operands of a node that jumps; learns from every trial but those that decide."""
        operator = site.node.op_type
        if known is None or operator not in JUMPING | DIVIDING or not wide or not rounding.is_wide(wide[0]):
            return None
        if operator in CASTS and rounding.knows(known.outputs[0]):
            return None  # from one floating-point type to another: no jump
        call = self._met[id(site.node)] = self._met.get(id(site.node), -1) + 1
        operands = [value for value in wide[:2] if rounding.is_wide(value)]
        jumps = self._jumps.setdefault(operator, {})
        if self._trial is None:
            jumps[id(site.node), call] = Jump(operands)
        jump = jumps.get((id(site.node), call))
        if jump is not None and self._trial is not None and not self._trial.decide:
            jump.learn(operands)
        return jump

    def _watch(self, name: str, value: np.ndarray) -> None:
        if self._trial is None:
            self._clean[name] = value
            self.picked_from.setdefault(name, np.zeros(value.shape))
        elif self._clean[name].shape == value.shape:
            known: List[Optional[np.ndarray]] = [self.picked_from[name]]
            rounding.cover(known, [self._clean[name]], [value])
            self.picked_from[name] = np.asarray(known[0])

    def _counted(self, site: Site, inputs: List[Any]) -> List[Any]:
        shake = shaken.SHAKEN.get(site.node.op_type)
        return inputs if self._trial is None or shake is None else shake(self._trial, inputs)

    # ------------------------------------------------------------ noise

    def _flushed(self, known: Known, wide: List[Any]) -> List[Any]:
        """The inputs, without subnormal numbers in the trial that takes them for zeros."""
        small = {
            at
            for at, (value, name) in enumerate(zip(wide, known.inputs))
            if rounding.is_wide(value) and name in rounding.NARROW and rounding.has_subnormals(value, name)
        }
        self.subnormal |= bool(small)
        if self._trial is None or not self._trial.flush:
            return wide
        return [rounding.flushed(value, known.inputs[at]) if at in small else value for at, value in enumerate(wide)]

    def _backward(self, site: Site, known: Known, wide: List[Any]) -> List[Any]:
        """The inputs moved by a unit in the last place, for operators that are computed by approximation.

        Ties of the ordering operators are opened as well, those of integers too.
        """
        trial = self._trial
        assert trial is not None
        if site.kind == "ordering" and isinstance(wide[0], np.ndarray) and wide[0].dtype.kind in "iuf":
            return [trial.disordered(wide[0], known.inputs[0]), *wide[1:]]
        if site.kind not in _NUDGED or site.node.has_subgraph or _is_square(site, wide):
            return wide
        if site.kind == "solver":
            return [trial.unsolved(value, name) for value, name in zip(wide, known.inputs)]
        if site.node.op_type == "QuantizeLinear":
            return disturbed(trial, wide, known.inputs, getattr(site.node, "axis", 1))
        if site.node.op_type == "GridSample":
            return shaken.sampled(trial, wide, known.inputs)
        return [
            trial.nudged(value, name) if rounding.is_wide(value) and name in rounding.NARROW else value
            for value, name in zip(wide, known.inputs)
        ]

    def _resized(self, site: Site, inputs: List[Any], context: Dict[str, Any]) -> Sequence[Any]:
        """Resize; in trials with factors moved by two units, so that the nearest of two pixels may be either.

        Where a smaller factor would make a smaller image, the sizes say what is meant, if they mean the same factor.
        """
        plain = tuple(site.run(*inputs, **context))
        factors = _fractional_factors(inputs)
        if self._trial is None or factors is None or getattr(site.node, "axes", None):
            return plain
        rounded = np.floor(np.float32(inputs[0].shape) * factors.astype(np.float32)).astype(np.int64)
        if self._trial.sign > 0 and len(inputs) < 4 and tuple(rounded) != plain[0].shape:
            return tuple(site.run(*inputs[:2], None, rounded, **context))  # 10 * 2.6 is 26 in float32 alone
        nudge = 1.0 + 2.0**-22 * self._trial.parts(factors.shape)
        other = [*inputs[:2], (factors * nudge).astype(np.float32)]
        try:
            found = tuple(site.run(*other, **context))
        except Exception:  # noqa: BLE001  foreign code: the output may have got another size
            return plain
        if found[0].shape == plain[0].shape:
            return found
        sizes = np.array(plain[0].shape)
        near = np.abs(sizes / np.maximum(inputs[0].shape, 1) / factors - 1) < 2.0**-20
        return tuple(site.run(*inputs[:2], None, sizes, **context)) if near.all() else plain

    def _noisy(self, site: Site, known: Known, wide: List[Any], context: Dict[str, Any], found: List[Any]) -> List[Any]:
        call = self._calls[id(site.node)] = self._calls.get(id(site.node), -1) + 1
        if rounding.has_trait(site.node.op_type, "signless"):
            found = self._unsigned(known, found)
        if site.kind in ("exact", "narrow", "ordering", "quantizing"):
            return self._restored(site, known, found)
        if self._trial is None:
            self._bounds[id(site.node), call] = [
                self._bound(site, known, wide, context, found, at) for at in range(len(found))
            ]
            return found
        bounds = self._bounds.get((id(site.node), call)) or [None] * len(found)
        return [moved(self._trial, value, bound, name) for value, bound, name in zip(found, bounds, known.outputs)]

    def _unsigned(self, known: Known, found: List[Any]) -> List[Any]:
        """Zeros of one sign in the trials for it: of two zeros an operator may take either."""
        self.zeros |= any(rounding.is_wide(value) and bool(np.any(value == 0)) for value in found)
        trial = self._trial
        return (
            found if trial is None else [trial.signed(value) if rounding.is_wide(value) else value for value in found]
        )

    def _restored(self, site: Site, known: Known, found: List[Any]) -> List[Any]:
        """Values of a disturbed ordering operator back in their own dtype."""
        if site.kind != "ordering" or known.outputs[0] in rounding.NARROW or self._trial is None:
            return found
        return [
            np.rint(value).astype(name) if rounding.is_wide(value) and name.startswith(("int", "uint")) else value
            for value, name in zip(found, known.outputs)
        ]

    def _bound(
        self, site: Site, known: Known, wide: List[Any], context: Dict[str, Any], found: List[Any], at: int
    ) -> Optional[np.ndarray]:
        value, dtype = found[at], known.outputs[at]
        if not rounding.is_wide(value) or not rounding.knows(dtype):
            return None

        def evaluate(inputs: Sequence[Any]) -> Any:
            return site.run(*inputs, **context)[at]

        try:
            kind = "basic" if _is_square(site, wide) else site.kind
            bound = rounding.bound(kind, wide, value, dtype, evaluate, getattr(site.node, "axis", None))
            if site.node.op_type in ("Add", "Sub", "Mul", "Div") and dtype != "float64":
                native = site.run(*self._narrowed(wide, known), **context)[at]
                exact = rounding.exact_sites(native, value)
                if site.node.op_type == "Div":
                    exact &= rounding.exact_quotients(wide, value, dtype)
                bound = np.where(exact, 0.0, bound)
            elif site.node.op_type in ("ReduceSum", "ReduceMean"):
                axes, mean = slices.reduced_axes(site.node, wide), site.node.op_type == "ReduceMean"
                bound = bound + loops.loop_loss(wide[0], value, axes, dtype, mean)
                if mean:
                    bound = np.where(loops.is_exact_mean(wide[0], value, axes, dtype), 0.0, bound)
            else:
                bound = bound + loops.inner_loss(site.node, wide, value, dtype)
                bound = bound + (rounding.of_mean(site.node, wide, dtype) if at == 0 else 0.0)
                bound = bound + rounding.of_squares(site.node, wide, dtype, at)
                bound = bound + rounding.of_expansion(site.node, wide, dtype)
                left = ranges.leaving(site.node.op_type, wide, value, dtype, evaluate, site.node) if at == 0 else 0.0
                bound = bound + left
        except Exception:  # noqa: BLE001  foreign code again: absolute values may be outside its domain
            bound = rounding.bound("composite", wide, value, dtype, evaluate)
        self.subnormal |= rounding.has_subnormals(value, dtype)
        self.zeros |= bool(np.any(value == 0))
        self.overflow |= bool(np.any(np.isinf(value)))
        return np.broadcast_to(bound, value.shape)


def _hits_one_value(site: Site, known: Known) -> bool:
    """Whether one single value decides: that of the other operand, or zero."""
    return site.node.op_type == "Equal" or (site.node.op_type in CASTS and known.outputs[0] == "bool")


def _is_square(site: Site, wide: Sequence[Any]) -> bool:
    """Whether a Pow is but a product of its base with itself."""
    return site.node.op_type == "Pow" and bool(np.all(wide[1] == 2))


def _fractional_factors(inputs: Sequence[Any]) -> Optional[np.ndarray]:
    """The factors of a Resize, where at least one has no short binary form."""
    scales = inputs[2] if len(inputs) > 2 else None
    sizes = inputs[3] if len(inputs) > 3 else None
    if isinstance(sizes, np.ndarray) and sizes.size == inputs[0].ndim:
        scales = sizes / np.maximum(inputs[0].shape, 1)
    if not isinstance(scales, np.ndarray) or scales.size != inputs[0].ndim:
        return None
    wide = scales.astype(np.float64)
    return None if np.all(wide * 16 == np.rint(wide * 16)) else wide


def _sites(evaluator: Any) -> Iterator[Site]:
    """Every node that will run, those of bodies and functions too."""
    from onnx.reference import ReferenceEvaluator

    for node in evaluator.rt_nodes_:
        inner = [getattr(node, name) for name in node.attributes_names_]
        inner += [getattr(node, "impl_", None)]
        bodies = [value for value in inner if isinstance(value, ReferenceEvaluator)]
        for body in bodies:
            yield from _sites(body)
        yield Site(node, node.run, "exact" if bodies else _kind(node))


def _kind(node: Any) -> str:
    """The class of a node's operator; one that adds or multiplies up what it scatters is a sum or a product."""
    if node.op_type in ("ScatterElements", "ScatterND"):
        return {"add": "linear", "mul": "reduction"}.get(getattr(node, "reduction", None) or "none", "exact")
    return rounding.class_of(node.op_type, "onnx")


def _inside_the_domain(moved: Any, plain: Any) -> Any:
    """What a node gives for moved inputs, and for its own where only the move made a NaN."""
    if not rounding.is_wide(moved) or not rounding.is_wide(plain) or moved.shape != plain.shape:
        return moved
    return np.where(np.isnan(moved) & ~np.isnan(plain), plain, moved)


def _attributes(node: Any) -> Dict[str, Any]:
    """A node's attributes by name, strings as text."""
    import onnx

    values = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute if not each.ref_attr_name}
    return {name: _decoded(value) for name, value in values.items()}


def _decoded(value: Any) -> Any:
    if isinstance(value, list):
        return [_decoded(item) for item in value]
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _agree(one: np.ndarray, other: Any) -> bool:
    """Whether two computations in float64 have the same result; what they lose differs with their order."""
    if not isinstance(other, np.ndarray) or one.shape != other.shape:
        return False
    size = float(np.max(np.abs(one[np.isfinite(one)]), initial=0.0))
    return bool(np.allclose(one, other, rtol=1e-6, atol=1e-6 * size, equal_nan=True))


def _dtype(value: Any) -> str:
    return value.dtype.name if isinstance(value, np.ndarray) else ""


def _any(test: Any, values: Sequence[Any]) -> bool:
    return any(
        bool(np.any(test(value.astype(np.float64))))
        for value in values
        if isinstance(value, np.ndarray) and (value.dtype.kind == "f" or rounding.is_narrow(value))
    )
