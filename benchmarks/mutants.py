"""Figures of the mutator: its speed and how that grows, and what mutants do on compilers.

`python -m benchmarks.mutants speed [SEED [COUNT]]`: processor time of COUNT mutations (default: 1,000 of resnet18), the
last hundred beside the first hundred, and memory.

`python -m benchmarks.mutants compilers [COUNT [EVERY [SEED ...]]]`: oracle 3 on every EVERY-th of COUNT mutants of
each seed, on the compilers that work here. A correct compiler has no line that says wrong.

`python -m benchmarks.mutants quiet [COUNT [SEED|BACKEND.py ...]]`: COUNT mutants (default: 1,000) on ONNX Runtime and
OpenVINO, or on the backend files, in series of a hundred, each mutant one mutation more than the last. Every report
of a compiler that is right is a false one.
"""

from __future__ import annotations

import resource
import sys
import time
from collections import Counter

from fuzz import catalogue
from fuzz.limits import Limits
from fuzz.mutants import seeds
from fuzz.mutants.judging import Judge
from fuzz.mutants.mutator import CHOICES, Mutator
from fuzz.mutants.subject import Subject, seed_case, subject_of
from fuzz.runner import Runner

SEED = 2026
#: Seconds for 1,000 mutations of ResNet18, half of them per input, that issue 8 allows.
GOAL = 20.0
_SMALL = ("lstm", "transformer", "unet", "mobilenetv2", "resnet18")
_COMPILERS = ("onnxruntime", "openvino", "tvm")
#: Mutants of one series.
_SERIES = 100


def speed(name: str = "resnet18", count: int = 1000) -> None:
    """Processor time of the profile and of the mutations."""
    begun = time.process_time()
    with Runner(Limits(600, 8192), jobs=1) as runner:
        subject = subject_of(seed_case(name, SEED), runner)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    profiling = time.process_time() - begun + children.ru_utime + children.ru_stime
    for choice in CHOICES:
        _timed(subject, choice, count, profiling)


def _timed(subject: Subject, choice: str, count: int, profiling: float) -> None:
    mutant = subject.mutant()
    mutator = Mutator(mutant, subject.profile, SEED, choice=choice)
    seconds, kinds = [], Counter[str]()
    for _ in range(count):
        begun = time.process_time()
        kinds[mutator.mutate().guard] += 1
        seconds.append(time.process_time() - begun)
    hundred = min(100, count // 2)
    ratio = sum(seconds[-hundred:]) / sum(seconds[:hundred])
    begun = time.process_time()
    size = len(mutant.proto().SerializeToString())
    written = time.process_time() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{choice}: {count} mutations in {sum(seconds):.2f} s, profile {profiling:.2f} s (goal {GOAL:.0f} s); "
        f"last {hundred} / first {hundred} = {ratio:.2f}; {len(mutant.nodes)} nodes, {size / 1e6:.0f} MB, written in "
        f"{written:.2f} s; peak {peak:.0f} MB; distance {mutator.distance:.0f}; {dict(kinds)}; "
        f"rejected {dict(mutator.rejected)}"
    )


def compilers(count: int = 200, every: int = 10, *names: str) -> None:
    """Oracle 3 on compilers that are taken to be right: what it says of their mutants."""
    with Runner(Limits(120, 8192), jobs=1) as runner:
        working = [name for name in _COMPILERS if catalogue.probe(runner, name).available]
        for name in names or _SMALL:
            subject = subject_of(seed_case(name, SEED), runner)
            mutant = subject.mutant()
            mutator = Mutator(mutant, subject.profile, SEED)
            judges = {each: Judge(runner, subject.case, catalogue.target(each)) for each in working}
            found: dict[str, Counter[str]] = {each: Counter() for each in working}
            for each in [each for each in judges if judges[each].examine(subject.case).kind != "agrees"]:
                print(f"  {name} on {each}: left out, the seed does not run there")
                del judges[each]
            for number in range(1, count + 1):
                mutator.mutate()
                if number % every == 0:
                    case = subject.case_of(mutant, number)
                    for each, judge in judges.items():
                        finding = judge.examine(case)
                        found[each][finding.kind] += 1
                        if finding.kind != "agrees":
                            print(f"  {name}/{number} on {each}: {finding.kind}: {finding.detail}", flush=True)
            print(f"{name}: { ({each: dict(counts) for each, counts in found.items()}) }", flush=True)


def quiet(count: int = 1000, *names: str) -> None:
    """Reports among so many mutants, series after series over the seeds, each with another seed of its own."""
    files = [name for name in names if name.endswith(".py")]
    chosen = [name for name in names if name not in files] or ["lstm", "transformer", "unet"]
    found: dict[str, Counter[str]] = {name: Counter() for name in files or _COMPILERS[:2]}
    with Runner(Limits(120, 8192), jobs=1) as runner:
        for at, begun in enumerate(range(0, count, _SERIES)):
            name = chosen[at % len(chosen)]
            subject = subject_of(seed_case(name, SEED + at), runner)
            mutant = subject.mutant()
            mutator = Mutator(mutant, subject.profile, SEED + at)
            judges = {each: Judge(runner, subject.case, catalogue.target(each)) for each in found}
            for number in range(1, min(_SERIES, count - begun) + 1):
                mutator.mutate()
                case = subject.case_of(mutant, number)
                for each, judge in judges.items():
                    finding = judge.examine(case)
                    found[each][finding.kind] += 1
                    if finding.kind != "agrees":
                        print(
                            f"  {name}/{number}, series {at}, on {each}: {finding.kind}: {finding.detail}", flush=True
                        )
            print(
                f"after {begun + number} mutants: { ({each: dict(counts) for each, counts in found.items()}) }",
                flush=True,
            )


COMMANDS = {"speed": speed, "compilers": compilers, "quiet": quiet}

if __name__ == "__main__":
    arguments = [int(each) if each.isdigit() else each for each in sys.argv[2:]]
    named = [each for each in arguments if isinstance(each, str)]
    if sys.argv[1:2] not in [[each] for each in COMMANDS] or not {
        each for each in named if not each.endswith(".py")
    } <= {*seeds.names()}:
        raise SystemExit(__doc__)
    COMMANDS[sys.argv[1]](*arguments)  # type: ignore[operator]
