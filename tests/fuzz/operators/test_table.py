"""The operator table against the schemas of the installed ONNX."""

import onnx
import pytest
from onnx import helper

from fuzz.operators import table as tables
from fuzz.operators.arrays import ARRAYS
from fuzz.operators.domains import INTERVALS, named
from fuzz.operators.table import Role, formal_inputs, operator, table


def all_schemas(domain, op_type):
    return [s for s in onnx.defs.get_all_schemas_with_history() if (s.domain, s.name) == (domain, op_type)]


def test_every_operator_input_and_reference_in_the_table_exists_in_some_opset():
    for (domain, op_type), entry in table().items():
        schemas = all_schemas(domain, op_type)
        inputs = {formal.name for schema in schemas for formal in schema.inputs}
        outputs = {formal.name for schema in schemas for formal in schema.outputs}
        assert schemas, op_type
        assert {*entry.inputs, *entry.forwards} <= inputs, op_type
        assert {spec.of for spec in entry.inputs.values()} - {""} <= inputs | outputs, op_type


def test_every_axis_attribute_in_the_table_exists():
    for (domain, op_type), entry in table().items():
        attributes = {name for schema in all_schemas(domain, op_type) for name in schema.attributes}
        assert {s.axis for s in entry.inputs.values() if isinstance(s.axis, str)} - {""} <= attributes, op_type


def test_every_domain_in_the_table_is_known_once():
    assert not (set(named()) & set(INTERVALS) | set(named()) & set(ARRAYS) | set(INTERVALS) & set(ARRAYS))
    used = {spec.domain for entry in table().values() for spec in entry.inputs.values()}
    assert used <= {*named(), *INTERVALS, *ARRAYS}


def test_an_operator_that_is_not_listed_has_only_data_inputs_of_any_value():
    spec = operator("Erf").input("input")
    assert (spec.role, spec.domain) == (Role.DATA, "any")


def test_the_ai_onnx_spelling_of_the_default_domain_finds_the_same_operator():
    assert operator("Reshape", "ai.onnx") is operator("Reshape")


def test_indices_of_gather_are_data_and_the_shape_of_reshape_is_configuration():
    assert operator("Gather").input("indices").role is Role.DATA
    assert operator("Reshape").input("shape").role is Role.CONFIGURATION
    assert operator("Conv").input("W").role is Role.PARAMETER


def test_inputs_are_named_by_the_opset_of_the_model():
    """Resize-10 takes (X, scales), Resize-11 and later (X, roi, scales, sizes)."""
    node = helper.make_node("Resize", ["x", "s"], ["y"])
    assert formal_inputs(node, {"": 10}) == ["X", "scales"]
    assert formal_inputs(node, {"": 19}) == ["X", "roi"]


def test_a_variadic_input_gives_its_name_to_every_item():
    assert formal_inputs(helper.make_node("Concat", ["a", "b", "c"], ["y"], axis=0), {"": 13}) == ["inputs"] * 3


def test_an_unknown_operator_has_nameless_inputs():
    assert formal_inputs(helper.make_node("Nonsense", ["a", "b"], ["y"], domain="my"), {"": 13, "my": 1}) == ["", ""]


@pytest.mark.parametrize("entry", [{"inn": {}}, {"in": {"x": {"role": "king"}}}, {"in": {"x": {"size": 3}}}])
def test_a_malformed_entry_is_refused_with_its_name(entry):
    with pytest.raises(tables.TableError, match=r"\[Relu\]"):
        tables._operator("Relu", entry)
