"""Foreign text in a public issue: nothing private, nothing that GitHub acts upon."""

from __future__ import annotations

import re

import pytest

from triage.scrub import code, fence, leaks, prose, scrub, spoken


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("/home/bob/v/lib/python3.11/site-packages/tvm/a.py:12", "tvm/a.py:12"),
        ('File "/opt/lib/python3.11/asyncio/a.py"', 'File "asyncio/a.py"'),
        ("/home/jenkins/agent/ov/src/frontends/onnx/op/abs.cpp:12", "src/frontends/onnx/op/abs.cpp:12"),
        ("/onnxruntime_src/onnxruntime/core/graph.cc:1", "onnxruntime/core/graph.cc:1"),
        ("C:\\Users\\bob\\x\\site-packages\\foo\\b.cc", "foo\\b.cc"),
        ("in /home/bob", "in ~"),
        ("path:/Users/bob/x.onnx", "path:~/x.onnx"),
        ("file:///home/bob/x.py", "~/x.py"),
        ("/home/bob/secret/x.py", "x.py"),
        ("'/var/folders/zz/model.onnx'", "'model.onnx'"),
        ("mail bob@example.com", "mail <address>"),
        ("https://u:secret@host/x", "https://host/x"),
        ("ghp_0123456789abcdefghij", "<token>"),
        ("at 0x7f8a3b2c1d", "at 0x…"),
        ("\x1b[31mred\x1b[0m\x07\u202e", "red"),
    ],
)
def test_what_is_private_is_taken_out(text: str, wanted: str) -> None:
    assert scrub(text) == wanted


@pytest.mark.parametrize(
    "text", ["1/2/3", "x = 3 / 4 / 5", "https://github.com/a/b", "a/b/c.py", "tvm@0.27.0", "version 2026.4.1", "// a"]
)
def test_what_is_public_is_kept(text: str) -> None:
    assert scrub(text) == text


def test_given_names_are_taken_out_as_whole_words_only() -> None:
    assert scrub("vm-7 and vm-77 by alice, root", ["vm-7", "alice", "root"]) == "<name> and vm-77 by <name>, root"


def test_scrubbing_a_long_hostile_text_ends() -> None:
    text = "/" * 60_000 + "a/" * 30_000 + "." * 10_000
    assert len(scrub(text)) <= len(text)


@pytest.mark.parametrize("text", ["```", "a ```` b", "", "</details>", "~~~"])
def test_a_fence_cannot_be_closed_from_inside(text: str) -> None:
    first, *inside, last = fence(text, "text").splitlines()
    mark = first.removesuffix("text")
    assert set(mark) == {"`"} and last == mark and mark not in "\n".join(inside)


@pytest.mark.parametrize("text", ["a`b", "``", "`", "a\n\nb", "", "@all #1", "a" * 999])
def test_an_inline_span_cannot_be_closed_from_inside(text: str) -> None:
    span = code(text)
    mark = re.match("`+", span).group()  # type: ignore[union-attr]
    inner = span[len(mark) : -len(mark)]
    assert span.endswith(mark) and "\n" not in span and inner.strip()
    assert len(mark) not in [len(run) for run in re.findall("`+", inner)]


def test_prose_triggers_nothing() -> None:
    shown = prose(
        "@octocat Fixes #1, GH-2 </details> <!-- x --> **b** [l](u)\n\n# head $x$ https://github.com/o/r/pull/1"
    )
    for live in ("@octocat", "#1", "GH-2", " </", " <!", "**b", " [l", " $x", "github.com", "\n"):
        assert live not in shown


def test_hidden_markers_cannot_be_planted() -> None:
    assert "<!--" not in scrub("<!-- graphwarden:bug:0 -->")


def test_what_is_private_in_a_finished_text_is_found_and_names_of_nodes_are_not() -> None:
    said = 'make_node("Add", ["/encoder/layer.0/Add_1", "/home/alice/x.onnx"]) on testhost, mail bob@example.com'
    assert sorted(leaks(said, ["testhost", "root", "ab"])) == ["/home/alice", "bob@example.com", "testhost"]
    assert leaks("model/layer /encoder/Add\nresult of the root node", ["root", "host"]) == []


def test_code_in_a_sentence_stays_code_and_the_rest_is_escaped() -> None:
    assert spoken("Without `a_b` the *same* model passes.") == "Without `a_b` the \\*same\\* model passes."
    assert spoken("one ` alone @octocat") == prose("one ` alone @octocat")
    assert "@octocat" not in spoken("`` @octocat ``").replace("`@octocat`", "")
