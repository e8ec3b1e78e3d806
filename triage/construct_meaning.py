"""What a model means: its bytes parsed, and the parts that no compiler acts upon left out."""

from __future__ import annotations

import onnx
from google.protobuf.message import DecodeError, Message  # type: ignore[import-untyped,unused-ignore]

#: Parts of a model that no compiler acts upon, by message.
_NOT_MEANING: dict[str, tuple[str, ...]] = {
    "ModelProto": ("producer_name", "producer_version", "domain", "model_version"),
}
_EVERYWHERE = ("doc_string", "metadata_props")
#: Optional names whose absence and emptiness mean the same.
_EMPTY_IS_ABSENT = ("name", "domain", "overload")


def parsed(data: bytes) -> onnx.ModelProto:
    """The model in serialised form. Raises ValueError for bytes that are none."""
    try:
        return onnx.load_model_from_string(data)
    except DecodeError as error:
        raise ValueError(f"the case's {len(data)} bytes are no ONNX model") from error


def normalise(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy without what has no meaning to a compiler.

    Dropped: doc strings, metadata properties, the producer's name and version, the model's domain
    and version, and empty optional names. Attributes are sorted by name.
    """
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    strip(copy)
    return copy


def strip(message: Message) -> None:
    """Take out of `message` what `normalise` drops."""
    for field in _EVERYWHERE + _NOT_MEANING.get(type(message).__name__, ()):
        if field in message.DESCRIPTOR.fields_by_name:
            message.ClearField(field)
    for field in _EMPTY_IS_ABSENT:
        if field in message.DESCRIPTOR.fields_by_name and not getattr(message, field):
            message.ClearField(field)
    if isinstance(message, onnx.NodeProto):
        message.attribute.sort(key=lambda attribute: attribute.name)
    for field, value in message.ListFields():
        if field.message_type is not None:
            for child in [value] if isinstance(value, Message) else value:
                strip(child)
