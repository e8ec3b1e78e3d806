"""The court: before a failure is filed, evidence for and against the compiler, and a verdict (issue 3).

`hearing.hear` gathers one piece of evidence a file of ``kinds/`` and `weigh.weigh`, which is pure, judges.
Decision 004 tells how and why; the thresholds are data (``data/court.toml``).
"""
