"""Runs when a Python process of the recorded command starts: waits for PyTorch, and lets the recorder in.

Standard library only, Python 3.8 syntax. The ``sitecustomize`` that this one hides runs afterwards.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))


class _AfterTorch(importlib.abc.MetaPathFinder):
    """Finds ``torch`` as all others do, and starts the recorder once it is imported."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def exec_module(module: Any) -> None:
                run(module)
                recorder = _loaded("graphwarden_recorder", os.path.join(_HERE, "graphwarden_recorder.py"))
                recorder.start_in_this_process()

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _loaded(name: str, file: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _run_the_hidden_one() -> None:
    rest = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", rest)
    if spec is not None and spec.origin is not None:
        _loaded("sitecustomize", spec.origin)


if os.environ.get("GRAPHWARDEN_RECORD"):
    sys.meta_path.insert(0, _AfterTorch())
_run_the_hidden_one()
