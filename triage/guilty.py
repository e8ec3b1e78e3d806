"""Bugs that are one because one pass is guilty of both: without it neither shows, with it both do.

The localiser has seen each of them pass without the pass and fail with it, twice (`triage.localize`). That makes them
one bug where the pass does one thing, such as a single rewriting. A pass that folds any constant or fuses any operators
may break in many ways.
"""

from __future__ import annotations

from triage.lifecycle import WITH_DRAFT, State
from triage.localize import Location
from triage.records import Bug
from triage.signature import Signature
from triage.store import Store

_LOCATED = (State.LOCATED, State.JUDGED, *WITH_DRAFT)
#: backend -> how the names of passes begin that do one thing; none of TVM's does.
_NARROW: dict[str, tuple[str, ...]] = {
    "onnxruntime": ("",),
    "openvino": ("",),
    "inductor": ("lowerings ", "decomposition "),
}
#: backend -> passes that do many.
_BROAD: dict[str, tuple[str, ...]] = {
    "onnxruntime": ("ConstantFolding", "TransposeOptimizer", "NchwcTransformer", "NhwcTransformer", "QDQ"),
    "openvino": ("ConstantFolding", "ConvertPrecision", "NopElimination", "Validate", "snippets"),
}


def twin(store: Store, bug: Bug, signature: Signature, location: Location) -> Bug | None:
    """An older bug with the same symptom and the same words, of which the same narrow pass is guilty.

    No person has decided that the two are apart.
    """
    if not does_one_thing(bug.backend, location.pass_):
        return None
    decided = store.decisions()
    for other in store.bugs(_LOCATED, backend=bug.backend):
        apart = other.id == bug.id or decided.are_apart(bug.fingerprint, other.fingerprint)
        alike = (other.symptom, other.message) == (signature.symptom, signature.message or other.message)
        if not apart and alike and other.location and other.location.pass_ == location.pass_:
            return other
    return None


def does_one_thing(backend: str, name: str) -> bool:
    """Whether two failures of a pass, or of several together (``A + B``), are taken for one bug."""
    narrow, broad = _NARROW.get(backend, ()), _BROAD.get(backend, ())
    names = name.split(" + ")
    return bool(name) and all(each.startswith(narrow) and not each.startswith(broad) for each in names)


def why(name: str, other: Bug) -> str:
    """The sentence that explains why a bug is the same as the `other`."""
    return f"same as bug {other.id} because {name} is guilty of both: with it left out neither fails"
