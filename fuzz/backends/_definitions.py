"""Operators computed in float64 from the words of the ONNX specification, by other code than the reference evaluator's.

The evaluation in float64 (`fuzz.backends._evaluation`) runs the reference's own operators, so what these get wrong
by definition it gets wrong as well. For the operators whose code is more than a line these are a second opinion:
windows, convolutions, products, normalisations, recurrent cells. A function takes the node's inputs (float64 where
they are floating-point), its attributes (and ``since``, the operator's version) and the shape of its first output; it
gives that output, recurrent cells the last hidden states too, or None where the words leave more than one reading or
an attribute is not covered. Numpy only.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

Inputs = Sequence[Any]
Given = Dict[str, Any]
Shape = Tuple[int, ...]
Definition = Callable[[Inputs, Given, Shape], Any]
#: More products than this are left to the reference: a second opinion must stay cheap.
MOST = 1 << 24


def compute(operator: str, inputs: Inputs, given: Given, shape: Shape) -> List[np.ndarray]:
    """The first outputs by definition; none where there is none here. Raises what numpy raises on senseless inputs."""
    definition = DEFINITIONS.get(operator)
    if definition is None or not inputs or not isinstance(inputs[0], np.ndarray) or inputs[0].dtype != np.float64:
        return []
    with np.errstate(all="ignore"):
        found = definition(inputs, given, shape)
    return [] if found is None else list(found) if isinstance(found, tuple) else [found]


def _given(inputs: Inputs, at: int) -> Any:
    return inputs[at] if at < len(inputs) else None


# ---------------------------------------------------------------- windows


class Window(NamedTuple):
    """How a window moves over the spatial axes."""

    kernel: List[int]
    strides: List[int]
    dilations: List[int]
    begins: List[int]
    ends: List[int]


def _window(x: np.ndarray, given: Given, kernel: Sequence[int], out: Shape) -> Optional[Window]:
    rank = x.ndim - 2
    strides = list(given.get("strides") or [1] * rank)
    dilations = list(given.get("dilations") or [1] * rank)
    pads = list(given.get("pads") or [0] * (2 * rank))
    auto = given.get("auto_pad", "NOTSET")
    if len(out) != x.ndim or len(kernel) != rank:
        return None
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        spans = [(size - 1) * step + 1 for size, step in zip(kernel, dilations)]
        total = [
            max(0, (count - 1) * stride + span - size)
            for count, stride, span, size in zip(out[2:], strides, spans, x.shape[2:])
        ]
        small = [each // 2 for each in total]
        large = [each - half for each, half in zip(total, small)]
        pads = small + large if auto == "SAME_UPPER" else large + small
    elif auto == "VALID":
        pads = [0] * (2 * rank)
    return Window(list(kernel), strides, dilations, pads[:rank], pads[rank:])


def _offsets(x: np.ndarray, window: Window, out: Shape) -> Iterator[Tuple[Tuple[int, ...], np.ndarray, np.ndarray]]:
    """For every place in the kernel: the elements under it at every output position, and which of them are real."""
    rank = x.ndim - 2
    for at in np.ndindex(*window.kernel):
        index, real = [], np.ones([1] * rank, bool)
        for axis in range(rank):
            place = np.arange(out[2 + axis]) * window.strides[axis] - window.begins[axis]
            place = place + at[axis] * window.dilations[axis]
            inside = (place >= 0) & (place < x.shape[2 + axis])
            real = real & inside.reshape([-1 if other == axis else 1 for other in range(rank)])
            index.append(np.clip(place, 0, x.shape[2 + axis] - 1))
        grid = np.ix_(np.arange(x.shape[0]), np.arange(x.shape[1]), *index)
        yield at, x[grid], np.broadcast_to(real, [len(each) for each in index])


def _too_many(x: np.ndarray, kernel: Sequence[int], out: Shape) -> bool:
    return not x.size or int(np.prod(kernel)) * int(np.prod(out)) * max(1, x.shape[1]) > MOST


def _pool(inputs: Inputs, given: Given, out: Shape) -> Optional[Iterator[Tuple[np.ndarray, np.ndarray]]]:
    x, kernel = inputs[0], list(given.get("kernel_shape") or [])
    window = _window(x, given, kernel, out) if kernel and x.ndim > 2 else None
    if window is None or _too_many(x, kernel, out):
        return None
    return ((part, real) for _, part, real in _offsets(x, window, out))


def average_pool(inputs: Inputs, given: Given, out: Shape) -> Optional[np.ndarray]:
    """The mean of the window; padding counts only where count_include_pad says so."""
    parts = _pool(inputs, given, out)
    if parts is None or (given.get("count_include_pad") and given.get("ceil_mode")):
        return None  # whether a window that leaves the padding counts in full is not said
    total, count = np.zeros(out), np.zeros(out[2:])
    for part, real in parts:
        total += np.where(real, part, 0.0)
        count += 1 if given.get("count_include_pad") else real
    return total / count


def max_pool(inputs: Inputs, given: Given, out: Shape) -> Optional[np.ndarray]:
    """The largest element of the window."""
    parts = _pool(inputs, given, out)
    if parts is None or np.isnan(inputs[0]).any():
        return None
    found = np.full(out, -np.inf)
    for part, real in parts:
        found = np.maximum(found, np.where(real, part, -np.inf))
    return found


def lp_pool(inputs: Inputs, given: Given, out: Shape) -> Optional[np.ndarray]:
    """The Lp norm of the elements in the window."""
    parts, p = _pool(inputs, given, out), given.get("p", 2)
    if parts is None:
        return None
    total = np.zeros(out)
    for part, real in parts:
        total += np.where(real, np.abs(part) ** p, 0.0)
    return np.asarray(total ** (1.0 / p))


def conv(inputs: Inputs, given: Given, out: Shape) -> Optional[np.ndarray]:
    """Every output channel is a sum over the input channels of its group and the places of the kernel."""
    x, w, bias = inputs[0], inputs[1], _given(inputs, 2)
    group = given.get("group", 1)
    window = _window(x, given, w.shape[2:], out) if x.ndim > 2 else None
    if window is None or _too_many(x, w.shape[2:], out):
        return None
    total = np.zeros(out)
    ins, outs = x.shape[1] // group, w.shape[0] // group
    for at, part, real in _offsets(x, window, out):
        kept = np.where(real, part, 0.0)
        for number in range(group):
            weights = w[(slice(number * outs, (number + 1) * outs), slice(None), *at)]
            taken = kept[:, number * ins : (number + 1) * ins]
            total[:, number * outs : (number + 1) * outs] += np.einsum("oc,nc...->no...", weights, taken)
    return total if bias is None else np.asarray(total + bias.reshape([1, -1] + [1] * (x.ndim - 2)))


def _global(fold: Callable[[np.ndarray, Tuple[int, ...], Given], np.ndarray]) -> Definition:
    """A pool over all spatial axes, which stay with one element each."""

    def definition(inputs: Inputs, given: Given, out: Shape) -> Optional[np.ndarray]:
        x = inputs[0]
        if x.ndim < 3 or not x.size or np.isnan(x).any():
            return None
        found = fold(x, tuple(range(2, x.ndim)), given)
        return found.reshape(x.shape[:2] + (1,) * (x.ndim - 2))

    return definition


def _norm(x: np.ndarray, axes: Tuple[int, ...], given: Given) -> np.ndarray:
    p = given.get("p", 2)
    return np.asarray((np.abs(x) ** p).sum(axis=axes) ** (1.0 / p))


def lrn(inputs: Inputs, given: Given, out: Shape) -> Optional[np.ndarray]:
    """x / (bias + alpha / size * sum of squares) ^ beta, summed from c - floor((size-1)/2) to c + ceil((size-1)/2)."""
    x, size = inputs[0], given["size"]
    total = np.zeros(x.shape)
    for channel in range(x.shape[1]):
        low, high = max(0, channel - (size - 1) // 2), min(x.shape[1] - 1, channel + size // 2)
        total[:, channel] = (x[:, low : high + 1] ** 2).sum(axis=1)
    scale = given.get("bias", 1.0) + given.get("alpha", 1e-4) / size * total
    return np.asarray(x / scale ** given.get("beta", 0.75))


# ---------------------------------------------------------------- products and normalisations


def matmul(inputs: Inputs, given: Given, out: Shape) -> Optional[np.ndarray]:
    """Row by column; a vector is a row on the left and a column on the right."""
    a, b = inputs[0], inputs[1]
    if not a.ndim or not b.ndim or a.shape[-1] * int(np.prod(out)) > MOST:
        return None
    left = a[None] if a.ndim == 1 else a
    right = b[:, None] if b.ndim == 1 else b
    found = (left[..., :, :, None] * right[..., None, :, :]).sum(axis=-2)
    if a.ndim == 1:
        found = found[..., 0, :]
    return np.asarray(found[..., 0] if b.ndim == 1 else found)


def gemm(inputs: Inputs, given: Given, out: Shape) -> Optional[np.ndarray]:
    """alpha * A' * B' + beta * C."""
    a = inputs[0].T if given.get("transA") else inputs[0]
    b = inputs[1].T if given.get("transB") else inputs[1]
    product = matmul([a, b], {}, out)
    c = _given(inputs, 2)
    if product is None:
        return None
    return np.asarray(given.get("alpha", 1.0) * product + (0.0 if c is None else given.get("beta", 1.0) * c))


def softmax(inputs: Inputs, given: Given, out: Shape) -> Optional[np.ndarray]:
    """exp(x) / sum of exp(x) along the axis."""
    logarithm = log_softmax(inputs, given, out)
    return None if logarithm is None else np.exp(logarithm)


def log_softmax(inputs: Inputs, given: Given, out: Shape) -> Optional[np.ndarray]:
    """The logarithm of Softmax. Before version 13 the input is "coerced into" a matrix at the axis, 1 by default."""
    x = inputs[0]
    if not x.size:
        return None
    if given["since"] >= 13:
        return _log_softmax(x, given.get("axis", -1))
    at = given.get("axis", 1) % x.ndim
    return _log_softmax(x.reshape(math.prod(x.shape[:at]), -1), 1).reshape(x.shape)


def _log_softmax(x: np.ndarray, axis: int) -> np.ndarray:
    moved = x - x.max(axis=axis, keepdims=True)
    return np.asarray(moved - np.log(np.exp(moved).sum(axis=axis, keepdims=True)))


def _standard(x: np.ndarray, axes: Tuple[int, ...], epsilon: float) -> np.ndarray:
    centred = x - x.mean(axis=axes, keepdims=True)
    return np.asarray(centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + epsilon))


def layer_norm(inputs: Inputs, given: Given, out: Shape) -> Optional[np.ndarray]:
    """Standardised over the axes from `axis` on, then scaled and shifted."""
    x, scale, bias = inputs[0], inputs[1], _given(inputs, 2)
    axes = tuple(range(given.get("axis", -1) % x.ndim, x.ndim))
    found = _standard(x, axes, given.get("epsilon", 1e-5)) * scale
    return np.asarray(found if bias is None else found + bias)


def instance_norm(inputs: Inputs, given: Given, out: Shape) -> Optional[np.ndarray]:
    """Standardised over the spatial axes of every channel of every item."""
    x, wide = inputs[0], [1, -1] + [1] * (inputs[0].ndim - 2)
    found = _standard(x, tuple(range(2, x.ndim)), given.get("epsilon", 1e-5))
    return np.asarray(found * inputs[1].reshape(wide) + inputs[2].reshape(wide))


def batch_norm(inputs: Inputs, given: Given, out: Shape) -> Optional[np.ndarray]:
    """(x - mean) / sqrt(variance + epsilon) * scale + bias, by channel; not in training."""
    if given.get("training_mode") or given["since"] < 9 or inputs[0].ndim < 2:
        return None
    x, wide = inputs[0], [1, -1] + [1] * (inputs[0].ndim - 2)
    scale, bias, mean, variance = (value.reshape(wide) for value in inputs[1:5])
    return np.asarray((x - mean) / np.sqrt(variance + given.get("epsilon", 1e-5)) * scale + bias)


def lp_normalization(inputs: Inputs, given: Given, out: Shape) -> Optional[np.ndarray]:
    """x divided by its Lp norm along the axis."""
    x, p = inputs[0], given.get("p", 2)
    norm = (np.abs(x) ** p).sum(axis=given.get("axis", -1), keepdims=True) ** (1.0 / p)
    return np.asarray(x / norm) if np.all(norm) else None


# ---------------------------------------------------------------- recurrent cells


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return np.asarray(1.0 / (1.0 + np.exp(-x)))


class Activation(NamedTuple):
    """A function of x, alpha and beta; the defaults of these are None where the words give none."""

    function: Callable[[np.ndarray, float, float], np.ndarray]
    takes: int = 0
    defaults: Tuple[Optional[float], Optional[float]] = (None, None)


#: "Equations" of RNN, with the defaults of the operators of the same name.
_ACTIVATIONS: Dict[str, Activation] = {
    "affine": Activation(lambda x, alpha, beta: alpha * x + beta, 2),
    "elu": Activation(lambda x, alpha, beta: np.where(x >= 0, x, alpha * (np.exp(x) - 1.0)), 1, (1.0, None)),
    "hardsigmoid": Activation(lambda x, alpha, beta: np.clip(alpha * x + beta, 0.0, 1.0), 2, (0.2, 0.5)),
    "leakyrelu": Activation(lambda x, alpha, beta: np.where(x >= 0, x, alpha * x), 1, (0.01, None)),
    "relu": Activation(lambda x, alpha, beta: np.maximum(x, 0.0)),
    "scaledtanh": Activation(lambda x, alpha, beta: alpha * np.tanh(beta * x), 2),
    "sigmoid": Activation(lambda x, alpha, beta: _sigmoid(x)),
    "softplus": Activation(lambda x, alpha, beta: np.logaddexp(0.0, x)),
    "softsign": Activation(lambda x, alpha, beta: x / (1.0 + np.abs(x))),
    "tanh": Activation(lambda x, alpha, beta: np.tanh(x)),
    "thresholdedrelu": Activation(lambda x, alpha, beta: np.where(x >= alpha, x, 0.0), 1, (1.0, None)),
}


def _activations(names: Sequence[str], given: Given) -> Optional[List[Callable[[np.ndarray], np.ndarray]]]:
    """The functions by their names; None for unknown ones, or where it is not clear which of them a number is for.

    "The values are consumed in the order of activation functions": either all that take one get one, or none.
    """
    if set(names) - _ACTIVATIONS.keys():
        return None
    chosen = [_ACTIVATIONS[name] for name in names]
    values: List[List[Optional[float]]] = []
    for at, attribute in enumerate(("activation_alpha", "activation_beta")):
        listed = list(given.get(attribute) or [])
        takers = [number for number, each in enumerate(chosen) if each.takes > at]
        if listed and len(listed) != len(takers):
            return None
        told = dict(zip(takers, listed))
        values.append([told.get(number, each.defaults[at]) for number, each in enumerate(chosen)])
    if any(values[at][number] is None for at in (0, 1) for number, each in enumerate(chosen) if each.takes > at):
        return None
    return [_bound(each.function, *numbers) for each, numbers in zip(chosen, zip(*values))]


def _bound(function: Any, alpha: Optional[float], beta: Optional[float]) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: np.asarray(function(x, alpha or 0.0, beta or 0.0))


class Cell(NamedTuple):
    """One direction of a recurrent operator: `step(x, states) -> states`, the hidden state first."""

    step: Callable[[np.ndarray, List[np.ndarray]], List[np.ndarray]]
    states: List[np.ndarray]


def _recurrent(gates: int, defaults: Sequence[str], cell: Callable[..., Optional[Cell]]) -> Definition:
    def definition(inputs: Inputs, given: Given, out: Shape) -> Optional[Tuple[np.ndarray, np.ndarray]]:
        """Y, and the last hidden states."""
        x, w, r = inputs[0], inputs[1], inputs[2]
        if given.get("layout"):
            x = x.swapaxes(0, 1)
        directions = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}
        turns = directions[given.get("direction", "forward")]
        names = [name.lower() for name in given.get("activations") or list(defaults) * len(turns)]
        hidden, batch = r.shape[-1], x.shape[1]
        functions = _activations(names, given)
        if functions is None or len(names) != len(defaults) * len(turns) or w.shape[1] != gates * hidden:
            return None
        lengths = _given(inputs, 4)
        lengths = np.full(batch, x.shape[0]) if lengths is None else lengths
        whole, last = [], []
        for number, reverse in enumerate(turns):
            chosen = functions[number * len(defaults) : (number + 1) * len(defaults)]
            made = cell(inputs, given, number, chosen, batch, hidden)
            if made is None:
                return None
            each, state = _run_cell(made, x, lengths, reverse)
            whole.append(each)
            last.append(state)
        y, states = np.stack(whole, axis=1), np.stack(last)
        if given.get("layout"):  # the batch first
            y, states = np.moveaxis(y, -2, 0), np.moveaxis(states, -2, 0)
        return y, states

    return definition


def _run_cell(cell: Cell, x: np.ndarray, lengths: np.ndarray, reverse: bool) -> Tuple[np.ndarray, np.ndarray]:
    """Every hidden state, zero behind a sequence's end, and the last one of every sequence."""
    states = [state.copy() for state in cell.states]
    found = np.zeros((x.shape[0], *states[0].shape))
    for step in range(x.shape[0]):
        live = (step < lengths)[:, None]
        place = np.where(step < lengths, lengths - 1 - step if reverse else step, 0).astype(np.int64)
        new = cell.step(x[place, np.arange(x.shape[1])], states)
        states = [np.where(live, one, old) for one, old in zip(new, states)]
        at = np.flatnonzero(step < lengths)
        found[place[at], at] = states[0][at]
    return found, states[0]


def _parts(inputs: Inputs, number: int, gates: int, hidden: int) -> Tuple[List[np.ndarray], List[np.ndarray], Any, Any]:
    """Weights, recurrent weights and both biases of one direction, one of each a gate."""
    w, r, bias = inputs[1][number], inputs[2][number], _given(inputs, 3)
    flat = np.zeros(2 * gates * hidden) if bias is None else bias[number]
    split = [flat[at * hidden : (at + 1) * hidden] for at in range(2 * gates)]
    cut = [slice(at * hidden, (at + 1) * hidden) for at in range(gates)]
    return [w[part].T for part in cut], [r[part].T for part in cut], split[:gates], split[gates:]


def _start(inputs: Inputs, at: int, number: int, given: Given, shape: Tuple[int, int]) -> np.ndarray:
    value = _given(inputs, at)
    if value is None:
        return np.zeros(shape)
    return np.asarray(value[:, number] if given.get("layout") else value[number])


def _clipped(given: Given) -> Callable[[np.ndarray], np.ndarray]:
    """ "Cell clip threshold ... applied to the input of activations"."""
    limit = given.get("clip") or np.inf
    return lambda x: np.clip(x, -limit, limit)


def _rnn_cell(inputs: Inputs, given: Given, number: int, act: Any, batch: int, hidden: int) -> Optional[Cell]:
    [w], [r], [wb], [rb] = _parts(inputs, number, 1, hidden)
    clip = _clipped(given)

    def step(x: np.ndarray, states: List[np.ndarray]) -> List[np.ndarray]:
        return [act[0](clip(x @ w + states[0] @ r + wb + rb))]

    return Cell(step, [_start(inputs, 5, number, given, (batch, hidden))])


def _gru_cell(inputs: Inputs, given: Given, number: int, act: Any, batch: int, hidden: int) -> Optional[Cell]:
    w, r, wb, rb = _parts(inputs, number, 3, hidden)
    clip = _clipped(given)

    def step(x: np.ndarray, states: List[np.ndarray]) -> List[np.ndarray]:
        h = states[0]
        z, reset = (act[0](clip(x @ w[at] + h @ r[at] + wb[at] + rb[at])) for at in (0, 1))
        late = given.get("linear_before_reset")
        inner = reset * (h @ r[2] + rb[2]) if late else (reset * h) @ r[2] + rb[2]
        new = act[1](clip(x @ w[2] + inner + wb[2]))
        return [(1.0 - z) * new + z * h]

    return Cell(step, [_start(inputs, 5, number, given, (batch, hidden))])


def _lstm_cell(inputs: Inputs, given: Given, number: int, act: Any, batch: int, hidden: int) -> Optional[Cell]:
    if given.get("input_forget") or given.get("clip"):
        return None  # whether the cell's own activation is clipped, too, is read in two ways
    w, r, wb, rb = _parts(inputs, number, 4, hidden)  # in the order i, o, f, c
    peep = _given(inputs, 7)
    p = np.zeros((3, hidden)) if peep is None else peep[number].reshape(3, hidden)

    def step(x: np.ndarray, states: List[np.ndarray]) -> List[np.ndarray]:
        h, c = states
        i, o, f, g = (x @ w[at] + h @ r[at] + wb[at] + rb[at] for at in range(4))
        i, f = act[0](i + p[0] * c), act[0](f + p[2] * c)
        new = f * c + i * act[1](g)
        out = act[0](o + p[1] * new)
        return [out * act[2](new), new]

    shape = (batch, hidden)
    return Cell(step, [_start(inputs, 5, number, given, shape), _start(inputs, 6, number, given, shape)])


DEFINITIONS: Dict[str, Definition] = {
    "AveragePool": average_pool,
    "BatchNormalization": batch_norm,
    "Conv": conv,
    "GRU": _recurrent(3, ("Sigmoid", "Tanh"), _gru_cell),
    "Gemm": gemm,
    "GlobalAveragePool": _global(lambda x, axes, given: x.mean(axis=axes)),
    "GlobalLpPool": _global(_norm),
    "GlobalMaxPool": _global(lambda x, axes, given: x.max(axis=axes)),
    "InstanceNormalization": instance_norm,
    "LRN": lrn,
    "LSTM": _recurrent(4, ("Sigmoid", "Tanh", "Tanh"), _lstm_cell),
    "LayerNormalization": layer_norm,
    "LogSoftmax": log_softmax,
    "LpNormalization": lp_normalization,
    "LpPool": lp_pool,
    "MatMul": matmul,
    "MaxPool": max_pool,
    "RNN": _recurrent(1, ("Tanh",), _rnn_cell),
    "Softmax": softmax,
}
