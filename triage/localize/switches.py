"""Which pass is guilty: the one whose absence makes the failure go away, found by leaving out passes by halves.

Every backend with the options ``disable`` and ``show=passes`` can be asked. Leaving out a pass that a compiler
cannot do without fails otherwise, which tells nothing of the pass, so such a half is divided further. A pass may be
right alone and break what another leaves: leaving out either mends it, and both are told in the order of their running.
"""

from __future__ import annotations

from collections.abc import Sequence

from fuzz import registry
from triage import asking
from triage.localize.location import Location, Part
from triage.localize.trial import Answer, Trial

#: A search that needs more runs than this is given up.
MOST_RUNS = 40
#: So many passes are named at most where it takes several.
_MOST_NAMED = 3
#: Backends whose frontends run passes as well.
_WITH_FRONTEND_PASSES = ("inductor",)
#: backend -> (beginning of a pass's name, the part of the compiler it belongs to), the first that fits.
_PARTS: dict[str, tuple[tuple[str, Part], ...]] = {
    "onnxruntime": (("", Part.OPTIMISATION),),
    "openvino": (("snippets", Part.LOWERING),),
    "tvm": (("tirx.", Part.LOWERING), ("s_tir.", Part.LOWERING), ("tir.", Part.LOWERING), ("", Part.OPTIMISATION)),
    "inductor": (
        ("decomposition", Part.FRONTEND),
        ("lowerings", Part.LOWERING),
        ("fusion", Part.LOWERING),
        ("vectorisation", Part.LOWERING),
        ("", Part.OPTIMISATION),
    ),
}


#: backend -> (beginning of a pass's name, what leaves it out), the first that fits.
_SWITCHES: dict[str, tuple[tuple[str, str], ...]] = {
    "onnxruntime": (("", 'InferenceSession(…, disabled_optimizers=["{name}"])'),),
    "openvino": (("snippets", '"SNIPPETS_MODE": "DISABLE"'),),
    "tvm": (("", 'tvm.transform.PassContext(disabled_pass=["{name}"])'),),
    "inductor": (("fusion", "max_fusion_size = 1"), ("vectorisation", "cpp.simdlen = 1")),
}


#: Passes that are not asked about. Without VMShapeLower, which writes checks into the program, a failure is not
#: mended but not noticed. Without the others hardly any model compiles (measured on TVM 0.27: of 69 passes, some of
#: six models needed these 12, and all six computed the right values without any of the rest).
NOT_ASKED = {
    "tvm": (
        "VMShapeLower",
        "DispatchSortScan",
        "LegalizeOps",
        "CallTIRRewrite",
        "LowerAllocTensor",
        "LowerRuntimeBuiltin",
        "AttachGlobalSymbol",
        "s_tir.LowerInitBlock",
        "s_tir.ConvertBlocksToOpaque",
        "s_tir.LowerOpaqueBlock",
        "tirx.FlattenBuffer",
        "tirx.MakePackedAPI",
        "tirx.LowerIntrin",
    )
}


def locate(trial: Trial, known: Location) -> Location:
    """What leaving out passes tells."""
    target = trial.failure.target
    backend = registry.backend(target.backend)
    if "disable" not in backend.options or dict(target.options).get("disable", "none") != "none":
        return known
    if known.stage is Part.FRONTEND and backend.name not in _WITH_FRONTEND_PASSES:
        return known
    fixed = [name for name in backend.options["disable"] if name not in ("none", registry.ANY)]
    met = fixed or asking.passes(trial.judge.runner, trial.failure.case, target)
    names = _ordered(backend.name, [name for name in met if name not in NOT_ASKED.get(backend.name, ())], known)
    guilty = search(trial, names)
    if len(names) > 1 and trial.ask(target=trial.target(disable=",".join(names))) is Answer.SAME:
        return known.learn(
            f"it still fails with {len(names)} passes switched off, all but those that are needed to compile the model"
        )
    if not guilty or not trial.flips(trial.target(disable=guilty)):
        return known
    together = [guilty, *_needed_as_well(trial, backend.name, names, guilty)]
    how = [f"{name} left out{_how(backend.name, name)}" for name in together]
    said = f"with {how[0]} it passes, with it it fails (each seen twice)"
    if len(how) > 1:
        said += f"; it passes with {' or '.join(how[1:])} as well, so it takes them together"
    return known.learn(said, pass_=" + ".join(together), stage=_part(backend.name, together[-1]))


def _needed_as_well(trial: Trial, backend: str, names: Sequence[str], guilty: str) -> list[str]:
    """Later passes without which it passes, too. Those of inductor are not in the order in which they run."""
    found = [guilty]
    while backend not in _WITH_FRONTEND_PASSES and len(found) < _MOST_NAMED:
        behind = list(names)[names.index(found[-1]) + 1 :]
        later = search(trial, [name for name in dict.fromkeys(behind) if name not in found])
        if not later or not trial.flips(trial.target(disable=later)):
            break
        found.append(later)
    return found[1:]


def _ordered(backend: str, names: Sequence[str], known: Location) -> list[str]:
    """What tells more comes first; decompositions only where the fault is known to lie before inductor.

    Without a decomposition or a rewriting pass another operator is lowered, which would go round a broken lowering.
    So what generates code is asked about first, then the lowerings.
    """
    if backend != "inductor":
        return list(names)
    wanted = [name for name in names if name.startswith("decomposition") is (known.stage is Part.FRONTEND)]
    return sorted(wanted, key=lambda name: (" " in name, not name.startswith("lowerings")))


def _how(backend: str, name: str) -> str:
    """How a maintainer leaves the pass out."""
    switches = _SWITCHES.get(backend, ())
    told = next((told for start, told in switches if name.startswith(start)), "")
    return f" (`{told.format(name=name)}`)" if told else ""


def _part(backend: str, name: str) -> Part:
    return next((part for start, part in _PARTS.get(backend, ()) if name.startswith(start)), Part.UNKNOWN)


def search(trial: Trial, names: Sequence[str]) -> str:
    """A single pass without which the failure passes, "" when there is none or the search takes too long.

    A pass is taken to be innocent when the failure stays as it is with this and other passes left out.
    """
    last = trial.runs + MOST_RUNS

    def within(part: Sequence[str]) -> str:
        if not part or trial.over() or trial.runs >= last:
            return ""
        answer = trial.ask(target=trial.target(disable=",".join(part)))
        if answer is Answer.SAME:
            return ""
        if len(part) == 1:
            return part[0] if answer is Answer.PASSES else ""
        middle = len(part) // 2
        return within(part[:middle]) or within(part[middle:])

    return within(list(names))
