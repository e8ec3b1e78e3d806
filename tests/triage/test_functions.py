"""One function, as many tools spell it."""

from __future__ import annotations

import pytest

from triage.functions import demangle, function_name

SPELLINGS = {
    "tvm::relax::FuseOps": (
        "tvm::relax::FuseOps(tvm::IRModule, int)",
        "tvm::relax::FuseOps(tvm::IRModule, int) const",
        "void tvm::relax::(anonymous namespace)::FuseOps<int, std::vector<int> >(char) [clone .isra.0]",
        "tvm::relax::{anonymous}::FuseOps",
        "tvm::relax::`anonymous namespace'::FuseOps",
        "tvm::relax::FuseOps(int)::{lambda(int)#3}::operator()(int) const",
        "tvm::relax::FuseOps(int)::$_12::operator()() const",
        "std::vector<tvm::Expr> tvm::relax::FuseOps(int)",
        "tvm::relax::FuseOps[abi:cxx11](int)",
        "tvm::relax::FuseOps.cold",
        "tvm::relax::FuseOps.constprop.1.isra.0",
        "tvm::relax::FuseOps+0x1c",
        "_ZN3tvm5relax7FuseOpsENS_8IRModuleEi",
        "_ZN3tvm5relax12_GLOBAL__N_17FuseOpsEi",
        "_ZN3tvm5relax7FuseOpsIiSt6vectorIiSaIiEEEEvi",
        "_ZZN3tvm5relax7FuseOpsEiENKUlvE_clEv",
        "?FuseOps@relax@tvm@@YAXH@Z",
    ),
    "foo::bar": (
        "foo::bar::h0123456789abcdef",
        "foo::bar::{{closure}}",
        "_ZN3foo3bar17h0123456789abcdefE",
        "foo::bar<T>",
    ),
    "alloc::vec::Vec::index": ("<alloc::vec::Vec<T> as core::ops::Index<I>>::index",),
    "ns::A::operator_ltlt": ("ns::A::operator<<(int)", "std::ostream& ns::A::operator<<(ns::B const&)"),
    "ns::A::operator_lt": ("ns::A::operator<(ns::A const&) const",),
    "fused_conv2d_add": ("fused_conv2d_add_3", "fused_conv2d_add_17"),
    "Pad._impl_v19": ("Pad._impl_v19",),
    "operator new": ("operator new(unsigned long)",),
    "": ("", "??", "  "),
}


@pytest.mark.parametrize(("name", "spelling"), [(name, each) for name, found in SPELLINGS.items() for each in found])
def test_a_function_has_one_name_however_it_is_spelled(name: str, spelling: str) -> None:
    assert function_name(spelling) == name


def test_a_name_stays_as_it_is() -> None:
    for name in ("main", "tvm::relax::FuseOps", "<module>", "<signal handler called>", "_impl_v13", "conv2d"):
        assert function_name(name) == name


def test_what_is_no_mangled_name_is_left_alone() -> None:
    assert [demangle(text) for text in ("main", "_Z", "_ZN", "_Z9", "")] == ["main", "_Z", "_ZN", "_Z9", ""]


def test_hostile_names_are_cut_and_read() -> None:
    for text in (
        "<" * 90_000,
        "(" * 90_000,
        "_ZN" + "I" * 90_000,
        "_ZN9999999999a",
        "a<" * 9_000,
        "?" * 9_000,
        "a::" * 9_000,
    ):
        assert len(function_name(text)) <= 2_000


@pytest.mark.parametrize("name", ["acme::lower_pad_12", "fold_7", "Min_8::Compute"])
def test_a_number_in_a_name_that_people_wrote_tells(name: str) -> None:
    assert function_name(name) == name


@pytest.mark.parametrize("name", ["main_kernel_{}", "tvmgen_default_fused_add_{}", "fused_computation_{}"])
def test_a_running_number_of_what_a_compiler_made_tells_nothing(name: str) -> None:
    assert function_name(name.format(3)) == function_name(name.format(44))
