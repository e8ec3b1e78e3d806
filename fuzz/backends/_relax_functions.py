"""Relax modules whose parts are functions: HirGen's wrapping and its three rewrites (sections 3.2 and 3.3.2).

Each gives what the module without functions gives. Imported by TVM's backend, in its workers only.
"""

from __future__ import annotations

from typing import Any, List, Sequence

from fuzz.wire import CannotFeed

#: ``wrapped``: parts of ``main`` are global functions. The others rewrite each of these: f is called through g, f is a
#: closure in g, or g returns f.
FORMS = ("wrapped", "call-through", "closure", "returned")
#: Bindings of one function.
_LONGEST = 3


def rewritten(module: Any, form: str) -> Any:
    """The module in one of the `FORMS`. Raises CannotFeed for a module that cannot be divided.

    A size that is known at run time only (NonZero) is a variable of the function that finds it out: read in another
    one, it would be undefined there.
    """
    from tvm import relax

    plain = relax.transform.ToNonDataflow()(module)
    wrapped = _divided(plain, "wrapped")
    if not _well_formed(wrapped):
        raise CannotFeed("a size of this model is known at run time only, which functions cannot hand on")
    # The virtual machine has global functions only; what TVM's own sequences do not do, its tests do by this pass.
    divided = wrapped if form == "wrapped" else _divided(plain, form)
    return relax.transform.LambdaLift()(relax.transform.ConvertToDataflow(min_size=1)(divided))


def _well_formed(module: Any) -> bool:
    """What TVM says of a module; some releases answer, others raise ValueError."""
    from tvm import relax

    try:
        return relax.analysis.well_formed(module) is not False
    except ValueError:
        return False


def _divided(plain: Any, form: str) -> Any:
    """The module whose ``main`` calls functions in this form."""
    from tvm import IRModule, relax

    main = plain["main"]
    others = {name: function for name, function in plain.functions.items() if name.name_hint != "main"}
    builder = relax.BlockBuilder(IRModule(others, attrs=plain.attrs))
    bindings = [binding for block in main.body.blocks for binding in block.bindings]
    parts = [bindings[at : at + _LONGEST] for at in range(0, len(bindings), _LONGEST)]
    with builder.function("main", list(main.params), dict(main.attrs) if main.attrs else None):
        for number, part in enumerate(parts):
            rest = [binding for later in parts[number + 1 :] for binding in later]
            _place(builder, part, rest, main.body.body, "f%d" % number, form)
        builder.emit_func_output(main.body.body)
    return builder.finalize()


def _place(builder: Any, part: Sequence[Any], rest: Sequence[Any], result: Any, name: str, form: str) -> None:
    """Emit a call of a function that holds these bindings; what the rest reads of them is bound again."""
    from tvm import relax

    wanted = _read(rest, result)
    outputs = [binding.var for binding in part if binding.var in wanted]
    if not outputs:
        return
    given = outputs[0] if len(outputs) == 1 else relax.Tuple(outputs)
    body = relax.SeqExpr([relax.BindingBlock(part)], given)
    inputs = list(relax.analysis.free_vars(body))
    function = _function(inputs, body)
    called = _CALLS[form](builder, function, inputs, name)
    if len(outputs) == 1:
        builder.emit_normalized(relax.VarBinding(outputs[0], called))
        return
    results = builder.emit(called)
    for at, output in enumerate(outputs):
        builder.emit_normalized(relax.VarBinding(output, builder.normalize(relax.TupleGetItem(results, at))))


def _read(bindings: Sequence[Any], result: Any) -> List[Any]:
    from tvm import relax

    return list(relax.analysis.free_vars(relax.SeqExpr([relax.BindingBlock(bindings)], result)))


def _function(inputs: Sequence[Any], body: Any) -> Any:
    """A function of its own variables."""
    from tvm import relax
    from tvm.relax.utils import copy_with_new_vars

    return copy_with_new_vars(relax.Function(inputs, body, body.body.ty, is_pure=True))


def _global(builder: Any, params: Sequence[Any], bindings: Sequence[Any], name: str) -> Any:
    """A new global function of these bindings, which gives what the last one binds."""
    from tvm import relax

    last = bindings[-1].var
    body = relax.SeqExpr([relax.BindingBlock(bindings)], last)
    return builder.add_func(relax.Function(params, body, last.ty, is_pure=True), name)


def _called(builder: Any, function: Any, arguments: Sequence[Any]) -> Any:
    from tvm import relax

    return builder.normalize(relax.Call(function, list(arguments)))


def _params(inputs: Sequence[Any]) -> List[Any]:
    from tvm import relax

    return [relax.Var(each.name, each.ty) for each in inputs]


def _result(value: Any) -> Any:
    from tvm import relax

    return relax.VarBinding(relax.Var("result", value.ty), value)


def _wrapped(builder: Any, function: Any, inputs: Sequence[Any], name: str) -> Any:
    return _called(builder, builder.add_func(function, name), inputs)


def _call_through(builder: Any, function: Any, inputs: Sequence[Any], name: str) -> Any:
    """g returns a call of f."""
    inner, params = builder.add_func(function, name), _params(inputs)
    outer = _global(builder, params, [_result(_called(builder, inner, params))], name + "_outer")
    return _called(builder, outer, inputs)


def _closure(builder: Any, function: Any, inputs: Sequence[Any], name: str) -> Any:
    """f is a local function of g, which returns a call of it."""
    from tvm import relax

    params, local = _params(inputs), relax.Var(name, function.ty)
    bindings = [relax.VarBinding(local, function), _result(_called(builder, local, params))]
    return _called(builder, _global(builder, params, bindings, name + "_outer"), inputs)


def _returned(builder: Any, function: Any, inputs: Sequence[Any], name: str) -> Any:
    """g has no parameters and returns f; what it returns is called."""
    from tvm import relax

    local = relax.Var(name, function.ty)
    outer = _global(builder, [], [relax.VarBinding(local, function)], name + "_outer")
    return _called(builder, builder.emit(_called(builder, outer, [])), inputs)


_CALLS = {"wrapped": _wrapped, "call-through": _call_through, "closure": _closure, "returned": _returned}
