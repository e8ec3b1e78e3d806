"""Pages and JSON over a hunt's database: what is known is there, and nothing that a compiler says can act."""

from __future__ import annotations

import json
import re
from pathlib import Path

import onnx
import pytest
import requests

from tests.bot.pages.conftest import HOSTILE, SCRIPT
from tests.bot.support import Run, ended, start


def text(web: requests.Session, address: str, status: int = 200) -> str:
    answer = web.get(address)
    assert answer.status_code == status, answer.text
    return answer.text


def test_the_list_tells_each_bug_once_the_newest_first_and_leaves_out_slips_and_muted_ones(
    site: str, web: requests.Session
) -> None:
    told = [web.get(f"{site}/api/v1/bugs", params={"page": page}).json() for page in (1, 2)]
    numbers = [bug["id"] for page in told for bug in page["bugs"]]
    assert (told[0]["total"], told[0]["pages"]) == (62, 2)
    assert numbers == sorted(set(numbers), reverse=True) and set(numbers) == set(range(1, 65)) - {3, 4}
    shown = [
        int(found)
        for page in (1, 2)
        for found in re.findall(r'aria-label="bug (\d+)"', text(web, f"{site}/bugs?page={page}"))
    ]
    assert shown == numbers


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ({"state": "drafted"}, [1]),
        ({"backend": "openvino"}, [2]),
        ({"words": "gather ignores"}, [1]),
        ({"words": "NUMBER 59"}, [64]),
        ({"words": "100%_"}, []),
        ({"state": "slip"}, [3]),
        ({"page": "99"}, []),
    ],
)
def test_bugs_are_found_by_state_compiler_and_words(
    site: str, web: requests.Session, question: dict[str, str], numbers: list[int]
) -> None:
    assert [bug["id"] for bug in web.get(f"{site}/api/v1/bugs", params=question).json()["bugs"]] == numbers
    page = web.get(f"{site}/bugs", params=question).text
    assert [int(found) for found in re.findall(r'aria-label="bug (\d+)"', page)] == numbers
    assert ("No bug matches" in page) == (not numbers and "page" not in question)


def test_one_bug_tells_state_evidence_difference_and_report(site: str, web: requests.Session) -> None:
    page = text(web, f"{site}/bugs/1")
    for part in (
        "[Relax][ONNX] Gather ignores axis=-1",
        "drafted",
        "3 of 3 fresh processes",
        "axis: -1 -&gt; 1",
        "onnx_node: a",
    ):
        assert part in page
    assert '<svg xmlns="http://www.w3.org/2000/svg" class="model"' in page and ">Relu</text>" in page
    assert "<summary>Regression test</summary>" in page and "flowchart" not in page
    told = web.get(f"{site}/api/v1/bugs/1").json()
    assert told["report"]["script"] == SCRIPT and told["judgement"]["verdict"] == "compiler bug"
    assert told["count"] == 2 and told["created"].endswith("Z")


def test_a_bug_tells_its_life_and_its_issue(site: str, web: requests.Session) -> None:
    page, told = text(web, f"{site}/bugs/1"), web.get(f"{site}/api/v1/bugs/1").json()
    assert told["issue"] == {"repository": "apache/tvm", "number": 7, "open": False}
    assert [(each["kind"], each["text"]) for each in told["history"]] == [
        ("found", "found in tvm 0.27.0"),
        ("reported", "reported in apache/tvm as #7"),
        ("closed", "closed with 0.28.0"),
        ("other", "a comment waits for a moderator"),
    ]
    for part in ("apache/tvm#7", "closed with 0.28.0", "<h2>History</h2>", 'class="chart"'):
        assert part in page
    other = web.get(f"{site}/api/v1/bugs/2").json()
    assert other["issue"] is None and len(other["history"]) == 1
    assert "<h2>History</h2>" not in text(web, f"{site}/bugs/2")


def test_a_hunt_is_drawn_over_its_time_with_its_numbers(site: str, web: requests.Session) -> None:
    page, told = text(web, f"{site}/campaigns/2"), web.get(f"{site}/api/v1/campaigns/2").json()
    assert '<svg xmlns="http://www.w3.org/2000/svg" class="chart"' in page and page.count("<polyline") == 2
    assert (told["cases"], told["statuses"], told["bugs"]) == (61, {"exception": 61}, 61)
    shown = [int(found) for found in re.findall(r'aria-label="bug (\d+)"', page)]
    assert shown == sorted(shown, reverse=True) and len(shown) == 50 and "and 10 more" in page


def test_nothing_that_a_compiler_or_a_model_says_becomes_part_of_a_page(site: str, web: requests.Session) -> None:
    for path in ("bugs", "bugs/1", "bugs/2", "campaigns/1", f"bugs?words={HOSTILE}"):
        page = text(web, f"{site}/{path}")
        assert "<img" not in page and "<script>" not in page and 'href="javascript' not in page
        assert page.count("<script") == len(re.findall(r'<script src="/static/[a-z.-]+" defer></script>', page)) >= 2
    policy = web.get(f"{site}/bugs/2").headers["Content-Security-Policy"]
    assert "script-src 'self'" in policy and "default-src 'none'" in policy and "unsafe" not in policy


def test_the_reproducer_and_the_smallest_model_can_be_taken_away(site: str, web: requests.Session) -> None:
    answer = web.get(f"{site}/bugs/1/reproducer.py")
    assert answer.text == SCRIPT and 'filename="reproducer.py"' in answer.headers["Content-Disposition"]
    model = onnx.load_from_string(web.get(f"{site}/bugs/2/model").content)
    assert [node.op_type for node in model.graph.node] == ["Relu"]


def test_campaigns_are_told_with_their_numbers(site: str, web: requests.Session) -> None:
    assert [each["id"] for each in web.get(f"{site}/api/v1/campaigns").json()] == [2, 1]
    told = web.get(f"{site}/api/v1/campaigns/1").json()
    assert (told["cases"], told["failures"], told["bugs"], told["drafts"]) == (3, 3, 2, 1)
    assert told["finished"] and told["statuses"] == {"exception": 3} and told["seed"] == 7
    first, second = (text(web, f"{site}/campaigns/{number}") for number in (1, 2))
    assert "all cases were run" in first and "hx-trigger" not in first
    assert 'hx-trigger="every 5s"' in second and "and 10 more" in second


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("bugs/999", 404),
        ("campaigns/999", 404),
        ("bugs/2/reproducer.py", 404),
        ("no/such", 404),
        ("bugs/0", 422),
        ("bugs/first", 422),
        ("bugs/99999999999999999999999", 422),
        ("bugs?page=0", 422),
        ("bugs?words=" + "x" * 300, 422),
        ("static/../../../README.md", 404),
        ("static/%2e%2e/%2e%2e/base.html.j2", 404),
    ],
)
def test_what_there_is_not_is_told_in_words(site: str, web: requests.Session, path: str, status: int) -> None:
    assert web.get(f"{site}/{path}").status_code == status
    if not path.startswith("static"):
        assert "all bugs" in web.get(f"{site}/{path}").text
    if path in ("bugs/999", "campaigns/999"):
        assert web.get(f"{site}/api/v1/{path}").json()["detail"].startswith("no ")


def test_without_a_moderator_nothing_can_be_changed(site: str, web: requests.Session) -> None:
    for path in ("/bugs/1", "/api/v1/bugs/1", "/campaigns/1"):
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            answer = web.request(method, f"{site}{path}")
            assert answer.status_code == 405 and answer.headers["Allow"] == "GET"
    for path in ("/bugs/1/mute", "/bugs/1/merge", "/bugs/1/split", "/queue/3/approve", "/campaigns/2/cancel"):
        assert web.post(f"{site}{path}", {"form": "", "reason": ""}, headers={"Origin": site}).status_code == 403
    for path in ("/sign-in", "/sign-in?next=/bugs"):
        assert "graphwarden moderators add" in text(web, f"{site}{path}", 404)
    assert "Sign in" not in text(web, f"{site}/bugs") and web.get(f"{site}/api/v1/queue").status_code == 401


def test_the_description_of_the_interface_names_every_path(site: str, web: requests.Session) -> None:
    told = web.get(f"{site}/api/v1/openapi.json").json()
    assert set(told["paths"]) == {
        "/api/v1/bugs",
        "/api/v1/bugs/{number}",
        "/api/v1/campaigns",
        "/api/v1/campaigns/{number}",
        "/api/v1/gates",
        "/api/v1/gates/{gate_id}",
        "/api/v1/queue",
        "/api/v1/sweeps",
        "/api/v1/sweeps/{number}",
    }
    assert "ValidationError" not in json.dumps(told["paths"]["/api/v1/campaigns"])


def test_an_empty_database_says_what_to_do(tmp_path: Path, gw: Run) -> None:
    missing = gw("pages", "--db", tmp_path / "none.db")
    assert missing.code == 2 and "no such database" in missing.err


def test_a_port_that_is_taken_is_told_in_one_line(site: str, database: Path) -> None:
    process = start(database.parent, "pages", "--db", database, "--port", site.rpartition(":")[2])
    done = ended(process)
    assert done.code == 2 and "in use" in done.err and "choose another" in done.err and len(done.err.splitlines()) == 1
