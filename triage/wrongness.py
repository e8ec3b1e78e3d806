"""What the words about a wrong result say of it: which pass makes it, and in what way the numbers are wrong. Pure."""

from __future__ import annotations

import re

#: A pass or an optimiser without which the result is right, as a comparison names it.
_GUILTY = re.compile(
    r"\b(?:bisect(?:ed)?|(?:guilty|culprit|blamed|faulty) (?:graph )?"
    r"(?:pass|optimi[sz]er|transformation|transform|rewrite)\w*)"
    r"(?:[:=] *[\"'`\[(]*| [\"'`])(?P<one>[A-Za-z_][\w.:]*)"
    r"|disabled?_\w+ ?= ?[\[({\"']*(?P<two>[A-Za-z_][\w.:-]*)"
    r"|\bwithout (?:the )?[\"'`]?(?P<four>[A-Z]\w{3,})[\"'`]?[^.;:]{0,20} "
    r"(?:agrees|passes|matches|(?:is |it is )?(?:right|correct))"
    r"|\b(?:passes|agrees|correct|right|vanishes|fine) (?:only )?(?:with|without|once|when|if) "
    r"(?:the )?(?:(?:pass|optimi[sz]er) )?"
    r"[\"'`]?(?P<three>[A-Z][\w.:]*)[\"'`]?(?: pass| optimi[sz]er)? (?:is |are )?(?:off|disabled|skipped|switched off)"
)
_SPECIAL = ("nan", "infinite", "shape", "type")
#: Elements differ, in whatever way.
VALUED = "valued"
#: Elements of two results were compared, so these have the same shape.
_COUNTED = re.compile(
    r"(?i)\bmismatched elements\b|\bmax(?:imum)?[ _](?:abs|rel)\w*|\bvalues differ\b|\bwrong values\b"
)
#: Ways of being wrong, the surest first.
_WAYS = (
    ("nan", re.compile(r"(?i)\bnans?\b")),
    ("infinite", re.compile(r"(?i)\binf(?:init(?:y|ies|e))?\b|\bsaturat\w+|\boverflow\w*")),
    ("tail", re.compile(r"(?i)\btail\b|\blast (?:\w+ )?elements?\b|\bremainder\b")),
    ("order", re.compile(r"(?i)\bpermuted?\b|\bpermutation\b|\btransposed?\b|\breordered\b|\bswapped\b|\bshuffled\b")),
    ("shift", re.compile(r"(?i)\bshift(?:ed)?\b|\boff by one element\b")),
    ("sign", re.compile(r"(?i)\bsigns?\b|\bnegated\b")),
    ("zero", re.compile(r"(?i)\ball[ -]?zeros?\b|\bzeroed\b|\bonly zeros\b")),
    (
        "factor",
        re.compile(r"(?i)\b(?:constant|fixed) (?:factor|ratio|offset)\b|\bratio\b.{0,40}\bconstant\b|\bscaled by\b"),
    ),
    (
        "shape",
        re.compile(
            r"(?i)\bshapes? (?:differs?|mismatch)\b|\b(?:wrong|other) shapes?\b|\bshapes? [^\n]{0,80}\bmismatch"
        ),
    ),
    ("type", re.compile(r"(?i)\b(?:wrong|other) d?types?\b|\bdtypes? (?:differ|mismatch)\b")),
)
#: What is compared with another result stands before this, or in brackets behind a word for it.
_COMPARED = re.compile(
    r"^(?P<one>[^\n:]{1,60}?) (?:vs\.?|versus|against|differs from|compared (?:to|with)|!=) "
    r"|^\w+ ?\[(?P<two>[^\]\n]{1,40})\]"
    r"|^(?P<three>[^\n:]{1,60}?): (?:wrong|incorrect|mismatch|(?:values?|outputs?|results?) (?:differ|mismatch|wrong))",
    re.MULTILINE,
)
#: Numbers that came out are shown, and none of them is special.
_SHOWN = re.compile(r"(?i)\b(?:got|actual|returned|computed)\b[: ]*(?:array)?\(?\[[^\]]*\d")
_SAID = re.compile(
    r"(?i)\b(?:wrong|incorrect) (?:result|output|value)s?\b|\bnot (?:equal|close) to tolerance\b"
    r"|\b(?:tensor-likes|scalars|arrays|booleans|tensors|outputs?|results?|values)\b (?:are|is|do) not "
    r"(?:\w+ ){0,2}(?:equal|close|match|identical)\b|\b(?:nan|inf) location mismatch\b"
    r"|\ballclose\b.{0,20}\b(?:fail|false)|\b(?:outputs?|results?) (?:mismatch|differ)\b"
    r"|\binconsistent (?:result|output)s?\b"
    r"|\bmax(?:imum)? (?:abs|rel)\w*\.? (?:diff|err)\w*[ :=]+\S+ (?:>|exceeds|is above|is larger)"
    r"|\bmismatched elements\b|\b(?:output|result|value)s?\b.{0,12} differs? from\b|\bnumerical? mismatch\b"
)
_EXPECTED = re.compile(r"(?i)\b(?:expected|desired|reference|want(?:ed)?)\b[: ]*(?:array)?\(?\[[^\]]*\]")
_RELATIVE = re.compile(
    r"(?i)\bmax(?:imum)? (?:abs(?:olute)?|rel(?:ative)?)\.? (?:diff(?:erence)?|err(?:or)?)\w*[:= ]+\S+"
)
_LONGEST = 4_000


def guilty(message: str) -> str:
    """The pass that a message blames, "" where it blames none."""
    found = _GUILTY.search(message[:_LONGEST]) if "is" in message or "uil" in message or "as" in message else None
    return next((name for name in found.groups() if name), "") if found else ""


def way(message: str) -> str:
    """In what way the numbers are wrong, as far as the message says: ``nan``, ``infinite``, ``shape``, ``type``,
    ``finite`` or ``finite`` with what is known besides, such as ``finite tail``; `VALUED` where no more is told than
    that elements were compared, "" where nothing is."""
    told = _RELATIVE.sub(" ", _EXPECTED.sub(" ", message[:_LONGEST]))
    name = next((name for name, pattern in _WAYS if pattern.search(told)), "")
    if name in _SPECIAL:
        return name
    if name or _SHOWN.search(told):
        return f"finite {name}".rstrip()
    return VALUED if _COUNTED.search(message[:_LONGEST]) else ""


def says_wrong(message: str) -> bool:
    """Whether a message speaks of a wrong result, whatever symptom was noted."""
    return _SAID.search(message[:_LONGEST]) is not None


def wrong(symptom: str) -> bool:
    """Whether a symptom is that of a wrong result."""
    return symptom.startswith(("wrong", "incorrect", "inconsisten", "mismatch", "numeric", "accuracy"))


def compared(message: str) -> str:
    """Whose result a message compares with another's, or says in brackets to be wrong; "" where it does not tell."""
    found = _COMPARED.search(message[:_LONGEST])
    return (found["one"] or found["two"] or found["three"]) if found else ""


def sampled(symptom: str) -> bool:
    """Whether a symptom is that of a program that was ended from outside, wherever it was just then."""
    return symptom.startswith(("hang", "timeout", "time out", "timed out"))
