"""A child process for the tests of `fuzz.migrate._children`: answers, dies or fails as it is told."""

from __future__ import annotations

import json
import os
import signal
import sys

for line in sys.stdin:
    task = json.loads(line)["do"]
    if task == "die":
        os.kill(os.getpid(), signal.SIGSEGV)
    if task == "fail":
        raise ValueError("a fault")
    print(json.dumps({"answered": 1}))
    print(json.dumps({"done": True}), flush=True)
