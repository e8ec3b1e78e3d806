"""What ONNX declares of operators: how many ways there are through one, and whether a call fits it."""

from __future__ import annotations

from fuzz.ranking.interface import branches, declared, fits
from fuzz.ranking.item import Call, Tensor
from fuzz.ranking.suspicion import queues
from tests.fuzz.ranking.support import item, tensor

X = Tensor("float", (2,))


def test_many_attributes_inputs_and_revisions_are_many_branches() -> None:
    assert branches("Resize") > branches("Relu") > 1
    assert branches("ai.onnx.ml:TreeEnsemble") > branches("ai.onnx.ml:Binarizer") > 1


def test_what_onnx_does_not_declare_has_one_branch_and_takes_anything() -> None:
    for operator in ("torch.nn.functional.conv2d", "Nothing", "com.example:Relu", ""):
        assert branches(operator) == 1
        assert fits(Call(operator, {f"input {at}": X for at in range(9)}, results=(X,) * 9))


def test_a_library_s_calls_weigh_as_much_as_a_usual_operator() -> None:
    """Else the second test of an operator of ONNX came before the first one of a call in the same file."""
    assert declared("torch.relu") == 1 and declared("Resize") > 1 > declared("Abs") > declared("Nothing")


def test_more_tensors_than_an_operator_takes_or_gives_are_of_a_model_of_several() -> None:
    assert fits(Call("Add", {"A": X, "B": X}, results=(X,)))
    assert not fits(Call("Add", {"A": X, "B": X, "input 2": X}, results=(X,)))
    assert not fits(Call("Add", {"A": X, "B": X}, results=(X, X)))
    assert fits(Call("Concat", {f"inputs {at}": X for at in range(40)}, results=(X,)))


def test_a_tensor_that_is_an_attribute_is_no_input() -> None:
    assert fits(Call("Constant", {"value": Tensor("float", (2,), True)}, results=(X,)))
    assert not fits(Call("Constant", {"value": Tensor("float", (2,), True), "input 0": X}, results=(X,)))


def test_operators_with_more_branches_and_models_of_their_own_weigh_more() -> None:
    worth = {
        items[0].operator + str(len(items[0].call.parameters)): queues(items, (), 0)[0].worth[0]
        for items in ([item(0, "Resize", X=tensor(2))], [item(0, "Relu", X=tensor(2))])
    }
    assert worth["Resize1"] > worth["Relu1"]
    alone, crowded = [item(0, "Relu", X=tensor(2))], [item(0, "Relu", X=tensor(2), more=tensor(2))]
    assert queues(alone, (), 0)[0].worth[0] > queues(crowded, (), 0)[0].worth[0]
