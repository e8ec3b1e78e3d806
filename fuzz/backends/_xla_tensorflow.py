"""XLA through TensorFlow: a Keras layer on Keras's TensorFlow backend, ``tf.function(layer, jit_compile=True)``.

``jit=off`` runs the same traced graph without XLA: what tracing alone changes is no doing of the compiler.
"""

from __future__ import annotations

import re
from typing import Any, Callable, List, Tuple

import numpy as np

from fuzz import instance as instances
from fuzz import instance_keras
from fuzz.wire import CannotFeed, Job, Value

#: An operation of TensorFlow that XLA's bridge names in a message.
OPERATOR = re.compile(r"on XLA_\w+: (\w+) \(|\{\{node (?:[\w.-]+/)*([A-Za-z]\w*?)(?:_\d+)?\}\}")
#: The Python stack that made the operation: mostly this project's own, under the paths of this machine.
_CREATED = re.compile(r"\nThe op is created at: *(?:\n *File \"[^\n]*)*\n?")
#: Operations that say nothing of what is computed.
_PLUMBING = ("Const", "Identity", "NoOp", "Placeholder", "ReadVariableOp")


def execute(job: Job, enter: Callable[[str], None]) -> List[Tuple[str, Value]]:
    """Trace the layer to TensorFlow's graph (convert), compile and run it (compile): one call does both.

    Raises CannotFeed for options that the JAX path alone has: XLA reads its settings once a process here.
    """
    instance_keras.use("tensorflow")
    import tensorflow as tf

    shown = job.options.get("show", "outputs")
    if shown == "passes" or job.options.get("disable", "none") != "none":
        raise CannotFeed("XLA's passes can be shown and left out with keras=jax only")
    compiled = job.options.get("jit", "on") == "on"
    built = instance_keras.build_elsewhere(instances.parse(job.model))
    instance_keras.evaluate(built)  # raises for what is random
    enter("convert")
    inputs = [tf.constant(array) for array in built.inputs]
    program = tf.function(built.call, jit_compile=compiled, autograph=False)
    traced = program.get_concrete_function(*inputs)
    if shown == "operators":
        return [("operators", np.array(_operators(traced.graph.as_graph_def()), dtype=object))]
    enter("compile" if compiled else "run")
    try:
        return instance_keras.flatten(program(*inputs))
    except tf.errors.OpError as error:
        said = _CREATED.sub("", error.message)
        raise type(error)(error.node_def, error.op, said).with_traceback(error.__traceback__) from None


def _operators(graph: Any) -> List[str]:
    """The kinds of TensorFlow's operations in a graph and in the functions that it calls, in order."""
    nodes = [*graph.node, *(node for function in graph.library.function for node in function.node_def)]
    return list(dict.fromkeys(str(node.op) for node in nodes if node.op not in _PLUMBING))


def script(single: bool) -> str:
    """How a user of TensorFlow would compile a layer; `call` takes the arrays `inputs`."""
    return (
        "import tensorflow as tf\n\n"
        "compiled = tf.function(call, jit_compile=True)\n"
        "tensors = {name: tf.constant(value) for name, value in inputs.items()}\n"
        "found = [np.asarray(value) for value in keras.tree.flatten(compiled(**tensors))]\n"
        "actual = found" + ("[0]" if single else "")
    )
