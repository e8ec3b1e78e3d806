"""The parts of a report in the order and under the headings of a project's issue form. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from triage.projects import Project, Section

#: What a part is called where a section holds several; the others speak for themselves.
_CAPTIONS = {
    "script": "Reproducer",
    "standard": "Specification",
    "expected": "Expected",
    "actual": "Actual",
    "environment": "Environment",
    "evidence": "Evidence",
    "analysis": "Analysis",
}
_DIFFERENCE = "Expected and actual"

Pieces = Sequence[tuple[str, str]]


def sections(project: Project, parts: Mapping[str, str], facts: Mapping[str, str]) -> Iterator[tuple[str, Pieces]]:
    """(heading, its pieces as (caption, text)) for every section that has something to say.

    `parts` are finished Markdown by the names of `templates/parts`; `facts` fill the ``{version}`` of fixed texts,
    spelled as the form has them. Raises KeyError for a part or fact that does not exist.
    """
    filled = _without_doubles(project, parts)
    words = {kind: project.word(kind, fact) for kind, fact in facts.items()}
    for section in project.sections:
        pieces = list(_pieces(section, filled, words))
        if pieces:
            (_, first), *more = pieces  # the heading is caption enough for the first
            yield section.heading, [("", first), *more]


def _pieces(section: Section, parts: Mapping[str, str], words: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    if section.text:
        yield "", section.text.format_map(words)
    for name in section.parts:
        text = parts[name].strip("\n")
        if text:
            beside = name == "difference" and "actual" in section.parts and "expected" in section.parts
            caption = _DIFFERENCE if beside else _CAPTIONS.get(name, "")
            yield "" if caption == section.heading else caption, text


def _without_doubles(project: Project, parts: Mapping[str, str]) -> Mapping[str, str]:
    """The parts; where expected and actual stand in one section, the table of differences holds both."""
    together = any({"expected", "difference"} <= set(section.parts) for section in project.sections)
    return {**parts, "expected": ""} if together and parts["difference"].strip() else parts
