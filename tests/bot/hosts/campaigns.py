"""A campaign with planted bugs that ends, and all that it found: for comparing local campaigns with others."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from fuzz import catalogue
from fuzz.campaign import Policy
from fuzz.case import Case
from fuzz.generators import Skip, onnx_node
from fuzz.limits import Limits
from fuzz.runner import Runner
from tests.bot.hosts.support import REFERENCE
from tests.bot.support import PLANTED
from triage.hunt import Progress, hunt
from triage.store import Store, open_store

LIMITS = Limits(600, 2000)
TARGET = catalogue.target(str(PLANTED))


def cases() -> list[Case | Skip]:
    """A slice of the node tests with several of the planted bugs."""
    return list(itertools.islice(onnx_node.cases(0), 60, 420, 2))


def campaign(store: Store, runner: Runner, tell: Callable[[Progress], None] = lambda progress: None) -> int:
    info = store.begin_campaign({"seed": 0})
    assert hunt(store, info, cases(), [TARGET], REFERENCE, runner, Policy(), tell)
    return info.id


Found = tuple[dict[tuple[str, str], tuple[str, str]], dict[str, list[str]]]


def found(store: Store, campaign_id: int) -> Found:
    """Every result of a campaign, and the failing cases of every bug."""
    results = {(each.case_id, each.target_id): (each.status.value, each.bug) for each in store.recorded(campaign_id)}
    bugs = {
        bug.fingerprint: sorted(store.failure(number).failure.case.id for number in store.failure_ids(bug.id))
        for bug in store.bugs()
    }
    return results, bugs


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Found:
    """What the campaign finds on this machine alone."""
    folder = tmp_path_factory.mktemp("local")
    with Runner(LIMITS, jobs=2) as runner, open_store(folder / "hunt.db", create=True) as store:
        found_here = found(store, campaign(store, runner))
    assert len(found_here[1]) >= 3, "the slice has too few bugs to compare"
    return found_here
