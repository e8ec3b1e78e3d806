"""Where functions begin, by the unwinding table of real libraries, whose exported names tell it too."""

from __future__ import annotations

import ctypes
import random
from pathlib import Path

import pytest

from fuzz.unwind import beginning


def exported(library: ctypes.CDLL, name: str) -> tuple[Path, int]:
    """The file of an exported function, and where in it that begins."""
    address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
    assert address is not None
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, _, offset, _, _, *path = line.split(maxsplit=5)
        start, end = (int(each, 16) for each in addresses.split("-"))
        if start <= address < end:
            return Path(path[0]), address - start + int(offset, 16)
    raise AssertionError(f"{name} is in no mapped file")


@pytest.mark.parametrize("name", ["crc32", "inflate", "deflateInit2_", "compressBound"])
def test_an_address_within_a_function_leads_to_its_beginning(name: str) -> None:
    file, begins = exported(ctypes.CDLL("libz.so.1"), name)
    assert beginning(file, begins) == beginning(file, begins + 3) == begins


def test_what_lies_before_a_function_is_not_in_it() -> None:
    file, begins = exported(ctypes.CDLL("libz.so.1"), "inflate")
    before = beginning(file, begins - 1)
    assert before is None or before < begins


def test_what_is_no_code_lies_in_no_function() -> None:
    file, _ = exported(ctypes.CDLL("libz.so.1"), "inflate")
    assert beginning(file, 8) is None
    assert beginning(file, file.stat().st_size + 100) is None


@pytest.mark.parametrize("content", [b"", b"no library", b"\x7fELF" + bytes(8), b"\x7fELF\x02\x01" + b"\xff" * 200])
def test_a_file_that_is_no_library_tells_nothing(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "lib.so"
    file.write_bytes(content)
    assert beginning(file, 16) is None and beginning(tmp_path / "missing.so", 16) is None


def test_a_damaged_table_ends_in_no_answer_or_another_one_but_never_in_an_error(tmp_path: Path) -> None:
    file, begins = exported(ctypes.CDLL("libz.so.1"), "inflate")
    whole, draw = file.read_bytes(), random.Random(3)
    damaged = tmp_path / "lib.so"
    for _ in range(200):
        data = bytearray(whole[: draw.choice((len(whole), draw.randrange(len(whole))))])
        for _ in range(draw.randrange(1, 40)):
            data[draw.randrange(min(len(data), draw.choice((400, len(data)))))] = draw.randrange(256)
        damaged.write_bytes(data)
        found = beginning(damaged, begins + 3)
        assert found is None or 0 <= found < 1 << 64
