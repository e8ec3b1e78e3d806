"""What is wrong with a setting, in the words of whoever writes a configuration: the library speaks of its types."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import ValidationError

#: The library's kind of an error -> what is told instead.
_WORDS = {
    "extra_forbidden": "no such setting",
    "missing": "is missing",
    "path_type": "write a path in quotes",
    "tuple_type": "write a list: [values in brackets], tables as [[NAME]]",
    "bool_parsing": "write true or false",
    "bool_type": "write true or false",
    "string_type": "write a text in quotes",
    "int_parsing": "write a whole number",
    "int_type": "write a whole number",
    "int_from_float": "write a whole number",
    "float_parsing": "write a number",
    "float_type": "write a number",
    "finite_number": "write a number that is finite",
    "dict_type": "write a table",
    "mapping_type": "write a table",
    "model_type": "write a table",
}
#: Before what Graphwarden's own checks say, and what the library says of a number.
_BEFORE = ("Value error, ", "Input ")


def told(error: ValidationError) -> Iterator[str]:
    """Each thing that is wrong: its place and what would be right."""
    for each in error.errors():
        place = ".".join(str(part) for part in each["loc"])
        words = _WORDS.get(each["type"], each["msg"])
        for start in _BEFORE:
            words = words.removeprefix(start)
        yield f"{place}: {words}" if place else words
