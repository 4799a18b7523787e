"""What cannot be read ends in sentences: real files, real processes, exit code 2, no traceback."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands import CONFIGURATION, ROOT, SNAPSHOT, poolkeeper

EXAMPLE = CONFIGURATION.read_text()
BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)
)

Files = Callable[[str, str | bytes], Path]


def _replaced(old: str, new: str) -> str:
    assert old in EXAMPLE
    return EXAMPLE.replace(old, new, 1)


CONFIGURATIONS = [
    pytest.param(
        _replaced("resources: 8", "resorces: 8"),
        [
            "pools[0].resources: is missing; add it, as in `resources: 8`.",
            "pools[0].resorces: is an unknown key; did you mean resources?",
        ],
        id="an unknown key",
    ),
    pytest.param(
        _replaced("name: h100", "name: bare-metal"),
        [
            "pools[1].name: the pool 'bare-metal' is there already, as pools[0].name; give one "
            "of them another name.",
            "profiles[0].pools[1].pool: there is no pool 'h100'; add it or take "
            "profiles[0].pools[1].pool away.",
        ],
        id="a duplicate name",
    ),
    pytest.param(
        _replaced("profiles: [4xGPU]", "profiles: 4xGPU"),
        [
            "pools[0].profiles: '4xGPU' is no list; write one entry a line after `- `, or [a, b].",
        ],
        id="a wrong type",
    ),
    pytest.param(
        _replaced("name: dev", "name: on"),
        [
            "policies[0].name: true is no text, as YAML reads on, yes, off and no; put it in "
            "quotes.",
        ],
        id="a name that YAML reads as a boolean",
    ),
    pytest.param(
        _replaced("name: dev", "name: 2026-12-01"),
        ["policies[0].name: 2026-12-01 is no text; put it in quotes."],
        id="a name that YAML reads as a date",
    ),
    pytest.param(
        _replaced("allotment: 4", "allotment: four"),
        [
            "profiles[0].allotment: 'four' is no amount; say a number such as 4, 0.5 or 1/7, at "
            "most 1000000.",
        ],
        id="no amount",
    ),
    pytest.param(
        _replaced("allotment: 4", "allotment: 1:30"),
        [
            "profiles[0].allotment: '1:30' is no amount; say a number such as 4, 0.5 or 1/7, at "
            "most 1000000.",
        ],
        id="an amount that YAML would read as 90",
    ),
    pytest.param(
        _replaced("[dev, research]", "[dev]"),
        [
            "profiles[0].policies: the policy 'research', using this profile, is not in the "
            "list; name each exactly once, in the order of priority.",
        ],
        id="a priority list that lacks one",
    ),
    pytest.param(
        _replaced("pool: h100", "pool: h200"),
        [
            "profiles[0].pools[1].pool: there is no pool 'h200'; did you mean 'h100'?",
            "pools[1].profiles: the profile '4xGPU' is not linked to this pool; take it away or "
            "connect it.",
        ],
        id="an unknown reference",
    ),
    pytest.param("", ["is empty; write the configuration as shown in the README."], id="empty"),
    pytest.param(
        "# nothing\n", ["has nothing but comments; write the document."], id="only comments"
    ),
    pytest.param(
        "- a\n- b\n",
        ["a list is no mapping; write keys and values, such as `name: h100`."],
        id="a list",
    ),
    pytest.param(
        "pools: [1\nprofiles: x\n",
        [
            "line 2, column 9: is no YAML that can be read (did not find expected ',' or ']' "
            "while parsing a flow sequence); correct it there.",
        ],
        id="no YAML",
    ),
    pytest.param(
        "pools:\n\t- name: a\n",
        [
            "line 2, column 1: is no YAML that can be read (found character that cannot start "
            "any token while scanning for the next token); indent with spaces, not with tabs.",
        ],
        id="tabs",
    ),
    pytest.param(
        "pools: []\npolicies: []\npools: []\n",
        ["line 3, column 1: the key 'pools' is there already, in line 1; leave one of them."],
        id="a key twice",
    ),
    pytest.param(
        "pools: []\n---\npools: []\n",
        ["line 2, column 1: a second document begins; leave one, without `---`."],
        id="two documents",
    ),
    pytest.param(
        BOMB,
        ["line 6, column 5: has more than a million values; write it without aliases."],
        id="aliases that multiply",
    ),
    pytest.param(
        "pools: &a [*a]\n",
        ["line 1, column 8: contains itself; take the alias away."],
        id="an alias in itself",
    ),
    pytest.param(
        "pools: " + "[" * 100 + "]" * 100,
        ["line 1, column 57: is nested too deeply; nest it as shown in the README."],
        id="nested too deeply",
    ),
    pytest.param(
        "pools: " + "[" * 100_000,
        ["line 1, column 1007: is nested too deeply; nest it as shown in the README."],
        id="nested far too deeply",
    ),
    pytest.param(
        "pools: " + "9" * 5_000,
        ["has a number or date that cannot be; put it in quotes or shorten it."],
        id="a number of 5,000 digits",
    ),
    pytest.param(
        "pools: !!python/object/apply:os.system [ls]\n",
        [
            "line 1, column 8: is no YAML that can be read (could not determine a constructor "
            "for the tag 'tag:yaml.org,2002:python/object/apply:os.system'); correct it there.",
        ],
        id="a tag that would run code",
    ),
    pytest.param(
        b"pools:\n  - name: \xff\xfe\n",
        ["line 2 is not UTF-8 text; save it as UTF-8, or name a text file."],
        id="another encoding",
    ),
    pytest.param(
        bytes(range(256)) * 10,
        ["line 2 is not UTF-8 text; save it as UTF-8, or name a text file."],
        id="binary",
    ),
    pytest.param(
        "pools: []\0\n",
        ["has a character that YAML does not allow, at 10; take it away."],
        id="a null character",
    ),
    pytest.param(
        "pools: []\n" + "# padding\n" * 500_000,
        ["is larger than the 4 MiB that a configuration may have; split it."],
        id="5 MB",
    ),
]


@pytest.mark.parametrize(("content", "sentences"), CONFIGURATIONS)
def test_a_configuration_that_cannot_be_read(
    tmp_path: Path, content: str | bytes, sentences: list[str]
) -> None:
    path = tmp_path / "pools.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())

    planned = poolkeeper("plan", "--config", path, "--snapshot", SNAPSHOT)
    validated = poolkeeper("validate", path)

    for done in (planned, validated):
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.splitlines() == [f"{path}: {sentence}" for sentence in sentences]


SNAPSHOTS = [
    pytest.param(
        '{"taken_at": "2026-12-01T10:00:00Z",\n "queues": [], "queues": []}',
        ["line 2: the key 'queues' is there already in the same object; leave one of them."],
        id="a key twice",
    ),
    pytest.param(
        '{"taken_at": "NaN",\n\n "foreign": {"h100": NaN}}',
        ["line 3: NaN is no number in JSON; write a number, or null for none."],
        id="NaN",
    ),
    pytest.param(
        '{"taken_at": }',
        ["line 1, column 14: is no JSON (expecting value); correct it there."],
        id="no JSON",
    ),
    pytest.param(
        "[" * 200_000,
        ["is nested too deeply; nest it as shown in the README."],
        id="nested too deeply",
    ),
    pytest.param(
        '{"hold_after_s": ' + "9" * 5_000 + "}",
        ["has a number of thousands of digits; shorten it."],
        id="a number of 5,000 digits",
    ),
    pytest.param(
        '{"taken_at": "2026-12-01T10:00:00Z", "queues": [], "hold_after_s": 1e999}',
        ["hold_after_s: inf seconds cannot be; say 0 to 1000000000, or null."],
        id="an infinity",
    ),
    pytest.param(
        json.dumps(
            {
                "taken_at": "2026-12-01T10:00:00Z",
                "queues": [{"policy": "sales", "profile": "4xGPU", "tasks": []}],
                "foreign": {"h1000": "\ud800"},
            }
        ),
        [
            "foreign.h1000: '\\ud800' is no amount; say a number such as 0, 4, 0.5 or 1/7, at "
            "most 1000000.",
        ],
        id="half a character",
    ),
    pytest.param(
        '{"taken_at": "2026-12-01T10:00:00Z", "queues": [{"policy": "sales", "profile": "x", '
        '"tasks": []}]}',
        [
            "queues[0].policy: the configuration has no policy 'sales'; take the entry away.",
            "queues[0].profile: the configuration has no profile 'x'; take the entry away.",
        ],
        id="unknown references",
    ),
]


@pytest.mark.parametrize(("content", "sentences"), SNAPSHOTS)
def test_a_snapshot_that_cannot_be_read(tmp_path: Path, content: str, sentences: list[str]) -> None:
    path = tmp_path / "now.json"
    path.write_text(content)

    done = poolkeeper("plan", "--config", CONFIGURATION, "--snapshot", path)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [f"{path}: {sentence}" for sentence in sentences]


def test_what_is_no_file(tmp_path: Path) -> None:
    missing = tmp_path / "missing.yaml"

    for path, sentence in (
        (missing, "there is no such file; name the file of the configuration."),
        (tmp_path, "is a directory; name the file of the configuration in it."),
        (CONFIGURATION / "x", "cannot be read (Not a directory); name a readable file."),
        (tmp_path / ("x" * 300), "cannot be read (File name too long); name a readable file."),
    ):
        done = poolkeeper("validate", path)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"{path}: {sentence}\n"


def test_both_documents_are_looked_at_before_giving_up(tmp_path: Path) -> None:
    configuration, snapshot = tmp_path / "c.yaml", tmp_path / "s.json"
    configuration.write_text("pool: []\n")
    snapshot.write_text('{"queues": []}')

    done = poolkeeper("plan", "--config", configuration, "--snapshot", snapshot)

    assert done.stderr.splitlines() == [
        f"{configuration}: pool: is an unknown key; did you mean pools?",
        f"{snapshot}: taken_at: is missing; add it, as in `taken_at: 2026-12-01T10:00:00Z`.",
    ]


def test_standard_input_is_named_as_such() -> None:
    done = poolkeeper("validate", "-", stdin=b"pool: []\n")

    assert done.returncode == 2
    assert done.stderr == "standard input: pool: is an unknown key; did you mean pools?\n"


def test_thousands_of_problems_are_counted_at_some_point(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("pools:\n" + "  - {}\n" * 3000)

    done = poolkeeper("validate", path)

    lines = done.stderr.splitlines()
    assert len(lines) == 1001
    assert lines[-1] == "and more like these."


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        pytest.param(
            ["plan", "--snapshot", SNAPSHOT],
            "poolkeeper plan: the following arguments are required: --config; see "
            "`poolkeeper plan --help`.\n",
            id="an option left out",
        ),
        pytest.param(
            ["plan", "--conf", CONFIGURATION, "--snapshot", SNAPSHOT],
            "poolkeeper plan: the following arguments are required: --config; see "
            "`poolkeeper plan --help`.\n",
            id="an option cut short",
        ),
        pytest.param(
            ["validate", CONFIGURATION, "--jsn"],
            "poolkeeper validate: unrecognized arguments: --jsn; see "
            "`poolkeeper validate --help`.\n",
            id="an unknown option",
        ),
    ],
)
def test_a_command_line_that_cannot_be_read(arguments: list[str], sentence: str) -> None:
    done = poolkeeper(*arguments)

    assert (done.returncode, done.stdout, done.stderr) == (2, "", sentence)


def test_an_unknown_command_is_refused() -> None:
    done = poolkeeper("plann")

    assert (done.returncode, done.stdout) == (2, "")
    assert "No such command 'plann'" in done.stderr
    assert "Traceback" not in done.stderr


def test_everything_that_keeps_run_from_starting_is_said_at_once(tmp_path: Path) -> None:
    env = {
        "POOLKEEPER_DATABASE": "sqlite:////no/such/directory/x",
        "CLEARML_API_HOST": "api.x.org",
        "SLACK_BOT_TOKEN": "xapp-0123456789",
        "POOLKEEPER_METRICS_PORT": "off",
    }

    wrong, unreadable = (
        subprocess.run(
            [sys.executable, "-m", "bot", "run"],
            cwd=tmp_path, env={"PYTHONPATH": str(ROOT), **env, **more}, capture_output=True,
            text=True, timeout=60,
        )
        for more in ({}, {"POOLKEEPER_ROUND_SECONDS": "often"})
    )  # fmt: skip

    assert wrong.returncode == 1
    assert len(wrong.stderr.splitlines()) == 6, wrong.stderr
    assert "0123456789" not in wrong.stderr
    assert unreadable.returncode == 2
    assert len(unreadable.stderr.splitlines()) == 7, unreadable.stderr
    assert list(tmp_path.iterdir()) == []
