"""Reduction passes: one file each, pure producers of simpler candidates.

A pass file defines ``KINDS``, the case kinds it works on (``"onnx"``, ``"instance"``), and
``candidates(case, values)``, which yields simpler variants of `case`, big steps first. `values` holds
the recorded tensors of the case by name (graph inputs, initializers, intermediates, outputs), as far
as they are known. A candidate need not be valid: the predicate decides. The order in which the passes
are tried stands in `triage.simplify.STACK`; what takes the structure apart, one run for each proposal, in
`triage.reduce.STRUCTURE` and `REST`.
"""
