"""The README says what the code says."""

import re
from dataclasses import replace
from pathlib import Path

import yaml
from pydantic import SecretStr

from bot.cli import app
from bot.settings import Settings
from domain.configuration import Configuration
from domain.validation import validate
from storage.documents import read_configuration

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text()


def _documented_settings() -> dict[str, tuple[str, str]]:
    rows = re.findall(r"^\| `([A-Z_]+)` \| (?:`(.*?)`)? ?\| (.+) \|$", README, re.MULTILINE)
    return {name: (default, meaning) for name, default, meaning in rows}


def _declared_settings() -> dict[str, tuple[str, str]]:
    declared = {}
    for field in Settings.model_fields.values():
        default = "off" if field.default is None else field.default
        shown = default.get_secret_value() if isinstance(default, SecretStr) else str(default)
        declared[str(field.alias)] = (shown, str(field.description))
    return declared


def test_the_table_of_settings_is_the_settings() -> None:
    assert _documented_settings() == _declared_settings()


def test_every_command_is_in_the_table_of_commands() -> None:
    documented = set(re.findall(r"`poolkeeper ([a-z]+)", README))

    commands = {
        command.name or str(getattr(command.callback, "__name__", ""))
        for command in app.registered_commands
    }

    assert commands <= documented


def test_the_configuration_that_is_shown_is_the_example_that_the_demo_plays() -> None:
    shown = re.search(r"## The configuration\n\n```yaml\n(.*?)```", README, re.DOTALL)
    assert shown is not None
    documented = read_configuration(yaml.safe_load(shown.group(1)))
    played = read_configuration(yaml.safe_load((ROOT / "bot" / "worked_example.yaml").read_text()))

    assert not validate(documented)
    assert documented == _undescribed(played)


def _undescribed(configuration: Configuration) -> Configuration:
    """Without the pools' descriptions, which the README leaves out."""
    pools = tuple(replace(pool, description="") for pool in configuration.pools)
    return replace(configuration, pools=pools)


def test_the_architecture_page_is_short_enough_to_be_read() -> None:
    assert len((ROOT / "ARCHITECTURE.md").read_text().splitlines()) <= 120
