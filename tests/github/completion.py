"""Completes the emulator's answers where they fall short of GitHub's description, from its own examples.

What the emulator says is kept; only what it leaves out is filled in, and the names of permissions are GitHub's.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from tests.github import description
from tests.github.fake import Answer

#: Operations whose answers lack something at the top, or in the account that they name.
_LACKING = {
    "apps/get-authenticated",
    "apps/get-repo-installation",
    "repos/get",
    "repos/get-collaborator-permission-level",
    "search/issues-and-pull-requests",
}
_ACCOUNTS = ("account", "owner", "user")
#: A role's name -> the permission that GitHub tells.
_PERMISSIONS = {"push": "write", "maintain": "write", "pull": "read", "triage": "read"}


def completed(verb: str, target: str, answer: Answer) -> Answer:
    """The answer as GitHub would give it."""
    asked = description.operation(verb, urlsplit(target).path)
    if asked is None or asked.id not in _LACKING or answer.status != 200:
        return answer
    example = description.example(asked.id, "200")
    if isinstance(example, list):
        example = example[0]
    body = _filled(example, answer.body)
    for name in body.keys() - answer.body.keys() & {"parent", "source", "template_repository"}:
        del body[name]
    if "permission" in body:
        body["user"] = {"role_name": body["role_name"], **body["user"]}
        body["permission"] = _PERMISSIONS.get(body["permission"], body["permission"])
    if asked.id.startswith("search/"):
        body["items"] = [{"score": 1.0, **each, "body": each["body"] or ""} for each in body["items"]]
        body["search_type"] = body.get("search_type", "lexical")
    return Answer(answer.status, body, answer.headers)


def _filled(example: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    filled = {**example, **{name: value for name, value in body.items() if value is not None}}
    for name in _ACCOUNTS:
        if isinstance(body.get(name), dict) and isinstance(example.get(name), dict):
            filled[name] = {**example[name], **body[name]}
    return filled
