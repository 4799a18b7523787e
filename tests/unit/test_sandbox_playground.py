"""The playground's servers over the wire; the tests mark queues as Poolkeeper would."""

import asyncio
import http.client
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
import yaml

from domain.configuration import Configuration
from sandbox.clearml.server import ClearMLServer
from sandbox.kubernetes import scene
from sandbox.kubernetes.resources import NODES, PODS
from sandbox.kubernetes.server import KubernetesServer
from sandbox.playground import company
from sandbox.playground.cluster import Cluster
from sandbox.playground.guard import refusal
from sandbox.playground.jobs import OPENING, Job, Jobs
from sandbox.playground.machine_room import MARK, WALK_S, MachineRoom
from sandbox.playground.state import State
from storage.documents import read_configuration
from tests.sandbox_support import ROOT, Doc, Person, Wire, wait_until

CONFIGURATION = {
    "pools": [{"name": "metal", "resources": 8}],
    "profiles": [{"name": "small", "allotment": 0.5}, {"name": "large", "allotment": 4}],
    "policies": [{"name": "vision", "queues": [{"profile": "small"}, {"profile": "large"}]}],
}


@dataclass
class Stage:
    """A playground's process; `poolkeeper` calls ClearML with the keys that it is given."""

    where: Doc
    poolkeeper: Person

    @property
    def url(self) -> str:
        return str(self.where["page"])

    def get(self, path: str, **headers: str) -> requests.Response:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        return requests.get(f"{self.url}{path}", headers=names, timeout=10)

    def post(self, path: str, **body: Any) -> requests.Response:
        return requests.post(f"{self.url}{path}", json=body, timeout=10)

    def state(self) -> Doc:
        return dict(self.get("/cluster/state").json())

    def marked_queue(self, name: str, role: str, profile: str, owner: str, pool: str = "") -> str:
        """A queue as Poolkeeper makes them."""
        marks = {"role": role, "profile": profile, "owner": owner, "pool": pool}
        queue = self.poolkeeper.create_queue(name)
        self.mark(queue, **marks)
        return queue

    def mark(self, queue: str, **marks: str) -> None:
        items = [
            {"key": f"poolkeeper_{key}", "type": "str", "value": value}
            for key, value in marks.items()
        ]
        self.poolkeeper.ok("queues.add_or_update_metadata", queue=queue, metadata=items)

    def queue(self, id_: str) -> Doc:
        return dict(next(queue for queue in self.state()["queues"] if queue["id"] == id_))

    def calls(self, name: str) -> list[Doc]:
        """What ClearML was asked by this name."""
        return list(self.poolkeeper.wire.send("/sandbox/list_calls", {"call": name})[1]["calls"])

    def statuses(self, *tasks: str) -> list[str]:
        return [self.poolkeeper.status(task) for task in tasks]


def _staged(*arguments: str) -> Iterator[Stage]:
    command = [sys.executable, "-m", "sandbox", "playground", "--with-parent", *arguments]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        where = json.loads(process.stdout.readline())
        wire = Wire(where["clearml"])
        try:
            yield Stage(where, Person(wire, where["access_key"], where["secret_key"]))
        finally:
            wire.close()
            process.terminate()
            process.wait(timeout=10)


def _provisioned(stage: Stage) -> Stage:
    """Half-GPU and 4-GPU jobs of one team, and a pool of 8 for them; no jobs come by themselves."""
    stage.post("/cluster/stream", on=False)
    stage.post("/cluster/view", **CONFIGURATION)
    stage.marked_queue("vision-small", "intake", "small", "vision")
    stage.marked_queue("vision-large", "intake", "large", "vision")
    return stage


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """One without a bundle, for tests that change nothing in it."""
    for one in _staged("--bundle", str(tmp_path_factory.mktemp("none"))):
        yield _provisioned(one)


@pytest.fixture
def untouched() -> Iterator[Stage]:
    yield from _staged()


@pytest.fixture
def fresh(untouched: Stage) -> Stage:
    return _provisioned(untouched)


# Who may talk to it


@pytest.mark.parametrize(
    ("headers", "is_refused"),
    [
        pytest.param({"Host": "127.0.0.1:80"}, False, id="a program"),
        pytest.param({"Host": "localhost"}, False, id="the other name"),
        pytest.param({"Host": "rebound.example:80"}, True, id="a name that was pointed here"),
        pytest.param({"Host": "127.0.0.1.example"}, True, id="a name that begins like ours"),
        pytest.param({}, True, id="no host"),
        pytest.param(
            {"Host": "127.0.0.1:80", "Origin": "http://127.0.0.1:80"}, False, id="the page"
        ),
        pytest.param(
            {"Host": "127.0.0.1:80", "Origin": "http://127.0.0.1:81"}, True, id="another port"
        ),
        pytest.param({"Host": "127.0.0.1:80", "Origin": "null"}, True, id="a sandboxed frame"),
        pytest.param({"Host": "127.0.0.1:80", "Origin": "https://a.example"}, True, id="a site"),
        pytest.param(
            {"Host": "127.0.0.1:80", "Sec-Fetch-Site": "cross-site"}, True, id="a site's image"
        ),
        pytest.param(
            {"Host": "127.0.0.1:80", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
            False,
            id="a link that is followed",
        ),
    ],
)
def test_only_this_machines_own_page_and_programs_are_answered(
    headers: dict[str, str], is_refused: bool
) -> None:
    assert bool(refusal("GET", headers)) is is_refused


@pytest.mark.parametrize("path", ["/", "/cluster/state", "/sandbox/feed", "/playground/people"])
@pytest.mark.parametrize("bad", [{"Host": "rebound.example"}, {"Origin": "https://a.example"}])
def test_every_path_is_guarded(stage: Stage, path: str, bad: dict[str, str]) -> None:
    assert stage.get(path, **bad).status_code == 403


def test_another_site_can_neither_command_nor_act_as_a_person(stage: Stage) -> None:
    for path in ("/cluster/add", "/sandbox/command", "/api/chat.postMessage"):
        answer = requests.post(f"{stage.url}{path}", headers={"Origin": "https://a.example"})
        assert answer.status_code == 403


@pytest.mark.parametrize("server", ["clearml", "kubernetes"])
def test_the_other_servers_are_guarded_too(stage: Stage, server: str) -> None:
    for bad in ({"Host": "rebound.example"}, {"Origin": "https://a.example"}):
        answer = requests.post(f"{stage.where[server]}/sandbox/list_faults", headers=bad)
        assert answer.status_code == 403


def test_every_answer_says_what_the_browser_may_do_with_it(stage: Stage) -> None:
    for path in ("/", "/cluster/state", "/nowhere.js"):
        headers = stage.get(path).headers
        policy = dict(
            part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";")
        )
        assert policy["script-src"] == policy["connect-src"] == "'self'"
        assert policy["frame-ancestors"] == "'none'"
        assert headers["X-Content-Type-Options"] == "nosniff"


def test_it_listens_on_loopback_only(stage: Stage) -> None:
    for name in ("page", "clearml", "kubernetes"):
        assert urlsplit(stage.where[name]).hostname == "127.0.0.1"


@pytest.mark.parametrize("token", ["xoxb-1234-real", "xapp-1-real", "sandbox"])
def test_slack_s_api_knows_the_sandbox_s_own_token_only(stage: Stage, token: str) -> None:
    def said(token: str) -> Doc:
        headers = {"Authorization": f"Bearer {token}"}
        return dict(requests.post(f"{stage.url}/api/auth.test", headers=headers).json())

    assert said(stage.where["bot_token"])["ok"]
    assert said(token) == {"ok": False, "error": "invalid_auth"}


# The page's files


def test_a_missing_bundle_is_said_with_what_to_run(stage: Stage) -> None:
    for path in ("/", "/cluster", "/gallery", "/anything/else"):
        answer = stage.get(path)
        assert (answer.status_code, answer.headers["Content-Type"]) == (
            503,
            "text/html; charset=utf-8",
        )
        assert "make setup" in answer.text


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """One with a bundle, and a file beside it."""
    room = tmp_path_factory.mktemp("built")
    (room / "secret.txt").write_text("not of the page")
    root = room / "dist"
    (root / "assets").mkdir(parents=True)
    (root / "index.html").write_text("<title>the page</title>")
    (root / "assets" / "main-4f.js").write_text("run()")
    (root / "icon.svg").write_text("<svg/>")
    yield from _staged("--bundle", str(root))


@pytest.mark.parametrize(
    ("path", "kind", "text"),
    [
        ("/", "text/html", "<title>the page</title>"),
        ("/cluster", "text/html", "<title>the page</title>"),
        ("/gallery", "text/html", "<title>the page</title>"),
        ("/people/U_ADA", "text/html", "<title>the page</title>"),
        ("/assets/main-4f.js", "text/javascript", "run()"),
        ("/icon.svg", "image/svg+xml", "<svg/>"),
    ],
)
def test_the_bundle_is_served(built: Stage, path: str, kind: str, text: str) -> None:
    answer = built.get(path)

    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith(kind)
    assert answer.text == text


@pytest.mark.parametrize(
    "path",
    ["/assets/../../secret.txt", "/assets/%2e%2e/%2e%2e/secret.txt", "/..%2fsecret.txt", "/no.js"],
)
def test_nothing_beside_the_bundle_is_served(built: Stage, path: str) -> None:
    connection = http.client.HTTPConnection(urlsplit(built.url).netloc, timeout=10)
    connection.request("GET", path)
    answer = connection.getresponse()

    assert (answer.status, b"not of the page" in answer.read()) == (404, False)
    connection.close()


# Who is there


def test_the_people_of_the_page_are_those_of_slack(stage: Stage) -> None:
    shown = stage.get("/playground/people").json()
    workspace = stage.post("/sandbox/workspace").json()

    assert {one["id"] for one in shown["people"]} == {
        one["id"] for one in workspace["people"] if not one["is_bot"]
    }
    assert [one["role"] for one in shown["people"]].count("admin") == 3
    assert {one["id"] for one in shown["channels"]} == {
        one["id"] for one in workspace["channels"] if not one["person"]
    }
    assert set(shown["tour"]["policies"]) == {"vision", "language"}


def _demo() -> Configuration:
    return read_configuration(yaml.safe_load((ROOT / "bot" / "playground.yaml").read_text()))


def test_the_demo_s_configuration_speaks_of_the_company_s_people() -> None:
    scene = company.workspace()
    groups = {group["id"]: group["users"] for group in scene["groups"]}
    clearml = {(one.id, one.clearml) for one in company.PEOPLE if one.clearml}

    for policy in _demo().policies:
        assert policy.name in company.TEAMS
        assert policy.team is not None
        assert policy.team.channel == company.TEAM_CHANNELS[policy.name]
        assert groups[str(policy.team.usergroup)] == company.members(policy.name)
        assert set(policy.team.clearml_users) <= clearml


def test_what_is_there_at_the_start_has_a_profile_and_is_more_than_fits() -> None:
    configuration = _demo()
    sizes = {profile.allotment for profile in configuration.profiles}
    total = sum(pool.resources for pool in configuration.pools)

    assert {first.size for first in OPENING} <= sizes
    assert sum(first.size for first in OPENING) > total


def test_the_same_seed_gives_the_same_jobs() -> None:
    def some(jobs: Jobs) -> list[object]:
        return [jobs.job("vision", first.size) for first in OPENING]

    assert some(Jobs(7)) == some(Jobs(7))
    assert some(Jobs(7)) != some(Jobs(8))


# What one can do to the cluster


def test_a_job_is_enqueued_as_its_user_does_it(fresh: Stage) -> None:
    body = {"policy": "vision", "size": "1/2", "user": "U_DANA", "name": "my-first-job"}
    [task] = fresh.post("/cluster/add", **body).json()["tasks"]

    shown = next(queue for queue in fresh.state()["queues"] if queue["profile"] == "small")
    assert [(one["id"], one["name"], one["user"]) for one in shown["tasks"]] == [
        (task, "my-first-job", "Dana Novak")
    ]
    assert fresh.poolkeeper.task(task)["user"] == "dana"
    assert fresh.statuses(task) == ["queued"]


def test_several_jobs_are_told_apart(fresh: Stage) -> None:
    body = {"policy": "vision", "profile": "large", "user": "dana", "name": "sweep", "count": 3}
    fresh.post("/cluster/add", **body)

    shown = next(queue for queue in fresh.state()["queues"] if queue["profile"] == "large")
    assert [one["name"] for one in shown["tasks"]] == ["sweep-1", "sweep-2", "sweep-3"]


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("add", {}, "which policy"),
        ("add", {"policy": "vision"}, "whose job"),
        ("add", {"policy": "marketing", "user": "U_DANA"}, "no policy 'marketing'"),
        ("add", {"policy": "vision", "user": "U_GUS"}, "is a guest"),
        ("add", {"policy": "vision", "user": "U_NOBODY"}, "no user 'U_NOBODY'"),
        ("add", {"policy": "vision", "user": "U_DANA", "size": 3}, "small, large"),
        ("add", {"policy": "vision", "user": "U_DANA", "size": "1e9999999"}, "`size`"),
        ("add", {"policy": "vision", "user": "U_DANA", "size": "7"}, "no such queue"),
        ("add", {"policy": "vision", "user": "U_DANA", "size": "lots"}, "`size`"),
        ("add", {"policy": "vision", "user": "U_DANA", "size": "1/0"}, "`size`"),
        ("add", {"policy": "vision", "user": "U_DANA", "count": 51}, "1 to 50"),
        ("add", {"policy": "vision", "user": "U_DANA", "count": True}, "1 to 50"),
        ("add", {"policy": "vision", "user": "U_DANA", "name": "x" * 201}, "3 to 200"),
        ("add", {"policy": ["vision"], "user": "U_DANA"}, "`policy` is text"),
        ("add", {"queue": "nowhere", "user": "U_DANA"}, "no queue 'nowhere'"),
        ("abort", {}, "which task"),
        ("abort", {"task": "f" * 32}, "no task"),
        ("speed", {}, "Say a speed"),
        ("speed", {"speed": 0.1}, "0.5 to 20"),
        ("speed", {"speed": 21}, "0.5 to 20"),
        ("speed", {"speed": True}, "0.5 to 20"),
        ("speed", {"pause": 1}, "true or false"),
        ("stream", {"on": "yes"}, "true or false"),
        ("view", {"pools": []}, "no configuration"),
    ],
)
def test_what_cannot_be_done_is_told_in_a_sentence(
    stage: Stage, path: str, body: Doc, words: str
) -> None:
    before = stage.state()["counts"]

    answer = stage.post(f"/cluster/{path}", **body)

    assert answer.status_code == 400
    assert words in answer.json()["error"]
    assert stage.state()["counts"] == before


@pytest.mark.parametrize("raw", [b"{", b"[]", b"\xff", b'"add"', b"1" * 5000])
def test_a_body_that_is_no_object_is_refused(stage: Stage, raw: bytes) -> None:
    answer = requests.post(f"{stage.url}/cluster/add", data=raw)

    assert answer.status_code == 400
    assert answer.json()["error"].startswith("The body is")


def test_agents_serve_every_execution_queue_there_is_and_the_ledger_says_whose(
    fresh: Stage,
) -> None:
    fresh.post("/cluster/speed", speed=20)
    link = fresh.marked_queue("pool metal · half", "execution", "small", "half", pool="metal")
    task = fresh.poolkeeper.create_task("an-evaluation")
    copy = {task: ["vision", "intake", "0.5", "reserved", "2026-12-01T09:00:00+00:00"]}
    fresh.mark(link, ledger=json.dumps(copy))

    fresh.poolkeeper.enqueue(task, link)
    wait_until(lambda: fresh.statuses(task) == ["in_progress"], "an agent runs it")
    [pool] = fresh.state()["pools"]
    [agents] = fresh.state()["agents"]

    assert (pool["resources"], pool["used"]) == ("8", "0.5")
    assert [(one["name"], one["policy"], one["amount"]) for one in pool["running"]] == [
        ("an-evaluation", "vision", "0.5")
    ]
    assert (agents["queue"], agents["slots"], agents["running"]) == (link, 16, [task])

    wait_until(lambda: fresh.statuses(task) == ["completed"], "it ends")
    fresh.mark(link, ledger="{}")
    [done] = fresh.state()["done"]
    assert (done["name"], done["policy"], done["status"]) == (
        "an-evaluation",
        "vision",
        "completed",
    )
    assert fresh.state()["counts"]["completed"] == 1


def test_a_ledger_that_somebody_spoilt_counts_as_empty(fresh: Stage) -> None:
    for spoilt in ("{", "[]", '{"a": 1}', '{"a": ["p", "q", "much", "t", "s"]}'):
        link = fresh.marked_queue(f"of {spoilt}", "execution", "small", spoilt, pool="metal")
        fresh.mark(link, ledger=spoilt)

    assert [pool["used"] for pool in fresh.state()["pools"]] == ["0"]


def test_a_task_is_aborted_while_it_waits_and_while_it_runs(fresh: Stage) -> None:
    link = fresh.marked_queue("pool metal · half", "execution", "small", "half", pool="metal")
    [waits] = fresh.post("/cluster/add", policy="vision", profile="small", user="U_DANA").json()[
        "tasks"
    ]
    runs = fresh.poolkeeper.queued_task(link)
    wait_until(lambda: fresh.statuses(runs) == ["in_progress"], "an agent runs it")

    for task in (waits, runs):
        assert fresh.post("/cluster/abort", task=task).status_code == 200

    wait_until(lambda: fresh.statuses(waits, runs) == ["stopped"] * 2, "both are stopped")
    again = fresh.post("/cluster/abort", task=waits)
    assert (again.status_code, "nothing to abort" in again.json()["error"]) == (400, True)


def test_a_pause_holds_whatever_runs_until_a_speed_is_said(fresh: Stage) -> None:
    assert fresh.post("/cluster/speed", speed="pause").json() == {
        "speed": 1.0,
        "paused": True,
    }
    link = fresh.marked_queue("pool metal · half", "execution", "small", "half", pool="metal")
    task = fresh.poolkeeper.queued_task(
        link,
        hyperparams={"Args": {"seconds": {"section": "Args", "name": "seconds", "value": "0.01"}}},
    )
    wait_until(lambda: fresh.statuses(task) == ["in_progress"], "an agent runs it")
    looks = _looks(fresh, task)
    wait_until(lambda: _looks(fresh, task) > looks + 1, "the agent has looked again")
    assert fresh.statuses(task) == ["in_progress"]

    fresh.post("/cluster/speed", speed=2)

    wait_until(lambda: fresh.statuses(task) == ["completed"], "it ends")
    assert fresh.state()["speed"] == 2


def _looks(stage: Stage, task: str) -> int:
    """How often a pod has asked whether its task is to stop."""
    return sum(call["body"].get("id") == [task] for call in stage.calls("tasks.get_all"))


def test_the_stream_begins_with_a_lot_and_keeps_something_waiting(fresh: Stage) -> None:
    first = {
        one.job.name
        for one in OPENING
        if one.policy == "vision" and one.size in (Fraction(1, 2), 4)
    }
    fresh.post("/cluster/speed", speed=20)

    assert fresh.state()["counts"]["waiting"] == 0
    fresh.post("/cluster/stream", on=True)
    wait_until(lambda: fresh.state()["counts"]["waiting"] == 5, "jobs come in")

    names = {task["name"] for queue in fresh.state()["queues"] for task in queue["tasks"]}
    assert first < names


def test_the_beginning_waits_for_all_queues_of_a_team(untouched: Stage) -> None:
    untouched.post("/cluster/view", **CONFIGURATION)
    small = untouched.marked_queue("vision-small", "intake", "small", "vision")
    untouched.marked_queue("pool metal · half", "execution", "small", "half", pool="metal")
    wait_until(lambda: untouched.calls("queues.get_next_task"), "a turn is over: agents are there")
    assert untouched.queue(small)["tasks"] == []

    large = untouched.marked_queue("vision-large", "intake", "large", "vision")

    wait_until(lambda: untouched.queue(large)["tasks"], "the beginning comes")
    names = {task["name"] for task in untouched.queue(small)["tasks"]}
    assert {one.job.name for one in OPENING if one.size == Fraction(1, 2)} & names


def test_a_task_on_its_way_into_a_pod_is_not_shown_as_aborted(stage: Stage) -> None:
    poolkeeper = stage.poolkeeper
    task = poolkeeper.queued_task(poolkeeper.create_queue("elsewhere"))
    before = stage.state()["counts"]

    poolkeeper.stop(task, force=True, status_reason="moving to k8s pending queue")
    assert stage.state()["counts"] == before
    poolkeeper.enqueue(task, poolkeeper.create_queue("another"))
    poolkeeper.stop(task, force=True, status_reason="a user's wish")

    assert stage.state()["counts"]["aborted"] == before["aborted"] + 1


def test_old_ended_tasks_are_forgotten_but_counted() -> None:
    cluster = Cluster(ClearMLServer())
    world = cluster.server.world
    queue = world.queue_named("default")
    assert queue is not None
    for number in range(1200):
        task = world.tasks[cluster.enqueue(queue.doc["id"], Job(f"job-{number}", "dana", 1))]
        task["status"] = "completed" if number % 2 else "stopped"
    state = State(cluster, KubernetesServer())
    before = state.document()["counts"]

    asyncio.run(cluster.turn())

    assert len(world.tasks) < 600
    assert any(task["name"] == "job-1199" for task in world.tasks.values())
    assert state.document()["counts"] == before
    assert (before["completed"], before["aborted"]) == (600, 600)


# The feed


def test_the_feed_begins_at_once_and_goes_on_with_every_change(fresh: Stage) -> None:
    with requests.get(f"{fresh.url}/cluster/feed", stream=True, timeout=10) as feed:
        lines = (line for line in feed.iter_lines() if line.startswith(b"data: "))
        first = json.loads(next(lines)[6:])
        fresh.post("/cluster/speed", pause=True)
        later = next(doc for doc in map(_document, lines) if doc["paused"])

    assert first == {**fresh.state(), **first}
    assert later["n"] > first["n"]


def _document(line: bytes) -> Doc:
    return dict(json.loads(line[6:]))


# The gallery and files


def test_the_gallery_is_kept_as_it_was_pushed(fresh: Stage) -> None:
    document = {"entries": [{"group": "status", "title": "two pools", "kind": "message",
                             "document": {"blocks": []}}]}  # fmt: skip
    assert fresh.get("/playground/gallery").json() == {"entries": []}

    assert fresh.post("/playground/gallery", **document).json() == {"entries": 1}

    assert fresh.get("/playground/gallery").json() == document


def test_a_gallery_can_come_from_a_file(tmp_path: Path) -> None:
    document = {"entries": [{"group": "a", "title": "b", "kind": "home", "document": {}}]}
    (tmp_path / "gallery.json").write_text(json.dumps(document))

    for stage in _staged("--gallery", str(tmp_path / "gallery.json")):
        assert stage.get("/playground/gallery").json() == document


def test_a_gallery_that_is_none_or_too_large_is_refused(stage: Stage) -> None:
    assert stage.post("/playground/gallery", entries={}).status_code == 400
    large = stage.post("/playground/gallery", entries=["x" * 2**20] * 6)

    assert (large.status_code, large.json()) == (413, {"error": "That is larger than 5 MB."})


@pytest.mark.parametrize(
    ("name", "kind", "is_shown"),
    [
        ("chart.png", "image/png", True),
        ("page.html", "application/octet-stream", False),
        ("drawing.svg", "application/octet-stream", False),
    ],
)
def test_the_page_gets_what_was_uploaded_and_shows_pictures_only(
    stage: Stage, name: str, kind: str, is_shown: bool
) -> None:
    said = {"person": "U_ADA", "channel": "C_GENERAL", "text": "look"}
    stage.post("/sandbox/say", **said, files=[{"name": name, "content": "the bytes"}])
    found = stage.post("/sandbox/messages", channel="C_GENERAL").json()["messages"]
    url = urlsplit(found[-1]["files"][0]["url_private"])

    answer = stage.get(url.path)

    assert f"http://{url.netloc}" == stage.url
    assert (answer.text, answer.headers["Content-Type"]) == ("the bytes", kind)
    assert ("Content-Disposition" not in answer.headers) is is_shown
    assert stage.get(url.path, Authorization="Bearer xoxb-real").status_code == 403


# The machines


def test_a_node_is_restarted_once_poolkeeper_has_prepared_it_and_a_walk_is_over() -> None:
    world, room = scene.build(company.cluster()), MachineRoom()
    machine = world.machines["a10-2"]
    node = world.node("a10-2")
    notes = {**node["metadata"]["annotations"], MARK: "r1"}
    cordoned = {"metadata": {**node["metadata"], "annotations": notes}}
    world.store.put(NODES, {**node, **cordoned, "spec": {**node["spec"], "unschedulable": True}})

    assert room.look(world, 0.0) == room.look(world, 2 * WALK_S) == [], "a pod is on it still"
    world.store.remove(PODS, world.pod("demo-chatbot", "language"))
    assert room.look(world, 100.0) == room.look(world, 100.0 + WALK_S / 2) == []
    assert room.look(world, 100.0 + WALK_S) == ["a10-2"]

    assert not machine.up
    assert room.look(world, 100.0 + 2 * WALK_S) == [], "it is on its way already"


def test_nobody_restarts_a_node_that_somebody_else_has_cordoned() -> None:
    world, room = scene.build(company.cluster()), MachineRoom()
    node = world.node("h100-1")
    world.store.put(NODES, {**node, "spec": {**node["spec"], "unschedulable": True}})

    assert room.look(world, 0.0) == room.look(world, 2 * WALK_S) == []
