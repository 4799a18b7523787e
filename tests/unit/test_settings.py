"""The environment becomes settings, or sentences that say what is wrong with it."""

import subprocess
import sys
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from pydantic import SecretStr

from bot.settings import SettingsError, load_settings
from tests.sandbox_support import ROOT

SECRET = "s3cret-0123456789"


def test_an_empty_environment_means_the_defaults() -> None:
    settings = load_settings({})

    assert settings.database.get_secret_value() == "sqlite:///poolkeeper.sqlite3"
    assert settings.round_seconds == 5.0
    assert settings.hold_after == timedelta(minutes=30)
    assert (settings.nowhere_seconds, settings.stopped_seconds) == (60.0, 60.0)
    assert settings.connections == 4
    assert settings.clearml_host == ""
    assert not settings.has_slack


@pytest.mark.parametrize(
    ("name", "text", "field", "value"),
    [
        ("POOLKEEPER_DATABASE", "sqlite:////data/x", "database", SecretStr("sqlite:////data/x")),
        ("POOLKEEPER_ROUND_SECONDS", "0.5", "round_seconds", 0.5),
        ("POOLKEEPER_ROUND_SECONDS", " 7 ", "round_seconds", 7.0),
        ("POOLKEEPER_ROUND_SECONDS", "", "round_seconds", 5.0),
        ("POOLKEEPER_CONNECTIONS", "64", "connections", 64),
        ("POOLKEEPER_NOWHERE_SECONDS", "1", "nowhere_seconds", 1.0),
        ("POOLKEEPER_STOPPED_SECONDS", "31536000", "stopped_seconds", 31_536_000.0),
        ("POOLKEEPER_LOG_LEVEL", "DEBUG", "log_level", "DEBUG"),
        ("POOLKEEPER_HOLD_AFTER_SECONDS", "off", "hold_after", None),
        ("POOLKEEPER_HOLD_AFTER_SECONDS", " OFF ", "hold_after", None),
        ("POOLKEEPER_HOLD_AFTER_SECONDS", "0", "hold_after", timedelta()),
        ("POOLKEEPER_HOLD_AFTER_SECONDS", "90.5", "hold_after", timedelta(seconds=90.5)),
        ("CLEARML_API_HOST", "https://api.x.org", "clearml_host", "https://api.x.org"),
    ],
)
def test_a_variable_sets_its_field(name: str, text: str, field: str, value: Any) -> None:
    assert getattr(load_settings({name: text}), field) == value


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("POOLKEEPER_ROUND_SECONDS", "0"),
        ("POOLKEEPER_ROUND_SECONDS", "-1"),
        ("POOLKEEPER_ROUND_SECONDS", "nan"),
        ("POOLKEEPER_ROUND_SECONDS", "inf"),
        ("POOLKEEPER_ROUND_SECONDS", "five"),
        ("POOLKEEPER_ROUND_SECONDS", "off"),
        ("POOLKEEPER_CONNECTIONS", "0"),
        ("POOLKEEPER_CONNECTIONS", "65"),
        ("POOLKEEPER_CONNECTIONS", "4.5"),
        ("POOLKEEPER_HOLD_AFTER_SECONDS", "-1"),
        ("POOLKEEPER_HOLD_AFTER_SECONDS", "never"),
        ("POOLKEEPER_HOLD_AFTER_SECONDS", "inf"),
        ("POOLKEEPER_HOLD_AFTER_SECONDS", "nan"),
        ("POOLKEEPER_HOLD_AFTER_SECONDS", "1e300"),
        ("POOLKEEPER_NOWHERE_SECONDS", "0"),
        ("POOLKEEPER_NOWHERE_SECONDS", "inf"),
        ("POOLKEEPER_STOPPED_SECONDS", "0.5"),
        ("POOLKEEPER_STOPPED_SECONDS", "1e300"),
        ("POOLKEEPER_LOG_LEVEL", "debug"),
        ("POOLKEEPER_LOG_LEVEL", "DEBUG\nINFO"),
    ],
)
def test_a_value_that_cannot_be_used_is_named(name: str, text: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings({name: text})

    [problem] = caught.value.problems
    assert problem.startswith(f"{name} cannot be used: ")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("POOLKEEPER_ROUND_SECOND", "did you mean POOLKEEPER_ROUND_SECONDS?"),
        ("POOLKEEPER_CONECTIONS", "did you mean POOLKEEPER_CONNECTIONS?"),
        ("POOLKEEPER_TYPO", "the README lists the settings."),
        ("POOLKEEPER_GPU_TEMPERATURE_AND_MORE_THAN_THAT", "the README lists the settings."),
    ],
)
def test_a_misspelt_setting_is_refused_with_a_hint(name: str, hint: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings({name: "1"})

    assert caught.value.problems == [f"{name} is no setting of Poolkeeper; {hint}"]


@pytest.mark.parametrize(
    "environment",
    [
        {"PATH": "/bin", "CLEARML_WEB_HOST": "http://x", "SLACK_SOMETHING": "x"},
        {"POOLKEEPER_CONTRACT_CLEARML_HOST": "http://x"},
        {"poolkeeper_round_seconds": "77"},
    ],
    ids=["others'", "the contract suites'", "another case of letters"],
)
def test_what_is_none_of_ours_is_passed_over(environment: Mapping[str, str]) -> None:
    assert load_settings(environment) == load_settings({})


def test_all_problems_are_said_at_once() -> None:
    environment = {
        "POOLKEEPER_CONNECTIONS": "none",
        "POOLKEEPER_ROUND_SECONDS": "0",
        "POOLKEEPER_ROUNDS": "1",
    }

    with pytest.raises(SettingsError) as caught:
        load_settings(environment)

    assert len(caught.value.problems) == 3
    assert str(caught.value) == "\n".join(caught.value.problems)


def test_secrets_are_shown_nowhere() -> None:
    environment = {"CLEARML_API_SECRET_KEY": SECRET, "SLACK_BOT_TOKEN": SECRET}
    settings = load_settings(environment)

    with pytest.raises(SettingsError) as caught:
        load_settings({**environment, "POOLKEEPER_CONNECTIONS": SECRET})

    assert settings.clearml_secret_key.get_secret_value() == SECRET
    assert settings.has_slack
    shown = [repr(settings), str(settings), str(settings.model_dump()), settings.model_dump_json()]
    assert not [text for text in (*shown, str(caught.value)) if SECRET in text]
    assert caught.value.__cause__ is None


def test_only_what_is_given_counts_whatever_this_process_has_in_its_environment() -> None:
    source = "from bot.settings import *; print(load_settings({}).round_seconds)"
    env = {
        "PYTHONPATH": str(ROOT),
        "POOLKEEPER_ROUND_SECONDS": "77",
        "poolkeeper_round_seconds": "78",
    }

    done = subprocess.run([sys.executable, "-c", source], env=env, capture_output=True, text=True)

    assert done.stdout == "5.0\n", done.stderr
