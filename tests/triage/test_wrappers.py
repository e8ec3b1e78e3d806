"""What runners write before messages, learnt from the batch."""

from __future__ import annotations

from tests.triage.test_group import reports
from triage.wrappers import unwrapped


def messages(*said: str) -> list[str]:
    """The messages without what only runners wrote."""
    found = unwrapped(reports([{"id": str(at), "message": each} for at, each in enumerate(said)]))
    return [report.message for report in found]


def test_what_goes_before_different_messages_that_are_met_bare_is_a_wrapper() -> None:
    said = ("no kernel for this node", "the shape is not static")
    wrapped = [f"{words}{message}" for words in ("step compile failed: ", "Oops: ", "") for message in said]
    assert messages(*wrapped) == list(said) * 3


def test_a_wrapper_that_tells_of_its_case_is_one_whatever_it_tells() -> None:
    said = ("no memory for this tensor", "no kernel for this type")
    tags = ("[compile stage failed] case=a73bb4ca seed=256628", "[compile stage failed] case=e73d0208 seed=403305")
    assert messages(*said, *(f"{tag}: {each}" for tag, each in zip(tags, said, strict=True))) == [*said, *said]


def test_a_wrapper_in_a_wrapper_goes_and_the_class_of_an_exception_stays() -> None:
    said = ("no kernel for this node", "the shape is not static")
    wrapped = [f"HarnessError: backend error: in a process:\n{message}" for message in said]
    classed = f"ValueError: {said[0]}"
    assert messages(*wrapped, *said, classed) == [*said, *said, classed]


def test_what_goes_before_one_message_alone_is_part_of_it() -> None:
    said = ["Gather: the axis is negative", "the axis is negative", "Gather: another thing altogether"]
    assert messages(*said) == said


def test_a_tag_is_a_wrapper_whichever_operator_it_names_and_the_operator_is_kept() -> None:
    said = ("ties broken to the first", "the fused bound is exceeded")
    rows = [
        {"id": "1", "message": f"[Clip] golden diff: {said[1]}"},
        {"id": "2", "message": f"[ArgMax] golden diff: {said[0]}"},
        {"id": "3", "message": said[0], "operator": "ArgMax"},
        {"id": "4", "message": said[1], "operator": "Clip"},
    ]
    found = unwrapped(reports(rows))
    assert [(each.message, each.operator) for each in found] == [
        (said[1], "Clip"),
        (said[0], "ArgMax"),
        (said[0], "ArgMax"),
        (said[1], "Clip"),
    ]


def test_what_a_supervisor_quotes_in_a_record_is_met_bare() -> None:
    said = ("no kernel for this node", "the shape is not static")
    quoted = [f'target=acme seed=0x{at}f3a tail="{each}"' for at, each in enumerate(said)]
    assert messages(*said, *quoted) == [*said, *said]


def test_hosts_and_records_of_a_farm_are_one_wrapper_whatever_they_tell() -> None:
    said = ("no kernel for this node", "the shape is not static")
    farm = [f"V0{at} tgt=rk{at} m=bert | {each}" for at, each in enumerate(said)]
    hosts = [f"[lab-{at}] {each}" for at, each in enumerate(said)]
    assert messages(*said, *farm, *hosts) == [*said, *said, *said]


def test_what_the_trace_beside_it_says_alone_is_met_bare() -> None:
    said = ("no kernel for this node", "the shape is not static")
    rows = [
        {"id": str(at), "message": f"step 4 | {each}", "trace": f"Traceback:\n{each}\n"} for at, each in enumerate(said)
    ]
    assert [each.message for each in unwrapped(reports(rows))] == list(said)


def test_lines_of_a_message_that_its_trace_has_as_well_are_no_wrapper() -> None:
    said = [f"C++ compile error: here\nCommand:\n{each}" for each in ("no matching function", "not declared here")]
    rows = [{"id": str(at), "message": each, "trace": f"Traceback:\n{each}\n"} for at, each in enumerate(said)]
    assert [each.message for each in unwrapped(reports(rows))] == said


def test_words_that_name_an_operator_of_the_batch_are_no_wrapper() -> None:
    said = ("the last axis is out of range", "the kernel is too large here")
    rows = [{"message": each} for each in said]
    rows += [{"message": f"Lowering {name} failed - {each}"} for name in ("Pad", "Tile") for each in said]
    rows += [{"message": "x", "operator": "Pad"}, {"message": "y", "operator": "Tile"}]
    found = unwrapped(reports([{**row, "id": str(at)} for at, row in enumerate(rows)]))
    assert [each.message for each in found] == [row["message"] for row in rows]


def test_the_place_that_a_message_begins_with_is_no_wrapper() -> None:
    said = ("no kernel for this node", "the shape is not static")
    placed = [f"Check failed at src/core/node.cpp:47: {each}" for each in said]
    assert messages(*placed, *said) == [*placed, *said]


def test_the_order_of_a_batch_changes_nothing() -> None:
    said = ("no kernel for this node", "the shape is not static")
    rows = [{"id": f"{at}", "message": f"step 4 | {each}", "trace": f"x\n{each}\n"} for at, each in enumerate(said)]
    rows += [{"id": f"{at}!", "message": f"step 4 | {each}"} for at, each in enumerate(said)]
    forth, back = unwrapped(reports(rows)), unwrapped(reports(rows[::-1]))
    assert [each.message for each in forth] == [each.message for each in back[::-1]] == [*said, *said]
