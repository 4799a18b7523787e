"""cGPU from Slack: the real bot and reconciler, on loopback Slack and a sandbox cluster."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from bot import cgpu_telling, tending
from domain.cgpu_memory import Outcome
from domain.cgpu_nodes import NodeState
from domain.configuration import CGPU, Configuration
from domain.ledger import OwnedQueue, Role
from domain.renames import Renames
from storage import configurations, outbox, queues
from storage.configurations import Approval
from tests.bot_support import Bot, example, running_bot
from tests.cgpu_support import Keeper, managed
from tests.kubernetes_support import Cluster
from tests.poolkeeper_support import installed, one_profile
from tests.sandbox_support import Sandbox, wait_until
from tests.slack_support import Message, Workspace

COMMAND = "aliyun ecs RebootInstance --RegionId cn-hongkong --InstanceId i-gpu-1"
LABELS = (("ack.node.gpu.schedule", "cgpu"),)


@dataclass
class Scene:
    """A bot and a reconciler on one database."""

    bot: Bot
    keeper: Keeper

    @property
    def cluster(self) -> Cluster:
        return self.keeper.cluster

    def asks(self, person: str, line: str) -> Message:
        """The answer that only this person sees, whatever is said to the channel meanwhile."""
        said = self.bot.says(person, line)

        def found() -> Message | None:
            return next((one for one in said.messages if one.only_for == person), None)

        return self.bot.slack.wait_for(found, f"an answer to {line}", 10, lambda: said.plain)

    def reconciles(self) -> str:
        """Until nothing goes on by itself, and the admins are told."""
        says = self.keeper.rests()
        cgpu_telling.tell(self.bot.desk)
        return says

    def manages(self, policy: int | None = 1) -> None:
        self.bot.provision(managed(policy))
        self.reconciles()

    def applies(self) -> None:
        """What a round does with an approved version."""
        with self.bot.database.transaction() as session:
            version = configurations.approved(session)
            assert version is not None
            configurations.mark_provisioned(session, version.number)
        tending.tend(self.bot.desk)
        self.reconciles()

    def told(self, containing: str = "") -> list[Message]:
        """What the admins' channel holds once everything that may go is sent."""
        bot = self.bot

        def is_sent() -> bool:
            now = bot.clock()
            with bot.database.reading() as session:
                unsent = outbox.due(session, now + timedelta(days=1), 1_000)
            return not any(one.attempts or one.not_before <= now for one in unsent)

        wait_until(is_sent, "an outbox without anything due", 30)
        return [one for one in bot.slack.messages("C_ADMINS") if containing in one.plain]

    def card(self, containing: str) -> Message:
        (card,) = self.told(containing)
        return card

    def thread(self, containing: str) -> list[str]:
        return [one.plain for one in self.card(containing).thread()]


@pytest.fixture
def scene(slack: Workspace, kubernetes: Cluster, tmp_path: Path) -> Iterator[Scene]:
    path = kubernetes.write_kubeconfig(tmp_path / "for-the-bot")
    settings = {"POOLKEEPER_KUBERNETES": "kubeconfig", "POOLKEEPER_KUBECONFIG": str(path)}
    slack.configure(rate_limits=False)
    with running_bot(slack, tmp_path, **settings) as bot:
        yield Scene(bot, Keeper(kubernetes, bot.database, tmp_path))


@pytest.fixture
def unconnected(slack: Workspace, tmp_path: Path) -> Iterator[Bot]:
    with running_bot(slack, tmp_path) as bot:
        yield bot


def test_without_kubernetes_there_is_no_such_verb(unconnected: Bot) -> None:
    said = unconnected.asks("U_ADA", "cgpu status")
    general = unconnected.asks("U_ADA", "help")
    asked = unconnected.asks("U_ADA", "help cgpu")

    assert "I do not know `cgpu`" in said.plain
    assert "cgpu" not in general.plain
    assert "There is no `cgpu`" in asked.plain


def test_without_kubernetes_a_configuration_with_cgpu_is_refused_with_that_reason(
    unconnected: Bot,
) -> None:
    unconnected.provision(managed(3))
    unconnected.provision(managed(None))

    said = unconnected.asks("U_ADA", "rollback 1").plain

    assert "nothing was asked for" in said
    assert "Poolkeeper is not connected to Kubernetes" in said
    assert "take cgpu out" in said.replace("`", "")


@pytest.mark.parametrize(
    "line", ["status", "set 3", "restart gpu-1", "withdraw gpu-1", "pause", "resume"]
)
def test_only_admins_may(scene: Scene, line: str) -> None:
    scene.manages()

    said = scene.asks("U_CLEO", f"cgpu {line}")

    assert "is for admins" in said.plain
    assert not scene.keeper.view.control.paused


def test_where_it_may_prepare_no_nodes_an_admin_is_told_what_to_do(
    slack: Workspace, kubernetes: Cluster, tmp_path: Path
) -> None:
    path = kubernetes.write_kubeconfig(tmp_path / "for-the-bot")
    settings = {"POOLKEEPER_KUBERNETES": "kubeconfig", "POOLKEEPER_KUBECONFIG": str(path)}
    with running_bot(slack, tmp_path, **settings, POOLKEEPER_CGPU_RESTARTS="false") as bot:
        scene = Scene(bot, Keeper(kubernetes, bot.database, tmp_path))
        scene.manages(3)

        said = scene.asks("U_ADA", "cgpu restart gpu-1 now").plain
        scene.reconciles()

        assert "Cordon and drain" in said
        assert "gpu-1" in said
        assert kubernetes.calls("patch nodes") == []
        kubernetes.restarted("gpu-1")
        scene.reconciles()
        assert scene.keeper.status("gpu-1").state is NodeState.UP_TO_DATE


@pytest.mark.parametrize("line", ["status", "set 3", "restart gpu-1", "resume"])
def test_before_the_first_look_that_is_what_is_said(scene: Scene, line: str) -> None:
    said = scene.asks("U_ADA", f"cgpu {line}")

    assert said.plain.startswith("The Kubernetes cluster was not looked at yet")


def test_the_status_of_an_unmanaged_cluster_says_what_there_is(scene: Scene) -> None:
    scene.manages(None)

    said = scene.asks("U_ADA", "cgpu status").plain

    assert "cGPU is not managed" in said
    assert "kube-system/cgpu-installer installs cGPU 1.5.13 with POLICY 1" in said
    assert "3 (fixed percentage): every container gets the fixed percentage" in said


def test_the_status_is_a_table_of_nodes_with_what_comes_next(scene: Scene) -> None:
    scene.cluster.add_pods("train", node="gpu-1", gpu_mem=4, count=2)
    scene.manages(1)
    scene.manages(3)

    said = scene.asks("U_ADA", "cgpu status")

    assert "policy 3 (fixed percentage) is provisioned; 0 of 3 nodes have it" in said.text
    assert "Waits for an admin: to be restarted, one by one: gpu-1, gpu-2 and gpu-3." in said.plain
    assert "gpu-1`  *restart required*: its module was presumably loaded" in said.plain
    assert (
        "label cgpu, 2 cards Tesla-T4, module not read, policy unknown, not restarted since, "
        "2 pods on its cards"
    ) in said.plain
    assert "[Restart gpu-1…]" in said.plain


def test_a_long_table_has_pages_and_those_come_first_that_need_somebody(scene: Scene) -> None:
    nodes = [{"name": f"gpu-{number}"} for number in range(1, 21)]
    scene.cluster.reset({"nodes": nodes, "daemonsets": [{}], "helm": {"policy": 3}})
    scene.manages(1)
    scene.manages(3)
    scene.cluster.restarted("gpu-1")
    scene.reconciles()

    first = scene.asks("U_ADA", "cgpu status").plain
    last = scene.asks("U_ADA", "cgpu status page 3").plain

    assert "1-8 of 20, page 1 of 3" in first
    assert "`gpu-1`  *up to date*" in last
    assert "`gpu-1`  *up to date*" not in first


def test_where_cgpu_is_not_installed_the_status_prints_the_values_to_install_it_with(
    scene: Scene,
) -> None:
    scene.cluster.remove_daemon_set()
    scene.cluster.helm_uninstall()
    scene.manages(3)

    said = scene.asks("U_ADA", "cgpu status").plain

    assert "policy 3 (fixed percentage) is provisioned, but cGPU is not installed yet." in said
    assert "```cgpu:\n  enabled: true\n  policy: 3```" in said


@pytest.mark.parametrize("policy", ["9", "-1", "three", "01", "1.0", "<!channel>"])
def test_what_is_no_policy_is_answered_with_those_there_are(scene: Scene, policy: str) -> None:
    scene.manages()

    said = scene.asks("U_ADA", f"cgpu set {policy}").plain

    assert "There is no cGPU policy" in said
    assert "0 (fair share)" in said
    assert scene.told("asks to set") == []


def test_a_change_is_asked_for_with_what_it_means_and_approved_by_another(scene: Scene) -> None:
    scene.cluster.add_pods("train", node="gpu-1", gpu_mem=4, count=2)
    scene.manages(1)
    asked = scene.asks("U_ADA", "cgpu set 3")
    assert "Nothing was asked for yet." in asked.text
    assert "3 nodes to be restarted, one at a time: gpu-1, gpu-2 and gpu-3." in asked.plain

    scene.bot.person("U_ADA").press("Ask for policy 3", asked).reply("r1 is in")
    card = scene.card("r1: set cGPU policy 3 on all nodes")
    assert "cGPU: policy 1 → policy 3." in card.plain
    assert "3 nodes to be restarted, one at a time: gpu-1, gpu-2 and gpu-3." in card.plain
    assert "2 pods share cards with others on their nodes: default/train-1" in card.plain
    assert "nobody approves their own" in scene.asks("U_ADA", "approve r1").plain
    assert scene.cluster.policy() == "1"

    scene.asks("U_BEN", "approve r1")
    scene.applies()
    assert scene.cluster.policy() == "3"
    assert "applied as version 2" in scene.card("r1: set cGPU policy 3").plain


def test_the_card_names_the_profiles_whose_fraction_is_not_honoured(scene: Scene) -> None:
    base = one_profile({"shared": 6}, {"dev": (0, None)}, allotment="1/2")
    pool = replace(base.pools[0], nodes=LABELS)
    scene.bot.provision(replace(base, pools=(pool,), cgpu=CGPU(policy=3)))
    scene.reconciles()

    scene.asks("U_ADA", "cgpu set 1 now")

    card = scene.card("r1: set cGPU policy 1")
    assert "is not what they ask for: job; newly job." in card.plain
    assert "Warnings" in card.plain


def test_any_request_that_changes_the_policy_shows_what_it_means_for_the_nodes(
    scene: Scene,
) -> None:
    scene.bot.provision(managed(3))
    scene.manages(1)

    scene.asks("U_ADA", "rollback 1 because it was better")

    card = scene.card("r1: roll back to version 1")
    assert "cGPU: policy 1 → policy 3." in card.plain
    assert "3 nodes to be restarted, one at a time: gpu-1, gpu-2 and gpu-3." in card.plain


def test_what_is_provisioned_already_is_not_asked_for(scene: Scene) -> None:
    scene.manages(3)

    said = scene.asks("U_ADA", "cgpu set 3 now").plain

    assert "is provisioned already; nothing was asked for" in said


def test_another_version_in_between_voids_the_request(scene: Scene) -> None:
    scene.manages(1)
    scene.asks("U_ADA", "cgpu set 3 now")
    scene.bot.provision(replace(managed(1), profiles=()))

    said = scene.asks("U_BEN", "approve r1").plain

    assert "nothing was done, it is void: version 2 was approved after" in said
    assert scene.cluster.policy() == "1"


def test_nothing_is_asked_for_while_another_version_is_being_applied(scene: Scene) -> None:
    scene.manages(1)
    with scene.bot.database.transaction() as session:
        approval = Approval(by="U_BEN", at=scene.bot.clock())
        configurations.add_version(session, Configuration(), Renames(), approval)

    said = scene.asks("U_ADA", "cgpu set 3 now").plain

    assert said == "Version 2 is being applied; ask again when it is in force."


def test_a_restart_is_guided_on_one_card_with_a_thread(scene: Scene) -> None:
    scene.cluster.add_pods("train", node="gpu-1", gpu_mem=4)
    scene.manages(1)
    scene.manages(3)

    asked = scene.asks("U_ADA", "cgpu restart gpu-1")
    scene.reconciles()
    assert "Pods that are evicted: default/train." in asked.plain
    assert "Nothing makes these again: default/train." in asked.plain
    assert not scene.cluster.is_cordoned("gpu-1")

    scene.bot.person("U_ADA").press("Prepare gpu-1", asked).reply("is being prepared")
    scene.reconciles()
    card = scene.card("Restart of `gpu-1`")
    assert "Restart of `gpu-1`: to be restarted now" in card.plain
    assert f"```{COMMAND}```" in card.plain
    assert "Cordon it and evict its pods: done." in card.plain
    assert scene.cluster.is_cordoned("gpu-1")

    scene.cluster.restarted("gpu-1")
    scene.reconciles()
    assert scene.card("Restart of `gpu-1`: over").ts == card.ts
    assert [line.partition(":")[0] for line in scene.thread("Restart of `gpu-1`")] == [
        "@ada wants it restarted.",
        "The restart of gpu-1 is being prepared.",
        "@ada",
        "gpu-1 has restarted.",
        "gpu-1 has restarted and is verified",
    ]
    assert not scene.cluster.is_cordoned("gpu-1")


def test_whoever_asked_is_called_when_it_is_for_them_to_restart_the_machine(scene: Scene) -> None:
    scene.manages(1)
    scene.manages(3)
    scene.asks("U_BEN", "cgpu restart gpu-1 now")
    scene.reconciles()
    scene.told()

    called = [one["text"] for one in scene.bot.person("U_BEN").pings()]

    assert any(COMMAND in text for text in called)
    assert not any("wants it restarted" in one["text"]
                   for one in scene.bot.person("U_ADA").pings())  # fmt: skip


def test_a_second_wish_and_an_unknown_node_are_answered_helpfully(scene: Scene) -> None:
    scene.manages(1)
    scene.manages(3)
    scene.asks("U_ADA", "cgpu restart gpu-1 now")

    again = scene.asks("U_BEN", "cgpu restart gpu-1 now").plain
    unknown = scene.asks("U_ADA", "cgpu restart gpu-9").plain

    assert "was asked for already" in again
    assert "[Withdraw it]" in again
    assert "I know no cGPU node “gpu-9”" in unknown
    assert len(scene.keeper.view.restarts) == 1


def test_a_withdrawn_restart_gives_the_node_back_and_ends_its_card(scene: Scene) -> None:
    scene.manages(1)
    scene.manages(3)
    scene.asks("U_ADA", "cgpu restart gpu-1 now")
    scene.reconciles()
    assert scene.cluster.is_cordoned("gpu-1")

    said = scene.asks("U_BEN", "cgpu withdraw gpu-1").plain
    scene.reconciles()

    assert "is withdrawn" in said
    assert not scene.cluster.is_cordoned("gpu-1")
    assert "The restart of gpu-1 was withdrawn." in scene.card("Restart of `gpu-1`: over").plain
    assert "Nobody wants `gpu-1` restarted" in scene.asks("U_ADA", "cgpu withdraw gpu-1").plain


def test_a_restart_that_failed_says_why_and_may_be_tried_again(scene: Scene) -> None:
    scene.manages(1)
    scene.manages(3)
    scene.asks("U_ADA", "cgpu restart gpu-1 now")
    scene.reconciles()
    scene.cluster.cordon("gpu-1", on=False)
    scene.reconciles()

    card = scene.card("Restart of `gpu-1`")
    assert "It failed, and is left as it is: somebody uncordoned it meanwhile" in (
        card.plain.replace("*", "")
    )
    asked = scene.bot.person("U_BEN").press("Try again…", card).reply("that are evicted")
    scene.bot.person("U_BEN").press("Prepare gpu-1", asked).reply("is being prepared")
    scene.reconciles()
    assert scene.cluster.is_cordoned("gpu-1")


def test_a_disruption_budget_that_refuses_is_named_on_the_card(scene: Scene) -> None:
    labels = {"app": "train"}
    scene.cluster.add_pods("train", node="gpu-1", gpu_mem=4, labels=labels)
    scene.cluster.add_budget("train-budget", labels, min_available=1)
    scene.manages(1)
    scene.manages(3)
    scene.asks("U_ADA", "cgpu restart gpu-1 now")
    for _ in range(4):
        scene.keeper.run()
    cgpu_telling.tell(scene.bot.desk)

    assert "train-budget" in scene.card("Restart of `gpu-1`").plain


def test_the_change_has_one_card_from_its_beginning_to_its_end(scene: Scene) -> None:
    scene.manages(1)
    scene.manages(3)
    card = scene.card("cGPU policy 3 (fixed percentage) on all nodes")
    assert "is under way" in card.plain
    assert "Nodes: 3 restart required." in card.plain

    for node in ("gpu-1", "gpu-2", "gpu-3"):
        scene.asks("U_ADA", f"cgpu restart {node} now")
        scene.reconciles()
        scene.cluster.restarted(node)
        scene.reconciles()

    assert scene.keeper.change.outcome is Outcome.CONVERGED
    now = scene.card("cGPU policy 3 (fixed percentage) on all nodes")
    assert now.ts == card.ts
    assert "is done: every node has it, and that is proven" in now.plain
    assert "[Restart" not in now.plain
    assert scene.thread("cGPU policy 3 (fixed percentage) on all nodes") == [
        "The change to policy 3 begins.",
        "POLICY of kube-system/cgpu-installer is set from 1 to 3.",
        "The change to policy 3 is over: converged.",
    ]


def test_a_pause_stops_everything_until_it_is_resumed(scene: Scene) -> None:
    scene.manages(1)
    assert "Paused" in scene.asks("U_ADA", "cgpu pause").plain
    assert "It is paused already." in scene.asks("U_BEN", "cgpu pause").plain
    scene.manages(3)
    assert scene.cluster.policy() == "1"
    assert "Paused by @ada: nothing is done." in scene.asks("U_BEN", "cgpu status").plain

    scene.asks("U_BEN", "cgpu resume")
    scene.reconciles()

    assert scene.cluster.policy() == "3"
    assert [one.action for one in scene.bot.audit("U_BEN")] == ["cgpu resume"]


def test_resume_after_a_pause_begins_no_change_where_nothing_differs(scene: Scene) -> None:
    scene.manages(1)
    change = scene.keeper.change.id
    scene.asks("U_ADA", "cgpu pause")

    scene.asks("U_ADA", "cgpu resume")
    scene.reconciles()

    assert scene.keeper.change.id == change
    assert "Nothing is paused or stopped" in scene.asks("U_ADA", "cgpu resume").plain


def test_a_drift_is_told_once_put_right_on_a_word_and_over_then(scene: Scene) -> None:
    scene.manages(1)
    scene.cluster.edit(env={"POLICY": "2"}, manager="kubectl <!channel>")

    for _ in range(3):
        scene.reconciles()
    alert = scene.card("was set to POLICY 2")
    assert "by kubectl <!channel> at" in alert.plain
    assert alert.mentions == []

    asked = scene.bot.person("U_BEN").press("cGPU status", alert).reply("What differs")
    assert "is provisioned" in asked.plain
    said = scene.asks("U_BEN", "cgpu resume").plain
    assert "POLICY is set to 1 again" in said
    scene.reconciles()
    assert scene.cluster.policy() == "1"
    assert "over since" in alert.now().plain or scene.told("over since")
    assert any("that difference is gone" in one.plain for one in alert.now().thread())


def test_after_a_restart_of_the_bot_nothing_is_told_twice(scene: Scene) -> None:
    scene.manages(1)
    scene.manages(3)
    scene.asks("U_ADA", "cgpu restart gpu-1 now")
    scene.reconciles()
    before = [(one.ts, len(one.edits), len(one.thread())) for one in scene.told()]

    scene.bot.stop()
    scene.bot.start()
    for _ in range(3):
        scene.reconciles()

    assert [(one.ts, len(one.edits), len(one.thread())) for one in scene.told()] == before


def test_an_outage_is_told_after_three_looks_and_once_when_it_is_over(scene: Scene) -> None:
    scene.manages(1)
    scene.cluster.outage("503")
    for number in range(4):
        scene.keeper.reconciler.run()
        cgpu_telling.tell(scene.bot.desk)
        assert len(scene.told("Kubernetes cannot be worked with")) == (number >= 2)
    said = scene.asks("U_ADA", "cgpu status").plain
    assert "Kubernetes cannot be worked with for" in said
    assert "What is shown was seen" in said

    scene.cluster.outage("")
    scene.reconciles()

    (alert,) = scene.told("Kubernetes cannot be worked with")
    assert "over since" in alert.plain
    assert [one.plain for one in alert.thread()] == [
        "Over: Kubernetes answers again, and cGPU is looked after."
    ]


def with_queue(scene: Scene, allotment: str, label: str = "cgpu") -> None:
    """The profile `job` on a pool of cGPU nodes, with its execution queue."""
    base = one_profile({"shared": 6}, {"dev": (0, None)}, allotment=allotment)
    pool = replace(base.pools[0], nodes=(("ack.node.gpu.schedule", label),))
    scene.bot.provision(replace(base, pools=(pool,)))
    owned = OwnedQueue(id="q1", name="pool shared", role=Role.EXECUTION, profile="job",
                       pool="shared", owner="job on shared")  # fmt: skip
    with scene.bot.database.transaction() as session:
        queues.put_queue(session, owned)
    scene.reconciles()


def test_agents_ask_for_the_part_of_a_card_that_a_fraction_is(scene: Scene) -> None:
    with_queue(scene, "1/2")

    said = scene.asks("U_ADA", "agents job on shared").plain

    assert "aliyun.com/gpu-mem: '7'" in said
    assert "gpu-core.percentage" not in said
    assert "nodeSelector:\n" in said
    assert "ack.node.gpu.schedule: cgpu" in said
    assert "0.5 of a GPU is 7 GiB on cards of 15 GiB" in said
    assert "1 GiB of each card stay unused." in said
    assert "nvidia.com/gpu" not in said


def test_agents_of_whole_gpus_on_shared_cards_are_told_what_to_ask_for(scene: Scene) -> None:
    with_queue(scene, "2")

    said = scene.asks("U_ADA", "agents job on shared").plain

    assert "ask for aliyun.com/gpu-mem: 30 instead" in said.replace("`", "")


def test_the_status_of_a_pool_says_when_its_nodes_have_another_number_of_gpus(
    scene: Scene,
) -> None:
    base = example()
    pool = replace(base.pools[0], nodes=LABELS, resources=Fraction(8))
    configuration = replace(base, pools=(pool, *base.pools[1:]))
    scene.bot.publish(configuration)
    scene.reconciles()
    note = "has 8 resources, but its 3 nodes have 6 allocatable GPUs."

    assert note in scene.asks("U_CLEO", "status").plain
    assert note in scene.asks("U_CLEO", f"status {pool.name}").plain
    assert note not in scene.asks("U_CLEO", f"status {base.pools[1].name}").plain


def test_the_doctor_and_home_know_of_the_cluster(scene: Scene) -> None:
    before = scene.asks("U_ADA", "doctor").plain
    scene.manages(1)
    scene.cluster.outage("503")
    scene.keeper.reconciler.run()
    during = scene.asks("U_ADA", "doctor").plain
    home = scene.bot.person("U_ADA").open_home().home("[cGPU]")

    assert "The Kubernetes cluster was not looked at yet." in before
    assert "Kubernetes cannot be worked with" in during
    assert "cluster was not looked at yet" not in during
    assert "[Doctor]" in home.plain


def test_a_running_poolkeeper_keeps_the_policy_from_a_word_to_the_nodes(
    slack: Workspace, clearml: Sandbox, kubernetes: Cluster, tmp_path: Path
) -> None:
    env = {
        "SLACK_BOT_TOKEN": slack.bot_token,
        "SLACK_APP_TOKEN": slack.app_token,
        "POOLKEEPER_SLACK_API": slack.api,
        "POOLKEEPER_ADMINS": "U_ADA,U_BEN",
        "POOLKEEPER_ADMIN_CHANNEL": "C_ADMINS",
        "POOLKEEPER_ROUND_SECONDS": "0.5",
        "POOLKEEPER_KUBERNETES": "kubeconfig",
        "POOLKEEPER_KUBECONFIG": str(kubernetes.write_kubeconfig(tmp_path / "kubeconfig")),
    }
    with installed(clearml, tmp_path / "here") as there:
        process = there.start("run", **env)
        slack.wait_for_bot(timeout=30)
        ada, ben = slack.person("U_ADA"), slack.person("U_BEN")

        def is_seen() -> bool:
            said = ada.command("/pool cgpu status").reply()
            return "was not looked at yet" not in said.plain

        wait_until(is_seen, "a look at the cluster", 30)
        ada.command("/pool cgpu set 3 now").reply("r1 is in")
        ben.command("/pool approve r1").reply("you approved")
        wait_until(lambda: kubernetes.policy() == "3", "POLICY is set", 30)
        kubernetes.wait_until_rolled_out(timeout=30)
        slack.wait_for_message("C_ADMINS", "cGPU policy 3 (fixed percentage) on all nodes", 30)

        ada.command("/pool cgpu restart gpu-1 now").reply("is being prepared")
        slack.wait_for_message("C_ADMINS", COMMAND, 60)
        wait_until(lambda: kubernetes.is_cordoned("gpu-1"), "gpu-1 is cordoned", 30)
        kubernetes.restarted("gpu-1")
        slack.wait_for_message("C_ADMINS", "Restart of `gpu-1`: over", 60)

        assert kubernetes.loaded("gpu-1") == [3, 3]
        assert not kubernetes.is_cordoned("gpu-1")
        assert process.end() == 0
        assert "Traceback" not in process.log
