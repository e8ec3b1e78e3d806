"""Transformations that OpenVINO's Python package offers, in any order, before the plugin's own."""

from __future__ import annotations

import importlib
from typing import Any, Callable, Dict, List

from fuzz.wire import CannotFeed


def _moc(model: Any) -> None:
    _offline().apply_moc_transformations(model, False)


def _moc_legacy(model: Any) -> None:
    _offline().apply_moc_legacy_transformations(model, [])


def _names(model: Any) -> None:
    _offline().apply_fused_names_cleanup(model)


def _folding(model: Any) -> None:
    from openvino.passes import ConstantFolding, Manager

    manager = Manager()
    manager.register_pass(ConstantFolding())
    manager.run_passes(model)


_TRANSFORMATIONS: Dict[str, Callable[[Any], None]] = {
    "ConstantFolding": _folding,
    "MOCTransformations": _moc,
    "MOCLegacyTransformations": _moc_legacy,
    "FusedNamesCleanup": _names,
}


def optimise(model: Any, names: str) -> None:
    """Transform the model in place by those of these names, with commas between them. Raises CannotFeed."""
    for name in names.split(",") if names != "none" else ():
        if name not in _TRANSFORMATIONS:
            raise CannotFeed("no transformation %s: choose of %s" % (name, ", ".join(_TRANSFORMATIONS)))
        _TRANSFORMATIONS[name](model)


#: The same as statements of a script about `ov_model`.
_STATEMENTS = {
    "ConstantFolding": (
        "manager = Manager()",
        "manager.register_pass(ConstantFolding())",
        "manager.run_passes(ov_model)",
    ),
    "MOCTransformations": ("apply_moc_transformations(ov_model, False)",),
    "MOCLegacyTransformations": ("apply_moc_legacy_transformations(ov_model, [])",),
    "FusedNamesCleanup": ("apply_fused_names_cleanup(ov_model)",),
}


def statements(names: str) -> List[str]:
    """What `optimise` does with these names, as the lines of a script; none for ``none``."""
    return [line for name in names.split(",") if name != "none" for line in _STATEMENTS[name]]


def imports(names: str) -> List[str]:
    """What the statements need."""
    called = sorted({line.partition("(")[0] for line in statements(names) if line.startswith("apply_")})
    lines = ["from openvino._offline_transformations import %s" % ", ".join(called)] if called else []
    return [*lines, *(["from openvino.passes import ConstantFolding, Manager"] if "ConstantFolding" in names else [])]


def _offline() -> Any:
    return importlib.import_module("openvino._offline_transformations")
