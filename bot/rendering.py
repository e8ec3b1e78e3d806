"""The texts that the bot writes at GitHub: Jinja templates of ``templates/github``, foreign words neutralised.

In a template every text from outside goes through one of the filters `prose` (escaped sentence), `code` (inline span),
`fence` (block), `spoken` (a sentence whose backticks are code) and `revision` (a build's name); what a compiler said
goes through `scrub` before that, which takes out what is private. (After it, it would undo what they do.)
"""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from triage import scrub
from triage.machine import private_words
from triage.report import TEMPLATES


def render(name: str, **context: Any) -> str:
    """The text of ``templates/github/NAME.md.j2``, without blank lines at its ends."""
    return _environment().get_template(f"{name}.md.j2").render(context).strip() + "\n"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES / "github"),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "prose": scrub.prose,
        "code": scrub.code,
        "fence": scrub.fence,
        "spoken": scrub.spoken,
        "revision": scrub.revision,
        "scrub": lambda text: scrub.scrub(text, private_words()),
    }
    return environment
