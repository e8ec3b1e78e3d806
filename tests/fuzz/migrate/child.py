"""A child process for the tests of `fuzz.migrate._children`: answers, dies or fails as it is told."""

from __future__ import annotations

import json
import os
import signal
import sys
import time

for line in sys.stdin:
    task = json.loads(line)["do"]
    if task == "die":
        os.kill(os.getpid(), signal.SIGSEGV)
    if task == "fail":
        raise ValueError("a fault")
    if task == "hang":
        time.sleep(600)
    for _ in range(4 if task == "answer slowly" else 0):
        time.sleep(1.5)
        print(json.dumps({"going on": 1}), flush=True)
    print(json.dumps({"answered": 1}))
    print(json.dumps({"done": True}), flush=True)
