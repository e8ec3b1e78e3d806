"""XLA through JAX: a Keras layer on Keras's JAX backend, compiled by ``jax.jit`` for the CPU.

The same layer on the same backend without ``jit`` is what XLA must agree with (option ``jit=off``, `UNCOMPILED`):
where that differs from eager PyTorch as well, two backends of Keras differ, which is no doing of the compiler.
"""

from __future__ import annotations

import os
import re
import tempfile
from typing import Any, Callable, Dict, List, Sequence, Tuple

import numpy as np

from fuzz.wire import CannotFeed, Job, Value

PACKAGES = ("jaxlib", "jax", "keras")
KINDS = ("keras",)
#: disable: names of XLA's HLO passes, e.g. fusion,algsimp; ``show=passes`` gives the names.
OPTIONS: Dict[str, Tuple[str, ...]] = {
    "jit": ("on", "off"),
    "show": ("outputs", "operators", "passes"),
    "disable": ("none", "*"),
}
UNCOMPILED: Dict[str, str] = {"jit": "off"}

#: A program that XLA has dumped: the pass that has changed it.
_DUMPED = re.compile(r"\.after_(.+?)\.before_")
_OPERATOR = re.compile(r"stablehlo\.(\w+)")


def warm() -> None:
    """Import JAX and Keras on top of it; no client of XLA is made, so that children can be forked."""
    from fuzz import instance_keras

    instance_keras.use("jax")


def devices() -> List[str]:
    """The platforms that XLA finds; this backend runs on the CPU."""
    import jax

    return sorted({str(device.platform).upper() for device in jax.devices("cpu")})


def execute(job: Job, enter: Callable[[str], None]) -> List[Tuple[str, Value]]:
    """Trace the layer (convert), compile with XLA (compile), call the program (run)."""
    import jax

    from fuzz import instance as instances
    from fuzz import instance_keras

    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_traceback_filtering", "off")  # the frames tell bugs apart
    built = _built(instances.parse(job.model))
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


def _built(instance: Any) -> Any:
    """The layer on Keras's JAX backend. Raises CannotFeed where it does not run without a compiler, either."""
    from fuzz import instance_keras

    try:
        return instance_keras.build(instance)
    except Exception as error:  # whatever a layer raises on this backend
        said = (str(error).strip().splitlines() or [""])[0]
        kind = type(error).__name__
        raise CannotFeed("Keras's JAX backend does not run this layer: %s: %s" % (kind, said[:500])) from error


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
    return list(dict.fromkeys(name for name in _OPERATOR.findall(program) if name not in ("return", "constant")))


def blame(error: BaseException, job: Job) -> Tuple[str, str]:
    """The operation that XLA names in a message, if any."""
    found = _OPERATOR.search(str(error))
    return (found.group(1), "") if found else ("", "")


def reproduce(kind: str, options: Dict[str, str], inputs: Sequence[str] = (), outputs: Sequence[str] = ()) -> str:
    """How a user of JAX would compile a layer; `call` takes the arrays `inputs`."""
    single = len(outputs) < 2
    return (
        "import jax\n\n\n"
        "def program(weights, inputs):\n"
        "    with keras.StatelessScope(state_mapping=list(zip(layer.variables, weights))):\n"
        "        return call(**inputs)\n\n\n"
        "weights = [weight.value for weight in layer.variables]\n"
        "found = [np.asarray(value) for value in keras.tree.flatten(jax.jit(program)(weights, inputs))]\n"
        "actual = found" + ("[0]" if single else "")
    )
