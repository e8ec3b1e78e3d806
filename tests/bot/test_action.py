"""The composite action: its steps are run as GitHub runs them, and it is what GitHub takes for an action."""

from __future__ import annotations

import json
import os
import re
import site
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.bot import suites
from tests.bot.support import ROOT
from tests.github.node import node

FOLDER = ROOT / ".github" / "actions" / "gate"
_EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")
_PARSED = "console.log(JSON.stringify(require('yaml').parse(require('fs').readFileSync(0, 'utf8'), {strict: true})))"


@pytest.fixture(scope="module")
def action() -> Mapping[str, Any]:
    text = (FOLDER / "action.yml").read_text()
    done = subprocess.run([node(), "-e", _PARSED], cwd=ROOT, input=text, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


@dataclass
class Job:
    """A machine of GitHub's on which the action runs. `known` are the values of expressions."""

    action: Mapping[str, Any]
    temp: Path
    known: dict[str, str] = field(default_factory=dict)
    said: str = ""

    @property
    def outputs(self) -> dict[str, str]:
        """The action's."""
        return {name: self.valued(one["value"]) for name, one in self.action["outputs"].items()}

    @property
    def summary(self) -> str:
        path = self.temp / "summary.md"
        return path.read_text() if path.exists() else ""

    def valued(self, text: str) -> str:
        """A text with its expressions filled in; of outputs that no step has set they are empty."""

        def one(found: re.Match[str]) -> str:
            name = found[1]
            assert name in self.known or name.startswith("steps."), name
            return self.known.get(name, "")

        return _EXPRESSION.sub(one, text)

    def run(self, **inputs: str) -> int:
        """Do the steps that are scripts, until one fails; the exit status of the last one."""
        told = self.action["inputs"]
        missing = [name for name, one in told.items() if one.get("required") and name not in inputs]
        assert not missing and set(inputs) <= set(told)
        self.known |= {f"inputs.{name}": inputs.get(name, one.get("default", "")) for name, one in told.items()}
        self.known |= {"github.action_path": str(FOLDER), "runner.os": "Linux"}
        code = 0
        for step in self.action["runs"]["steps"]:
            if "run" in step and not code:
                code = self._step(step)
        return code

    def _step(self, step: Mapping[str, Any]) -> int:
        assert step["shell"] == "bash"
        script, outputs = self.temp / "step.sh", self.temp / "output"
        script.write_text(self.valued(step["run"]))
        assert script.read_text() == step["run"], "a value inside a script is a command that anybody may write"
        outputs.write_text("")
        environment = {
            **os.environ,
            **{name: self.valued(text) for name, text in step.get("env", {}).items()},
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_ACTION_PATH": str(FOLDER),
            "GITHUB_OUTPUT": str(outputs),
            "GITHUB_STEP_SUMMARY": str(self.temp / "summary.md"),
            # What the lock names is here already; a path file gives it to the new environment.
            "PIP_NO_DEPS": "1",
            "PIP_NO_INDEX": "1",
            "PIP_NO_BUILD_ISOLATION": "0",
            "PYTHONPATH": os.pathsep.join(site.getsitepackages()),
        }
        command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)]
        done = subprocess.run(command, env=environment, cwd=self.temp, capture_output=True, text=True, check=False)
        for line in outputs.read_text().splitlines():
            name, _, value = line.partition("=")
            self.known[f"steps.{step.get('id', '')}.outputs.{name}"] = value
        assert "Traceback" not in done.stderr, done.stderr
        for packages in self.temp.glob("graphwarden/lib/python3*/site-packages"):
            (packages / "beside.pth").write_text("\n".join(site.getsitepackages()))
        self.said = done.stderr
        return done.returncode


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the runner: Graphwarden is installed in it once."""
    return tmp_path_factory.mktemp("runner")


@pytest.fixture
def job(action: Mapping[str, Any], machine: Path) -> Iterator[Job]:
    for name in ("gate.json", "gate.sarif", "summary.md"):
        (machine / name).unlink(missing_ok=True)
    if (machine / "graphwarden" / "bin" / "graphwarden").exists():
        steps = [step for step in action["runs"]["steps"] if step.get("id") == "gate"]
        action = {**action, "runs": {**action["runs"], "steps": steps}}
    yield Job(action, machine)


@pytest.fixture
def asked(place: Path, tiny: suites.Builds, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setenv("GRAPHWARDEN_REVISIONS", str(tiny.root))
    folder = suites.cases(place / "action", ("Relu", "Neg", "Sub"))
    return {"config": tiny.compiler, "arguments": f"--cases {folder}\n--jobs 1\n", "budget": "1h"}


def test_new_failures_fail_the_job_and_are_told(job: Job, asked: dict[str, str]) -> None:
    assert job.run(base="1.3", head="1.1", **asked) == 1, job.said
    outputs = job.outputs
    assert outputs["conclusion"] == "failure"
    document = json.loads(Path(outputs["json"]).read_text())
    assert [one["name"] for one in document["new_failures"]] == ["Neg"] and document["ran"] == 3
    [run] = json.loads(Path(outputs["sarif"]).read_text())["runs"]
    assert len(run["results"]) == 1
    assert "Neg" in job.summary and job.summary.endswith("\n")
    installed = job.temp / "graphwarden" / "lib"
    assert list(installed.glob("python3*/site-packages/bot/cli.py")), "it is the installed one that ran"


def test_a_fix_passes_the_job(job: Job, asked: dict[str, str]) -> None:
    assert job.run(base="1.0", head="1.3", **asked) == 0, job.said
    assert job.outputs["conclusion"] == "success"
    assert [one["name"] for one in json.loads(Path(job.outputs["json"]).read_text())["fixed"]] == ["Sub"]
    assert json.loads(Path(job.outputs["sarif"]).read_text())["runs"][0]["results"] == []


def test_what_cannot_be_concluded_passes_and_says_so(job: Job, asked: dict[str, str]) -> None:
    assert job.run(base="1.3", head="1.2", **asked) == 0, job.said
    assert job.outputs["conclusion"] == "neutral" and "1.2 cannot be tested" in job.summary


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"head": "$(touch hacked); `touch hacked`"}, "has no revision"),
        ({"config": "nowhere.toml"}, "nowhere.toml"),
        ({"budget": "soon"}, "--budget"),
    ],
)
def test_a_mistake_fails_the_job_in_one_line_and_sets_no_conclusion(
    job: Job, asked: dict[str, str], wrong: dict[str, str], told: str
) -> None:
    code = job.run(**{"base": "1.3", "head": "1.1", **asked, **wrong})
    assert code == 2 and told in job.said
    assert (job.outputs["conclusion"], job.outputs["sarif"]) == ("", "")
    assert not list(job.temp.glob("hacked"))


def test_it_is_an_action_as_github_takes_them(action: Mapping[str, Any]) -> None:
    assert set(action) == {"name", "description", "inputs", "outputs", "runs"}
    assert action["runs"]["using"] == "composite" and set(action["runs"]) == {"using", "steps"}
    for one in action["inputs"].values():
        assert {"description"} <= set(one) <= {"description", "required", "default", "deprecationMessage"}
        assert all(isinstance(one.get(key, ""), str) for key in ("description", "default"))
    ids = {step["id"] for step in action["runs"]["steps"] if "id" in step}
    for one in action["outputs"].values():
        assert set(one) == {"description", "value"}
        step = re.fullmatch(r"\$\{\{ steps\.(\w+)\.outputs\.\w+ \}\}", one["value"])
        assert step is not None and step[1] in ids
    for step in action["runs"]["steps"]:
        allowed = {"uses", "with"} if "uses" in step else {"run", "shell"}
        assert allowed <= set(step) <= allowed | {"id", "name", "if", "env", "working-directory", "continue-on-error"}
        assert all(isinstance(text, str) for text in {**step.get("with", {}), **step.get("env", {})}.values())
        assert not _EXPRESSION.search(step.get("run", ""))
    used = set(re.findall(r"inputs\.([\w-]+)", json.dumps(action["runs"])))
    assert used == set(action["inputs"])
