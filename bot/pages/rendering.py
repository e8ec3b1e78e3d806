"""Pages from templates."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from bot.durations import ago
from bot.pages import markdown
from bot.pages.door import Visitor
from fuzz.data import data_path

TEMPLATES = data_path().parent / "templates" / "pages"
STATIC: Path = TEMPLATES / "static"


def page(template: str, who: Visitor, **values: Any) -> str:
    """A page for a visitor; whatever is no template's own text is escaped."""
    return _environment().get_template(template).render(now=datetime.now(UTC), who=who, **values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"markdown": markdown.html, "ago": ago}
    return environment
