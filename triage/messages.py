"""What a compiler's error message says once the lines that every message of it carries are taken away."""

from __future__ import annotations

import re

#: Preambles and trailers that tell nothing of the failure itself, by the compiler that writes them.
_EMPTY_WORDS: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        # OpenVINO: the chain of rethrows, the frontend's collected log and its summary
        r"^Exception from \S+:\d+:[ \t]*$\n?",
        r"^Check 'false' failed at \S*unconverted_ops_report\.cpp:\d+:[ \t]*$\n?",
        r"^FrontEnd API failed with \w+:[ \t]*$\n?",
        r"^Model wasn't fully converted\.(?: Failed operations detailed log:)?[ \t]*$\n?",
        r"^Summary:[ \t]*$(?=\n-- Conversion is failed)[\s\S]*",
        r"^-- \S+ with a message:[ \t]*$\n?",
        r"While validating ONNX node '<Node\([^\n]*?\)[^\n]*?>':\s*",
        r"^While validating node '[^\n]*$\n?",
        # ONNX Runtime: status code, the node's name, the C++ signature before the sentence
        r"^\[ONNXRuntimeError\] : \d+ : [A-Z_]+ : ",
        r"^Exception during initialization: ",
        r"^Non-zero status code returned while running (?=\w+ node)",
        r"Name:'[^']*' Status Message: ",
        # Eager and compiled PyTorch: advice
        r"^Set TORCHDYNAMO_VERBOSE=1[\s\S]*",
        r"^\s*from user code:[\s\S]*",
    )
)


def core(message: str) -> str:
    """The message without its empty words; unchanged where nothing else would be left."""
    told = message
    for pattern in _EMPTY_WORDS:
        told = pattern.sub("", told)
    told = re.sub(r"\n{2,}", "\n", told).strip()
    return told or message.strip()
