"""What a commit that landed is compared with."""

from __future__ import annotations

import pytest

from bot.checks import before, building
from tests.bot.checks.support import Shop
from triage.revisions import listing
from triage.revisions.environments import Untestable


@pytest.mark.parametrize("passing", [False, True])
def test_a_base_that_is_broken_is_done_without_and_one_in_passing_trouble_is_waited_for(
    tiny_shop: Shop, monkeypatch: pytest.MonkeyPatch, passing: bool
) -> None:
    def ensure(*_: object) -> None:
        raise Untestable(tiny_shop.first, "it cannot be imported", passing=passing)

    monkeypatch.setattr(building, "ensure", ensure)
    desk = tiny_shop.desk
    compiler = desk.compiler(tiny_shop.project)
    head = listing.find(compiler, tiny_shop.lands("sub swaps"))
    with desk.runner(tiny_shop.project) as runner:
        if passing:
            with pytest.raises(Untestable):
                before.find(runner, compiler, head, tiny_shop.first, ())
        else:
            assert before.find(runner, compiler, head, tiny_shop.first, ()) is None
