"""Parts of an operator instance: what it becomes in PyTorch's core operators, up to one of them or one alone.

The localiser asks for them (option ``part``: ``upto 3``, ``only 3``) to find out which operator is at fault; ``core``
is all of them. Runs inside workers, in Python 3.8 syntax; torch is imported by the functions that need it.
"""

from __future__ import annotations

import contextlib
import importlib
from typing import Any, List, Tuple

from fuzz import instance as instances
from fuzz import instance_torch
from fuzz.wire import CannotFeed, Job

_Module = Tuple[Any, Tuple[Any, ...], List[str]]


#: Imported by PyTorch when a program is exported for the first time: more than a second, in each worker anew.
_IMPORTED_LATE = ("torch._dynamo", "torch.export._trace")


def warm() -> None:
    """Import what exporting and decomposing need, in the parent of the workers: nothing is exported.

    Releases of PyTorch that lack some of it import what they have.
    """
    import torch

    for name in _IMPORTED_LATE:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    decompositions = getattr(getattr(torch, "export", None), "default_decompositions", dict)
    list(decompositions().items())  # goes through all operators once, and keeps what it found


def build(job: Job) -> _Module:
    """The instance, or the part of it that the job's options name, as a module, example inputs and their names.

    Raises InstanceError as `instance_torch.build` does, and CannotFeed for a part that is none.
    """
    module, arguments, names = instance_torch.build(instances.parse(job.model))
    part = job.options.get("part", "all")
    if part == "all":
        return module, arguments, names
    how, _, at = part.partition(" ")
    graph_module, nodes = core(module, arguments)
    if part == "core":
        return graph_module, arguments, names
    if how not in ("upto", "only") or not at.isdigit() or int(at) >= len(nodes):
        raise CannotFeed("this instance has no part %r" % part)
    if how == "upto":
        _return(graph_module, nodes[int(at)])
        return graph_module, arguments, names
    return _alone(graph_module, nodes[int(at)], arguments)


def exported(job: Job) -> Any:
    """The instance, or the part of it, as ``torch.export`` hands it to a compiler's frontend. Raises CannotFeed."""
    module, arguments, _ = build(job)
    return program(module, arguments)


def program(module: Any, arguments: Tuple[Any, ...]) -> Any:
    """The module as an exported program. Raises CannotFeed where PyTorch cannot export it: no compiler is at fault."""
    import torch

    try:
        return torch.export.export(module, arguments)
    except Exception as error:
        said = (str(error).splitlines() or [""])[0][:200]
        raise CannotFeed("torch.export does not take this call (%s: %s)" % (type(error).__name__, said)) from error


def require_traceable(module: Any, arguments: Tuple[Any, ...]) -> None:
    """Raise CannotFeed if PyTorch itself cannot trace the module as TorchScript."""
    import torch

    try:
        torch.jit.trace(module, arguments, strict=False, check_trace=False)
    except Exception as error:
        said = (str(error).splitlines() or [""])[0][:200]
        raise CannotFeed("torch.jit.trace does not take this call (%s: %s)" % (type(error).__name__, said)) from error


def operators(graph: Any) -> List[str]:
    """The operators that a graph of ``torch.fx`` calls, such as ``aten.addmm.default``, each once, in order."""
    return list(dict.fromkeys(str(node.target) for node in _calls(graph)))


def parts(job: Job) -> List[str]:
    """The calls of PyTorch's core operators that the instance becomes, in order: the parts that `build` knows."""
    module, arguments, _ = instance_torch.build(instances.parse(job.model))
    return [str(node.target) for node in core(module, arguments)[1]]


def core(module: Any, arguments: Tuple[Any, ...]) -> Tuple[Any, List[Any]]:
    """The exported and decomposed module, and those of its nodes that call an operator."""

    graph_module = program(module, arguments).run_decompositions().module()
    return graph_module, _calls(graph_module.graph)


def _calls(graph: Any) -> List[Any]:
    """The nodes that call an operator; taking one of several results apart (``getitem``) is none."""
    import torch

    calls = [node for node in graph.nodes if node.op == "call_function"]
    return [node for node in calls if isinstance(node.target, torch._ops.OpOverload)]


def _return(graph_module: Any, node: Any) -> None:
    """Make `node` the result of the module, in place."""
    import torch

    graph = graph_module.graph
    graph.set_codegen(torch.fx.graph.CodeGen())  # the exported module's own would unflatten the old results
    (output,) = [each for each in graph.nodes if each.op == "output"]
    with graph.inserting_before(output):
        graph.output(node)
    graph.erase_node(output)
    graph.eliminate_dead_code()
    graph_module.recompile()


def _alone(graph_module: Any, node: Any, arguments: Tuple[Any, ...]) -> _Module:
    """One call by itself: what it reads are inputs, of the values that eager PyTorch computes for them."""
    import torch

    recorder = torch.fx.Interpreter(graph_module, garbage_collect_values=False)
    with torch.no_grad():
        recorder.run(*arguments)
    read = [each for each in dict.fromkeys(node.all_input_nodes) if isinstance(recorder.env[each], torch.Tensor)]
    names = ["input_%d" % at for at in range(len(read))]
    graph = torch.fx.Graph()
    stands = {each: graph.placeholder(name) for each, name in zip(read, names)}
    if len(stands) != len(node.all_input_nodes):
        raise CannotFeed("a part of this instance reads what is no tensor")
    graph.output(graph.node_copy(node, lambda each: stands[each]))
    module = torch.fx.GraphModule(torch.nn.Module(), graph)
    return module, tuple(recorder.env[each].detach().clone() for each in read), names
