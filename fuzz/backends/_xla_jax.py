"""XLA through JAX: a Keras layer on Keras's JAX backend, compiled by ``jax.jit`` for the CPU."""

from __future__ import annotations

import os
import re
import tempfile
from typing import Any, Callable, Dict, List, Tuple

import numpy as np

from fuzz import instance as instances
from fuzz import instance_keras
from fuzz.wire import Job, Value

#: A program that XLA has dumped: the pass that has changed it.
_DUMPED = re.compile(r"\.after_(.+?)\.before_")
OPERATOR = re.compile(r"stablehlo\.(\w+)")


def execute(job: Job, enter: Callable[[str], None]) -> List[Tuple[str, Value]]:
    """Trace the layer (convert), compile with XLA (compile), call the program (run)."""
    instance_keras.use("jax")
    import jax

    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_traceback_filtering", "off")  # the frames tell bugs apart
    built = instance_keras.build_elsewhere(instances.parse(job.model))
    if job.options.get("jit") == "off":
        enter("run")
        return instance_keras.evaluate(built)
    enter("convert")
    lowered = _lowered(built)
    shown = job.options.get("show", "outputs")
    if shown == "operators":
        return [("operators", np.array(_operators(lowered.as_text()), dtype=object))]
    enter("compile")
    disabled = job.options.get("disable", "none")
    settings: Dict[str, Any] = {} if disabled == "none" else {"xla_disable_hlo_passes": disabled}
    if shown == "passes":
        return [("passes", np.array(_passes(lowered, settings), dtype=object))]
    compiled = lowered.compile(compiler_options=settings or None)
    enter("run")
    return instance_keras.flatten(compiled(_weights(built), *built.inputs))


def _lowered(built: Any) -> Any:
    """The layer's call as a program for XLA, with weights as arguments, as Keras itself compiles models."""
    import jax
    from keras import StatelessScope

    def call(weights: List[Any], *inputs: Any) -> Any:
        with StatelessScope(state_mapping=list(zip(built.layer.variables, weights))):
            return built.call(*inputs)

    return jax.jit(call).lower(_weights(built), *built.inputs)


def _weights(built: Any) -> List[Any]:
    return [variable.value for variable in built.layer.variables]


def _passes(lowered: Any, settings: Dict[str, Any]) -> List[str]:
    """The passes that XLA goes through and that change the program, in order: it can dump the program after each."""
    with tempfile.TemporaryDirectory() as folder:
        lowered.compile(compiler_options={**settings, "xla_dump_to": folder, "xla_dump_hlo_pass_re": ".*"})
        dumped = [match for match in map(_DUMPED.search, sorted(os.listdir(folder))) if match]
    return list(dict.fromkeys(match.group(1) for match in dumped if match.group(1) != "pipeline-start"))


def _operators(program: str) -> List[str]:
    return list(dict.fromkeys(name for name in OPERATOR.findall(program) if name not in ("return", "constant")))


def script(single: bool) -> str:
    """How a user of JAX would compile a layer; `call` takes the arrays `inputs`."""
    return (
        "import jax\n\n\n"
        "def program(weights, inputs):\n"
        "    with keras.StatelessScope(state_mapping=list(zip(layer.variables, weights))):\n"
        "        return call(**inputs)\n\n\n"
        "weights = [weight.value for weight in layer.variables]\n"
        "found = [np.asarray(value) for value in keras.tree.flatten(jax.jit(program)(weights, inputs))]\n"
        "actual = found" + ("[0]" if single else "")
    )
