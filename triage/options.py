"""What of a target a failure needs: options, entries of lists, steps of ladders, passes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fuzz import registry
from fuzz.case import Target, options_from
from triage.localize import switches

#: What separates the entries of an option that is a list, such as the passes that are switched off.
_SEPARATOR = ","


def simplest_target(target: Target, still_fails: Callable[[Target], bool]) -> Target:
    """The target with as many options left to their defaults as the failure survives, lists as short."""
    while True:
        for simpler in _simpler(target):
            if still_fails(simpler):
                target = simpler
                break
        else:
            return target


def _simpler(target: Target) -> Iterator[Target]:
    """Without options; without one; with one entry less of a list."""
    if len(target.options) > 1:
        yield replace(target, options=())
    for at, (name, value) in enumerate(target.options):
        before, after = target.options[:at], target.options[at + 1 :]
        yield replace(target, options=(*before, *after))
        entries = value.split(_SEPARATOR)
        for gone in range(len(entries) if len(entries) > 1 else 0):
            shorter = _SEPARATOR.join(entries[:gone] + entries[gone + 1 :])
            yield replace(target, options=(*before, (name, shorter), *after))


@dataclass(frozen=True)
class Needs:
    """What of a target's options a failure needs.

    `options` are those that must be set. `levels` tells for each option that is a ladder (optimisation level, how
    far into the compiler a case goes) the steps at which the case fails in the same way, the lowest first. `passes`
    are the fewest passes that must stay on while all others that can be left out are off; None where the compiler
    tells no passes, or where the runs did not suffice.
    """

    options: Mapping[str, str]
    levels: Mapping[str, Sequence[str]]
    passes: Sequence[str] | None


#: Options that are ladders, with their steps from the least that a compiler does to the most.
_LADDERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("opt", ("off", "basic", "extended", "all")),
    ("opt", ("0", "1", "2", "3", "4", "5")),
    ("stop", ("eager", "aot_eager", "aot_eager_decomp_partition", "inductor")),
)
#: So many runs may go into the passes that must stay on.
MOST_RUNS_FOR_PASSES = 24


def needs(target: Target, passes: Callable[[Target], Sequence[str]], still_fails: Callable[[Target], bool]) -> Needs:
    """What of its options a failure on `target` needs; `passes` asks a target which ones it goes through.

    Every question is one call of `still_fails`: a few for the options, one for each other step of a ladder, and
    about log2 of the number of passes for each pass that must stay on.
    """
    target = simplest_target(target, still_fails)
    known = registry.backend(target.backend).options
    levels = {
        name: [step for step in steps if _at(target, known, name) == step or still_fails(_with(target, name, step))]
        for name, steps in _LADDERS
        if set(steps) <= set(known.get(name, ()))
    }
    return Needs(dict(target.options), levels, _passes(target, known, passes, still_fails))


def _at(target: Target, known: Mapping[str, Sequence[str]], name: str) -> str:
    return dict(target.options).get(name, known[name][0])


def _with(target: Target, name: str, value: str) -> Target:
    return replace(target, options=options_from({**dict(target.options), name: value}))


def _passes(
    target: Target,
    known: Mapping[str, Sequence[str]],
    passes: Callable[[Target], Sequence[str]],
    still_fails: Callable[[Target], bool],
) -> list[str] | None:
    """The fewest passes that must stay on; what the target switches off already stays off."""
    if "disable" not in known:
        return None
    named = [name for name in known["disable"] if name not in ("none", registry.ANY)]
    fixed = switches.NOT_ASKED.get(registry.backend(target.backend).name, ())
    off = [name for name in dict(target.options).get("disable", "none").split(_SEPARATOR) if name != "none"]
    names = [name for name in dict.fromkeys(named or passes(target)) if name not in (*fixed, *off)]

    def fails_with(kept: Collection[str]) -> bool:
        gone = [*off, *(name for name in names if name not in kept)]
        return not gone or still_fails(_with(target, "disable", _SEPARATOR.join(gone)))

    return smallest(names, fails_with, MOST_RUNS_FOR_PASSES) if names else None


def smallest(names: Sequence[str], fails_with: Callable[[Collection[str]], bool], most_runs: int) -> list[str] | None:
    """The fewest `names` with which it fails, in their order, None if more than `most_runs` questions are needed.

    With all of them it fails. One needed name after the other is found by bisection (the progression of
    Marques-Silva, Janota and Belov, CAV 2013), as if whatever fails with some names failed with more.
    """
    needed: list[str] = []
    rest, runs = list(names), 0
    while runs < most_runs:
        runs += 1
        if fails_with(needed):
            return [name for name in names if name in needed]
        low, high = 0, len(rest)
        while high - low > 1 and runs < most_runs:
            runs += 1
            middle = (low + high) // 2
            low, high = (low, middle) if fails_with([*needed, *rest[:middle]]) else (middle, high)
        if high - low > 1 or not high:
            return None
        needed.append(rest[high - 1])
        rest = rest[: high - 1]
    return None
