"""From a bug in the store to its report: gathers the facts, and writes the files a person reads."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from fuzz import instance, registry
from fuzz.case import Case, Failure, Origin, Stage, Status
from fuzz.catalogue import package_version, recorded_version
from fuzz.generators import MUTANT
from fuzz.judge import Judge, values
from fuzz.limits import Limits
from fuzz.runner import Operator
from fuzz.wire import dtype_name
from triage import asking, crash_site, equality, extent, harm, haste, report, reproducer, titles, upstream
from triage.bisect.found import with_section
from triage.conditions import conditions
from triage.court.evidence import Judgement, find
from triage.court.hearing import Court
from triage.drawn import settled
from triage.facts import Facts
from triage.localize import Location, Part
from triage.localize.cause import GUESS
from triage.machine import machine, private_words, version
from triage.messages import core, part
from triage.neighbour import COPIED
from triage.operators import node_count, operators, value_names
from triage.records import Bug, StoredDraft
from triage.regression import Regression, regressions, support
from triage.reproducer import Rerun
from triage.schemas import CASTS
from triage.scrub import leaks
from triage.seen import unlike
from triage.signing import Signer, without_overload
from triage.steps.desk import about_values
from triage.store import Store
from triage.symptom import Kind, classify
from triage.unsupported import refused
from triage.wording import telling

_MOST_EXAMPLES = 6
#: The variants of a project's test that are the test, and in words what was made of the others.
_AS_IT_IS = frozenset(("plain", "expanded", ""))
_MADE_OF = {"frozen": "inputs as constants", "expanded-frozen": "inputs as constants"}
#: Failing cases of a bug that are asked whether they have what the reduced one seems to need.
_MOST_READ, _MOST_SEEN = 64, 8
#: What the court may take for a case of a bug, on an idle machine.
COURT_SECONDS = 60.0
#: Generators whose calls are nobody's tests.
_MADE = ("docs", "relations")
#: The option of a backend that fixes the number of its threads.
_THREADS = "threads"
#: How pytest tells that one of two tests fails.
_PROBED = re.compile(r"\b1 failed, 1 passed\b")

#: The line of a traceback that names the exception.
_RAISED = re.compile(r"^([A-Za-z_][\w.]*(?:Error|Exception|Failure))(?::|$)", re.MULTILINE)


class CannotDraft(ValueError):
    """No reproducer can be written for this failure; the message says why."""


def write(
    store: Store,
    bug: Bug,
    failure: Failure,
    limits: Limits,
    signer: Signer,
    perturb: int | None = None,
    judge: Judge | None = None,
    before: Rerun | None = None,
) -> StoredDraft:
    """The report of a bug, from its reduced failure and what else the store knows of it.

    `perturb` is the byte that fresh memory must be filled with for the bug to show. With a `judge` the
    neighbours of the case are tried, and a regression test is offered if it fails as the bug does. `before` is how the
    script ended that did not name what this one names (`spelled_out`). Raises
    CannotDraft where no reproducer can be written.
    """
    failure, perturb = _repeatable(bug, failure, perturb, judge)
    judge = replace(judge, perturb=perturb) if judge else None
    seen = _seen(store, bug)
    reduced = failure.case
    failure, judgement = _told_best(judge, bug, failure, seen) if judge else (failure, bug.judgement)
    failure = settled(failure)
    described = signer.describe(failure)
    assert bug.best_failure_id is not None
    original = store.failure(bug.best_failure_id).failure
    origins = origins_of(store, bug, failure)
    tests, named = (tuple(dict.fromkeys(one.test for one in group)) for group in (origins, filter(_is_test, origins)))
    facts = Facts(
        case=failure.case,
        target=failure.target,
        outcome=failure.outcome,
        reference=failure.reference,
        symptom=failure.symptom,
        detail=failure.detail if failure.oracle == "inconsistency" else _shown(_words(failure)),
        fingerprint=bug.fingerprint,
        snippet=_snippet(bug, failure),
        conversion_function=described.conversion_function,
        operators=_named(described.operators, bug.location, failure),
        tests=len(named or tests),
        examples=_as_run(named[:_MOST_EXAMPLES], origins),
        versions=_versions(failure, registry.backend(bug.backend).packages_under(dict(failure.target.options))),
        machine=machine(),
        reduced_from=node_count(original.case) if failure.case.model == reduced.model else 0,  # nobody reduced another
        timeout=limits.seconds,
        memory_mb=limits.memory_mb if failure.symptom == "oom" else 0,
        environment={} if perturb is None else {"MALLOC_PERTURB_": str(perturb)},
        private=private_words(),
        judgement=judgement,
        conditions=conditions(judge, failure, seen=seen) if judge else (),
        min_good=_min_good(bug),
        findings=_findings(bug, failure, perturb, before),
        part=bug.location.stage if bug.location else Part.UNKNOWN,
        listed=tuple(upstream.sentences(bug.backend, tests)),
    )
    test = _failing_test(facts) if judge else None
    text = report.draft(replace(facts, regression=test))
    private = leaks("\n".join((text.title, text.body, text.script)), facts.private)
    if private:
        raise CannotDraft(f"the report would hold {len(private)} private words, which stand in the model itself")
    body = with_section(text.body, bug.bisected)
    return StoredDraft(text.title, body, text.script, text.labels, test.code if test else "")


def _told_best(judge: Judge, bug: Bug, failure: Failure, seen: Sequence[Case]) -> tuple[Failure, Judgement | None]:
    """The failure on the case that tells most, and what the court says of that one.

    What others make of the reduced case they need not make of another one.
    """
    other = harm.harmful(judge, failure, seen) or equality.witness(judge, failure, seen)
    if other is None:
        return failure, bug.judgement
    heard = Court(judge.runner, judge.reference, COURT_SECONDS * haste.here()).hear(
        other.case, other.target, judge.perturb
    )
    if bug.judgement is not None and heard.verdict is not bug.judgement.verdict:
        return failure, bug.judgement
    return other, heard


def origins_of(store: Store, bug: Bug, failure: Failure) -> list[Origin]:
    """Where the failing cases of a bug come from.

    What died at no known place has nothing in common with other deaths but the signal: only cases count that hold an
    operator of the reduced one, as far as any does. Of a cast that is wrong those count that give the same types: what
    it does to other ones is another matter.
    """
    error = failure.outcome.error
    if failure.outcome.status is Status.WRONG and not set(CASTS).isdisjoint(bug.operators):
        found = (store.failure(number).failure for number in store.failure_ids(bug.id))
        return [one.case.origin for one in found if _types(one) == _types(failure)] or store.origins(bug.id)
    if failure.outcome.status is not Status.SIGNAL or (error and crash_site.site(error.stderr)):
        return store.origins(bug.id)
    own = operators(failure.case)
    cases = (store.failure(number).failure.case for number in store.failure_ids(bug.id))
    return [case.origin for case in cases if _shares_operator(case, own)] or store.origins(bug.id)


def _as_run(tests: Sequence[str], origins: Sequence[Origin]) -> tuple[str, ...]:
    """Names of tests, with what was made of one that did not fail as it is: others who run it see it pass."""
    variants = {name: {one.variant for one in origins if one.test == name} for name in tests}
    made = {name: _MADE_OF.get(min(each), "") for name, each in variants.items() if each.isdisjoint(_AS_IT_IS)}
    return tuple(f"{name} ({made[name]})" if made.get(name) else name for name in tests)


def _types(failure: Failure) -> list[str]:
    """The types of the results that are expected."""
    return [dtype_name(value) for value in values(failure.reference)] if failure.reference else []


def _shares_operator(case: Case, own: Sequence[Operator]) -> bool:
    """Whether a case holds one of these operators, in whatever version."""
    return not {one[:2] for one in own}.isdisjoint(one[:2] for one in operators(case))


def _is_test(origin: Origin) -> bool:
    """Whether a project has a test of this name: generated models have numbers, mutants those of their seeds, and calls
    from the documentation what they are for."""
    return (
        bool(origin.test) and not origin.test.isdigit() and origin.variant != MUTANT and origin.generator not in _MADE
    )


def _named(operators: tuple[str, ...], location: Location | None, failure: Failure) -> tuple[str, ...]:
    """What a title calls the operators: an api with the core operator that is at fault, where its name hides that."""
    blamed = failure.outcome.error.operator if failure.outcome.error else ""
    whole = (location.operator if location else "") or blamed
    core = without_overload(whole)
    stem = core.rpartition(".")[2].replace("_", "")
    if failure.case.kind != "instance" or len(operators) != 1 or not core.startswith("aten."):
        return operators
    hidden = stem not in operators[0].lower().replace("_", "")  # avg_pool3d is AvgPool3d
    if whole.startswith(f"{core}.dim"):  # x.min(0) is another function than x.min()
        return (f"{operators[0]} ({whole})",)
    return (f"{operators[0]} ({core})",) if hidden else operators


def spelled_out(failure: Failure) -> Iterator[Failure]:
    """The failure as it is; then with its number of threads named, which a script leaves to the machine."""
    yield failure
    counts = registry.backend(failure.target.backend).options.get(_THREADS, ())
    if counts and _THREADS not in dict(failure.target.options):
        yield replace(failure, target=asking.with_options(failure.target, **{_THREADS: counts[0]}))


def _seen(store: Store, bug: Bug) -> list[Case]:
    """Failing cases of the bug as they were found, such as have unlike attributes first."""
    return unlike([store.failure(number).failure.case for number in store.failure_ids(bug.id)[:_MOST_READ]], _MOST_SEEN)


def _min_good(bug: Bug) -> str:
    """What tells the nearest passing case; nothing where fresh memory decides what passes.

    That a model of one operator passes without it goes without saying.
    """
    memory = find(bug.judgement.evidence, "memory") if bug.judgement else None
    bare = bug.nodes == 1 and bug.passes_with.startswith(COPIED)
    if not bug.passes_with or bare or (memory is not None and memory.figures.get("depends")):
        return ""
    return f"The nearest case that passes differs in one thing: {bug.passes_with}."


#: Symptoms that the values beside each other show by themselves.
_PLAIN = (Kind.VALUES, Kind.SHAPE, Kind.DTYPE, Kind.COUNT)


def _findings(bug: Bug, failure: Failure, perturb: int | None, before: Rerun | None = None) -> tuple[str, ...]:
    """What the localiser and the classifier of wrong values say, a sentence each."""
    found = []
    evidence = bug.location.evidence if bug.location else ()
    located = "; ".join(said for said in evidence if not said.startswith(GUESS))
    filled = perturb is not None  # then the values are those that memory was filled with
    if failure.symptom.startswith("wrong:") and failure.reference and not filled:
        symptom = classify(values(failure.reference), values(failure.outcome))
        if symptom and symptom.kind not in _PLAIN and symptom.told not in located:
            found.append(f"The values: {symptom.told}.")
    count = dict(failure.target.options).get(_THREADS)
    if count and _THREADS not in dict(bug.target.options):  # `spelled_out`: the script without it has not shown this
        many = "one thread" if count == "1" else f"{count} threads"
        other = "it passes" if before is None or before.status == 0 else f"otherwise{_ending(before)}"
        found.append(f"It depends on the number of threads: with {many} it fails, with the default number {other}.")
    if located:
        found.append(f"Where it lies: {located}.")
    return tuple(found)


def _ending(before: Rerun) -> str:
    """`` (RuntimeError)``: how a script ended that failed in another way; "" where no exception tells."""
    raised = _RAISED.findall(before.output)
    return f" ({raised[-1].rpartition('.')[2]})" if raised else ""


def _repeatable(bug: Bug, failure: Failure, perturb: int | None, judge: Judge | None) -> tuple[Failure, int | None]:
    """The failure with fresh memory filled, and the byte, where the court saw that its result follows the byte.

    Without the byte the same bug would give another text in every run. A wrong shape or type shows without it, and a
    script that sets it would say that it does not.
    """
    if not about_values(failure):
        return failure, perturb
    memory = find(bug.judgement.evidence, "memory") if bug.judgement else None
    if judge is None or perturb is not None or memory is None or not memory.figures.get("depends"):
        return failure, perturb
    byte = int(memory.figures["bytes"][0])
    filled = replace(judge, perturb=byte).examine(failure.case, failure.target).failure
    return (filled, byte) if filled else (failure, None)


def _failing_test(facts: Facts) -> Regression | None:
    """The first regression test that fails in a fresh process the way the bug does."""
    tests = regressions(
        facts.target.backend,
        facts.case,
        facts.outcome,
        facts.reference,
        facts.symptom,
        facts.snippet,
        titles.subject(
            facts.case,
            facts.operators,
            [replace(one, partly=False) for one in facts.conditions if one.kind != extent.KIND],
        ),
        _agreeing(facts),
        refused(facts.conditions),
    )
    python = facts.target.revision.python
    message = facts.outcome.error.message if facts.outcome.error else ""
    for test in tests:
        code, variables = test.probe or test.code, {**facts.environment, **test.variables}
        found = reproducer.rerun(
            code,
            python,
            runner=test.runner,
            variables=variables,
            support=support(code),
            untrusted=facts.target.revision.untrusted,
        )
        if reproducer.reproduces(facts.symptom, message, found) and (not test.probe or _PROBED.search(found.output)):
            return test
    return None


def _agreeing(facts: Facts) -> list[str]:
    """The backends that voted for the reference."""
    votes = find(facts.judgement.evidence, "votes") if facts.judgement else None
    return [str(name) for name in votes.figures.get("reference", ())] if votes else []


def _snippet(bug: Bug, failure: Failure) -> str:
    backend = registry.backend(bug.backend)
    if backend.reproduce is None:
        raise CannotDraft(f"no report without reproduce() in the backend file of {backend.name}")
    kind, options = failure.case.kind, dict(failure.target.options)
    try:
        return backend.reproduce(kind, options, _taken(failure), _given(failure))
    except ValueError as error:
        try:
            until_run, call, _ = backend.reproduce(kind, options, [], []).rpartition("\nactual = ")
        except ValueError:
            call = ""  # not even what is fed is the trouble
        if failure.outcome.stage is Stage.RUN or not call:
            raise CannotDraft(f"no reproducer: {error}") from error
        return until_run  # it fails before anything is fed


def _taken(failure: Failure) -> list[str]:
    """The dtypes of what goes into the compiler: some need more lines in a script than others."""
    if failure.case.kind != "onnx":
        return [dtype_name(value) for value in instance.tensors(instance.parse(failure.case.model))]
    return [dtype_name(value) for value in failure.case.inputs.values()]


def _given(failure: Failure) -> list[str]:
    """The dtypes of the outputs, as the compiler gave them if it did; of a crash as they should be."""
    known = failure.outcome.outputs or (failure.reference.outputs if failure.reference else ())
    return [dtype_name(value) for _, value in known]


def _words(failure: Failure) -> str:
    """What the exception says, without the places and signatures that stand before it; those follow in the report."""
    error = failure.outcome.error
    said = part(failure.detail, error.operator) if error else failure.detail
    return telling(said, value_names(failure.case)) or core(said)


def _shown(message: str) -> str:
    """The first sentence or two of a long message."""
    flat = " ".join(message.split())
    return flat if len(flat) <= 300 else flat[:299].rsplit(" ", 1)[0] + " …"


def _versions(failure: Failure, packages: Sequence[str]) -> dict[str, str]:
    library = {"instance": "torch", "keras": "keras"}.get(failure.case.kind, "onnx")
    wanted = [*packages, library, "numpy"]
    python = failure.target.revision.python
    # Starting an interpreter runs what its environment holds, which may be anybody's.
    told = recorded_version if failure.target.revision.untrusted else package_version
    versions = {name: (python and told(name, python)) or version(name) for name in dict.fromkeys(wanted)}
    if packages and python:
        versions[packages[0]] = failure.target.revision.version
    return {name: version for name, version in versions.items() if version}


def save(folder: Path, bug: Bug, text: StoredDraft) -> Path:
    """Write ``NNN-slug.md``, the reproducer ``NNN-slug.py`` and the regression test ``NNN-slug.test.py``, if any.

    What stands in for helpers of the project that the test imports goes beside it. Returns the report's path.
    All go below `folder`.
    """
    slug = re.sub(r"[^a-z0-9]+", "-", text.title.lower()).strip("-")[:60].strip("-")
    home = folder / Path(bug.backend).stem
    home.mkdir(parents=True, exist_ok=True)
    path = home / f"{bug.id:04d}-{slug}.md"
    withdraw(folder, bug)
    path.with_suffix(".py").write_text(text.script, encoding="utf-8")
    if text.test:
        path.with_suffix(".test.py").write_text(text.test, encoding="utf-8")
        for name, helper in support(text.test).items():
            (home / name).write_text(helper, encoding="utf-8")
    path.write_text(f"# {text.title}\n\n{text.body}", encoding="utf-8")
    return path


def withdraw(folder: Path, bug: Bug) -> None:
    """Take away what `save` wrote for the bug below `folder`."""
    for stale in (folder / Path(bug.backend).stem).glob(f"{bug.id:04d}-*"):
        stale.unlink()


def index(folder: Path, bugs: Sequence[Bug]) -> Path:
    """Write ``README.md``: one line a draft, the most frequent first."""
    drafted = sorted((bug for bug in bugs if bug.report_path), key=lambda bug: (bug.backend, -bug.count, bug.id))
    lines = ["# Drafted reports", "", "| bug | compiler | failing cases | nodes | report |", "|---|---|---|---|---|"]
    for bug in drafted:
        link = os.path.relpath(str(bug.report_path), folder)
        title = (bug.title or "").replace("|", "\\|").replace("[", "\\[").replace("]", "\\]")
        compiler = f"{Path(bug.backend).stem} {bug.revision}"
        lines.append(f"| {bug.id} | {compiler} | {bug.count} | {bug.nodes or ''} | [{title}]({link}) |")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "README.md"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
