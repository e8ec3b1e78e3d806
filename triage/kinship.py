"""Operators that compilers make from one template: those of ONNX by a list, functions of a library by their names."""

from __future__ import annotations

import re
import tomllib
from functools import cache

from fuzz.data import data_path
from triage.families import family

#: The number of dimensions in a name: ``avg_pool2d``, ``AvgPool2d``, ``max_pool2d_with_indices``.
DIMENSIONS = re.compile(r"([123])d(?![a-z0-9])")


def related_names(name: str) -> list[str]:
    """The other functions of a function's families and with its parameters, by their last names.

    In place (``add_``) where it is.
    """
    plain = name.rstrip("_")
    groups = [*_listed("calls").values(), *_listed("tried").values()]
    members = [one for each in groups if plain in each for one in each]
    return [f"{one}{name[len(plain) :]}" for one in dict.fromkeys(members) if one != plain]


def families_of(operator: str) -> set[str]:
    """The families of an operator; a function of PyTorch has one by its own name, whatever its number of dimensions.

    ``torch avgpool`` is that of ``torch.nn.AvgPool3d`` and of ``torch.nn.functional.avg_pool2d``.
    """
    if not operator.startswith(("torch.", "aten.")):
        return {name for name, members in _listed("onnx").items() if operator in members}
    last = operator.rpartition(".")[2].rstrip("_")
    told = {f"torch {name}" for name, members in _listed("calls").items() if last in members}
    return told | {f"torch {family(operator)}"}


@cache
def _listed(kind: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = tomllib.loads(data_path("operators", "families.toml").read_text("utf-8"))[kind]
    return found
