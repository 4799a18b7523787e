"""`poolkeeper demo`: a little company on sandbox servers, run by the real `poolkeeper run`.

The sandbox and `poolkeeper run` are processes of their own. This one provisions the company's
configuration, tells the page of it, and ends both.
"""

import json
import os
import signal
import sys
import threading
import webbrowser
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import requests

from bot.children import Child, Children, Ended
from bot.demo_folder import demo_folder
from bot.refusing import Refusal

if TYPE_CHECKING:
    from storage.database import Database

_KEPT = (
    "PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV",
    "LD_LIBRARY_PATH",
)  # fmt: skip
_OF_REAL_SYSTEMS = ("SLACK_", "CLEARML_")
_OURS = "POOLKEEPER_"
_START_S = 60.0
_LOOK_S = 1.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, kw_only=True)
class Options:
    """`port` 0 takes any that is free."""

    port: int = 0
    opens: bool = False
    keep: bool = False


@dataclass(frozen=True)
class Page:
    """The sandbox, by what it said when it was ready."""

    where: Mapping[str, str]

    @property
    def url(self) -> str:
        return self.where["page"]

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Straight there: a proxy of the environment has no business between."""
        with requests.Session() as session:
            session.trust_env = False
            answer = session.post(f"{self.url}{path}", json=body, timeout=10)
        answer.raise_for_status()
        found: dict[str, Any] = answer.json()
        return found

    def bot_is_there(self) -> bool:
        return bool(self.post("/sandbox/connections", {})["ready"])


def run(options: Options) -> None:
    """Until Ctrl-C or SIGTERM; raises `Refusal` where it cannot start or a child has ended."""
    _refuse_what_is_real(os.environ)
    over = threading.Event()
    for number in _SIGNALS:
        signal.signal(number, lambda *_: over.set())
    with demo_folder(keep=options.keep, what="The database and the logs stay") as directory:
        children = Children(directory, over)
        try:
            _play(children, options)
        except Ended:
            pass
        finally:
            children.end()


def _play(children: Children, options: Options) -> None:
    page = _sandbox(children, options)
    _poolkeeper(children, page)
    # Only now, for it takes a while and the two are starting meanwhile.
    from bot.playground_company import provision
    from storage.database import open_database

    database = open_database(_database(children.directory))
    try:
        told = _Told(page, database)
        provision(database)
        told.tell()
        children.wait_until(lambda: page.bot_is_there() and _shows_work(database), "It", _START_S)
        print(f"Poolkeeper's playground is at {page.url} (Ctrl-C ends it).", flush=True)
        if options.opens:
            webbrowser.open(page.url)
        errand = [sys.executable, "-m", "bot.gallery_errand", page.url]
        children.start("gallery", errand, _surroundings(), errand=True)
        children.watch(_LOOK_S, told.tell)
    finally:
        database.close()


def _sandbox(children: Children, options: Options) -> Page:
    command = [sys.executable, "-m", "sandbox", "playground", "--with-parent"]
    command += ["--port", str(options.port)]
    child = children.start("sandbox", command, _surroundings())
    return Page(json.loads(children.first_line(child, _START_S) or _complaint(child)))


def _complaint(child: Child) -> bytes:
    child.process.wait()
    raise Refusal(["The sandbox did not start:", child.last_words()], code=1)


def _poolkeeper(children: Children, page: Page) -> Child:
    kubeconfig = children.directory / "kubeconfig"
    kubeconfig.write_text(page.where["kubeconfig"])
    settings = {
        "POOLKEEPER_DATABASE": _database(children.directory),
        "POOLKEEPER_ROUND_SECONDS": "0.5",
        "POOLKEEPER_STOPPED_SECONDS": "2",
        "POOLKEEPER_HOLD_AFTER_SECONDS": "90",
        "POOLKEEPER_METRICS_PORT": "off",
        "POOLKEEPER_KUBERNETES": "kubeconfig",
        "POOLKEEPER_KUBECONFIG": str(kubeconfig),
        "POOLKEEPER_CGPU_SECONDS": "5",
        "POOLKEEPER_CGPU_PROBE": "exec",
        "POOLKEEPER_ADMIN_GROUP": page.where["admin_group"],
        "POOLKEEPER_ADMIN_CHANNEL": page.where["admin_channel"],
        "POOLKEEPER_SLACK_API": page.where["api"],
        "SLACK_BOT_TOKEN": page.where["bot_token"],
        "SLACK_APP_TOKEN": page.where["app_token"],
        "CLEARML_API_HOST": page.where["clearml"],
        "CLEARML_API_ACCESS_KEY": page.where["access_key"],
        "CLEARML_API_SECRET_KEY": page.where["secret_key"],
    }
    command = [sys.executable, "-m", "bot", "run"]
    return children.start("poolkeeper", command, {**_surroundings(), **settings})


def _surroundings() -> dict[str, str]:
    return {name: os.environ[name] for name in _KEPT if name in os.environ}


def _database(directory: Path) -> str:
    return f"sqlite:///{directory / 'poolkeeper.sqlite3'}"


def _refuse_what_is_real(environment: Mapping[str, str]) -> None:
    """Nobody shall think that the demo plays with their systems, or try it there."""
    real = sorted(name for name in environment if name.startswith(_OF_REAL_SYSTEMS))
    if real:
        raise Refusal(
            [
                f"The demo plays on a sandbox and uses no real Slack and no real ClearML, but "
                f"{', '.join(real)} {'is' if len(real) == 1 else 'are'} set here. Unset "
                f"{'it' if len(real) == 1 else 'them'} first: unset {' '.join(real)}"
            ]
        )
    if unused := sorted(name for name in environment if name.startswith(_OURS)):
        print(f"The demo has settings of its own and does not read {', '.join(unused)}.")


def _shows_work(database: "Database") -> bool:
    """Whether everybody can read of tasks that run, and admins of the cluster."""
    from controller import cgpu_view
    from controller.publishing import last_view

    with database.reading() as session:
        view = last_view(session)
        has_looked = cgpu_view.last_view(session) is not None
    return has_looked and view is not None and bool(view.snapshot.allocations)


class _Told:
    """Tells the page which configuration is in force, once for each version."""

    def __init__(self, page: Page, database: "Database") -> None:
        self._page = page
        self._database = database
        self._number = 0

    def tell(self) -> None:
        from storage import configurations
        from storage.documents import write_configuration

        with self._database.reading() as session:
            found = configurations.provisioned(session) or configurations.approved(session)
        if found is not None and found.number != self._number:
            self._page.post("/cluster/view", write_configuration(found.configuration))
            self._number = found.number
