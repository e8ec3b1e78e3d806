"""TVM: passes of ``relax.transform`` that need no arguments, in any order, before the default pipeline."""

from __future__ import annotations

from collections.abc import Sequence

#: They take any module to one that means the same, whatever was done before (all of them alone, and shuffled, measured
#: on TVM 0.27). Left out are those that change a signature or lower to what others no longer understand.
_PASSES = (
    "AdjustMatmulOrder",
    "CanonicalizeBindings",
    "CombineParallelMatmul",
    "ComputePrimValue",
    "ConvertToDataflow",
    "DeadCodeElimination",
    "DecomposeOpsForInference",
    "EliminateCommonSubexpr",
    "ExpandMatmulOfSum",
    "FoldBatchnormToConv2D",
    "FoldConstant",
    "FuseOps",
    "FuseTIR",
    "InlinePrivateFunctions",
    "LegalizeOps",
    "Normalize",
    "NormalizeGlobalVar",
    "OptimizeLayoutTransform",
    "RemoveRedundantReshape",
    "ReorderPermuteDimsAfterConcat",
    "ReorderTakeAfterMatmul",
    "RewriteDataflowReshape",
    "ToNonDataflow",
    "TopologicalSort",
)
DEVICES = ({"target": "native"},)


def steps(met: Sequence[str]) -> list[str]:
    """Every pass of the table; whether one changes anything shows when it has run."""
    return list(_PASSES)


def options(steps: Sequence[str], met: Sequence[str]) -> dict[str, str]:
    """The passes in the order of the steps."""
    return {"sequence": ",".join(steps) or "none"}
