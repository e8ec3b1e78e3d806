"""PyTorch's inductor: ``torch.compile`` of an operator instance into C++ for the CPU."""

from __future__ import annotations

import importlib
import os
import re
import tempfile
from typing import Any, Callable, Collection, Dict, List, Tuple

from fuzz.wire import SMALL_DTYPES, Job, Value

PACKAGES = ("torch",)
KINDS = ("instance",)
OPTIONS: Dict[str, Tuple[str, ...]] = {
    "mode": ("default", "max-autotune-no-cudagraphs"),
    "shapes": ("static", "dynamic"),
}

_TARGET = re.compile(r"^\s*target: (\S+)", re.MULTILINE)
_OPERATOR = re.compile(r"\b(aten[.:]+\w+(?:\.\w+)?|(?:torchvision|prims)[.:]+\w+(?:\.\w+)?)")
#: The operator that a functional api or module becomes, where their names differ.
_ATEN = (
    (re.compile(r"conv(_transpose)?\dd|Conv(Transpose)?\dd"), "convolution"),
    (re.compile(r"layer_norm|LayerNorm"), "native_layer_norm"),
    (re.compile(r"group_norm|GroupNorm"), "native_group_norm"),
    (re.compile(r"(batch|instance)_norm|(Batch|Instance)Norm\dd"), "native_batch_norm"),
    (re.compile(r"linear|Linear"), "addmm"),
    (re.compile(r"softmax"), "_softmax"),
    (re.compile(r"log_softmax"), "_log_softmax"),
    (re.compile(r"__getitem__"), "index"),
)
_CACHE: Dict[int, str] = {}


def warm() -> None:
    """Import dynamo and inductor; nothing is compiled."""
    for name in ("torch._dynamo", "torch._inductor.compile_fx", "torch._inductor.lowering"):
        importlib.import_module(name)


def devices() -> List[str]:
    """The CPU, if there is a C++ compiler that inductor accepts. Raises RuntimeError otherwise."""
    from torch._inductor import cpp_builder, exc

    try:
        cpp_builder.get_cpp_compiler()
    except exc.InvalidCxxCompiler as error:
        raise RuntimeError("inductor found no C++ compiler; install g++") from error
    return ["CPU"]


def execute(job: Job, enter: Callable[[str], None]) -> List[Tuple[str, Value]]:
    """Trace with dynamo (convert), lower and build with inductor (compile), call the kernels (run)."""
    import torch

    from fuzz import instance, instance_torch

    module, arguments, _ = instance_torch.build(instance.parse(job.model))
    _isolate()
    enter("convert")
    torch._dynamo.reset()
    compiled = torch.compile(
        module,
        backend=_staged(job.options.get("mode", "default"), enter),
        fullgraph=True,
        dynamic=job.options.get("shapes") == "dynamic",
    )
    with torch.no_grad():
        return instance_torch.flatten(compiled(*arguments))


def _staged(mode: str, enter: Callable[[str], None]) -> Callable[[Any, Any], Any]:
    """Inductor as ``torch.compile`` calls it, telling its stages apart."""
    import torch
    from torch._inductor.compile_fx import compile_fx

    settings = {} if mode == "default" else torch._inductor.list_mode_options(mode)

    def compile_graph(graph: Any, examples: Any) -> Any:
        enter("compile")
        built = compile_fx(graph, examples, config_patches=settings)

        def call(*inputs: Any) -> Any:
            enter("run")
            return built(*inputs)

        return call

    return compile_graph


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


def converters(operators: List[Tuple[str, str, int]]) -> List[str]:
    """The lowering or decomposition of each api's operator; ``""`` when it has none of its own.

    Their functions' names are mostly those of shared closures, so the operator's name is the key.
    """
    return [_lowering(_aten(api)) if domain == "torch" else "" for domain, api, _ in operators]


def _aten(api: str) -> str:
    """The likeliest aten operator of an api such as ``torch.linalg.norm``."""
    namespace, _, name = api.rpartition(".")
    for pattern, operator in _ATEN:
        if pattern.fullmatch(name):
            return "aten." + operator
    if namespace in ("torch.linalg", "torch.fft", "torch.special"):
        return "aten.%s_%s" % (namespace.rpartition(".")[2], name)
    snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    return "aten." + snake


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


def reproduce(kind: str, options: Dict[str, str], dtypes: Collection[str] = ()) -> str:
    """How a maintainer of PyTorch would run it; `dtypes` are those of the outputs.

    Raises ValueError for a kind other than ``instance`` and for dtypes that have no numpy form.
    """
    if kind != "instance":
        raise ValueError("inductor takes operator instances, not %s" % kind)
    if any(name in SMALL_DTYPES and name != "bfloat16" for name in dtypes):
        raise ValueError("there is no short way to show %s" % ", ".join(sorted(dtypes)))
    mode = "" if options.get("mode", "default") == "default" else ', mode="%s"' % options["mode"]
    dynamic = options.get("shapes") == "dynamic"
    bfloat16 = "bfloat16" in dtypes
    array = "t.view(torch.int16).numpy().view(ml_dtypes.bfloat16) if t.dtype == torch.bfloat16 else t.numpy()"
    return (
        ("import ml_dtypes\n\n" if bfloat16 else "")
        + "torch._dynamo.reset()\n"
        + f'compiled = torch.compile(module, backend="inductor"{mode}, fullgraph=True, dynamic={dynamic})\n'
        + "with torch.no_grad():\n"
        + "    found = torch.utils._pytree.tree_leaves(compiled(*args))\n"
        + f"actual = [{array if bfloat16 else 't.numpy()'} for t in found]"
    )
