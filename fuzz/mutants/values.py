"""Values of inserted tensors at the profiled input, worked out when they are asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fuzz.mutants import kernels
from fuzz.mutants.mutation import Constant, Inserted, Mutation


class Values:
    """What every tensor that mutations insert is at the profiled input. Only what an asked tensor hangs on is computed.

    Results of mutations are what their targets are, so the seed itself is never evaluated.
    """

    def __init__(self, mutations: Sequence[Mutation], profile: Mapping[str, np.ndarray]) -> None:
        self._profile = profile
        self._known: dict[str, np.ndarray] = {}
        self._targets = {mutation.result: mutation.target for mutation in mutations}
        self._nodes: dict[str, Inserted] = {node.output: node for each in mutations for node in each.nodes}
        self._constants: dict[str, Constant] = {
            constant.name: constant for mutation in mutations for constant in mutation.constants
        }

    def get(self, name: str) -> np.ndarray | None:
        """The value, None for a name that no mutation and no tensor of the profile has."""
        waiting = [name]
        while waiting:
            asked = self._root(waiting[-1])
            missing = [each for each in self._read_by(asked) if self._settled(each) is None]
            if missing:
                waiting.extend(missing)
                continue
            waiting.pop()
            if self._settled(asked) is None and asked in self._nodes:
                node = self._nodes[asked]
                inputs = [found for each in node.inputs if (found := self._settled(each)) is not None]
                if len(inputs) < len(node.inputs):
                    return None
                self._known[asked] = kernels.evaluate(node.op, inputs, node.attributes)
        return self._settled(name)

    def _root(self, name: str) -> str:
        while name in self._targets:
            name = self._targets[name]
        return name

    def _read_by(self, name: str) -> list[str]:
        """The inserted tensors that a tensor is computed from."""
        if name in self._known or name not in self._nodes:
            return []
        return [root for each in self._nodes[name].inputs if (root := self._root(each)) in self._nodes]

    def _settled(self, name: str) -> np.ndarray | None:
        root = self._root(name)
        if root in self._constants:
            return self._constants[root].value(self._profile)
        return self._known.get(root, self._profile.get(root))
