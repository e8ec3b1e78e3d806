"""What the recorder is told: where it writes, and where PyTorch's operators are looked up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fuzz import instance_torch

#: The environment variable, and the folder that is put on PYTHONPATH.
VARIABLE = "GRAPHWARDEN_RECORD"
INJECTED = Path(__file__).parent / "_inject"


def told(folder: str = "") -> dict[str, Any]:
    """The recorder's orders: its names are those that `instance_torch.resolve` knows."""
    return {
        "folder": folder,
        "namespaces": list(instance_torch.NAMESPACES),
        "refused": sorted(instance_torch.REFUSED),
        "properties": sorted(instance_torch.PROPERTIES),
    }
