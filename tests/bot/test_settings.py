"""The bot's configuration: what is wrong is told in one line, and nothing secret lies in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot import settings
from bot.settings import BadSettings

LEAST = """
[projects.tvm]
repository = "apache/tvm"
compiler = "tvm"
"""
NIGHTLY = "[[schedule]]\nproject = 'tvm'\ncron = '0 2 * * *'\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "graphwarden.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_project_is_enough_and_nothing_is_filed_without_a_moderator(tmp_path: Path) -> None:
    found = settings.load(written(tmp_path, LEAST))
    project = found.projects["tvm"]
    assert (project.name, project.branch, project.filing.moderation) == ("tvm", "main", True)
    assert found.database == str(tmp_path / "graphwarden.db")


def test_paths_count_from_the_file_and_compilers_may_be_names(tmp_path: Path) -> None:
    text = LEAST.replace('"tvm"', '"compilers/mine.toml"') + 'cases = "cases"\n[github]\nwebhook_secret_file = "s"\n'
    found = settings.load(written(tmp_path, text))
    assert found.projects["tvm"].compiler == str(tmp_path / "compilers/mine.toml")
    assert found.projects["tvm"].cases == tmp_path / "cases"
    assert found.github.webhook_secret_file == tmp_path / "s"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "projects: is missing"),
        ("[projects]", "[projects] names no project"),
        ("nonsense", "no TOML"),
        (LEAST + "brunch = 'main'", "projects.tvm.brunch: no such setting"),
        (LEAST + "budget = 'soon'", "projects.tvm.budget: 'soon' is not a duration: write 90s, 3m, 1h30m or none"),
        (
            LEAST.replace("apache/tvm", "https://github.com/apache/tvm"),
            "projects.tvm.repository: write it as owner/name",
        ),
        ("[github]\napp_id = 1\n" + LEAST, "github: app_id and private_key_file belong together"),
        ("[server]\nport = 99999\n" + LEAST, "server.port: should be less than or equal to 65535"),
        ("[server]\nport = 'x'\n" + LEAST, "server.port: write a whole number"),
        ("[server]\npath = 'webhook'\n" + LEAST, "server.path: 'webhook': begin with /"),
        ("database = 7\n" + LEAST, "database: write a text in quotes"),
        (
            "[github]\napi = 'http://'\n" + LEAST,
            "github.api: 'http://' is no address: write e.g. https://api.github.com",
        ),
        ("[github]\napi = 'api.github.com'\n" + LEAST, "github.api: 'api.github.com' is no address"),
        ("[github]\napi = 'http://h:x'\n" + LEAST, "github.api: 'http://h:x' is no address"),
        ("[github]\ntimeout = inf\n" + LEAST, "github.timeout: should be less than or equal to 3600"),
        ("[github]\npoll_minutes = inf\n" + LEAST, "github.poll_minutes: should be less than or equal to 10000"),
        ("[github]\nwrite_pause = nan\n" + LEAST, "github.write_pause: should be"),
        (LEAST.replace("apache/tvm", "../.."), "projects.tvm.repository: write it as owner/name"),
        (LEAST + "branch = ''", "projects.tvm.branch: '' is no name of a branch"),
        (LEAST + "branch = 'refs/heads/main'", "branch: 'refs/heads/main' is no name of a branch: write it as GitHub"),
        (LEAST + "fetch = '--upload-pack=x'", "fetch: '--upload-pack=x' is no name of a remote: write e.g. origin"),
        (LEAST + "old_days = 9999999999", "projects.tvm.old_days: should be less than or equal to 36500"),
        (LEAST + "sources = 'onnx_node'", "projects.tvm.sources: write a list"),
        (LEAST + "suite = 'yep'", "projects.tvm.suite: write true or false"),
        (LEAST + "[projects.tvm.filing]\nlabels = ['']", "filing.labels.0: a label has 1 to 50 characters"),
        (LEAST + "[schedule]\nproject = 'tvm'", "schedule: write a list: [values in brackets], tables as [[NAME]]"),
        (LEAST + "[[schedule]]\nproject = 'x'\ncron = '0 2 * * *'", "there is no project 'x' (projects: tvm)"),
        (LEAST + "[[schedule]]\nproject = 'tvm'\ncron = 'daily'", "schedule.0.cron: no cron expression"),
        (
            LEAST + NIGHTLY.replace("0 2 * * *", "0 2 31 2 *"),
            "schedule.0.cron: '0 2 31 2 *' names no day that ever comes",
        ),
        (LEAST + NIGHTLY + "sources = ['nosuch']", "schedule.0.sources.0: unknown source 'nosuch': choose one of docs"),
        (LEAST + NIGHTLY + "sources = []", "schedule.0.sources: "),
        (
            LEAST + NIGHTLY + "hosts = true",
            "schedule: 'tvm' wants hosts: add [hosts] with executor = 'dask://HOST:PORT'",
        ),
        (LEAST + "[hosts]\nexecutor = 'db:8786'", "hosts.executor: db:8786: not of the form dask://HOST:PORT"),
        (LEAST + "[hosts]\nexecutor = 'dask://h:1'\ntags = ['a b']", "hosts.tags.0: 'a b': a tag has no space"),
        (LEAST + "[hosts]\nexecutor = 'dask://h:1'\ntls_ca = 'ca'", "hosts: tls_ca, tls_cert and tls_key belong"),
        (LEAST + NIGHTLY + "budget = 'soon'", "schedule.0.budget: 'soon' is not a duration"),
        (LEAST + NIGHTLY + "name = '7'", "schedule.0.name: '7' is no name of a schedule: letters, digits"),
        (LEAST + NIGHTLY + "name = 'a b'", "schedule.0.name: 'a b' is no name of a schedule"),
        (LEAST + NIGHTLY + NIGHTLY + "name = 'tvm'", "schedule: 'tvm' is the name of two; give each a `name`"),
        (LEAST + "[projects.tvm.filing]\nrefused_share = 2", "projects.tvm.filing.refused_share"),
    ],
)
def test_what_is_wrong_is_told_in_one_line_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(BadSettings) as problem:
        settings.load(path)
    assert str(problem.value).startswith(f"{path}: ")
    assert told in str(problem.value)
    assert "\n" not in str(problem.value)


def test_schedules_without_a_name_have_their_projects(tmp_path: Path) -> None:
    found = settings.load(written(tmp_path, LEAST + NIGHTLY + NIGHTLY + NIGHTLY + "name = 'own'"))
    assert [each.name for each in found.schedule] == ["tvm", "tvm-2", "own"]


def test_files_that_are_sources_of_a_schedule_count_from_the_configurations_folder(tmp_path: Path) -> None:
    found = settings.load(written(tmp_path, LEAST + NIGHTLY + "sources = ['mine.jsonl', 'isra']"))
    assert found.schedule[0].sources == (str(tmp_path / "mine.jsonl"), "isra")


def test_a_missing_file_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(
        BadSettings, match=r"cannot be read: No such file or directory \(`graphwarden init` writes one\)"
    ):
        settings.load(tmp_path / "none.toml")


def test_secrets_come_from_files_or_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(settings.SECRET_VARIABLE, raising=False)
    path = written(tmp_path, LEAST)
    with pytest.raises(
        BadSettings, match=r"webhook_secret_file names no file .* GRAPHWARDEN_WEBHOOK_SECRET is not set"
    ):
        _ = settings.load(path).webhook_secret
    monkeypatch.setenv(settings.SECRET_VARIABLE, "from the environment")
    assert settings.load(path).webhook_secret == b"from the environment"
    (tmp_path / "secret").write_text("from a file\n")
    found = settings.load(written(tmp_path, '[github]\nwebhook_secret_file = "secret"\n' + LEAST))
    assert found.webhook_secret == b"from a file"
    assert "from a file" not in repr(found)


def test_a_secret_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    found = settings.load(written(tmp_path, '[github]\ntoken_file = "gone"\n' + LEAST))
    with pytest.raises(BadSettings, match=r"github.token_file: .*gone: No such file"):
        _ = found.token


def test_projects_are_found_by_repository_whatever_the_case_of_its_letters(tmp_path: Path) -> None:
    found = settings.load(written(tmp_path, LEAST))
    assert [each.name for each in found.of_repository("Apache/TVM")] == ["tvm"]
    assert found.of_repository("apache/other") == []


def test_a_branch_and_a_remote_may_be_called_what_git_lets_them_be_called(tmp_path: Path) -> None:
    more = "branch = 'release/1.2-x'\nfetch = 'https://example.org/compiler.git'\n"
    project = settings.load(written(tmp_path, LEAST + more)).projects["tvm"]
    assert (project.branch, project.fetch) == ("release/1.2-x", "https://example.org/compiler.git")
