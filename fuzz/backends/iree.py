"""IREE on the CPU: its ONNX importer, its compiler for llvm-cpu, its runtime.

The compiler runs inside the worker, so its death is the worker's. What it says of an error goes to stderr alone; here
that becomes the exception's message.
"""

from __future__ import annotations

import importlib
import os
import re
import tempfile
from typing import Any, Callable, Dict, List, Sequence, Tuple

import numpy as np

from fuzz.wire import SMALL_DTYPES, CannotFeed, Job, Value, dtype_name

PACKAGES = ("iree-base-compiler", "iree-base-runtime", "onnx")
KINDS = ("onnx",)
#: target: LLVM's generic processor or the one that this machine has. driver: one thread, or a pool of threads.
OPTIONS: Dict[str, Tuple[str, ...]] = {
    "opt": ("default", "O0", "O1", "O2", "O3"),
    "target": ("generic", "host"),
    "driver": ("local-sync", "local-task"),
}
#: It needs an environment of its own and half a second for a tiny model: hunted in only where it is named.
ON_REQUEST = True

#: Dtypes that neither numpy nor the runtime's numpy bridge has, and those of no tensor.
_NOT_FED = ("string", "none", "sequence", "int4", "uint4", "int2", "uint2")
#: By default the compiler makes float32 of float64, and the runtime is not told: results are read at the wrong width.
_DOUBLES = "--iree-input-demote-f64-to-f32=false"
_OPERATOR = re.compile(r'onnx\.(\w+)"|torch\.onnx\.(\w+)')
_ERROR = re.compile(r"error: .*")


def warm() -> None:
    """Import the importer, the compiler's bindings and the runtime; no session is begun."""
    names = ("onnx", "iree.compiler.extras.onnx_importer", "iree.compiler.api", "iree.compiler.ir", "iree.runtime")
    for name in names:
        importlib.import_module(name)


def devices() -> List[str]:
    """The CPU, through the drivers that run code of llvm-cpu. Raises RuntimeError where the runtime has none."""
    import iree.runtime as runtime

    found = [str(name) for name in runtime.query_available_drivers()]
    if "local-sync" not in found:
        raise RuntimeError("IREE's runtime has no driver local-sync (it has: %s)" % ", ".join(found))
    return ["CPU"]


def execute(job: Job, enter: Callable[[str], None]) -> List[Tuple[str, Value]]:
    """Import the model into MLIR, compile that to a module of the virtual machine, call it."""
    import onnx

    model = onnx.load_from_string(job.model)
    constants = {tensor.name for tensor in model.graph.initializer}
    given = [each.name for each in model.graph.input if each.name not in constants and each.name in job.inputs]
    values = [_argument(name, job.inputs[name]) for name in given]
    enter("convert")
    text = _imported(model)
    enter("compile")
    program = _compiled(text, job.options)
    enter("run")
    found = _run(program, values, job.options.get("driver", "local-sync"))
    return [(output.name, _unsigned(value, output)) for output, value in zip(model.graph.output, found)]


def _unsigned(value: Any, output: Any) -> Value:
    """The result with the sign that the model declares: the runtime's integers have none, and come as signed."""
    import onnx

    declared = output.type.tensor_type.elem_type
    wanted = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(declared)) if declared else value.dtype
    signless = wanted.kind == "u" and value.dtype == np.dtype("i%d" % wanted.itemsize)
    found: Value = value.view(wanted) if signless else value
    return found


def _argument(name: str, value: Value) -> Any:
    if not isinstance(value, np.ndarray) or dtype_name(value) in (*_NOT_FED, *SMALL_DTYPES):
        raise CannotFeed("IREE's runtime takes no %s, as which %s is given" % (dtype_name(value), name))
    return value


def _imported(model: Any) -> bytes:
    """The model in MLIR's text, as ``iree-import-onnx`` writes it; its function is called main."""
    import onnx
    from iree.compiler.extras import onnx_importer
    from iree.compiler.ir import Context

    model.graph.name = "main"
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    info = onnx_importer.ModelInfo(inferred)
    module = info.create_module(context=Context()).operation
    onnx_importer.NodeImporter.define_function(info.main_graph, module).import_all()
    module.verify()
    return str(module.get_asm()).encode()


def _compiled(text: bytes, options: Dict[str, str]) -> bytes:
    """Bytecode of the virtual machine. Raises RuntimeError with what the compiler printed."""
    from iree.compiler.api import Output, Session, Source

    flags = [
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=%s" % options.get("target", "generic"),
        _DOUBLES,
    ]
    if options.get("opt", "default") != "default":
        flags.append("--iree-opt-level=%s" % options["opt"])
    with Session() as session, tempfile.TemporaryFile() as log:
        session.set_flags(*flags)
        invocation = session.invocation()
        invocation.enable_console_diagnostics()
        kept = os.dup(2)
        os.dup2(log.fileno(), 2)
        try:
            done = invocation.parse_source(Source.wrap_buffer(session, text)) and invocation.execute()
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        if not done:
            log.seek(0)
            raise RuntimeError(_said(log.read().decode("utf-8", "replace")))
        output = Output.open_membuffer()
        invocation.output_vm_bytecode(output)
        return bytes(output.map_memory())


def _said(log: str) -> str:
    """The errors of a log, without the places in a text that nobody else has and the IR that follows them."""
    found = list(dict.fromkeys(_ERROR.findall(log)))
    return "\n".join(found[:8]) or log.strip()[:2000] or "the compiler failed and printed nothing"


def _run(program: bytes, values: Sequence[Any], driver: str) -> List[Value]:
    import iree.runtime as runtime

    config = runtime.Config(driver)
    module = runtime.VmModule.copy_buffer(config.vm_instance, program)
    context = runtime.SystemContext(config=config)
    context.add_vm_module(module)
    found = context.modules[module.name]["main"](*values)
    results = found if isinstance(found, (tuple, list)) else [found]
    return [np.array(each.to_host(), copy=True) for each in results]


def blame(error: BaseException, job: Job) -> Tuple[str, str]:
    """The operator that a message names; IREE converts all of them by patterns without names of their own."""
    found = _OPERATOR.search(str(error))
    return next((group for group in found.groups() if group), "") if found else "", ""


def converters(operators: List[Tuple[str, str, int]]) -> List[str]:
    """Patterns are registered under the operator's name."""
    return ["pattern onnx.%s" % op_type for _, op_type, _ in operators]


def reproduce(kind: str, options: Dict[str, str], inputs: Sequence[str] = (), outputs: Sequence[str] = ()) -> str:
    """How a user of IREE's Python packages would run it. Raises ValueError for dtypes that its runtime lacks."""
    lacking = sorted({*inputs, *outputs} & {*_NOT_FED, *SMALL_DTYPES})
    if lacking:
        raise ValueError("IREE's runtime takes no %s" % ", ".join(lacking))
    extra = ['"--iree-llvmcpu-target-cpu=%s"' % options.get("target", "generic"), '"%s"' % _DOUBLES]
    if options.get("opt", "default") != "default":
        extra.append('"--iree-opt-level=%s"' % options["opt"])
    lines = [
        "import iree.compiler as compiler",
        "import iree.runtime as runtime",
        "import onnx",
        "from iree.compiler.extras import onnx_importer",
        "from iree.compiler.ir import Context",
        "",
        'model.graph.name = "main"',
        "info = onnx_importer.ModelInfo(onnx.shape_inference.infer_shapes(model, data_prop=True))",
        "module = info.create_module(context=Context()).operation",
        "onnx_importer.NodeImporter.define_function(info.main_graph, module).import_all()",
        "program = compiler.compile_str(",
        "    str(module.get_asm()),",
        '    target_backends=["llvm-cpu"],',
        "    extra_args=[%s]," % ", ".join(extra),
        ")",
        'config = runtime.Config("%s")' % options.get("driver", "local-sync"),
        "context = runtime.SystemContext(config=config)",
        "context.add_vm_module(runtime.VmModule.copy_buffer(config.vm_instance, program))",
        'found = context.modules.module["main"](*inputs.values())',
    ]
    one = "actual = found.to_host()"
    return "\n".join([*lines, one if len(outputs) < 2 else "actual = [each.to_host() for each in found]"])
