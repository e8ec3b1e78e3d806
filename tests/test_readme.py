"""Every sentence of the README that can be checked is checked here or in the test it describes."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from bot import cli
from bot.failures import ExitCode
from fuzz import generators, instance_store
from triage import reproducer

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def test_the_reproducer_of_the_shown_report_still_fails_as_the_report_says():
    quoted = "\n".join(
        line[2:] if line.startswith("> ") else line[1:] for line in README.splitlines() if line[:1] == ">"
    )
    script = re.search(r"```python\n(.*?)```", quoted, re.DOTALL).group(1)
    found = reproducer.rerun(script)
    assert reproducer.reproduces("wrong:values", "", found), found.output


def test_the_two_commands_are_targets_of_the_makefile():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^    make (\w+)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_table_of_commands_is_what_the_command_line_offers():
    shown = set(re.findall(r"^\| `graphwarden (\w+)", README, re.MULTILINE))
    assert shown == set(get_command(cli.assembled()).commands)


#: Commands that leave a file, a row or a log, and print no document.
RUN_THE_BOT = {"init", "serve", "post", "work", "stop", "host"}
DRAWS = {"plot"}
#: Serves JSON beside its pages.
SERVES = {"pages"}


def test_every_command_has_help_and_the_listed_ones_have_json():
    for name, command in get_command(cli.assembled()).commands.items():
        assert command.help, name
        if name in RUN_THE_BOT | DRAWS | SERVES:
            continue
        members = getattr(command, "commands", {}).values()
        options = [option for each in (command, *members) for parameter in each.params for option in parameter.opts]
        assert "--json" in options, name


def test_the_exit_codes_are_those_of_the_program():
    section = README.partition("### Exit codes")[2]
    shown = {int(code) for code in re.findall(r"^\| (\d+) \|", section, re.MULTILINE)}
    assert shown == {code.value for code in ExitCode}


def test_the_number_of_instances_is_the_number_of_files():
    [shown] = re.findall(r"^(\d+) of them lie in `data/instances/torch`", README, re.MULTILINE)
    assert int(shown) == len(list((ROOT / "data/instances/torch").glob("*.json"))) >= 30


@pytest.mark.parametrize("source", ["pytorch", "docs", "relations", "keras"])
def test_the_shipped_instances_of_a_source_are_as_many_as_the_table_says(source):
    [(calls, operators)] = re.findall(rf"^\| `{source}` \|.*\| ([\d,]+) calls of ([\d,]+) ", README, re.MULTILINE)
    found = instance_store.load(ROOT / "data" / "instances" / f"{source}.jsonl.gz")
    counted = (len(found), len({one.operator for one in found}))
    assert counted == (int(calls.replace(",", "")), int(operators.replace(",", "")))


def test_every_source_is_in_the_table():
    table = README.partition("## Where cases come from")[2].partition("## Limits")[0]
    assert sorted(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == generators.names()


def test_the_links_of_the_documentation_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")]:
        prose = "\n".join(line for line in page.read_text().splitlines() if line[:1] != ">")
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", prose):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_module_runs_as_a_program():
    done = subprocess.run([sys.executable, "-m", "bot.cli", "--version"], capture_output=True, text=True, cwd=ROOT)
    assert re.fullmatch(r"graphwarden \d+\.\d+\.\d+\n", done.stdout), done.stderr
