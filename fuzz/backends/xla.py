"""XLA on the CPU: a Keras layer compiled through JAX (``keras=jax``) or through TensorFlow (``keras=tensorflow``).

The same layer on the same backend of Keras without a compiler is what XLA must agree with (option ``jit=off``,
`UNCOMPILED`): where that differs from eager PyTorch as well, two backends of Keras differ, which is no doing of XLA.
"""

from __future__ import annotations

import re
from types import ModuleType
from typing import Callable, Dict, List, Sequence, Tuple

from fuzz.wire import Job, Value

PACKAGES = ("jaxlib", "jax", "keras")
PACKAGES_WITH: Dict[str, Tuple[str, ...]] = {"keras=tensorflow": ("tensorflow-cpu", "keras")}
KINDS = ("keras",)
#: disable: names of XLA's HLO passes, e.g. fusion,algsimp; ``show=passes`` gives the names. Both with JAX only.
OPTIONS: Dict[str, Tuple[str, ...]] = {
    "keras": ("jax", "tensorflow"),
    "jit": ("on", "off"),
    "show": ("outputs", "operators", "passes"),
    "disable": ("none", "*"),
}
UNCOMPILED: Dict[str, str] = {"jit": "off"}


def warm() -> None:
    """Nothing yet: `warm_keras_jax` and `warm_keras_tensorflow` import what a layer needs."""


def warm_keras_jax() -> None:
    """Import JAX and Keras on top of it; no client of XLA is made, so that children can be forked."""
    from fuzz import instance_keras

    instance_keras.use("jax")


def warm_keras_tensorflow() -> None:
    """Import TensorFlow and Keras on top of it; no context of TensorFlow is made."""
    from fuzz import instance_keras

    instance_keras.use("tensorflow")


def devices() -> List[str]:
    """The platforms that XLA finds with JAX; this backend runs on the CPU."""
    warm_keras_jax()
    import jax

    return sorted({str(device.platform).upper() for device in jax.devices("cpu")})


def execute(job: Job, enter: Callable[[str], None]) -> List[Tuple[str, Value]]:
    """Trace the layer (convert), compile with XLA (compile), call the program (run)."""
    found: List[Tuple[str, Value]] = _path(job.options).execute(job, enter)
    return found


def _path(options: Dict[str, str]) -> ModuleType:
    from fuzz.backends import _xla_jax, _xla_tensorflow

    return _xla_tensorflow if options.get("keras") == "tensorflow" else _xla_jax


def blame(error: BaseException, job: Job) -> Tuple[str, str]:
    """The operation that a message names, if any."""
    pattern: "re.Pattern[str]" = _path(job.options).OPERATOR
    found = pattern.search(str(error))
    return (next(group for group in found.groups() if group), "") if found else ("", "")


def reproduce(kind: str, options: Dict[str, str], inputs: Sequence[str] = (), outputs: Sequence[str] = ()) -> str:
    """How a user of JAX or TensorFlow would compile a layer; `call` takes the arrays `inputs`."""
    written: str = _path(options).script(len(outputs) < 2)
    return written
