"""Products of matrices, determinants and Einstein sums."""

from __future__ import annotations

from fuzz.operators import encoding
from fuzz.operators.dtypes import DOUBLE, FLOAT, FLOATS, INT32
from fuzz.operators.encoding import ABSENT
from fuzz.operators.families._ranges import product
from fuzz.operators.growth import Growth
from fuzz.operators.shapes import BROADCAST, SIZE, Shape, ranks
from fuzz.operators.specification import Operator, Specification, between, everything, root


def matmul_partners(g: Growth, dtype: int, shape: Shape) -> list[Shape]:
    """Shapes that exist of the dtype and that can be multiplied from the right."""
    return [other for other in g.shapes_of(dtype) if other and multiplied(shape, other) is not None]


def multiplied(left: Shape, right: Shape) -> Shape | None:
    """The shape of a matrix product as numpy.matmul defines it; None where there is none."""
    a = left if len(left) > 1 else (1, *left)
    b = right if len(right) > 1 else (*right, 1)
    if a[-1] != b[-2]:
        return None
    batch = BROADCAST[a[:-2]][b[:-2]]
    if batch is None or SIZE[batch] * a[-2] * b[-1] > 3125:
        return None
    rows = (a[-2],) if len(left) > 1 else ()
    return (*batch, *rows, *((b[-1],) if len(right) > 1 else ()))


def new_partner(g: Growth, shape: Shape) -> Shape:
    """A new shape to multiply with from the right: a vector, a matrix, or one for each batch entry."""
    inner = shape[-1]
    turn = g.random()
    if turn < 0.2:
        return (inner,)
    columns = 1 + g.below(5)
    if turn < 0.6 or len(shape) < 3 or SIZE[shape[:-1]] * columns > 3125:
        return (inner, columns) if SIZE[shape[:-1]] * columns <= 3125 else (inner, 1)
    return (*[size if g.random() < 0.7 else 1 for size in shape[:-2]], inner, columns)


def _matmul(g: Growth, op: Operator) -> None:
    x = g.pick(op.domain, ranks(1), 625)
    dtype, shape = g.dtype[x], g.shape[x]
    y = g.matching(dtype, matmul_partners(g, dtype, shape) or [new_partner(g, shape)], *op.domain.bounds[dtype])
    result = multiplied(shape, g.shape[y])
    assert result is not None
    low, high = product(g.low[x], g.high[x], g.low[y], g.high[y])
    g.node(op, (x, y), b"", dtype, result, low * shape[-1], high * shape[-1])


_TRANSPOSED = tuple(
    (a, b, encoding.attribute("transA", a) + encoding.attribute("transB", b))
    for a in (None, 0, 1)
    for b in (None, 0, 1)
)
_SCALED = tuple(
    (a, b, encoding.attribute("alpha", a) + encoding.attribute("beta", b))
    for a in (None, 0.5, 2.0)
    for b in (None, 0.25, 1.0)
)


def _gemm(g: Growth, op: Operator) -> None:
    """C broadcasts to the product, one way. alpha and beta only where they are floats in fact."""
    degree = g.among(op.degrees)
    x = g.pick(op.domain, ranks(2, 2), 625)
    dtype, shape = g.dtype[x], g.shape[x]
    over, across, attributes = g.among(_TRANSPOSED)
    rows, inner = shape[::-1] if over else shape
    fitting = [
        other
        for other in g.shapes_of(dtype)
        if len(other) == 2 and other[1 if across else 0] == inner and SIZE[other] < 626
    ]
    columns = 1 + g.below(5)
    low, high = op.domain.bounds[dtype]
    y = g.matching(dtype, fitting or [(columns, inner) if across else (inner, columns)], low, high)
    columns = g.shape[y][0 if across else 1]
    inputs = [x, y]
    alpha = beta = None
    if dtype in FLOATS:
        alpha, beta, more = g.among(_SCALED)
        attributes += more
    least, most = product(g.low[x], g.high[x], g.low[y], g.high[y])
    scale = 1 if alpha is None else alpha
    least, most = least * inner * scale, most * inner * scale
    if degree == 3:
        c = g.one_way(dtype, (rows, columns), low, high)
        inputs.append(c)
        factor = 1 if beta is None else beta
        least, most = least + g.low[c] * factor, most + g.high[c] * factor
    elif g.random() < 0.2 and op.opset >= 11:
        inputs.append(ABSENT)
    g.node(op, inputs, attributes, dtype, (rows, columns), least, most)


def _det(g: Growth, op: Operator) -> None:
    """Of square matrices, up to five rows."""
    dtype = g.dtype[g.pick(op.domain, ranks(2))]
    fitting = [shape for shape in g.shapes_of(dtype) if len(shape) > 1 and shape[-1] == shape[-2] < 6]
    side = 1 + g.below(4)
    x = g.matching(dtype, fitting or [(side, side), (2, side, side)], *op.domain.bounds[dtype])
    shape = g.shape[x]
    most = (max(abs(g.low[x]), abs(g.high[x]), 1) * shape[-1]) ** shape[-1]
    g.node(op, (x,), b"", dtype, shape[:-2], -most, most)


#: Equations by the rank of their first operand: how the others' shapes follow from it, and the result's.
_EQUATIONS: dict[int, tuple[str, ...]] = {
    1: ("i->i", "i->", "i,i->i", "i,i->", "i,j->ij", "i,ij->j"),
    2: ("ij->ji", "ij->i", "ij->", "ij,jk->ik", "ij,kj->ik", "ij,ij->ij", "ij,j->i", "ij,ij->", "ij,jk,kl->il", "ij"),
    3: ("ijk->kij", "ijk->ik", "ijk,ikl->ijl", "ijk,ljk->il", "ijk,k->ij", "...ij->...ji", "ijk,ijk->ij"),
    4: ("ijkl->ilkj", "ijkl,ijlm->ijkm", "ijkl->il", "...ij,...jk->...ik"),
}


def _einsum(g: Growth, op: Operator) -> None:
    x = g.pick(op.domain, ranks(1, 4), 125)
    dtype, shape = g.dtype[x], g.shape[x]
    equation = g.among(_EQUATIONS[len(shape)])
    sizes: dict[str, int] = {}
    terms, _, result = equation.partition("->")
    if not result and "->" not in equation:
        result = terms
    first, *others = [_spelled(term, len(shape)) for term in terms.split(",")]
    sizes.update(zip(first, shape, strict=True))
    inputs, low, high = [x], g.low[x], g.high[x]
    for term in others:
        wanted = tuple([sizes.setdefault(letter, 1 + g.below(4)) for letter in term])
        y = g.exact(op.domain, dtype, wanted)
        inputs.append(y)
        low, high = product(low, high, g.low[y], g.high[y])
    left = tuple([sizes[letter] for letter in _spelled(result, len(shape))])
    terms_summed = 1
    for letter, size in sizes.items():
        terms_summed *= 1 if letter in _spelled(result, len(shape)) else size
    g.node(op, inputs, encoding.text("equation", equation), dtype, left, low * terms_summed, high * terms_summed)


def _spelled(term: str, rank: int) -> str:
    """The term with letters for its ellipsis, which stands for all axes but the last two."""
    return term.replace("...", "UVWXY"[: rank - 2]) if "..." in term else term


def _matmul_integer(g: Growth, op: Operator) -> None:
    """Zero points are scalars here; those per row of A or column of B are not implemented everywhere."""
    x = g.pick(op.domain, ranks(2), 625)
    shape = g.shape[x]
    code = g.among(op.others["B"].dtypes)
    y = g.matching(
        code, matmul_partners_matrix(g, code, shape) or [(shape[-1], 1 + g.below(5))], *op.others["B"].bounds[code]
    )
    result = multiplied(shape, g.shape[y])
    assert result is not None
    degree = g.among(op.degrees)
    inputs = [x, y]
    if degree > 2:
        inputs.append(g.within(g.dtype[x], (), 0, 4, parameter=True))
    if degree > 3:
        inputs.append(g.within(code, (), 0, 4, parameter=True))
    most = 300 * 300 * shape[-1]
    g.node(op, inputs, b"", INT32, result, -most, most)


def matmul_partners_matrix(g: Growth, dtype: int, shape: Shape) -> list[Shape]:
    """Those of `matmul_partners` with at least two axes."""
    return [other for other in matmul_partners(g, dtype, shape) if len(other) > 1]


SPECIFICATIONS = (
    # numpy computes no determinants in half precision.
    Specification("Det", _det, within=between(-3, 3), only=frozenset((FLOAT, DOUBLE)), since=11),
    Specification("Einsum", _einsum, (1, 2, 3), within=between(-3, 3), since=12),
    Specification("Gemm", _gemm, (2, 3), within=root(1300), since=11),
    Specification("MatMul", _matmul, (2,), within=root(625), since=9),
    Specification("MatMulInteger", _matmul_integer, (2, 3, 4), others={"B": ("T2", everything)}, since=10),
)
