"""Whose a row is, and when it is free again."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta

from triage.ledger.owners import LEASE, free, me, now

_SAY = "from triage.ledger.owners import me; print(me())"


def test_a_living_owner_keeps_a_row_until_the_lease_ends() -> None:
    assert not free(me(), now() + LEASE)
    assert free(me(), now() - timedelta(seconds=1))


def test_a_row_without_a_lease_is_free() -> None:
    assert free(me(), None)


def test_what_a_dead_process_of_this_machine_had_is_free_at_once() -> None:
    gone = subprocess.run([sys.executable, "-c", _SAY], capture_output=True, text=True, check=True).stdout.strip()
    assert gone and gone != me()
    assert free(gone, now() + LEASE)


def test_a_zombie_is_as_gone_as_a_process_that_was_waited_for() -> None:
    with subprocess.Popen([sys.executable, "-c", _SAY], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        name = process.stdout.read().strip()  # it has ended; nobody has waited for it
        while not free(name, now() + LEASE):
            pass


def test_a_process_that_got_the_number_of_a_dead_one_is_another_owner() -> None:
    place, _, rest = me().rpartition("/")
    earlier = f"{place}/{rest.partition('@')[0]}@1"
    assert free(earlier, now() + LEASE)


def test_of_owners_on_other_machines_only_the_lease_tells() -> None:
    elsewhere = "elsewhere/boot/pid:[1]/1@1"
    assert not free(elsewhere, now() + LEASE)
    assert free(elsewhere, now() - timedelta(seconds=1))
