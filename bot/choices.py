"""Turning --backend and --option into targets."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from bot.failures import ExitCode, Refusal
from fuzz import catalogue, registry, sequences
from fuzz.case import Target, options_from
from fuzz.runner import Runner


def options(pairs: Sequence[str]) -> dict[str, str]:
    """``key=value`` arguments as a dict. Raises Refusal."""
    found = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key or not value:
            raise Refusal(f"--option {pair!r} is not of the form key=value, e.g. opt=off")
        found[key] = value
    return found


def one_target(name: str, pairs: Sequence[str]) -> Target:
    """The target of `run` and `reduce`. Raises Refusal for an unknown backend or option."""
    try:
        return catalogue.target(name, options(pairs))
    except registry.UnknownBackend as error:
        raise Refusal(str(error)) from error


def hunt_targets(names: Sequence[str], pairs: Sequence[str]) -> list[Target]:
    """The targets of a hunt: every variant of each backend, or the one that the options say."""
    chosen = options(pairs)
    targets = []
    used: set[str] = set()
    try:
        for name in names:
            known = registry.backend(name)
            mine = {key: value for key, value in chosen.items() if key in known.options}
            used |= mine.keys()
            variants = [mine] if mine else list(known.variants)
            targets += [catalogue.target(name, variant) for variant in variants]
    except registry.UnknownBackend as error:
        raise Refusal(str(error)) from error
    unused = chosen.keys() - used
    if unused:
        raise Refusal(
            f"no chosen backend has the option {', '.join(sorted(unused))} (see graphwarden backends --options)"
        )
    return targets


def rewriting(targets: Sequence[Target]) -> list[Target]:
    """The targets once for every way in which their backends rewrite cases (``REWRITES``)."""
    return [
        replace(target, options=options_from({**dict(target.options), option: value}))
        for target in targets
        for option, plain in registry.backend(target.backend).rewrites.items()
        for value in registry.backend(target.backend).options[option]
        if value not in (plain, registry.ANY)
    ]


def compilers() -> list[str]:
    """Every registered backend that a hunt tries without being told to; the reference is none."""
    return [name for name in registry.names() if name != "reference" and not registry.backend(name).on_request]


def require_devices(runner: Runner, targets: Sequence[Target]) -> None:
    """Raises Refusal (exit 3) for an option ``device`` that names what is not here: every case would be skipped."""
    for target in targets:
        wanted = dict(target.options).get(sequences.DEVICE, "")
        if wanted in ("", sequences.usual_device(target.backend)):
            continue
        if reason := catalogue.trial(runner, target):
            raise Refusal(f"--option {sequences.DEVICE}={wanted}: {reason}", ExitCode.ENVIRONMENT)


def require(runner: Runner, names: Sequence[str]) -> list[catalogue.Probe]:
    """Probe backends; those that work come back. Raises Refusal (exit 3) when none does."""
    with ThreadPoolExecutor(runner.jobs) as pool:
        probes = list(pool.map(lambda name: catalogue.probe(runner, name), names))
    if not any(probe.available for probe in probes):
        reasons = "; ".join(f"{probe.name}: {probe.reason}" for probe in probes)
        raise Refusal(f"no backend is available ({reasons})", ExitCode.ENVIRONMENT)
    return probes
