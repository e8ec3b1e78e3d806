"""What git archives stays in its folder, with the newest Python and with Debian 12's."""

from __future__ import annotations

import contextlib
import io
import tarfile
from pathlib import Path

import pytest

from triage.revisions.unpacking import unpack


@pytest.fixture(params=["with the filter of Python 3.11.4", "without"], autouse=True)
def _python(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "without":
        monkeypatch.delattr(tarfile, "data_filter", raising=False)
    elif not hasattr(tarfile, "data_filter"):
        pytest.skip("this Python has no such filter")


def archive(*members: tuple[str, bytes, str]) -> tarfile.TarFile:
    """Members by name, kind and content or link, read as a stream as git's is."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as new:
        for name, kind, content in members:
            member = tarfile.TarInfo(name)
            member.type = kind
            if kind == tarfile.REGTYPE:
                member.size = len(content)
                new.addfile(member, io.BytesIO(content.encode()))
            else:
                member.linkname = content
                new.addfile(member)
    written.seek(0)
    return tarfile.open(fileobj=written, mode="r|")


def test_files_folders_and_links_within_are_written(tmp_path: Path) -> None:
    told = archive(
        ("a", tarfile.DIRTYPE, ""), ("a/file.py", tarfile.REGTYPE, "x = 1"), ("a/link.py", tarfile.SYMTYPE, "file.py")
    )
    unpack(told, tmp_path)
    assert (tmp_path / "a/link.py").read_text() == "x = 1"


@pytest.mark.parametrize(
    "members",
    [
        [("../out", tarfile.REGTYPE, "x")],
        [("a/../../out", tarfile.REGTYPE, "x")],
        [("link", tarfile.SYMTYPE, "/etc/passwd")],
        [("link", tarfile.SYMTYPE, "../../out")],
        [("link", tarfile.SYMTYPE, ".."), ("link/out", tarfile.REGTYPE, "x")],
        [("pipe", tarfile.FIFOTYPE, "")],
        [("device", tarfile.CHRTYPE, "")],
    ],
)
def test_what_leads_out_or_is_no_file_is_refused(tmp_path: Path, members: list[tuple[str, bytes, str]]) -> None:
    target = tmp_path / "deep" / "target"
    target.mkdir(parents=True)
    with pytest.raises(tarfile.TarError):
        unpack(archive(*members), target)
    assert sorted(tmp_path.rglob("*")) in ([tmp_path / "deep", target], [tmp_path / "deep", target, target / "a"])


def test_an_absolute_name_lands_inside_or_nowhere(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    outside = tmp_path / "outside"
    with contextlib.suppress(tarfile.TarError):
        unpack(archive((str(outside), tarfile.REGTYPE, "x")), target)
    assert not outside.exists()
