"""Titles that people write above what a program said."""

from __future__ import annotations

import json
from typing import Any

from tests.triage.test_group import groups

MISSING = "layer torch.stft not exists or registered"
OTHER = "layer aten::index_put not exists or registered"
AMBIGUOUS = "error: call to 'dot' is ambiguous"
REFUSED = "error: unsupported slice step 2 for this axis"


def ticket(title: str, *log: str) -> dict[str, Any]:
    """A failure as a customer reports it."""
    return {
        "message": title,
        "symptom": "Inference fails",
        "trace": "\n".join(("Dear team, see below.", *log, "Thanks, Kim")),
    }


def test_what_a_trace_says_tells_the_bug_where_the_message_is_somebodys_title() -> None:
    rows = (
        ticket("vit_b_16 on OpenCL: does not run", AMBIGUOUS),
        ticket("resnet-18 on OpenCL: does not run", AMBIGUOUS),
        ticket("u-net on OpenCL: does not run", REFUSED),
        ticket("GPU (mobile): no output", REFUSED),
    )
    assert groups(*rows) == [{0, 1}, {2, 3}]


def test_a_title_that_stands_above_different_things_joins_nothing() -> None:
    title = "load_param() gives nothing"
    rows = (ticket(title, MISSING), ticket(title, OTHER), {"message": MISSING}, {"message": OTHER})
    assert groups(*rows) == [{0, 2}, {1, 3}]


def test_a_title_without_any_sign_of_code_gives_way_to_what_the_log_announces() -> None:
    rows = [ticket(title, AMBIGUOUS) for title in ("Model does not run on our phone", "GPU inference not possible")]
    assert groups(*rows, ticket("GPU inference not possible", REFUSED)) == [{0, 1}, {2}]


def test_a_message_that_is_alone_and_whose_trace_says_nothing_that_others_say_stays() -> None:
    rows = (
        {"message": "axis 4 is out of range (rank 3)", "trace": "free memory: 12 GiB\nstarting worker"},
        {"message": "x"},
    )
    assert groups(*rows) == [{0}, {1}]


def test_what_any_log_holds_is_not_what_failed() -> None:
    noise = "E external/local_xla/stream/cuda_dnn.cc:9261] Unable to register cuDNN factory"
    said = ("Unsupported padding mode reflect", "Unsupported interpolation mode", "k must be a constant")
    names = ("Pad", "Resize", "TopK")
    frame = 'Traceback (most recent call last):\n  File "/x/site-packages/acme/ops.py", line 5, in convert_{}'
    framed = [
        {"message": each, "trace": f"{noise}\n{frame.format(name)}"} for each, name in zip(said, names, strict=True)
    ]
    assert groups(*framed) == [{0}, {1}, {2}]
    noted = [{"message": each, "operator": name, "trace": noise} for each, name in zip(said, names, strict=True)]
    assert groups(*noted) == [{0}, {1}, {2}]


def test_a_place_beside_a_title_is_where_it_happened() -> None:
    place = "src/layers/beam_search.cc:{} acme::Hypotheses::Output top <= used was false"
    rows = [ticket(f"model {name}: result() is empty", place.format(n)) for n, name in ((38, "whisper"), (47, "t5"))]
    assert groups(
        *rows, ticket("model bert: result() is empty", "src/layers/other.cc:3 acme::Other::Run x was false")
    ) == [
        {0, 1},
        {2},
    ]


def test_lines_that_a_collector_wrote_as_json_are_read_as_they_were() -> None:
    frames = ("    @ 0x7f01 acme::Partitioner::HandleGather()", "    @ 0x7f02 acme::Partitioner::Run()")
    collected = "\n".join(json.dumps({"ts": "2026-01-18T11:56:58.758Z", "pod": "t-1", "log": line}) for line in frames)
    bare = {"message": "Check failed: !manual", "symptom": "crash", "trace": "\n".join(frames)}
    other = {**bare, "trace": "    @ 0x7f01 acme::Partitioner::HandleDot()\n    @ 0x7f02 acme::Partitioner::Run()"}
    assert groups(bare, {**bare, "trace": collected}, other) == [{0, 1}, {2}]
