"""From changed lines to operators."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.builds import tinyc
from triage.revisions.git import Repository
from triage.suite import changed
from triage.suite.changed import BadLines, Lines, Place, given, touched

DIFF = """diff --git a/frontend.py b/frontend.py
--- a/frontend.py
+++ b/frontend.py
@@ -10 +10,2 @@ class Resize
-old
+new
+newer
@@ -30,2 +31,0 @@
-gone
-gone too
diff --git a/old.cpp b/old.cpp
--- a/old.cpp
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git a/op/new.cpp b/op/new.cpp
--- /dev/null
+++ b/op/new.cpp
@@ -0,0 +1,2 @@
+one
+two
"""

FRONTEND = """
class OnnxOpConverter:
    pass

def pad_of(value):
    return value

def aligned(value):
    return pad_of(value)

class Pool(OnnxOpConverter):
    name = ""

class AveragePool(Pool):
    name = "avg_pool2d"

class MaxPool(Pool):
    name = "max_pool2d"

class Sum(OnnxOpConverter):
    @classmethod
    def _impl_v1(cls, inputs):
        return aligned(inputs)

def _get_convert_map():
    return {"AveragePool": AveragePool, "MaxPool": MaxPool.get_converter(1), "SumOf": Sum}
"""


def line(text: str) -> int:
    return next(at for at, each in enumerate(FRONTEND.splitlines(), 1) if text in each)


def at(*texts: str) -> list[Lines]:
    return [Lines("frontend.py", tuple((line(text), line(text)) for text in texts))]


def test_a_diff_tells_the_lines_of_the_new_files() -> None:
    assert changed.parse_diff(DIFF) == [Lines("frontend.py", ((10, 11), (31, 32))), Lines("op/new.cpp", ((1, 2),))]
    assert changed.parse_diff("") == []


def test_added_and_removed_lines_that_look_like_headers_are_lines() -> None:
    diff = (
        "--- a/a.py\n+++ b/a.py\n@@ -3,2 +3,2 @@\n--- a/gone.py\n-@@ -1 +1 @@\n"
        "+++ b/other.py\n+@@ -1,2 +50,60 @@\n\\ No newline at end of file\n"
        "@@ -9,0 +10 @@ def f():\n+a page\x0c+++ b/page.py\n"
    )
    assert changed.parse_diff(diff) == [Lines("a.py", ((3, 4), (10, 10)))]


def test_context_around_changed_lines_does_not_end_a_hunk() -> None:
    diff = (
        "--- a/a.py\n+++ b/a.py\n@@ -1,3 +1,4 @@\n one\n\n+++ b/b.py\n two\n"
        "--- a/c.py\n+++ b/c.py\n@@ -1 +1 @@\n-x\n+y\n"
    )
    assert changed.parse_diff(diff) == [Lines("a.py", ((1, 4),)), Lines("c.py", ((1, 1),))]


def test_files_are_given_with_or_without_lines() -> None:
    assert given("a/b.py") == Lines("a/b.py")
    assert given("a/b.py:7") == Lines("a/b.py", ((7, 7),))
    assert given("a/b.py:7-9") == Lines("a/b.py", ((7, 9),))
    assert given("odd:name.py") == Lines("odd:name.py")
    assert given("op/odd:name.py:7") == Lines("op/odd:name.py", ((7, 7),))


@pytest.mark.parametrize(
    "text", ["a.py:abc", "a.py:", "a.py:7-", "a.py:7,9", "a.py:9-7", "a.py:0", "a.cpp:1.5", "", ":7"]
)
def test_lines_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(BadLines, match="FILE, FILE:LINE or FILE:FIRST-LAST"):
        given(text)


@pytest.mark.parametrize(
    ("text", "operators"),
    [
        ('name = "max_pool2d"', {"maxpool"}),
        ('name = ""', {"averagepool", "maxpool"}),
        ("return aligned(inputs)", {"sumof"}),
        ("return value", {"sumof"}),  # by a helper of a helper
        ("class OnnxOpConverter", {"averagepool", "maxpool", "sumof"}),
    ],
)
def test_the_classes_around_changed_lines_tell_the_operators(text: str, operators: set[str]) -> None:
    assert set(touched(at(text), {"frontend.py": FRONTEND})) == operators


def test_the_place_is_the_changed_lines_inside_the_class() -> None:
    first = line('name = "avg_pool2d"')
    change = Lines("frontend.py", ((first, first + 40),))
    places = touched([change], {"frontend.py": FRONTEND})
    assert places["averagepool"] == Place("frontend.py", first, first)


def test_a_python_file_that_cannot_be_parsed_or_read_tells_by_its_name() -> None:
    assert touched([Lines("op/resize.py")], {"op/resize.py": "class ("}) == {"resize": Place("op/resize.py")}
    assert set(touched([Lines("op/resize.py")], {})) == {"resize"}


def test_the_name_of_any_other_file_is_that_of_its_operator() -> None:
    change = Lines("src/frontends/onnx/frontend/src/op/layer_normalization.cpp", ((40, 44),))
    assert touched([change], {}) == {"layernormalization": Place(change.path, 40, 44)}


def test_a_commit_tells_what_it_touches(tmp_path: Path) -> None:
    commits = tinyc.repository(tmp_path, [tinyc.sources(), tinyc.sources("sub swaps"), {"tinyc/notes.md": "x"}])
    repository = Repository(tmp_path)
    changes = changed.from_git(repository, commits[0], commits[1])
    places = touched(changes, changed.texts(repository, commits[1], changes))
    assert set(places) == {"sub"}
    text = repository.text(commits[1], "tinyc/frontend.py").splitlines()
    assert "return y - x" in text[places["sub"].first - 1]
    assert changed.from_git(repository, commits[0], commits[0]) == []


def test_lines_of_tvms_own_frontend_tell_the_operator() -> None:
    found = importlib.util.find_spec("tvm")
    assert found is not None and found.origin is not None
    path = Path(found.origin).parent / "relax" / "frontend" / "onnx" / "onnx_frontend.py"
    text = path.read_text(encoding="utf-8")
    number = next(at for at, each in enumerate(text.splitlines(), 1) if each.startswith("class GatherElements"))
    assert set(touched([Lines("f.py", ((number + 1, number + 1),))], {"f.py": text})) == {"gatherelements"}
