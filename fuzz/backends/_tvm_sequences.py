"""Relax passes in an order of the caller's choice before TVM's own pipeline."""

from __future__ import annotations

from typing import Any

from fuzz.wire import CannotFeed


def optimised(module: Any, names: str) -> Any:
    """The module after the passes of ``relax.transform`` with these names, with commas between them.

    Raises CannotFeed for a name that this TVM has no such pass of.
    """
    import tvm
    from tvm.relax import transform

    if names == "none":
        return module
    chosen = []
    for name in names.split(","):
        make = getattr(transform, name, None)
        if make is None:
            raise CannotFeed("this TVM has no pass relax.transform.%s" % name)
        chosen.append(make())
    return tvm.transform.Sequential(chosen)(module)
