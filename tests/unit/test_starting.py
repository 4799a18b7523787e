"""What keeps `run` from starting is said all at once: from variables, files and this machine."""

import socket
from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.settings import SettingsError, from_files, load_settings, read_settings
from bot.starting import api_hint, start_problems

SECRET = "s3cret-0123456789"
CLEARML = {
    "CLEARML_API_HOST": "http://127.0.0.1:8008",
    "CLEARML_API_ACCESS_KEY": "access",
    "CLEARML_API_SECRET_KEY": SECRET,
}


def problems(directory: Path, environment: Mapping[str, str]) -> list[str]:
    kept = {
        "POOLKEEPER_DATABASE": f"sqlite:///{directory / 'state.sqlite3'}",
        "POOLKEEPER_METRICS_PORT": "off",
    }
    settings, unreadable = read_settings({**kept, **CLEARML, **environment})
    assert unreadable == []
    return start_problems(settings)


def refused(environment: Mapping[str, str]) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        load_settings(environment)
    assert SECRET not in str(caught.value)
    return caught.value.problems


def test_nothing_is_said_of_what_can_start(tmp_path: Path) -> None:
    ways: tuple[Mapping[str, str], ...] = (
        {},
        {"SLACK_APP_TOKEN": "xapp-1"},
        {"SLACK_SIGNING_SECRET": "ab12"},
    )

    for way in ways:
        slack = {"SLACK_BOT_TOKEN": "xoxb-1", "POOLKEEPER_SLACK_PORT": "0", **way} if way else {}
        assert problems(tmp_path, slack) == []


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"CLEARML_API_HOST": ""}, "CLEARML_API_HOST is not set"),
        ({"CLEARML_API_ACCESS_KEY": ""}, "CLEARML_API_ACCESS_KEY is not set"),
        ({"CLEARML_API_SECRET_KEY": ""}, "CLEARML_API_SECRET_KEY is not set"),
        ({"CLEARML_API_HOST": "api.x.org"}, "is api.x.org, which is no address"),
        ({"CLEARML_API_HOST": "http://[x"}, "which is no address"),
        ({"CLEARML_API_HOST_VERIFY_CERT": "/no/ca.pem"}, "/no/ca.pem, which does not exist"),
        ({"POOLKEEPER_DATABASE": "sqlite:////no/such/x"}, "directory /no/such does not exist"),
        ({"POOLKEEPER_DATABASE": "sqlite://"}, "The database must be a file"),
        (
            {"POOLKEEPER_KUBERNETES": "kubeconfig", "POOLKEEPER_KUBECONFIG": "/no/config"},
            "POOLKEEPER_KUBECONFIG names /no/config, which is no file.",
        ),
        ({"POOLKEEPER_CGPU_PROBE": "exec"}, "POOLKEEPER_KUBERNETES is off"),
        ({"SLACK_BOT_TOKEN": "xoxb-1"}, "set SLACK_APP_TOKEN for Socket Mode, or"),
        (
            {"SLACK_BOT_TOKEN": "xapp-1", "SLACK_APP_TOKEN": "xapp-1"},
            "SLACK_BOT_TOKEN holds an app-level token; it wants a bot token",
        ),
        (
            {"SLACK_BOT_TOKEN": "xoxp-1", "SLACK_APP_TOKEN": "xapp-1"},
            "SLACK_BOT_TOKEN holds a user's token",
        ),
        (
            {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xoxb-1"},
            "SLACK_APP_TOKEN holds a bot token; it wants an app-level token",
        ),
        (
            {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1",
             "SLACK_SIGNING_SECRET": "xapp-1"},
            "SLACK_SIGNING_SECRET holds an app-level token",
        ),
    ],
)  # fmt: skip
def test_a_setting_that_cannot_work_is_named(
    tmp_path: Path, environment: Mapping[str, str], sentence: str
) -> None:
    [problem] = problems(tmp_path, environment)

    assert sentence in problem


def test_a_port_that_somebody_has_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        http = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_SIGNING_SECRET": "ab12"}
        [problem] = problems(tmp_path, {**http, "POOLKEEPER_SLACK_PORT": port})
        [other] = problems(tmp_path, {"POOLKEEPER_METRICS_PORT": port})

    assert f"The address 127.0.0.1:{port} cannot listen for Slack" in problem
    assert f"The address 127.0.0.1:{port} cannot listen for probes" in other


@pytest.mark.parametrize(
    ("host", "likely"),
    [
        ("http://clearml:8080", "http://clearml:8008"),
        ("http://10.0.0.7:8081", "http://10.0.0.7:8008"),
        ("https://app.clearml.example.org", "https://api.clearml.example.org"),
        ("https://files.clearml.example.org", "https://api.clearml.example.org"),
        ("https://api.clearml.example.org", ""),
        ("http://clearml:8008", ""),
        ("http://[x", ""),
    ],
)
def test_the_address_of_the_web_ui_is_recognised(host: str, likely: str) -> None:
    hint = api_hint(host)

    assert hint.endswith(f"is often at {likely}.") if likely else hint == ""


@pytest.mark.parametrize("name", sorted(from_files()))
def test_a_secret_may_stand_in_a_file(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret").write_text(f"{SECRET}\n")

    given = load_settings({name + "_FILE": str(tmp_path / "secret")})

    assert given == load_settings({name: SECRET})
    assert given != load_settings({})


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "which is empty"),
        (b"\n", "which is empty"),
        (b"\xff\xfe", "which is no text"),
        (b"x" * 70_000, "which is too large"),
        (b"a\nb\n", "holds spaces or line breaks"),
        (b" a", "holds spaces or line breaks"),
        (b'"a"', "holds quotes around its value"),
    ],
    ids=["empty", "a line break", "no text", "large", "two lines", "a space", "quotes"],
)
def test_a_file_that_holds_no_secret_is_named(
    tmp_path: Path, content: bytes, sentence: str
) -> None:
    (tmp_path / "secret").write_bytes(content)

    [problem] = refused({"SLACK_BOT_TOKEN_FILE": str(tmp_path / "secret")})

    assert problem.startswith("SLACK_BOT_TOKEN_FILE ")
    assert sentence in problem


def test_a_file_that_is_not_there_is_named() -> None:
    [problem] = refused({"SLACK_BOT_TOKEN_FILE": "/no/such/file"})

    assert problem == (
        "SLACK_BOT_TOKEN_FILE names /no/such/file, which cannot be read: No such file or directory."
    )


def test_a_secret_is_given_once(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(SECRET)
    both = {"SLACK_BOT_TOKEN": SECRET, "SLACK_BOT_TOKEN_FILE": str(tmp_path / "secret")}

    assert refused(both) == [
        "SLACK_BOT_TOKEN and SLACK_BOT_TOKEN_FILE are both set; take one of them away."
    ]


@pytest.mark.parametrize("flaw", [f"'{SECRET}'", f'"{SECRET}', f" {SECRET}", f"{SECRET}\n"])
def test_a_secret_that_was_pasted_with_more_is_refused(flaw: str) -> None:
    [problem] = refused({"CLEARML_API_SECRET_KEY": flaw})

    assert problem.startswith("CLEARML_API_SECRET_KEY holds ")
    assert problem.endswith("; take them away.")


def test_what_is_wrong_is_not_also_said_to_be_absent(tmp_path: Path) -> None:
    environment = {
        **CLEARML,
        "CLEARML_API_SECRET_KEY": f'"{SECRET}"',
        "CLEARML_API_ACCESS_KEY": "",
        "CLEARML_API_ACCESS_KEY_FILE": "/no/such/file",
        "POOLKEEPER_DATABASE": f"sqlite:///{tmp_path / 'state.sqlite3'}",
        "POOLKEEPER_ROUND_SECONDS": "often",
        "POOLKEEPER_KUBERNETES": "kubeconfig",
        "POOLKEEPER_METRICS_PORT": "off",
    }

    settings, unreadable = read_settings(environment)

    assert len(unreadable) == 4
    assert start_problems(settings) == []
