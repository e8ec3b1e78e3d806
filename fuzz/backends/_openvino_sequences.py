"""Transformations that OpenVINO's Python package offers, in any order, before the plugin's own."""

from __future__ import annotations

import importlib
from typing import Any, Callable, Dict

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


def _offline() -> Any:
    return importlib.import_module("openvino._offline_transformations")
