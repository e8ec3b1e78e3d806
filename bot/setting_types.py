"""Texts in a configuration that must have a form: each says what would be right."""

from __future__ import annotations

import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator

from bot import cron, hosts
from bot.durations import seconds
from bot.failures import Refusal
from fuzz import generators

REPOSITORY = re.compile(r"(?!\.{1,2}/)[\w.-]{1,100}/(?!\.{1,2}$)[\w.-]{1,100}")
_PATH = re.compile(r"/[\w/-]*")
#: What can be typed behind `graphwarden campaigns pause` without quotes.
_SCHEDULE = re.compile(r"(?!-)[\w.-]{1,100}")
#: What git takes for a branch, and for no option of its own.
_BRANCH = re.compile(r"(?!-)[^\s~^:?*\[\\]+")


def _repository(text: str) -> str:
    if not REPOSITORY.fullmatch(text):
        raise ValueError("write it as owner/name")
    return text


def _duration(text: str) -> str:
    try:
        seconds(text)
    except Refusal as problem:
        raise ValueError(str(problem).partition(" ")[2]) from problem
    return text


def _cron(text: str) -> str:
    try:
        cron.trigger(text)
    except ValueError as problem:
        raise ValueError(f"no cron expression ({problem}): write five fields, e.g. '0 2 * * *'") from problem
    if not cron.comes(text):
        raise ValueError(f"{text!r} names no day that ever comes")
    return text


def _address(text: str) -> str:
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable:
        raise ValueError(f"{text!r} is no address: write e.g. https://api.github.com")
    return text


def _path(text: str) -> str:
    if not _PATH.fullmatch(text):
        raise ValueError(f"{text!r}: begin with /, then letters, digits, _, - and /")
    return text


def _branch(text: str) -> str:
    if not _BRANCH.fullmatch(text) or text.startswith("refs/"):
        raise ValueError(f"{text!r} is no name of a branch: write it as GitHub shows it, e.g. main")
    return text


def _remote(text: str) -> str:
    if text.startswith("-") or text != "".join(text.split()):
        raise ValueError(f'{text!r} is no name of a remote: write e.g. origin, or "" for none')
    return text


def _label(text: str) -> str:
    if not 0 < len(text.strip()) <= 50:
        raise ValueError("a label has 1 to 50 characters")
    return text


def _schedule(text: str) -> str:
    if not _SCHEDULE.fullmatch(text) or text.isdecimal():
        raise ValueError(f"{text!r} is no name of a schedule: letters, digits, ., _ and -, and no number alone")
    return text


def _executor(text: str) -> str:
    try:
        hosts.address(text, hosts.Tls())
    except Refusal as problem:
        raise ValueError(str(problem)) from problem
    return text


def _tag(text: str) -> str:
    if not hosts.is_tag(text):
        raise ValueError(f"{text!r}: a tag has no space, comma, = or @")
    return text


def _source(text: str) -> str:
    try:
        generators.check(text)
    except generators.UnknownGenerator as problem:
        raise ValueError(str(problem)) from problem
    return text


Repository = Annotated[str, AfterValidator(_repository)]
Duration = Annotated[str, AfterValidator(_duration)]
Cron = Annotated[str, AfterValidator(_cron)]
Address = Annotated[str, AfterValidator(_address)]
WebPath = Annotated[str, AfterValidator(_path)]
Branch = Annotated[str, AfterValidator(_branch)]
Remote = Annotated[str, AfterValidator(_remote)]
Label = Annotated[str, AfterValidator(_label)]
ScheduleName = Annotated[str, AfterValidator(_schedule)]
Executor = Annotated[str, AfterValidator(_executor)]
Tag = Annotated[str, AfterValidator(_tag)]
Source = Annotated[str, AfterValidator(_source)]
