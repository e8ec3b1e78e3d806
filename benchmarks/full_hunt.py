"""All ONNX node tests on ONNX Runtime, OpenVINO and TVM in one hunt, against its limits (issue 2).

    python -m benchmarks.full_hunt [--backend NAME ...]

Prints wall-clock seconds as a share of eight minutes, and the parent's peak memory as a share of 400 MB.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT_SECONDS = 480.0
LIMIT_MB = 400.0


def main() -> None:
    """Run the hunt as a user would, in a process of its own, and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", action="append", default=[])
    chosen = parser.parse_args().backend or ["onnxruntime", "openvino", "tvm"]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "bot.cli", "hunt", "--json", "--budget", "none", "--no-drafts"]
        command += ["--source", "onnx_node", "--db", str(Path(folder) / "hunt.db")]
        command += [part for name in chosen for part in ("--backend", name)]
        hunt = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        peak_mb = _watch(hunt)
        output, _ = hunt.communicate()
    found = json.loads(output)
    print(json.dumps(found))
    print(f"cores {len(os.sched_getaffinity(0))}")
    for name, value, unit, limit in (
        ("time", found["seconds"], "s", LIMIT_SECONDS),
        ("parent", peak_mb, "MB", LIMIT_MB),
    ):
        print(f"{name:7} {value:6.0f} {unit} = {value / limit:.2f} of the limit ({limit:.0f} {unit})")


def _watch(process: subprocess.Popen[str]) -> float:
    """The peak resident memory in MB of the hunt's own process, without its workers, until it ends."""
    peak = 0.0
    while process.poll() is None:
        with contextlib.suppress(OSError):
            status = Path(f"/proc/{process.pid}/status").read_text()
            found = re.search(r"VmHWM:\s+(\d+)", status)
            peak = max(peak, int(found[1]) / 1024) if found else peak
        time.sleep(0.2)
    return peak


if __name__ == "__main__":
    main()
