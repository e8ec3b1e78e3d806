"""Reports as HTML. Their text is half the compilers': what is left is a closed list of harmless tags."""

from __future__ import annotations

import re

import nh3
from markdown_it import MarkdownIt

_TAGS = {
    "a",
    "blockquote",
    "br",
    "code",
    "details",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
}
_TAGS |= {"s", "strong", "summary", "table", "tbody", "td", "th", "thead", "tr", "ul"}
#: `open` shows what reports fold; `class` is the language of a code block.
_ATTRIBUTES = {"a": {"href", "title"}, "code": {"class"}, "details": {"open"}, "ol": {"start"}}
#: Drawings of models are shown beside the report, as pictures.
_DRAWING = re.compile(r"^```mermaid\n.*?^```\n", re.MULTILINE | re.DOTALL)

_MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def html(text: str) -> str:
    """GitHub's Markdown as safe HTML; links lead away without telling from where."""
    rendered = _MARKDOWN.render(_DRAWING.sub("", text))
    return nh3.clean(
        rendered,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes={"http", "https"},
        link_rel="noopener noreferrer nofollow",
    )
