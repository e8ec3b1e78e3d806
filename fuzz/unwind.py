"""Where a function without a name begins, by the table that unwinding needs.

That is `.eh_frame_hdr` of an ELF file (Linux Standard Base, Core Specification, 10.6.2).

A stripped library has no names, but it still tells exceptions which instructions belong together. Two addresses in one
function are one place then.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_HEADER = struct.Struct("<4sBB10xHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_LOAD, _UNWINDING = 1, 0x6474E550
#: Version 1, a relative pointer, a count, and a table of offsets from the header: what linkers write.
_USUAL = bytes((1, 0x1B, 0x03, 0x3B))
_PAIR = struct.Struct("<ii")


@dataclass(frozen=True)
class _Segment:
    kind: int
    offset: int
    address: int
    size: int


def beginning(library: Path, offset: int) -> int | None:
    """The offset in a 64-bit ELF file at which the function around another offset begins.

    None where the file has no such table, is no such file, or where no function is there.
    """
    try:
        with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            segments = list(_segments(data))
            table = next((each for each in segments if each.kind == _UNWINDING), None)
            address = _moved(segments, offset, to_address=True)
            if table is None or address is None:
                return None
            found = _function(data, segments, table, address)
            return None if found is None else _moved(segments, found, to_address=False)
    except (OSError, ValueError, OverflowError, struct.error):  # not to be read, empty, cut off, damaged
        return None


def _segments(data: mmap.mmap) -> Iterator[_Segment]:
    magic, bits, order, _, _, _, _, start, _, _, _, each, count, *_ = _HEADER.unpack_from(data)
    if (magic, bits, order, each) != (b"\x7fELF", 2, 1, _SEGMENT.size):
        raise ValueError("no 64-bit little-endian ELF file")
    for at in range(count):
        kind, _, offset, address, _, size, _, _ = _SEGMENT.unpack_from(data, start + at * _SEGMENT.size)
        yield _Segment(kind, offset, address, size)


def _moved(segments: list[_Segment], where: int, to_address: bool) -> int | None:
    """An offset in the file as the address that it is loaded at, or the other way round."""
    for each in segments:
        begin, other = (each.offset, each.address) if to_address else (each.address, each.offset)
        if each.kind == _LOAD and begin <= where < begin + each.size:
            return where - begin + other
    return None


def _function(data: mmap.mmap, segments: list[_Segment], table: _Segment, address: int) -> int | None:
    """The address at which the function around an address begins: the last entry at or below it that reaches so far."""
    if data[table.offset : table.offset + 4] != _USUAL:
        return None
    first = table.offset + 12
    low, high = 0, struct.unpack_from("<I", data, table.offset + 8)[0]
    while low < high:
        middle = (low + high) // 2
        begin, _ = _PAIR.unpack_from(data, first + middle * _PAIR.size)
        low, high = (middle + 1, high) if table.address + begin <= address else (low, middle)
    if not low:
        return None
    begin, entry = (table.address + each for each in _PAIR.unpack_from(data, first + (low - 1) * _PAIR.size))
    return begin if _reaches(data, segments, entry, begin, address) else None


def _reaches(data: mmap.mmap, segments: list[_Segment], entry: int, begin: int, address: int) -> bool:
    """Whether the entry's function, which begins there, goes on to the address: what has no entry may follow it."""
    at = _moved(segments, entry, to_address=False)
    if at is None:
        return False
    pointer, length = struct.unpack_from("<iI", data, at + 8)
    # Pointers of other forms than the usual one (relative, four bytes) do not lead back to the beginning.
    return entry + 8 + int(pointer) == begin and address < begin + int(length)
