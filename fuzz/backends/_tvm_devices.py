"""What TVM compiles for and runs on: a processor by LLVM, or an accelerator that its build and the machine have.

Accelerators are written by TVM's own documentation (``tvm.target.Target.from_device``, ``relax.build``): the package on
PyPI has none, and none was at hand.
"""

from __future__ import annotations

from typing import Any, List, Mapping

from fuzz.wire import CannotFeed

CPU = "CPU"
_KINDS = ("cuda", "rocm", "metal", "vulkan", "opencl")


def accelerators() -> List[str]:
    """Kinds of devices, as TVM calls them, that this build has code for and this machine has."""
    import tvm

    return [kind for kind in _KINDS if tvm.runtime.enabled(kind) and tvm.device(kind).exist]


def device(options: Mapping[str, str]) -> Any:
    """The device of the option ``device``. Raises CannotFeed where there is none."""
    import tvm

    kind = options.get("device", CPU)
    if kind == CPU:
        return tvm.cpu()
    if kind not in accelerators():
        raise CannotFeed("TVM has no device %s here (it has: %s)" % (kind, ", ".join([CPU, *accelerators()])))
    return tvm.device(kind)


def target(options: Mapping[str, str]) -> Any:
    """LLVM's generic processor, the one that this machine has (``native``), or an accelerator. Raises CannotFeed."""
    import tvm

    if options.get("device", CPU) != CPU:
        return tvm.target.Target.from_device(device(options))
    if options.get("target", "generic") != "native":
        return "llvm"
    return tvm.target.Target({"kind": "llvm", "mcpu": str(tvm.get_global_func("target.llvm_get_system_cpu")())})
