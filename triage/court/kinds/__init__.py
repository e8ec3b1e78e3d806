"""Kinds of evidence, one a file; the file's name is its registry entry.

A file defines ``SYMPTOMS`` (``"wrong"``, ``"death"`` or both: what it can say something about) and
``gather(hearing) -> Evidence | None``. None means that it has nothing to say, never that it failed: what
stops it from looking is said in the evidence. The order of gathering is `hearing.ORDER`.
"""
