"""What a zygote has imported before it forks: a job that imports a compiler itself costs seconds each time."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
#: backend -> (kind, what must be imported, what must not: half a gigabyte that most jobs do not need)
EXPECTED = [
    ("reference", "", {"onnx.reference"}, {"torch"}),
    ("reference", "instance", {"onnx.reference", "torch"}, set()),
    ("onnxruntime", "", {"onnxruntime"}, {"torch"}),
    ("openvino", "", {"openvino"}, {"torch"}),
    ("openvino", "instance", {"openvino", "torch", "torch.export._trace"}, set()),
    ("tvm", "", {"tvm", "tvm.relax.frontend.onnx"}, set()),  # it imports torch itself where torch is installed
    ("tvm", "instance", {"tvm.relax.frontend.torch", "torch", "torch.export._trace"}, set()),
    ("inductor", "", {"torch._inductor.compile_fx"}, set()),
]


@pytest.mark.parametrize(("backend", "kind", "present", "absent"), EXPECTED)
def test_warming_imports_the_compiler_and_no_more(backend, kind, present, absent):
    script = f"import sys, fuzz.backends.{backend} as b; b.warm()\n"
    script += f"b.warm_{kind}()\n" if kind else ""
    script += "print(*sys.modules, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True)
    imported = set(done.stdout.splitlines())
    assert present <= imported
    assert not absent & imported
