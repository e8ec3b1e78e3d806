"""The PyTorch operator instances as cases."""

import json

import pytest

from fuzz.case import Case
from fuzz.generators import Skip, torch_instances


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(torch_instances, "data_path", lambda *parts: tmp_path)
    return tmp_path


def test_an_instance_is_a_case_named_after_its_file(folder):
    (folder / "relu.json").write_text('{"api": "torch.relu",  "args": []}')
    [case] = torch_instances.cases(0)
    assert isinstance(case, Case)
    assert (case.kind, case.origin.test, dict(case.inputs)) == ("instance", "relu", {})
    assert json.loads(case.model)["api"] == "torch.relu"


def test_spacing_and_the_order_of_keys_do_not_change_the_id(folder):
    (folder / "a.json").write_text('{"api": "torch.relu", "args": []}')
    (folder / "b.json").write_text('{"args":[],\n "api":"torch.relu"}')
    one, other = torch_instances.cases(0)
    assert one.id == other.id


def test_a_broken_file_is_skipped_with_its_name(folder):
    (folder / "broken.json").write_text("{")
    [skip] = torch_instances.cases(0)
    assert isinstance(skip, Skip)
    assert skip.reason.startswith("broken.json is not valid JSON")
