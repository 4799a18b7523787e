"""The doors ask before each write whether it may be made: who does not lead makes none."""

import time
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.blocks import Post
from bot.outbox_worker import Worker
from bot.posts import announce
from bot.sending import Sender
from bot.slack_door import Slack, web_client
from controller.clearml_queues import ClearMLQueues
from controller.clearml_session import ClearMLSession, Credentials
from controller.kubernetes_cluster_session import Access, Call, KubernetesSession
from storage.database import open_database
from storage.errors import LeadershipLost
from tests.kubernetes_support import Cluster
from tests.poolkeeper_support import Clock
from tests.sandbox_support import Sandbox
from tests.slack_support import Workspace


def lost() -> None:
    raise LeadershipLost("of a test")


def test_clearml_is_read_and_not_written_to(clearml: Sandbox) -> None:
    queue = clearml.create_queue("some queue")
    task = clearml.queued_task(queue)
    credentials = Credentials(
        host=clearml.url,
        access_key=clearml.access_key,
        secret_key=SecretStr(clearml.secret_key),
    )
    door = ClearMLQueues(ClearMLSession(credentials, lambda _: None, check=lost))

    seen = door.queue(queue)
    assert seen is not None
    assert [one.task for one in seen.entries] == [task]
    before = clearml.last_call()
    with pytest.raises(LeadershipLost):
        door.claim(queue, task)

    assert clearml.calls(since=before) == []
    assert clearml.entries(queue) == [task]


def test_kubernetes_is_read_and_not_written_to(kubernetes: Cluster, tmp_path: Path) -> None:
    path = kubernetes.write_kubeconfig(tmp_path / "kubeconfig")
    session = KubernetesSession(Access(kubeconfig=str(path)), time.sleep, check=lost)
    node = session.read("/api/v1/nodes")["items"][0]["metadata"]["name"]
    cordon = Call(
        method="PATCH",
        path=f"/api/v1/nodes/{node}",
        body={"spec": {"unschedulable": True}},
        content_type="application/merge-patch+json",
    )

    with pytest.raises(LeadershipLost):
        session.write(cordon)

    assert not session.read(f"/api/v1/nodes/{node}")["spec"].get("unschedulable")


def test_what_waits_to_be_said_is_left_to_whoever_leads(slack: Workspace, tmp_path: Path) -> None:
    database, clock = open_database(str(tmp_path / "outbox.sqlite3")), Clock()
    door = Slack(web_client(slack.bot_token, slack.api))
    with database.transaction() as session:
        announce(session, "once", Post(channel="C_VISION", text="once"), clock())
    former = Worker(database, Sender(door, database, lambda _: b"", lost), clock)
    with pytest.raises(LeadershipLost):
        former.turn()
    said_by_former = slack.messages("C_VISION")

    leader = Worker(database, Sender(door, database, lambda _: b""), clock)
    leader.start()
    slack.wait_for_message("C_VISION", "once")
    leader.stop()

    assert said_by_former == []
    assert len(slack.messages("C_VISION")) == 1
    database.close()
