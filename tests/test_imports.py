"""The house's order, read from the source: who may import whom (docs/architecture.md)."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
#: Each may import those before it.
ROOMS = ("fuzz", "triage", "bot")
COMPILERS = {"onnxruntime", "openvino", "tvm", "torch", "tensorrt", "MNN", "_tools", "tensorflow", "jax", "iree"}
SQL = {"sqlalchemy", "sqlmodel", "alembic", "sqlite3", "psycopg"}
NETWORK = {
    "distributed",
    "dask",
    "requests",
    "httpx",
    "aiohttp",
    "urllib3",
    "gidgethub",
    "github",
    "fastapi",
    "starlette",
}
#: The one file below `bot` that fetches: lists of releases, and wheels.
FETCHES = "triage/revisions/index.py"
#: What a worker-side file may import beside the standard library and numpy, and only inside functions.
#: ml_dtypes is used where it is installed and done without elsewhere.
LAZILY = {
    "fuzz/backends/_evaluation.py": {"onnx"},
    "fuzz/backends/_openvino_blame.py": {"openvino"},
    "fuzz/backends/_openvino_keras.py": {"keras", "openvino"},
    "fuzz/backends/_openvino_tensorflow.py": {"openvino", "tensorflow"},
    "fuzz/backends/_openvino_sequences.py": {"openvino"},
    "fuzz/backends/_profiled.py": {"onnx"},
    "fuzz/backends/_widened_onnx.py": {"onnx"},
    "fuzz/backends/_widened_torch.py": {"torch"},
    "fuzz/backends/_relax_functions.py": {"tvm"},
    "fuzz/backends/_tvm_devices.py": {"tvm"},
    "fuzz/backends/_tvm_sequences.py": {"tvm"},
    "fuzz/backends/inductor.py": {"torch"},
    "fuzz/backends/iree.py": {"iree", "onnx"},
    "fuzz/backends/mnn.py": {"MNN", "_tools", "onnx"},  # _tools is MNN's converter
    "fuzz/backends/onnxruntime.py": {"onnxruntime"},
    "fuzz/backends/openvino.py": {"openvino", "torch"},
    "fuzz/backends/reference.py": {"onnx"},
    "fuzz/backends/tensorrt.py": {"tensorrt", "cuda"},
    "fuzz/backends/tvm.py": {"tvm", "onnx", "torch"},  # its frontends take the models of these two
    "fuzz/backends/_xla_jax.py": {"jax", "keras"},
    "fuzz/backends/_xla_tensorflow.py": {"tensorflow"},
    "fuzz/backends/xla.py": {"jax"},
    "fuzz/instance_keras.py": {"keras", "torch"},
    "fuzz/instance_keras_export.py": {"keras", "onnx", "torch"},
    "fuzz/instance_torch.py": {"torch"},
    "fuzz/instance_parts.py": {"torch"},
    "fuzz/instance_steps.py": {"torch"},
}


#: Files that only functions import: their classes derive from the package's.
BEHIND = {"fuzz/backends/_evaluator.py": "onnx"}


class Import(NamedTuple):
    """One imported module, with the place; `lazy` if only a function imports it."""

    file: str
    line: int
    module: str
    lazy: bool

    @property
    def package(self) -> str:
        return self.module.partition(".")[0]

    def __str__(self) -> str:
        return f"{self.file}:{self.line} imports {self.module}"


def python_files(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def imports(path: Path) -> Iterator[Import]:
    """Every import of a file, ``from package import module`` by the module's full name."""
    file = path.relative_to(ROOT).as_posix()

    def visit(node: ast.AST, lazy: bool) -> Iterator[Import]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(file, node.lineno, alias.name, lazy)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: a relative import hides which room it reaches into"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield Import(file, node.lineno, inner if module_file(inner) else node.module or "", lazy)
        lazy = lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            yield from visit(child, lazy)

    yield from visit(ast.parse(path.read_text(encoding="utf-8"), file), False)


def module_file(module: str) -> Path | None:
    """The file of one of our own modules, None for everybody else's."""
    if module.partition(".")[0] not in ROOMS:
        return None
    stem = ROOT.joinpath(*module.split("."))
    return next((path for path in (stem.with_suffix(".py"), stem / "__init__.py") if path.is_file()), None)


def worker_side() -> list[Path]:
    """The files that a worker may load: itself, the backends, and what they import of ours."""
    todo = [ROOT / "fuzz/worker.py", ROOT / "fuzz/jobs.py", ROOT / "fuzz/watching.py", *python_files("fuzz/backends")]
    seen: dict[Path, None] = {}
    while todo:
        path = todo.pop()
        if path not in seen:
            seen[path] = None
            todo += [found for each in imports(path) if (found := module_file(each.module))]
    return sorted(seen)


def objections(found: Iterator[Import]) -> list[str]:
    return [str(each) for each in found]


@pytest.mark.parametrize("room", ROOMS)
def test_imports_go_from_bot_to_triage_to_fuzz_only(room: str) -> None:
    later = ROOMS[ROOMS.index(room) + 1 :]
    assert not objections(each for path in python_files(room) for each in imports(path) if each.package in later)


def test_only_the_store_and_its_migrations_know_sql() -> None:
    def may(path: Path) -> bool:
        inside = path.relative_to(ROOT).as_posix()
        return inside.startswith(("triage/store", "triage/ledger/", "triage/migrations/")) or inside == "triage/rows.py"

    others = [path for path in python_files(*ROOMS) if not may(path)]
    assert not objections(each for path in others for each in imports(path) if each.package in SQL)


def test_rows_are_seen_by_the_store_and_the_ledger_alone() -> None:
    ledger = ROOT / "triage" / "ledger"  # what it keeps of a campaign changes together with the campaign
    free = [path for path in python_files(*ROOMS) if path.parent != ledger and path.name != "env.py"]
    others = [path for path in free if not path.name.startswith("store")]
    assert not objections(each for path in others for each in imports(path) if each.module == "triage.rows")


def test_only_bot_knows_the_network() -> None:
    assert not objections(
        each
        for path in python_files("fuzz", "triage")
        for each in imports(path)
        if each.package in NETWORK and each.file != FETCHES
    )


def test_compilers_are_imported_only_by_backends_and_only_inside_functions() -> None:
    torch = (
        "instance_torch",
        "instance_parts",
        "instance_steps",
        "instance_keras",
        "instance_keras_export",
        "migrate/_keras_child",
    )
    # The child processes of migrations; the recorder is loaded by programs that have loaded PyTorch.
    children = {path for path in python_files("fuzz/migrate") if path.name.startswith("_")}
    recorder = ROOT / "fuzz/migrate/_inject/graphwarden_recorder.py"
    allowed = {*(ROOT / f"fuzz/{name}.py" for name in torch), *python_files("fuzz/backends"), *children}
    files = [path for path in python_files(*ROOMS) if path != recorder]
    found = [each for path in files for each in imports(path) if each.package in COMPILERS]
    assert not objections(each for each in found if ROOT / each.file not in allowed or not each.lazy)
    ours = [each for path in files for each in imports(path) if module_file(each.module) == recorder]
    assert ours and not objections(each for each in ours if not each.lazy)


def test_a_worker_loads_only_the_standard_library_numpy_and_its_own_compiler() -> None:
    always = {"numpy", *sys.stdlib_module_names}

    def may(each: Import) -> bool:
        ours = each.package == "fuzz" and module_file(each.module) is not None
        lazily = {"ml_dtypes", *LAZILY.get(each.file, ())}
        behind = BEHIND.get(each.file) == each.package
        return each.package in always or ours or behind or (each.lazy and each.package in lazily)

    files = worker_side()
    doors = {(ROOT / file).relative_to(ROOT).with_suffix("").as_posix().replace("/", ".") for file in BEHIND}
    entered = [each for path in files for each in imports(path) if each.module.startswith(tuple(doors))]
    assert entered and not objections(each for each in entered if not each.lazy)
    assert ROOT / "fuzz/wire.py" in files
    assert not objections(each for path in files for each in imports(path) if not may(each))


@pytest.mark.parametrize("path", worker_side(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_worker_side_files_keep_to_the_syntax_of_python_3_8(path: Path) -> None:
    ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 8))
