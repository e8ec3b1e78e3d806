"""Says which CUDA packages are installed in this interpreter; exit code 1 if there are any.

Graphwarden needs the CPU build of PyTorch. The default one on PyPI for Linux brings gigabytes of CUDA
libraries. They are expected only where the `tensorrt` extra was installed on purpose.
"""

from __future__ import annotations

import runpy
import sys
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path

PREFIXES = ("nvidia-", "cuda-", "triton")


def cuda_packages() -> list[str]:
    """Names of installed distributions that belong to CUDA, sorted."""
    names = {distribution.name.lower().replace("_", "-") for distribution in distributions()}
    if "tensorrt" in names:
        return []
    return sorted(name for name in names if name.startswith(PREFIXES))


def cuda_of_torch() -> str | None:
    """The CUDA version that the installed torch was built for; None for a CPU build.

    torch is not imported: a CUDA build without its libraries cannot be.
    """
    spec = find_spec("torch")
    if spec is None or spec.origin is None:
        return None
    cuda: str | None = runpy.run_path(str(Path(spec.origin).with_name("version.py")))["cuda"]
    return cuda


def main() -> int:
    """Print one line and return 1 if anything of CUDA is here, else return 0."""
    found = cuda_packages()
    if cuda := cuda_of_torch():
        found.append(f"torch built for CUDA {cuda}")
    if found:
        print(
            f"error: CUDA packages were installed ({', '.join(found)}): set PIP_EXTRA_INDEX_URL (or PIP_INDEX_URL) "
            "to the PyTorch CPU wheel index (see pytorch.org/get-started) and run make again",
            file=sys.stderr,
        )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
