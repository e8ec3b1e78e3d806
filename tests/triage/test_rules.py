"""The rules of data/signatures, and how a broken file of them is told."""

from __future__ import annotations

import re
import tomllib
from itertools import chain
from pathlib import Path

import pytest

from fuzz.data import data_path
from triage.rules import RuleError, read, rules

FILES = sorted(data_path("signatures").glob("*.toml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_rule_that_takes_something_away_says_why(path: Path) -> None:
    table = tomllib.loads(path.read_text())
    for name in ("drop", "mask", "wording", "prefix", "chatter", "aside", "ignore", "shared", "namesake", "end"):
        assert all(rule.get("why") for rule in table.get(name, ()))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[drop]", "is not TOML"),
        ("[[dorp]]\npattern = 'a'", "there is no table"),
        ("[[drop]]\nwhy = 'a'", "a rule without pattern"),
        ("[[drop]]\npattern = '('", "is no regular expression"),
        ("[[mask]]\npattern = 'a'", "a mask without by"),
        ("[[ignore]]\nkind = 'odd'\nfile = 'a'", "kind is one of panic, runtime, framework"),
        ("[[chatter]]\npattern = '['", "is no regular expression"),
        ("[[ignore]]\nkind = 'panic'\nfile = '(?:a'", "is no regular expression"),
        ("[[own]]\nfile = 'a)'\nname = 'a'\nwords = 'a'\ncalled = 'a'", "is no regular expression"),
        ("[[ignore]]\nkind = 'panic'", "needs file or function"),
        ("[[shared]]\nwhy = 'a'", "needs file or function"),
        ("[[converting]]\npattern = 'no group'", "names no group operator"),
        ("[[operator]]\npattern = 'no group'", "names no group operator"),
    ],
)
def test_a_broken_rule_is_named_with_its_file(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "x.toml").write_text(text)
    with pytest.raises(RuleError, match=re.escape(f"{tmp_path / 'x.toml'}: ") + ".*" + re.escape(said)):
        read(tmp_path)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_pattern_is_one_by_itself(path: Path) -> None:
    """Most are compiled joined with others: there a bracket too many in one may close what another opens."""
    keys = ("pattern", "file", "function", "name", "words", "called")
    for rule in chain.from_iterable(tomllib.loads(path.read_text()).values()):
        for key in keys:
            re.compile(rule.get(key, ""))


def test_a_frame_may_be_ignored_by_file_by_function_or_by_both(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(
        "[[ignore]]\nkind = 'panic'\nfunction = '^die$'\n[[ignore]]\nkind = 'runtime'\nfile = 'lib/'\n"
        "[[ignore]]\nkind = 'framework'\nfile = 'a.py'\nfunction = '^run$'\n"
    )
    ignored = read(tmp_path).ignored
    assert [ignored.function(name) for name in ("die", "run", "f")] == ["panic", "", ""]
    assert [ignored.file(path) for path in ("lib/x.py", "a.py")] == ["runtime", ""]
    assert [(kind, bool(file.search("a.py")), bool(file.search("b.py"))) for kind, file in ignored.within("run")] == [
        ("framework", True, False)
    ]
    assert ignored.within("f") == ()


DYING = ("abort", "__GI_raise", "__assert_fail", "std::terminate", "__cxa_throw", "core::panicking::panic_fmt")
DYING += ("c10::Error::Error", "tvm::runtime::detail::LogFatal::Entry", "ov::Exception::create", "ns::ThrowError")
DYING += ("tvm::relax::BlockBuilderImpl::ReportFatal",)
TELLING = (
    "ov::op::v1::Convolution::evaluate",
    "tvm::relax::FuseOps",
    "onnxruntime::Gemm::Compute",
    "at::native::copy_",
)
TELLING += (
    "Pad._impl_v19",
    "raise_to_power",
    "Reshape::check_bounds",
    "mlir::tensor::foldExtract",
    "abort_if_empty_axis",
)


def test_frames_about_dying_tell_nothing_and_those_of_compilers_tell() -> None:
    kind = rules().ignored.function
    assert {name: kind(name) for name in DYING if kind(name) != "panic"} == {}
    assert {name: kind(name) for name in TELLING if kind(name)} == {}
