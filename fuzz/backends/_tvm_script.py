"""How a maintainer of TVM would run a case, as the lines of a script (`reproduce` of TVM's backend)."""

from __future__ import annotations

from typing import Dict, List, Sequence

#: No run-time tensor can be made of these: strings, and items of less than a byte, which TVM packs.
NO_ARGUMENT = ("string", "int4", "uint4", "int2", "uint2", "float4_e2m1fn")
#: How a function takes the place of ``main``'s body, in the forms of `_relax_functions`: `f` and `args` are known.
_FORMS = {
    "wrapped": ['called = bb.add_func(f, "f")'],
    "call-through": [
        'inner, params = bb.add_func(f, "f"), copy_with_new_vars(f).params',
        'with bb.function("g", params):',
        "    bb.emit_func_output(bb.emit(relax.Call(inner, params)))",
        'called = bb.get().get_global_var("g")',
    ],
    "closure": [
        "params = copy_with_new_vars(f).params",
        'with bb.function("g", params):',
        "    bb.emit_func_output(bb.emit(relax.Call(bb.emit(f), params)))",
        'called = bb.get().get_global_var("g")',
    ],
    "returned": [
        'with bb.function("g", []):',
        "    bb.emit_func_output(bb.emit(f))",
        'called = bb.get().get_global_var("g")',
    ],
}
_TOLD = {
    "wrapped": "main calls a function f that does what main did",
    "call-through": "main calls g, which calls f, which does what main did",
    "closure": "main calls g, in which f is a local function that does what main did",
    "returned": "g returns f, which does what main did, and main calls what g returns",
}


def script(kind: str, options: Dict[str, str], inputs: Sequence[str], outputs: Sequence[str]) -> str:
    """The script for a case of a kind. Raises ValueError for what is no run-time tensor."""
    without = sorted({*inputs, *outputs} & {*NO_ARGUMENT, "sequence", "none"})
    if without:
        raise ValueError("no short TVM script takes or returns %s" % ", ".join(without))
    form = options.get("functions", "none")
    lines = ["import tvm", "from tvm import relax", *_frontend(kind)]
    if form != "none":
        lines.insert(-2, "from tvm.relax.utils import copy_with_new_vars")
        lines += _functions(form)
    lines += _passes(options.get("sequence", "none"))
    lines += _compiled(options)
    given = "*[tvm.runtime.%s]" % _feeds(kind, inputs)
    single = len(outputs) < 2
    result = 'actual = vm["main"](%s).numpy()' if single else 'actual = [t.numpy() for t in vm["main"](%s)]'
    return "\n".join([*lines, result % given])


def _feeds(kind: str, inputs: Sequence[str]) -> str:
    """Copies, of which TVM says how they are aligned: it takes PyTorch's memory only where that begins at 64 bytes.

    It mostly does, and a script that mostly shows a failure shows none. What numpy has no type for cannot be copied so.
    """
    if kind != "instance":
        return "tensor(v) for v in inputs.values()"
    return "from_dlpack(a.contiguous()) for a in args" if "bfloat16" in inputs else "tensor(a.numpy()) for a in args"


def _frontend(kind: str) -> List[str]:
    if kind == "instance":
        return [
            "from tvm.relax.frontend.torch import from_exported_program",
            "",
            "mod = from_exported_program(torch.export.export(module, args), unwrap_unit_return_tuple=True)",
        ]
    return ["from tvm.relax.frontend.onnx import from_onnx", "", "mod = from_onnx(model)"]


def _functions(form: str) -> List[str]:
    """All of ``main`` in a function: a reduced model is no longer than one of the functions that the backend makes."""
    call = "relax.Call(bb.emit(relax.Call(called, [])), args)" if form == "returned" else "relax.Call(called, args)"
    return [
        "# %s." % _TOLD[form],
        'f, args = copy_with_new_vars(mod["main"].without_attr("global_symbol")), list(mod["main"].params)',
        "bb = relax.BlockBuilder()",
        *_FORMS[form],
        'with bb.function("main", args):',
        "    bb.emit_func_output(bb.emit(%s))" % call,
        "mod = relax.transform.LambdaLift()(bb.finalize())",
    ]


def _passes(sequence: str) -> List[str]:
    if sequence == "none":
        return []
    return ["mod = relax.transform.%s()(mod)" % name for name in sequence.split(",")]


def _compiled(options: Dict[str, str]) -> List[str]:
    """The program that is run; as `execute` makes it."""
    lines, target = [], '"llvm"'
    if options.get("target") == "native":
        lines.append('cpu = str(tvm.get_global_func("target.llvm_get_system_cpu")())')
        target = 'tvm.target.Target({"kind": "llvm", "mcpu": cpu})'
    disabled = options.get("disable", "none")
    if disabled == "none":
        return [*lines, "vm = relax.VirtualMachine(tvm.compile(mod, target=%s), tvm.cpu())" % target]
    left_out = ", ".join('"%s"' % name for name in disabled.split(","))
    return [
        *lines,
        "with tvm.transform.PassContext(opt_level=3, disabled_pass=[%s]):" % left_out,
        "    vm = relax.VirtualMachine(tvm.compile(mod, target=%s), tvm.cpu())" % target,
    ]
