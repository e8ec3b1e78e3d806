"""What a compiler tells about one case when asked: the operators that it meets, the passes that it runs.

A backend that can tell says so among the values of its option ``show`` (fuzz/backends/__init__.py).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fuzz import registry
from fuzz.case import Case, Status, Target, options_from
from fuzz.runner import Runner


def operators(runner: Runner, case: Case, target: Target) -> list[str]:
    """The aten operators that `target` meets in an operator instance, in order; none where it cannot tell.

    Raises BackendUnavailable, as `passes` does.
    """
    return _shown(runner, case, target, "operators")


def passes(runner: Runner, case: Case, target: Target) -> list[str]:
    """The passes that `target` takes `case` through, in order; none where it cannot tell, or fails on the way."""
    return _shown(runner, case, target, "passes")


def declared(runner: Runner, case: Case, target: Target) -> list[str]:
    """What `target`'s frontend says of each output (``float32[2,?]``, ``?``); none where it cannot tell."""
    return _shown(runner, case, target, "declared")


def raising(runner: Runner, case: Case, target: Target) -> list[str]:
    """The passes that `target` is in when it raises, the outermost first; none where it cannot tell or does not."""
    return _shown(runner, case, target, "raising")


def retyping(runner: Runner, case: Case, target: Target) -> list[str]:
    """The passes of `target` after which an output is declared otherwise, in order; none where it cannot tell."""
    return _shown(runner, case, target, "retyping")


def parts(runner: Runner, case: Case, reference: Target) -> list[str]:
    """The core operators that an operator instance becomes, one for each call, as the option ``part`` counts them."""
    return _shown(runner, case, reference, "parts")


def steps(runner: Runner, case: Case, reference: Target) -> list[str]:
    """The `parts` as texts of operator instances, "" where one cannot be told so (`fuzz.instance_steps`)."""
    return _shown(runner, case, reference, "steps")


def with_options(target: Target, /, **options: str) -> Target:
    """`target` with some options set to other values."""
    return replace(target, options=options_from({**dict(target.options), **options}))


def _shown(runner: Runner, case: Case, target: Target, what: str) -> list[str]:
    if what not in registry.backend(target.backend).options.get("show", ()):
        return []
    outcome = runner.run(case, with_options(target, show=what))
    if outcome.status is not Status.OK:
        return []
    return [str(name) for _, value in outcome.outputs for name in np.asarray(value).ravel().tolist()]
