"""`tinyc`: a compiler whose builds take no time. Its sources, wheels of it, and repositories with a planted fault.

A real package of Python: it is installed into environments of its own and run by the real worker.
"""

from __future__ import annotations

import base64
import hashlib
import subprocess
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

BACKEND = Path(__file__).with_name("tinyc_backend.py")

_INIT = '''"""A compiler of a page."""

from tinyc.frontend import convert

__all__ = ["convert"]
'''
_FRONTEND = '''"""Converters, one class an operator."""

import numpy as np
import onnx
from onnx import helper


class Relu:
    @staticmethod
    def convert(x):
        return np.maximum(x, 0)


class Add:
    @staticmethod
    def convert(x, y):
        return x + y


class Sub:
    @staticmethod
    def convert(x, y):
        return x - y


class Mul:
    @staticmethod
    def convert(x, y):
        return x * y


class Neg:
    @staticmethod
    def convert(x):
        return -x


class MatMul:
    @staticmethod
    def convert(x, y):
        return x @ y


class Less:
    @staticmethod
    def convert(x, y):
        return x < y


class Transpose:
    @staticmethod
    def convert(x, perm=None):
        return np.transpose(x, perm)


class Concat:
    @staticmethod
    def convert(*xs, axis):
        return np.concatenate(xs, axis=axis)


def convert(model):
    graph = onnx.load_from_string(model).graph

    def program(values):
        values = dict(values)
        for initializer in graph.initializer:
            values[initializer.name] = onnx.numpy_helper.to_array(initializer)
        for node in graph.node:
            converter = globals().get(node.op_type)
            if converter is None:
                raise NotImplementedError("tinyc has no converter for %s" % node.op_type)
            attributes = {entry.name: helper.get_attribute_value(entry) for entry in node.attribute}
            values[node.output[0]] = converter.convert(*[values[name] for name in node.input], **attributes)
        return {output.name: values[output.name] for output in graph.output}

    return program
'''
#: A fault's name, what of the frontend it replaces and by what.
FAULTS: Mapping[str, tuple[str, str]] = {
    "sub swaps": ("return x - y", "return y - x"),
    "neg raises": ("return -x", 'raise RuntimeError("no lowering for negation")'),
    "neg dies": ("return -x", "__import__('os').abort()"),
    "neg varies": ("return -x", "return -x if int.from_bytes(__import__('os').urandom(1), 'big') % 2 else x"),
    "neg errs mostly": (
        "return -x",
        "return x if int.from_bytes(__import__('os').urandom(1), 'big') % 4 else -x",
    ),
    "garbage": (
        "        return {output",
        "        values = {k: v * 0 for k, v in values.items()}\n        return {output",
    ),
    "no import": ('"""Converters', 'import nothing_of_that_name\n"""Converters'),
    "import hangs": ('"""Converters', '__import__("time").sleep(3600)\n"""Converters'),
}


def sources(*faults: str, note: str = "") -> dict[str, str]:
    """The package's files by path, with faults planted; `note` makes them differ without meaning anything."""
    frontend = _FRONTEND
    for fault in faults:
        old, new = FAULTS[fault]
        assert old in frontend, fault
        frontend = frontend.replace(old, new)
    return {"tinyc/__init__.py": _INIT + (f"# {note}\n" if note else ""), "tinyc/frontend.py": frontend}


def wheel(folder: Path, version: str, *faults: str, note: str = "") -> Path:
    """A wheel of the package; it needs numpy and onnx."""
    info = f"tinyc-{version}.dist-info"
    needs = "Requires-Dist: numpy\nRequires-Dist: onnx\n"
    files = sources(*faults, note=note)
    files |= {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: tinyc\nVersion: {version}\n{needs}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},sha256={_digest(text)},{len(text.encode())}\n" for name, text in files.items())
    path = folder / f"tinyc-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {**files, f"{info}/RECORD": f"{record}{info}/RECORD,,\n"}.items():
            archive.writestr(name, text)
    return path


def repository(folder: Path, commits: Sequence[Mapping[str, str]]) -> list[str]:
    """A git repository with these files changed commit by commit; returns the full hashes, oldest first."""
    folder.mkdir(parents=True, exist_ok=True)
    _git(folder, "init", "--quiet", "--initial-branch=main")
    return _committed(folder, commits)


def branch(folder: Path, name: str, commits: Sequence[Mapping[str, str]]) -> list[str]:
    """These commits on a branch of their own, off what is checked out, which stays so; returns their hashes."""
    _git(folder, "checkout", "--quiet", "-b", name)
    hashes = _committed(folder, commits)
    _git(folder, "checkout", "--quiet", "main")
    return hashes


def _committed(folder: Path, commits: Sequence[Mapping[str, str]]) -> list[str]:
    hashes = []
    for number, files in enumerate(commits):
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        _git(folder, "add", "--all")
        _git(folder, "commit", "--quiet", "--allow-empty", "--message", f"change {number}")
        hashes.append(_git(folder, "rev-parse", "HEAD").strip())
    return hashes


def _git(folder: Path, *arguments: str) -> str:
    author = ["-c", "user.name=tests", "-c", "user.email=tests@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", "-C", str(folder), *author, *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
