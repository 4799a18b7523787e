"""What the playground's page knows of the product, which it meets over the wire only."""

import json
import shutil
import subprocess
from pathlib import Path

from bot.registry import TABLE

WEB = Path(__file__).parents[2] / "sandbox" / "web"


def test_the_page_offers_the_verbs_that_there_are() -> None:
    offered = json.loads((WEB / "src" / "slack" / "verbs.json").read_text())

    assert offered == [{"verb": verb.name, "usage": verb.usage} for verb in TABLE]


def test_the_lock_file_names_no_address_and_only_permissive_licences() -> None:
    lock = json.loads((WEB / "package-lock.json").read_text())
    packages = {path: one for path, one in lock["packages"].items() if path}

    assert not [path for path, one in packages.items() if "resolved" in one]
    assert all(one["integrity"].startswith("sha512-") for one in packages.values())
    allowed = {"MIT", "ISC", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "MIT OR Apache-2.0"}
    assert {one["license"] for one in packages.values()} <= allowed


def test_what_the_page_is_made_of_is_pinned_exactly() -> None:
    package = json.loads((WEB / "package.json").read_text())
    pins = {**package["dependencies"], **package["devDependencies"]}

    assert {name for name, pin in pins.items() if not pin[0].isdigit()} == set()
    assert pins["slack-blocks-to-jsx"].startswith("1.1.")


def test_without_node_the_page_is_left_out_and_it_is_said_what_to_do(tmp_path: Path) -> None:
    web, tools = tmp_path / "sandbox" / "web", tmp_path / "tools"
    web.mkdir(parents=True)
    tools.mkdir()
    for script in ("build", "with-node"):
        shutil.copy(WEB / script, web / script)
    for tool in ("sh", "dirname", "rm"):
        (tools / tool).symlink_to(shutil.which(tool) or tool)

    done = subprocess.run([web / "build"], env={"PATH": str(tools)}, capture_output=True, text=True)

    assert done.returncode == 0, "whatever else make sets up goes on"
    assert "needs Node.js 20 or newer" in done.stderr
    assert "'make demo ARGS=--once' plays in the terminal" in done.stderr
    assert not (web / "dist").exists()
