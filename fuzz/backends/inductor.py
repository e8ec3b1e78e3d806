"""PyTorch's inductor: ``torch.compile`` of an operator instance into C++ for the CPU, or into Triton for a GPU."""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import sys
import tempfile
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

import numpy as np

from fuzz.wire import SMALL_DTYPES, CannotFeed, Job, Value

PACKAGES = ("torch",)
KINDS = ("instance",)
#: stop: which of torch.compile's backends takes the graph, each going further into the compiler than the next;
#: none: eager PyTorch, on the device.
#: device: as PyTorch calls it, e.g. cuda; the CPU build of PyTorch has none.
#: disable: names as ``show=passes`` gives them, e.g. "post_grad_passes remove_noop_ops,lowerings add,vectorisation".
OPTIONS: Dict[str, Tuple[str, ...]] = {
    "mode": ("default", "max-autotune-no-cudagraphs"),
    "shapes": ("static", "dynamic"),
    "device": ("CPU", "*"),
    "show": ("outputs", "operators", "passes"),
    "stop": ("inductor", "aot_eager_decomp_partition", "aot_eager", "eager", "none"),
    "disable": ("none", "*"),
    "part": ("all", "*"),
}
#: Where eager PyTorch differs between a device and the CPU (kernels of their own), nothing is said of the compiler.
UNCOMPILED_WITH: Dict[str, Dict[str, str]] = {"device=%s" % name: {"stop": "none"} for name in ("cuda", "xpu", "mps")}

_TARGET = re.compile(r"^\s*target: (\S+)", re.MULTILINE)
_OPERATOR = re.compile(r"\b(aten[.:]+\w+(?:\.\w+)?|(?:torchvision|prims)[.:]+\w+(?:\.\w+)?)")
_CACHE: Dict[int, str] = {}


def warm() -> None:
    """Import dynamo and inductor; nothing is compiled."""
    for name in ("torch._dynamo", "torch._inductor.compile_fx", "torch._inductor.lowering"):
        importlib.import_module(name)


def devices() -> List[str]:
    """The CPU and what PyTorch finds. Raises RuntimeError if there is no C++ compiler that inductor accepts."""
    from torch._inductor import cpp_builder, exc

    try:
        cpp_builder.get_cpp_compiler()
    except exc.InvalidCxxCompiler as error:
        raise RuntimeError("inductor found no C++ compiler; install g++") from error
    return ["CPU", *_accelerators()]


def _accelerators() -> List[str]:
    import torch

    return [torch.accelerator.current_accelerator().type] if torch.accelerator.is_available() else []


def _placed(module: Any, arguments: Tuple[Any, ...], device: str) -> Tuple[Any, Tuple[Any, ...]]:
    """Module and arguments on the device. Raises CannotFeed where there is none."""
    import torch

    if device == "CPU":
        return module, arguments
    if device not in _accelerators():
        raise CannotFeed("PyTorch has no device %s here (it has: %s)" % (device, ", ".join(["CPU", *_accelerators()])))
    # By default cuDNN multiplies float32 as TF32, with 10 bits of mantissa: known, wanted, and no compiler's doing.
    torch.backends.cudnn.allow_tf32 = False
    moved = torch.utils._pytree.tree_map_only(torch.Tensor, lambda each: each.to(device), tuple(arguments))
    return module.to(device), moved


def spent() -> bool:
    """Whether a fault on the GPU has ended this process for CUDA: every later call fails with that error."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return False
    try:
        torch.cuda.synchronize()
    except RuntimeError:
        return True
    return False


def _fetched(found: Any) -> Any:
    import torch

    return torch.utils._pytree.tree_map_only(torch.Tensor, lambda each: each.cpu(), found)


def execute(job: Job, enter: Callable[[str], None]) -> List[Tuple[str, Value]]:
    """Trace with dynamo (convert), lower and build with inductor (compile), call the kernels (run)."""
    import torch

    from fuzz import instance_parts, instance_torch

    shown = job.options.get("show", "outputs")
    if shown == "operators":
        return [("operators", np.array(_operators(job), dtype=object))]
    module, arguments, _ = instance_parts.build(job)
    module, arguments = _placed(module, arguments, job.options.get("device", "CPU"))
    stop, dynamic = job.options.get("stop", "inductor"), job.options.get("shapes") == "dynamic"
    if stop == "none":
        enter("run")
        with torch.no_grad():
            return instance_torch.flatten(_fetched(module(*arguments)))
    _isolate()
    enter("convert")
    torch._dynamo.reset()
    disabled = [name for name in job.options.get("disable", "none").split(",") if name != "none"]
    backend = _staged(_settings(job.options.get("mode", "default"), disabled), enter) if stop == "inductor" else stop
    compiled = torch.compile(module, backend=backend, fullgraph=True, dynamic=dynamic)
    with _passes_watched(disabled) as met, torch.no_grad():
        found = instance_torch.flatten(_fetched(compiled(*arguments)))
    return [("passes", np.array([*met, *_SWITCHES], dtype=object))] if shown == "passes" else found


#: Parts of inductor's code generation that a setting turns off.
_SWITCHES: Dict[str, Dict[str, Any]] = {"fusion": {"max_fusion_size": 1}, "vectorisation": {"cpp.simdlen": 1}}


def _settings(mode: str, disabled: List[str]) -> Dict[str, Any]:
    import torch

    settings = {} if mode == "default" else dict(torch._inductor.list_mode_options(mode))
    for name in disabled:
        settings.update(_SWITCHES.get(name, {}))
    return settings


@contextlib.contextmanager
def _passes_watched(disabled: List[str]) -> Iterator[List[str]]:
    """Notes the passes, lowerings and decompositions that inductor goes through, and leaves out the disabled ones.

    Inductor asks its CompilerBisector before each of them whether to leave it out.
    """
    from torch._inductor.compiler_bisector import CompilerBisector

    met: List[str] = []

    def leave_out(backend: str, subsystem: str, debug_info: Optional[Callable[[], str]] = None) -> bool:
        if debug_info is None:
            return False  # not one pass but all of inductor: left out, the graph would run as it is
        name = ("%s %s" % (subsystem, debug_info())).replace(",", ";")
        if name not in met:
            met.append(name)
        return name in disabled

    asked = CompilerBisector.disable_subsystem
    CompilerBisector.disable_subsystem = leave_out
    try:
        yield met
    finally:
        CompilerBisector.disable_subsystem = asked


def _staged(settings: Dict[str, Any], enter: Callable[[str], None]) -> Callable[[Any, Any], Any]:
    """Inductor as ``torch.compile`` calls it, telling its stages apart."""
    from torch._inductor.compile_fx import compile_fx

    def inductor(graph: Any, examples: Any) -> Any:  # dynamo's errors name it, as they do for users
        enter("compile")
        built = compile_fx(graph, examples, config_patches=settings)

        def call(*inputs: Any) -> Any:
            enter("run")
            return built(*inputs)

        return call

    return inductor


def _isolate() -> None:
    """Own folder of kernels for this process, no cached graphs: a result must not come from an earlier case.

    A worker killed while it links would leave half a library for the next one. Precompiled headers do
    stay in the temporary folder that the workers share.
    """
    import torch._functorch.config
    import torch._inductor.config

    if os.getpid() not in _CACHE:
        _CACHE[os.getpid()] = tempfile.mkdtemp(prefix="inductor-")
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = _CACHE[os.getpid()]
    torch._inductor.config.compile_threads = 1
    torch._inductor.config.fx_graph_cache = False
    torch._functorch.config.enable_autograd_cache = False
    _test_instruction_sets_once()


def _test_instruction_sets_once() -> None:
    """Let inductor's test builds for the CPU's vector instructions (10 s) serve the later workers too.

    They are skipped only after all of them were seen to succeed with this compiler on this machine.
    """
    from torch._inductor import config, cpu_vec_isa

    marker = os.path.join(tempfile.gettempdir(), "inductor-instruction-sets-build")
    if os.path.exists(marker):
        config.cpp.vec_isa_ok = True
        return
    built = cpu_vec_isa.valid_vec_isa_list()
    with config.patch({"cpp.vec_isa_ok": True}):
        claimed = cpu_vec_isa.valid_vec_isa_list.__wrapped__()
    if built == claimed:
        with open(marker, "w"):
            pass


def blame(error: BaseException, job: Job) -> Tuple[str, str]:
    """The operator whose lowering failed; its lowering is the conversion function."""
    chain: List[BaseException] = []
    cause: Any = error
    while cause is not None and cause not in chain:
        chain.append(cause)
        cause = getattr(cause, "inner_exception", None) or cause.__cause__ or cause.__context__
    for pattern in (_TARGET, _OPERATOR):
        for link in chain:
            found = pattern.search(str(link))
            if found:
                return found.group(1), _lowering(found.group(1))
    return "", ""


def _operators(job: Job) -> List[str]:
    """The aten operators that inductor lowers for an instance: those left by its own table of decompositions."""
    from torch._inductor import decomposition

    from fuzz import instance_parts

    program = instance_parts.exported(job).run_decompositions(decomposition.select_decomp_table())
    return instance_parts.operators(program.graph)


def converters(operators: List[Tuple[str, str, int]]) -> List[str]:
    """The lowering or decomposition of each aten operator; ``""`` when it has none of its own.

    Their functions' names are mostly those of shared closures, so the operator's name is the key.
    """
    return [_lowering(name) if domain == "torch" else "" for domain, name, _ in operators]


def _lowering(operator: str) -> str:
    """``lowering aten.relu``, ``fallback aten.sort`` or ``decomposition aten.elu``, else ``""``."""
    import torch
    from torch._inductor import decomposition, lowering

    parts = re.split(r"[.:]+", operator)
    if len(parts) < 2 or parts[0] != "aten":
        return ""
    packet = getattr(torch.ops.aten, parts[1], None)
    if packet is None:
        return ""
    name = "aten." + parts[1]
    overloads = [packet, *[getattr(packet, overload) for overload in packet.overloads()]]
    lowered = [lowering.lowerings[overload] for overload in overloads if overload in lowering.lowerings]
    if any("fallback_handler" in getattr(function, "__qualname__", "") for function in lowered):
        return "fallback " + name
    if lowered:
        return "lowering " + name
    known = any(overload in decomposition.decompositions for overload in overloads)
    return "decomposition " + name if known else ""


def reproduce(kind: str, options: Dict[str, str], inputs: Sequence[str] = (), outputs: Sequence[str] = ()) -> str:
    """How a maintainer of PyTorch would run it.

    Raises ValueError for a kind other than ``instance`` and for dtypes that have no numpy form.
    """
    if kind != "instance":
        raise ValueError("inductor takes operator instances, not %s" % kind)
    small = {name for name in outputs if name in SMALL_DTYPES}
    if not small <= {"bfloat16"}:
        raise ValueError("there is no short way to show %s" % ", ".join(sorted(small)))
    device = options.get("device", "CPU")
    module, args, fetched = ("module", "*args", "") if device == "CPU" else _MOVED
    mode = "" if options.get("mode", "default") == "default" else ', mode="%s"' % options["mode"]
    dynamic = options.get("shapes") == "dynamic"
    number = "%s.view(torch.int16).numpy().view(ml_dtypes.bfloat16) if t.dtype == torch.bfloat16 else %s.numpy()"
    array = number % (("t" + fetched,) * 2) if small else "t%s.numpy()" % fetched
    found = "compiled(%s)" % args
    if len(outputs) > 1:
        result = "[%s for t in torch.utils._pytree.tree_leaves(%s)]" % (array, found)
    else:
        result = "[%s for t in [%s]][0]" % (array, found) if small else "%s%s.numpy()" % (found, fetched)
    return (
        ("import ml_dtypes\n\n" if small else "")
        + ("" if device == "CPU" else _MOVING % {"device": device})
        + 'compiled = torch.compile(%s, backend="inductor"%s, fullgraph=True, dynamic=%s)\n' % (module, mode, dynamic)
        + "with torch.no_grad():\n    actual = %s" % result
    )


#: The same call on a device: its module, its arguments, and how a result comes back. The module stays on the CPU, too,
#: where the script may ask it for what is expected.
_MOVED = ("moved", "*[arg.to(device) for arg in args]", ".cpu()")
_MOVING = """import copy

device = "%(device)s"
torch.backends.cudnn.allow_tf32 = False  # float32 as it is, not rounded to TF32
moved = copy.deepcopy(module).to(device)
"""
