"""HirGen on the command line: generated, kept over campaigns, hunted with in both modes."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest

from tests.bot.support import ROOT, Run
from triage.store import open_store

ACCEPTS = ROOT / "tests" / "faulty" / "accepts_anything.py"
BREAKS = ROOT / "tests" / "faulty" / "breaks_functions.py"


def manifest(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "manifest.jsonl").read_text().splitlines()]


def models(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.glob("*.onnx"))]


def test_the_manifest_says_what_a_disruptive_model_breaks(gw: Run, tmp_path: Path) -> None:
    done = gw("generate", "--source", "hirgen", "--mode", "disruptive", "--count", 12, "--out", tmp_path / "m")
    assert (done.code, done.err) == (0, "")
    for line, data in zip(manifest(tmp_path / "m"), models(tmp_path / "m"), strict=True):
        violation, model = line["violation"], onnx.load_model_from_string(data)
        assert isinstance(violation, dict) and violation["operator"] == model.graph.node[-1].op_type
        assert set(violation) == {"kind", "operator", "where", "valid", "given", "rule"}
        with pytest.raises((onnx.checker.ValidationError, onnx.shape_inference.InferenceError)):
            onnx.checker.check_model(model, full_check=True)


@pytest.mark.parametrize("options", [(), ("--mode", "disruptive"), ("--unguided",), ("--form", "closure")])
def test_the_same_arguments_give_the_same_bytes(gw: Run, tmp_path: Path, options: tuple[str, ...]) -> None:
    for name in ("a", "b"):
        gw("generate", "--source", "hirgen", "--count", 5, "--seed", 9, *options, "--out", tmp_path / name)
    assert models(tmp_path / "a") == models(tmp_path / "b") and manifest(tmp_path / "a") == manifest(tmp_path / "b")


def test_a_campaign_goes_on_from_the_coverage_of_the_last_one(gw: Run, tmp_path: Path) -> None:
    generate = ("generate", "--source", "hirgen", "--count", 6, "--operators", "Relu,Add", "--ops", "3:3")
    kept = ("--coverage", tmp_path / "covered.json")
    for name in ("first", "second"):
        assert gw(*generate, *kept, "--out", tmp_path / name).code == 0
    assert models(tmp_path / "first") != models(tmp_path / "second")
    gw(*generate, "--out", tmp_path / "alone")
    assert models(tmp_path / "first") == models(tmp_path / "alone")
    assert json.loads((tmp_path / "covered.json").read_text())["covered"]["edge"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--source", "isra", "--mode", "disruptive"), "--mode: isra has no such option"),
        (("--source", "hirgen", "--mode", "wild"), "--mode 'wild': choose one of strict, disruptive"),
        (("--source", "hirgen", "--criteria", "colour"), "no criterion colour: choose from datatype"),
        (("--source", "hirgen", "--mode", "disruptive", "--form", "wrapped"), "a disruptive model has no functions"),
        (("--source", "hirgen", "--mode", "disruptive", "--operators", "If"), "allow others, without bodies"),
        (("--source", "hirgen", "--coverage", "none/c.json"), "--coverage none/c.json: there is no folder"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(gw: Run, tmp_path: Path, options: tuple[str, ...], told: str) -> None:
    done = gw("generate", *options, "--count", 2, "--out", tmp_path / "m")
    assert done.code == 2 and told in done.err and len(done.err.splitlines()) == 1
    assert not (tmp_path / "m").exists()


def test_a_mode_needs_the_source(gw: Run, tmp_path: Path) -> None:
    done = gw("hunt", "--source", "isra", "--mode", "disruptive", "--db", tmp_path / "h.db")
    assert done.code == 2 and "add --source hirgen" in done.err


def test_the_mode_is_part_of_a_campaign(gw: Run, tmp_path: Path) -> None:
    hunt = ("hunt", "--source", "hirgen", "--backend", ACCEPTS, "--no-drafts", "--jobs", 1, "--budget", "1s", "--json")
    found = [gw(*hunt, *mode, "--db", tmp_path / "h.db") for mode in ((), ("--mode", "disruptive"))]
    assert [done.code for done in found] == [0, 0], found
    assert [done.json["campaign"] for done in found] == [1, 2]
    with open_store(tmp_path / "h.db", create=False) as store:
        generators = {each.origin.generator for each in store.recorded(2)}
    assert generators <= {"hirgen_disruptive"}


def test_failures_on_invalid_models_are_counted(gw: Run, tmp_path: Path) -> None:
    hunt = ("hunt", "--source", "hirgen", "--mode", "disruptive", "--backend", ACCEPTS, "--no-drafts", "--jobs", 1)
    done = gw(*hunt, "--budget", "5s", "--json", "--db", tmp_path / "h.db")
    assert done.code == 0 and done.json["failures"] >= done.json["bugs"] > 0, done


def test_backends_that_rewrite_cases_do_so_in_a_hunt(gw: Run, tmp_path: Path) -> None:
    hunt = ("hunt", "--source", "hirgen", "--backend", BREAKS, "--no-drafts", "--jobs", 1, "--budget", "1s", "--json")
    assert gw(*hunt, "--db", tmp_path / "h.db").code == 0
    with open_store(tmp_path / "h.db", create=False) as store:
        [campaign] = store.campaigns()
    assert [name.partition("[")[2] for name in campaign.parameters["targets"]] == ["", "functions=closure]"]
