"""Carries out the Dockerfile's own steps without an engine, and runs what they make.

Every stage is a layer of its own over this machine's root, which stands for the base image. Called
by `.ci/image` in a mount namespace of its own, with a directory that holds the build's context.
"""

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.sandbox_support import Sandbox, wait_until
from tests.slack_support import Workspace

HERE = Path(__file__).resolve().parent.parent
EXAMPLE = HERE / "tests" / "examples" / "worked_example.yaml"
BASE_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# What the way to a package index needs here; nothing that says where Python finds what.
KEPT = re.compile(r"(PIP|SSL|HTTPS?|NO|ALL|REQUESTS)_\w+|https?_proxy|no_proxy|all_proxy|LANG")
STATE, OWN = "/var/lib/poolkeeper", "/opt/poolkeeper"
# What says that something was to be written where nothing can be.
COMPLAINTS = re.compile(r"Read-only file system|Permission denied|not a writable|Traceback")
PICTURE = """
from datetime import UTC, datetime, timedelta
from bot.charts import Chart, Series, document, draw
chart = Chart(
    name="dev", instead="dev", shown="", subtitle="", zone="UTC", start=datetime.now(UTC),
    step=timedelta(hours=1), series=(Series(name="dev", note="", values=(1.0, 2.0)),),
)
assert draw(document(chart)).startswith(b"\\x89PNG")
"""


def mount(*arguments: str | Path) -> None:
    subprocess.run(["mount", *map(str, arguments)], check=True)


@dataclass
class Stage:
    """One stage: its layer, entered at `root`, and what its instructions have set so far."""

    directory: Path
    env: dict[str, str] = field(default_factory=lambda: {"PATH": BASE_PATH})
    workdir: str = "/"
    user: str = "0:0"
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)

    @property
    def root(self) -> Path:
        return self.directory / "root"

    def begin(self) -> None:
        """Mounts the layer; a `python` is all that it takes from the base image."""
        for name in ("layer", "work", "root"):
            (self.directory / name).mkdir(parents=True)
        layers = f"lowerdir=/,upperdir={self.directory}/layer,workdir={self.directory}/work"
        mount("-t", "overlay", "overlay", "-o", layers, self.root)
        mount("-t", "proc", "proc", self.inside("/proc"))
        mount("--rbind", "/dev", self.inside("/dev"))
        for hidden in ("/tmp", str(HERE)):
            self.inside(hidden).mkdir(parents=True, exist_ok=True)
            mount("-t", "tmpfs", "-o", "mode=1777", "tmpfs", self.inside(hidden))
        python = Path(sys.base_prefix, "bin", "python3.11")
        for above in python.parents:
            self.inside(str(above)).chmod(0o755)  # pyenv's may be in a home of its own
        called = self.inside("/usr/local/bin/python")  # no link: its home would be sought here
        called.write_text(f'#!/bin/sh\nexec {python} "$@"\n')
        called.chmod(0o755)

    def inside(self, path: str) -> Path:
        return self.root / path.lstrip("/")

    def run(self, command: str) -> None:
        kept = {name: value for name, value in os.environ.items() if KEPT.fullmatch(name)}
        kept["PIP_QUIET"] = "2"
        inside = ["chroot", str(self.root), "env", f"--chdir={self.workdir}", "sh", "-c", command]
        subprocess.run(inside, check=True, env={**kept, "HOME": "/root", **self.env})

    def start(self, *command: str, log: Path, **env: str) -> subprocess.Popen[bytes]:
        """A process as the image's user, who can become nobody else."""
        uid, _, gid = self.user.partition(":")
        nobody = ["setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups", "--no-new-privs"]
        nobody += ["--bounding-set=-all", "--inh-caps=-all"]
        inside = ["chroot", str(self.root), "env", f"--chdir={self.workdir}", *nobody, *command]
        with log.open("ab") as file:
            return subprocess.Popen(inside, env={**self.env, **env}, stdout=file, stderr=file)


def instructions(dockerfile: str) -> Iterator[tuple[str, str]]:
    """Each instruction with the rest of its line, which may go over several."""
    lines = [line for line in dockerfile.splitlines() if not line.lstrip().startswith("#")]
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        if line.strip():
            word, _, rest = line.strip().partition(" ")
            yield word, rest.strip()


def built(room: Path) -> Stage:
    """The last stage, when all of the Dockerfile was carried out."""
    stages: dict[str, Stage] = {}
    stage = Stage(room)
    for word, rest in instructions((room / "context" / "Dockerfile").read_text()):
        match word:
            case "FROM":
                name = rest.partition(" AS ")[2] or "last"
                stage = stages[name] = Stage(room / name)
                stage.begin()
            case "COPY":
                copy(rest, room / "context", stages, stage)
            case "RUN":
                stage.run(rest)
            case "WORKDIR":
                stage.workdir = rest
                stage.inside(rest).mkdir(parents=True, exist_ok=True)
            case "ENV":
                for setting in shlex.split(rest):
                    variable, _, value = setting.partition("=")
                    stage.env[variable] = value.replace("$PATH", stage.env["PATH"])
            case "USER":
                stage.user = rest
            case "ENTRYPOINT":
                stage.entrypoint = json.loads(rest)
            case "CMD":
                stage.command = json.loads(rest)
            case "ARG" | "LABEL" | "VOLUME" | "EXPOSE":
                pass
            case _:
                raise SystemExit(f"{word} is not known here; teach it to .ci/image.py.")
    return stage


def copy(rest: str, context: Path, stages: Mapping[str, Stage], to: Stage) -> None:
    words = shlex.split(rest)
    source = context
    if words[0].startswith("--from="):
        source = stages[words.pop(0).removeprefix("--from=")].root
    *names, goal = words
    target = to.inside(goal) if goal.startswith("/") else to.inside(to.workdir) / goal
    for name in names:
        found = source / name.lstrip("/")
        if found.is_dir():
            shutil.copytree(found, target, symlinks=True, dirs_exist_ok=True)
        else:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy2(found, target)


def check_what_is_in_it(stage: Stage) -> None:
    """Only what runs: compiled, of no environment of ours, without what built it."""
    packages = stage.inside(f"{OWN}/lib/python3.11/site-packages")
    names = {path.name.lower() for path in packages.iterdir()}
    extra = {name for name in names if re.match(r"(pip|setuptools|hatchling|pytest|tests)\b", name)}
    assert not extra, f"{extra} are not needed to run"
    assert not [name for name in names if "editable" in name], "an editable install"
    for name in ("bot", "controller", "domain", "storage", "slack_bolt", "sqlalchemy"):
        bare = set(modules(packages / name, "*.py")) - set(modules(packages / name, "*.pyc"))
        assert not bare, f"{name}: {bare} are not compiled"
    owned = [path for path in stage.inside(OWN).rglob("*") if path.lstat().st_uid != 0]
    assert not owned, f"{owned[:3]} could be changed by the user"


def modules(package: Path, pattern: str) -> Iterator[str]:
    for path in package.rglob(pattern):
        folder = path.parent.parent if path.parent.name == "__pycache__" else path.parent
        yield f"{folder}/{path.name.partition('.')[0]}"


def seal(stage: Stage) -> None:
    """Leaves the root as a container has it that may write its state and /tmp only."""
    uid = stage.user.partition(":")[0]
    mount("-o", "remount,bind,ro", stage.root)
    mount("-t", "tmpfs", "-o", f"uid={uid},gid={uid},mode=0750", "tmpfs", stage.inside(STATE))
    mount("-t", "tmpfs", "-o", "mode=1777", "tmpfs", stage.inside("/tmp"))


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def answers(port: int, path: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def ended_early(process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None, f"it ended with {process.returncode}"
    return False


def check_that_it_works(stage: Stage, room: Path) -> None:
    """Configured, run, asked by Slack and ended, in a world of its own."""
    log, port = room / "log", free_port()
    with Sandbox() as clearml, Workspace() as slack:
        clearml.add_user("poolkeeper")
        env = {
            "CLEARML_API_HOST": clearml.url,
            "CLEARML_API_ACCESS_KEY": "POOLKEEPERKEY",
            "CLEARML_API_SECRET_KEY": "poolkeeper-secret",
            "SLACK_BOT_TOKEN": slack.bot_token,
            "SLACK_APP_TOKEN": slack.app_token,
            "POOLKEEPER_SLACK_API": slack.api,
            "POOLKEEPER_ADMINS": "U_ADA",
            "POOLKEEPER_ROUND_SECONDS": "0.5",
            "POOLKEEPER_METRICS_PORT": str(port),
        }

        def ended(*command: str) -> None:
            code = stage.start(*command, log=log, **env).wait(timeout=120)
            assert code == 0, f"{command} ended with {code}:\n{log.read_text()}"

        shutil.copy(EXAMPLE, stage.inside("/tmp/pools.yaml"))
        ended(*stage.entrypoint, "apply", "/tmp/pools.yaml", "--yes")
        ended("python", "-c", PICTURE)
        running = stage.start(*stage.entrypoint, *stage.command, log=log, **env)
        try:
            queues = clearml.ok("queues.get_all", only_fields=["id", "name"])["queues"]
            intake = next(queue["id"] for queue in queues if queue["name"] == "dev-4gpu")
            task = clearml.queued_task(intake)
            wait_until(lambda: answers(port, "/readyz") or ended_early(running), "it is ready", 120)
            assert answers(port, "/healthz")
            wait_until(
                lambda: clearml.execution_queue(task) not in (None, intake),
                "the task is dispatched",
                60,
            )
            slack.wait_for_bot(timeout=120)
            ada = slack.person("U_ADA")
            wait_until(
                lambda: "bare-metal" in ada.command("/pool status").reply().plain,
                "Slack is told of the round that dispatched it",
            )
        except AssertionError as error:
            raise SystemExit(f"{error}\n{log.read_text()}") from error
        finally:
            running.terminate()
            code = running.wait(timeout=60)
            said = log.read_text()
        assert code == 0, f"it ended with {code}:\n{said}"
        assert not COMPLAINTS.search(said), said


def main() -> None:
    room = Path(sys.argv[1])
    stage = built(room)
    check_what_is_in_it(stage)
    seal(stage)
    for path in ("/x", f"{OWN}/x", "/etc/x", "/usr/x"):
        refused = stage.start("touch", path, log=room / "refused").wait()
        assert refused != 0, f"{path} can be written"
    check_that_it_works(stage, room)
    for place in (STATE, "/tmp"):
        written = sorted(path for path in stage.inside(place).rglob("*") if path.is_file())
        names = ", ".join(str(path.relative_to(stage.inside(place))) for path in written)
        print(f"Written in {place}: {names or 'nothing'}.")
    print("The image's steps work, and what they make needs no root and no other place to write.")


if __name__ == "__main__":
    main()
