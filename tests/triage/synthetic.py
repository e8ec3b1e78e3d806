"""Synthetic failures with known bugs, for the grouping's tests and its benchmark.

A *world* is a set of bugs; a *printer* writes one failure down as some tool would, with the noise of that tool. The
difficulties are those that issue 3 names, each a family of bugs below: one message at several stacks, one stack with
several messages, one bug with three messages, the operator as noise and as identity, traces truncated or missing,
and everywhere drifting lines, addresses, paths, thread numbers, inlined and recursive frames, templates and lambdas;
scripts of any name at the outer end; traces that a terminal, a test runner or a mail has put something before, and
messages that somebody clipped beside a trace that has them whole.

Nothing here knows how the grouping works; the styles differ in their frames, their noise and their shares.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

OPERATORS = (
    "Conv",
    "ConvTranspose",
    "MaxPool",
    "AveragePool",
    "Gemm",
    "MatMul",
    "Softmax",
    "LayerNormalization",
    "Resize",
    "GatherND",
    "ScatterElements",
    "TopK",
    "NonMaxSuppression",
    "Einsum",
    "LSTM",
    "GRU",
    "Attention",
    "QLinearConv",
    "DequantizeLinear",
    "CumSum",
    "RoiAlign",
    "GridSample",
    "OneHot",
    "Expand",
    "ReduceLogSum",
    "InstanceNormalization",
    "DepthToSpace",
    "Trilu",
    "Unique",
    "Hardmax",
    "Mish",
    "Celu",
    "Bernoulli",
    "Det",
)
NOUNS = (
    "buffer",
    "stride",
    "axis",
    "layout",
    "tensor",
    "rank",
    "operand",
    "constant",
    "attribute",
    "block",
    "iterator",
    "loop",
    "index",
    "primitive",
    "kernel",
    "region",
    "tile",
    "predicate",
    "descriptor",
    "handle",
    "schedule",
    "binding",
    "allocation",
    "signature",
    "storage",
    "scope",
    "extent",
    "partition",
    "token",
)
VERBS = (
    "fold",
    "lower",
    "fuse",
    "legalize",
    "infer",
    "convert",
    "split",
    "merge",
    "vectorize",
    "tile",
    "emit",
    "bind",
    "normalize",
    "rewrite",
    "partition",
    "hoist",
)
TRAITS = (
    "undefined",
    "negative",
    "mismatched",
    "overlapping",
    "unaligned",
    "dynamic",
    "missing",
    "duplicated",
    "truncated",
    "foreign",
    "stale",
    "cyclic",
)
EXCEPTIONS = ("ValueError", "RuntimeError", "InternalError", "TypeError", "KeyError", "AssertionError", "IndexError")


@dataclass(frozen=True)
class Spot:
    """One frame of a bug: a function in a file, its line before any drift."""

    function: str
    file: str
    line: int


@dataclass(frozen=True)
class Bug:
    """One bug: its stack (innermost first), its messages, and how its failures look otherwise."""

    label: str
    stack: tuple[Spot, ...]
    messages: tuple[str, ...]
    exception: str
    symptom: str
    operators: tuple[str, ...]


@dataclass(frozen=True)
class Style:
    """How a world's failures are written down, and how often they are damaged."""

    name: str
    writers: str  # those of WRITERS
    python: bool = False
    missing: float = 0.08
    truncated: float = 0.08
    inlined: float = 0.04
    drift: int = 6
    logged: float = 0.1  # what a terminal, a launcher or a mail did to a trace
    clipped: float = 0.05
    shares: tuple[int, ...] = (8, 4, 3, 3, 3, 2, 2)  # of the families, in the order of FAMILIES
    skew: float = 0.6  # how unequal the bugs' numbers of failures are
    alike: str = "operator line exception"  # what tells two bugs with one stack apart


STYLES = (
    Style("native", "native"),
    Style("importer", "python", python=True, missing=0.12, drift=25, skew=1.0, alike="line exception"),
    Style("sparse", "native", missing=0.25, truncated=0.12, drift=3, skew=0.3, alike="operator"),
    Style("lists", "lists", missing=0.15, inlined=0.0, skew=0.8, alike="operator exception"),
)


@dataclass
class _World:
    """Draws the parts of bugs, each name once."""

    draw: random.Random
    style: Style
    used: set[str] = field(default_factory=set)
    bugs: list[Bug] = field(default_factory=list)

    def name(self, make: Callable[[], str]) -> str:
        while (found := make()) in self.used:
            pass
        self.used.add(found)
        return found

    def spot(self) -> Spot:
        verb, noun, other = self.draw.choice(VERBS), self.draw.choice(NOUNS), self.draw.choice(NOUNS)
        line = self.draw.randint(40, 3_000)
        if self.style.python:
            function = self.name(
                lambda: f"_{self.draw.choice(VERBS)}_{self.draw.choice(NOUNS)}_{self.draw.choice(NOUNS)}"
            )
            return Spot(function, f"compiler/{verb}/{noun}_{other}.py", line)
        space = self.draw.choice(("tvm::relax", "ov::op", "onnxruntime", "at::native", "mlir::linalg", "xla::cpu"))
        pick = self.draw.choice
        function = self.name(
            lambda: f"{space}::{pick(VERBS).title()}{pick(NOUNS).title()}::{pick(VERBS).title()}{pick(NOUNS).title()}"
        )
        return Spot(function, f"src/{space.split('::')[0]}/{verb}/{noun}_{other}.cc", line)

    def message(self) -> str:
        pick = self.draw.choice

        def make() -> str:
            noun, other, verb, trait = pick(NOUNS), pick(NOUNS), pick(VERBS), pick(TRAITS)
            return pick(
                (
                    f"{noun.title()} {other} is {trait}: expected {{n}} but got {{n}}",
                    f"Check failed: ({noun}->{other}.{trait}()) is false: cannot {verb} {{shape}} into {{shape}}",
                    f"cannot {verb} {trait} {noun} of {{dtype}} with {{dtype}} {other}",
                    f"Assertion `{noun}_{other} != {trait}' failed at {{address}}",
                    f"{trait} {noun} while trying to {verb} the {other} of {{value}} ({{n}} of {{n}})",
                    f"{verb} {noun}: {other} {{value}} has {trait} shape {{shape}}",
                )
            )

        return self.name(make)

    def shared(self, least: int = 2) -> tuple[Spot, ...]:
        """The outer frames that several bugs have in common."""
        return tuple(self.draw.sample(self.outer, self.draw.randint(least, 4)))

    @property
    def outer(self) -> list[Spot]:
        if not hasattr(self, "_outer"):
            self._outer = [self.spot() for _ in range(12)]
        return self._outer

    def bug(self, **known: Any) -> Bug:
        fields = {
            "label": f"bug-{len(self.bugs)}",
            "stack": (*(self.spot() for _ in range(self.draw.randint(1, 3))), *self.shared()),
            "messages": (self.message(),),
            "exception": self.draw.choice(EXCEPTIONS),
            "symptom": "crash",
            "operators": (self.draw.choice(OPERATORS),),
        }
        self.bugs.append(Bug(**(fields | known)))
        return self.bugs[-1]


def _plain(world: _World) -> None:
    world.bug()


def _one_message_many_stacks(world: _World) -> None:
    message, exception, outer = world.message(), world.draw.choice(EXCEPTIONS), world.shared()
    for _ in range(world.draw.randint(2, 4)):
        world.bug(messages=(message,), exception=exception, stack=(world.spot(), world.spot(), *outer))


def _one_stack_many_messages(world: _World) -> None:
    stack = (world.spot(), *world.shared())
    alike = world.style.alike.split()
    operators = world.draw.sample(OPERATORS, 3)
    exceptions = world.draw.sample(EXCEPTIONS, 3)
    kind = world.draw.choice(alike)
    for at in range(world.draw.randint(2, 3)):
        moved = replace(stack[0], line=stack[0].line + 400 * at) if kind == "line" else stack[0]
        world.bug(
            stack=(moved, *stack[1:]),
            operators=(operators[at],) if kind == "operator" else tuple(operators),
            exception=exceptions[at] if kind == "exception" else exceptions[0],
        )


def _three_messages(world: _World) -> None:
    several = tuple(world.draw.sample(OPERATORS, world.draw.randint(1, 4)))
    world.bug(messages=tuple(world.message() for _ in range(3)), operators=several)


def _operator_is_noise(world: _World) -> None:
    message = world.draw.choice(("{message} (operator {op})", "Error converting operator {op}: {message}", "{message}"))
    world.bug(messages=(message.replace("{message}", world.message()),), operators=tuple(OPERATORS))


def _operator_is_identity(world: _World) -> None:
    for operator in world.draw.sample(OPERATORS, 3):
        if any(bug.symptom == "wrong results" and bug.operators == (operator,) for bug in world.bugs):
            continue
        world.bug(stack=(), messages=("wrong result",), exception="", symptom="wrong results", operators=(operator,))


def _operator_is_told(world: _World) -> None:
    """Only frames that every failure passes through; the message says which operator it is about."""
    through = (Spot("compiler::CheckFailed", "src/check.cc", 12), Spot("importer::ConvertNode", "src/importer.cc", 88))
    message = world.message()
    for operator in world.draw.sample(OPERATORS, 3):
        world.bug(stack=through, messages=(f"no conversion for operator {operator}: {message}",), operators=(operator,))


FAMILIES: tuple[Callable[[_World], None], ...] = (
    _plain,
    _one_message_many_stacks,
    _one_stack_many_messages,
    _three_messages,
    _operator_is_noise,
    _operator_is_identity,
    _operator_is_told,
)


def failures(seed: int, count: int, style: Style, bugs: int = 150) -> Iterator[tuple[dict[str, Any], str]]:
    """`count` failures of a world of about `bugs` bugs, as the lines of a file, each with the bug's label."""
    draw = random.Random(f"{style.name} {seed}")
    world = _World(draw, style)
    while len(world.bugs) < bugs:
        draw.choices(FAMILIES, style.shares)[0](world)
    weights = [1 / (rank + 1) ** style.skew for rank in range(len(world.bugs))]
    draw.shuffle(weights)
    for number, bug in enumerate(draw.choices(world.bugs, weights, k=count)):
        yield {"id": f"{seed}-{number}", **_written(draw, bug, style)}, bug.label


def _written(draw: random.Random, bug: Bug, style: Style) -> dict[str, Any]:
    operator = draw.choice(bug.operators)
    message = _filled(draw, draw.choice(bug.messages), operator)
    line: dict[str, Any] = {"message": message, "symptom": bug.symptom, "operator": operator}
    if bug.exception:
        line["exception"] = bug.exception
    if not bug.stack or draw.random() < style.missing:
        return line
    stack = list(bug.stack)
    if draw.random() < style.inlined:
        del stack[draw.randrange(len(stack))]
    if draw.random() < 0.05:
        stack[1:1] = stack[:2] * draw.randint(1, 9)  # recursion
    stack = [replace(spot, line=spot.line + draw.randint(0, style.drift)) for spot in stack]
    cut = draw.random() < style.truncated
    key, written = draw.choice(WRITERS[style.writers])(draw, stack, bug, message, cut)
    if key == "trace" and draw.random() < style.logged:
        written = _logged(draw, written)
    if message in written and len(message) > 60 and draw.random() < style.clipped:
        line["message"] = message[: draw.randint(45, len(message) - 1)]
    line[key] = written
    return line


def _logged(draw: random.Random, text: str) -> str:
    """A trace as it stands in somebody's log."""
    number, lines = draw.randint(1, 99), text.split("\n")
    before = draw.choice(
        (
            lambda at: f"{number}: ",
            lambda at: "> ",
            lambda at: "        ",
            lambda at: f"#{number} {number + at / 100:.2f} ",
            lambda at: f"[rank{number}]: ",
            lambda at: f"2026-02-03T10:11:{10 + at % 50}.{draw.randint(0, 999_999):06}Z ",
            lambda at: "",
        )
    )
    end = draw.choice(("\n", "\r\n"))
    return end.join(before(at) + line for at, line in enumerate(lines))


def _filled(draw: random.Random, template: str, operator: str) -> str:
    def shape() -> str:
        return "[" + ", ".join(str(draw.randint(1, 64)) for _ in range(draw.randint(1, 4))) + "]"

    for slot, fill in (
        ("{n}", lambda: str(draw.randint(-3, 4_000))),
        ("{shape}", shape),
        ("{dtype}", lambda: draw.choice(("float32", "int64", "f16", "bfloat16", "uint8"))),
        ("{address}", lambda: hex(draw.getrandbits(47))),
        (
            "{value}",
            lambda: draw.choice((f"%{draw.randint(0, 99)}", f"lv{draw.randint(0, 99)}", f"node_{draw.randint(0, 99)}")),
        ),
        ("{op}", lambda: operator),
    ):
        while slot in template:
            template = template.replace(slot, fill(), 1)
    return template


def _script(draw: random.Random) -> str:
    return draw.choice(("run.py", f"{draw.choice(NOUNS)}_{draw.randint(1, 99)}.py", f"test_{draw.choice(NOUNS)}.py"))


def _folder(draw: random.Random) -> str:
    return draw.choice(
        ("/build/", f"/home/u{draw.randint(1, 99)}/src/", f"/tmp/tmp{draw.getrandbits(32):08x}/", "/project/")
    )


def _decorated(draw: random.Random, function: str) -> str:
    """One function as another build's tools print it."""
    space, _, last = function.rpartition("::")
    return draw.choice(
        (
            f"{function}(tvm::Expr const&, int)",
            f"{function}<float, {draw.randint(1, 8)}>(std::vector<int, std::allocator<int> > const&)",
            f"void {space}::(anonymous namespace)::{last}(int) [clone .isra.{draw.randint(0, 9)}]",
            f"{function}(int)::{{lambda(int)#{draw.randint(1, 9)}}}::operator()(int) const",
            function,
        )
    )


def _mangled(function: str) -> str:
    return "_ZN" + "".join(f"{len(part)}{part}" for part in function.split("::")) + "ERKNS_4ExprEi"


def _gdb(draw: random.Random, stack: list[Spot], bug: Bug, message: str, cut: bool) -> tuple[str, str]:
    frames = ["raise () from /lib/libc.so.6", "abort () from /lib/libc.so.6"]
    frames += [
        f"{_decorated(draw, s.function)} (this=0x{draw.getrandbits(44):x}) at {_folder(draw)}{s.file}:{s.line}"
        for s in stack
    ]
    frames += [
        "std::thread::_Invoker<void>::operator() ()",
        "start_thread () from /lib/libpthread.so.0",
        "clone () from /lib/libc.so.6",
    ]
    lines = [f"#{at}  0x{draw.getrandbits(47):016x} in {text}" for at, text in enumerate(frames)]
    lost = draw.choice((slice(3, None), slice(None, 4))) if cut else slice(None)
    return "trace", f"Thread {draw.randint(1, 99)} received signal SIGABRT, Aborted.\n" + "\n".join(lines[lost])


def _sanitizer(draw: random.Random, stack: list[Spot], bug: Bug, message: str, cut: bool) -> tuple[str, str]:
    lines = []
    for at, s in enumerate(stack):
        place = f"{_folder(draw)}{s.file}:{s.line}:{draw.randint(1, 80)}"
        lines.append(f"    #{at} 0x{draw.getrandbits(47):x} in {_decorated(draw, s.function)} {place}")
    lines.append(
        f"    #{len(lines)} 0x{draw.getrandbits(47):x} in __libc_start_main (/lib/libc.so.6+0x{draw.getrandbits(16):x})"
    )
    kept = lines[1:] if cut and draw.random() < 0.5 else lines[:2] if cut else lines
    return (
        "trace",
        f"=={draw.randint(1, 99999)}==ERROR: AddressSanitizer: SEGV on unknown address 0x{draw.getrandbits(40):x}\n"
        + "\n".join(kept),
    )


def _glibc(draw: random.Random, stack: list[Spot], bug: Bug, message: str, cut: bool) -> tuple[str, str]:
    symbols = ["_ZN3tvm7runtime6detail8LogFatal5EntryC1Ev", *(_mangled(s.function) for s in stack), "__libc_start_main"]
    lines = [
        f"/usr/lib/libcompiler.so({symbol}+0x{draw.getrandbits(12):x}) [0x{draw.getrandbits(47):x}]"
        for symbol in symbols
    ]
    return "trace", "\n".join(lines[: 3 if cut else None])


def _numbered(draw: random.Random, stack: list[Spot], bug: Bug, message: str, cut: bool) -> tuple[str, str]:
    lines = ["Stack trace:"]
    for at, s in enumerate(stack):
        lines += [f"  {at}: {_decorated(draw, s.function)}", f"        at {_folder(draw)}{s.file}:{s.line}"]
    return "trace", "\n".join(lines[: 5 if cut else None])


def _objects(
    draw: random.Random, stack: list[Spot], bug: Bug, message: str, cut: bool
) -> tuple[str, list[dict[str, Any]]]:
    outer = [Spot("main", "app/main.cc", 10)]
    kept = [*stack, *outer][1:] if cut else [*stack, *outer]
    return "frames", [{"file": _folder(draw) + s.file, "line": s.line, "function": s.function} for s in reversed(kept)]


def _traceback(draw: random.Random, stack: list[Spot], bug: Bug, message: str, cut: bool) -> tuple[str, str]:
    outer = [Spot("<module>", _script(draw), 3), Spot("from_onnx", "tvm/relax/frontend/onnx/onnx_frontend.py", 6798)]
    lines = ["Traceback (most recent call last):"]
    for s in [*outer, *reversed(stack)]:
        lines += [
            f'  File "{_folder(draw)}site-packages/{s.file}", line {s.line}, in {s.function}',
            f"    return {s.function}(bb, inputs)",
        ]
    if cut:
        return "trace", "\n".join(lines[: -draw.choice((1, 2, 3))])
    return "trace", "\n".join([*lines, f"{bug.exception}: {message}"])


def _mixed(draw: random.Random, stack: list[Spot], bug: Bug, message: str, cut: bool) -> tuple[str, str]:
    """Python down to the bridge, then the bridge's and the raising frames that tell nothing."""
    key, text = _traceback(draw, stack, bug, message, False)
    *frames, last = text.split("\n")
    bridge = '  File "python/tvm_ffi/cython/function.pxi", line 1038, in tvm_ffi.core.Function.__call__'
    return key, "\n".join(
        [*frames, bridge, last] if not cut else [frames[0], "  [truncated]", *frames[5:], bridge, last]
    )


def _python_objects(
    draw: random.Random, stack: list[Spot], bug: Bug, message: str, cut: bool
) -> tuple[str, list[dict[str, Any]]]:
    outer = [Spot("build", "tvm/driver/build_module.py", 105), Spot("<module>", _script(draw), 3)]
    kept = stack[:2] if cut else [*stack, *outer]
    return "frames", [{"file": _folder(draw) + s.file, "line": s.line, "function": s.function} for s in reversed(kept)]


def _strings(draw: random.Random, stack: list[Spot], bug: Bug, message: str, cut: bool) -> tuple[str, list[str]]:
    """Bare functions, innermost first: nothing says which end is which."""
    kept = [s.function for s in stack][: 2 if cut else None]
    return "frames", [*kept, "compiler::ConvertGraph", "main"]


Writer = Callable[[random.Random, list[Spot], Bug, str, bool], tuple[str, Any]]
WRITERS: dict[str, tuple[Writer, ...]] = {
    "native": (_gdb, _sanitizer, _glibc, _numbered, _objects),
    "python": (_traceback, _mixed, _python_objects),
    "lists": (_strings,),
}


def adjusted_rand(one: Sequence[str], other: Sequence[str]) -> float:
    """The adjusted Rand index of two clusterings (Hubert and Arabie 1985): 1 for equal ones, about 0 for chance."""

    def pairs(labels: Iterable[object]) -> int:
        return sum(math.comb(count, 2) for count in Counter(labels).values())

    both, first, second = pairs(zip(one, other, strict=True)), pairs(one), pairs(other)
    expected = first * second / math.comb(len(one), 2)
    most = (first + second) / 2
    return 1.0 if most == expected else (both - expected) / (most - expected)
