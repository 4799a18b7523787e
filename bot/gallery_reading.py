"""The gallery's answers to those who look: help, status, profiles, policies, queue, why, agents,
audit, doctor; on the first day, on a busy one, and under the worst of names."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Final

from bot.access import Actor, refusal
from bot.blocks import Reply, section
from bot.checkups import (
    Channel,
    Rules,
    SlackState,
    cluster_ailments,
    round_ailments,
    rule_ailments,
    slack_ailments,
)
from bot.checkups_servers import ClearMLState, clearml_ailments
from bot.doctor_answers import Findings, diagnosis, examine
from bot.gallery_examples import (
    LONGEST,
    NASTY,
    afternoon,
    company,
    own_queues,
    runs,
    rush,
    waiting,
    with_afternoon,
    with_mess,
    worked,
)
from bot.gallery_stage import ADA, BEN, DANA, GRACE, GUS, NOW, TEAM, Book, snapshot, staged, task_id
from bot.helping import refused, shared
from bot.registry import TABLE
from bot.slack_door import Impossible, Later
from controller.alerts import Kind
from controller.survey import Survey
from domain.configuration import (
    Configuration,
    IntakeQueue,
    Link,
    Policy,
    Pool,
    Profile,
    Queueing,
    Team,
)
from domain.ledger import AuditRecord, OwnedQueue, Role
from domain.snapshot import Snapshot, Task, WaitingQueue
from storage import alerts, audit, queues
from storage.alerts import Alert
from storage.database import Session

_LOOKS: Final = ("status", "profiles", "policies", "queue", "agents", "audit")


def scenes(book: Book) -> None:
    for scene in (_helping, _first_day, _worked, _busy, _reasons, _nasty, _old, _doctor):
        scene(book)


def _helping(book: Book) -> None:
    with staged(book, "Help and refusals", POOLKEEPER_KUBERNETES="in-cluster") as stage:
        with_afternoon(stage)
        for person, who in ((ADA, "an admin"), (DANA, "a member"), (GUS, "somebody in no team")):
            stage.says(person, "help", f"Help for {who}")
        groups = dict.fromkeys(verb.words[0] for verb in TABLE if len(verb.words) > 1)
        for group in groups:
            stage.says(ADA, f"help {group}")
        stage.says(DANA, "help draft", "Help on what is for others")
        stage.says(ADA, "help nonsense")
        stage.says(ADA, "staus", "A typo")
        stage.says(ADA, "draft vaildate", "A typo in the second word")
        stage.says(ADA, "drfat show", "A typo in the first of two words")
        stage.says(ADA, "digest", "A word too few")
        stage.says(ADA, "approve", "Too little for a verb")
        stage.says(ADA, "notify on please", "More than a verb takes")
        stage.says(ADA, "digets", "A typo in a group")
        stage.says(ADA, "<!channel> `x` *y*", "Markup instead of a verb")
        stage.says(ADA, "draft zzzzz", "A second word that is like none")
        for verb in TABLE:
            words = " ".join(["x"] * verb.takes[0])
            if not stage.actor(GUS).may(verb.role):
                stage.says(GUS, f"{verb.name} {words}".strip(), f"Refused to others: {verb.name}")
        text = shared(DANA, "status <!channel> `x`")
        seen = stage.answered(DANA, "status")
        blocks = (section(text), *seen.blocks)
        book.reply((stage.group, "An answer that is shared"), Reply(text=seen.text, blocks=blocks))
    unread = Actor(user=DANA, unread=True)
    requests = next(verb for verb in TABLE if verb.words == ("requests",))
    book.reply(
        ("Help and refusals", "User groups cannot be read"), refused(refusal(unread, requests))
    )


def _first_day(book: Book) -> None:
    with staged(book, "Nothing yet") as stage:
        for line in (*_LOOKS, "why abc", "doctor"):
            stage.says(ADA, line)
        stage.provision(Configuration())
        stage.publish(snapshot(Configuration()))
        for line in (*_LOOKS[:4], "status h100"):
            stage.says(ADA, line, f"/pool {line}, with an empty configuration")
        bare = Configuration(
            pools=(Pool(name="h100", resources=Fraction(0), description="Delivered in May"),),
            profiles=(Profile(name="4xGPU", allotment=Fraction(4)),),
            policies=(Policy(name="dev", reservation=Fraction(0), team=Team(users=(DANA,))),),
        )
        stage.provision(bare)
        stage.publish(snapshot(bare))
        for line in ("status", "status h100", "profiles", "profiles 4xGPU"):
            stage.says(ADA, line, f"/pool {line}, where nothing is linked")
        stage.says(DANA, "policies", "/pool policies, of a policy with nothing")


def _worked(book: Book) -> None:
    with staged(book, "The worked example") as stage:
        with_afternoon(stage)
        for line in (
            "status", "status h100", "status bare", "status a100", "status 100", "profiles",
            "profiles 4xGPU", "profiles 8x", "policies", "policies dev", "policies res",
            "policies x", "queue", "queue research", "queue nobody", f"why {task_id(23)}",
            "why resnet", f"why {task_id(23)[:6]}", "why llama", "why zzz", f"why {task_id(1)}",
            f"why {task_id(99)[:8]}",
            "agents", "agents H100", "agents bare", "agents GPU", "agents zzz",
        ):  # fmt: skip
            stage.says(ADA, line, f"/pool {_short(line)}")
        for line in ("status", "profiles 4xGPU", "policies", "queue", "policies research"):
            stage.says(DANA, line, f"/pool {line}, of a member")
        idle = snapshot(worked())
        stage.publish(idle)
        for line in ("status", "queue", "queue dev", "policies dev"):
            stage.says(ADA, line, f"/pool {line}, while nothing runs")
        whole = [runs(n, "dev", "4xGPU", "bare-metal", 4) for n in (1, 2)]
        stage.publish(snapshot(worked(), [waiting("dev", "4xGPU", (31,))], whole))
        stage.says(ADA, "policies dev", "/pool policies dev, with its whole reservation in use")
        stage.says(ADA, f"why {task_id(31)}", "Why: it starts now")
        stage.says(ADA, "queue", "/pool queue, with nothing left")
        over = [runs(n, "dev", "4xGPU", "h100", 4) for n in (1, 2, 3)]
        stage.publish(snapshot(worked(), (), over))
        stage.says(ADA, "status h100", "More in use than the pool has")
        stage.change(lambda session: queues.remove_queue(session, task_id(7001)))
        stage.says(ADA, "agents H100", "/pool agents, before the queue is made")


def _short(line: str) -> str:
    """A line with an id cut as people cut it."""
    verb, _, rest = line.partition(" ")
    return f"{verb} {rest[:8]}…" if len(rest) == 32 else line


def _busy(book: Book) -> None:
    with staged(book, "A busy company") as stage:
        configuration = company()
        stage.provision(configuration)
        own_queues(stage, configuration)
        seen = rush(configuration)
        stage.know(
            {use.task: f"nightly/{use.policy}/{n}" for n, use in enumerate(seen.allocations)}
        )
        stage.publish(seen)
        for n in range(24):
            stage.change(_recorded(n))
        for line in (
            "status", "status page 2", "status page 9", "status berlin-h200", "status berlin",
            "status lima-h200", "profiles", "profiles page 2", "profiles 8xGPU",
            "profiles 8xGPU page 2", "profiles gang", "policies", "policies page 2",
            "policies otter", "policies otter page 2", "policies marten", "queue", "queue otter",
            "queue otter page 3", f"why {task_id(3007)}", f"why {task_id(3000)}", "why 0",
            "agents mig", "agents mig-1g on austin-h200", "agents gang on austin-h200",
            "agents 'half on lima-a100'", "audit", "audit page 2", "audit page 3",
            "audit save", "audit nothing-like-it",
        ):  # fmt: skip
            stage.says(ADA, line, f"/pool {_short(line)}")
        for line in ("queue", "policies", "profiles gang", "status"):
            stage.says(DANA, line, f"/pool {line}, of a member")
        stage.says(DANA, "why nightly", "/pool why, of a name that many have")


def _recorded(number: int) -> Callable[[Session], None]:
    what = ("save", "asked", "approved", "enable", "failed")[number % 5]
    record = AuditRecord(
        at=NOW - timedelta(hours=number),
        actor=(ADA, BEN, "poolkeeper")[number % 3],
        action=what,
        subject=f"draft revision {number}",
        detail="" if number % 4 == 1 else f"{number} changes, made from version 3",
        reference=f"e{number:07}" if what == "failed" else "",
    )
    return lambda session: audit.record(session, record)


def _reasons(book: Book) -> None:
    """One task for each reason why a task waits."""
    with staged(book, "Why a task waits") as stage:
        configuration = _contended()
        stage.provision(configuration)
        seen = _contention(configuration)
        view = stage.publish(seen)
        stage.know({one.task: f"job of {one.policy}" for one in view.plan.waiting})
        first = {one.reason: one for one in reversed(view.plan.waiting)}
        for reason, one in sorted(first.items()):
            stage.says(ADA, f"why {one.task}", f"Because: {reason.value.replace('_', ' ')}")
        for policy in configuration.policies:
            stage.says(ADA, f"queue {policy.name}", f"The queue of {policy.name}")
        for one in first.values():
            if one.holder:
                stage.says(DANA, f"why {one.task}", f"To a member: {one.reason.value}")
        stage.turn(False)
        view = stage.publish(replace(seen, enabled=False))
        stage.says(ADA, f"why {view.plan.waiting[0].task}", "Because: disabled")


def _contended() -> Configuration:
    """A small pool, a large one, and teams that are in one another's way."""

    def policy(
        name: str, reservation: int, limit: int | None, *profiles: str, **more: bool
    ) -> Policy:
        return Policy(
            name=name, reservation=Fraction(reservation),
            limit=None if limit is None else Fraction(limit),
            queues=tuple(IntakeQueue(profile=one, queue=f"{name}-{one}") for one in profiles),
            team=Team(users=(GRACE if name == "speech" else DANA,)), lend=more.get("lend", True),
        )  # fmt: skip

    teams = (
        policy("vision", 0, 12, "sized", "single"), policy("speech", 8, None, "sized"),
        policy("robots", 2, None, "calm", lend=False), policy("maps", 0, 2, "single", "homeless"),
        policy("search", 0, None, "single", "strict", "calm"),
    )  # fmt: skip
    uses = {
        profile: tuple(one.name for one in teams if profile in {q.profile for q in one.queues})
        for profile in ("sized", "single", "strict", "calm", "homeless")
    }
    links = {
        "sized": ("large",),
        "single": ("large", "small"),
        "strict": ("large",),
        "calm": ("quiet",),
    }
    return Configuration(
        pools=tuple(
            Pool(
                name=pool, resources=Fraction(size),
                profiles=tuple(one for one, its in links.items() if pool in its),
            )
            for pool, size in (("large", 16), ("small", 2), ("quiet", 2))
        ),
        profiles=tuple(
            Profile(
                name=one, allotment=Fraction(1),
                parameter="hyperparams.Args.gpus" if one in ("sized", "strict") else None,
                queueing=Queueing.STRICT if one == "strict" else Queueing.BACKFILL,
                pools=tuple(Link(pool=p, name=f"{one} on {p}") for p in links.get(one, ())),
                policies=uses[one],
            )
            for one in uses
        ),
        policies=teams,
    )  # fmt: skip


def _contention(configuration: Configuration) -> Snapshot:
    def queue(policy: str, profile: str, *tasks: tuple[int, object]) -> WaitingQueue:
        since = NOW - timedelta(hours=2)
        found = (Task(task_id(n), since + timedelta(minutes=n % 50), size) for n, size in tasks)
        return WaitingQueue(policy=policy, profile=profile, tasks=tuple(found))

    return snapshot(
        configuration,
        [
            queue("vision", "sized", (101, 40), (102, 14), (103, 6)),
            queue("speech", "sized", (201, 8)),
            queue("maps", "single", (301, None), (302, None)),
            queue("maps", "homeless", (311, None)),
            queue("search", "strict", (401, 15), (402, 2)),
            queue("search", "single", *((n, None) for n in range(411, 416))),
            queue("search", "calm", (421, None)),
        ],
        [
            *(runs(900 + n, "vision", "single", "large", 1) for n in range(9)),
            runs(920, "maps", "single", "large", 1), runs(921, "maps", "single", "large", 1),
        ],
    )  # fmt: skip


def _nasty(book: Book) -> None:
    with staged(book, "Names at their nastiest") as stage:
        with_mess(stage)
        stage.change(_recorded_nastily)
        for line in (*_LOOKS, "help", f"why {task_id(500)}", f"why {task_id(700)}", "why <!ever"):
            stage.says(ADA, line, f"/pool {_short(line)}")
        for place, one in enumerate(NASTY):
            quoted = one.replace("'", "'\"'\"'")
            for verb in ("status", "profiles", "policies", "queue"):
                stage.says(DANA, f"{verb} '{quoted}'", f"/pool {verb}, of name {place + 1}")
        stage.says(ADA, f"agents '0 {NASTY[0]}'", "/pool agents, of a link")
        stage.says(ADA, f"status {LONGEST}", "A pool that there is not, with a long name")


def _recorded_nastily(session: Session) -> None:
    record = AuditRecord(
        at=NOW, actor="<!channel>", action="*failed*", subject="`<!here>`",
        detail=f"<!everyone> {LONGEST}", reference="e0000001",
    )  # fmt: skip
    audit.record(session, record)


def _old(book: Book) -> None:
    with staged(book, "Old, or switched off") as stage:
        configuration = with_afternoon(stage)
        lines = ("status", "status h100", "profiles", "policies dev", "queue dev", "why resnet 12")
        stage.later(minutes=4)
        for line in lines:
            stage.says(ADA, line, f"/pool {line}, with an old view")
        away = Alert(
            cause="clearml:down", kind=Kind.CLEARML, since=NOW, text="ClearML does not answer."
        )
        stage.change(lambda session: alerts.raise_(session, away))
        stage.later(hours=3)
        stage.says(ADA, "status", "/pool status, while ClearML is away")
        stage.later(days=3)
        stage.says(ADA, "why zzz", "/pool why, days later")
        stage.turn(False)
        stage.publish(replace(afternoon(configuration), taken_at=stage.now, enabled=False))
        for line in lines:
            stage.says(ADA, line, f"/pool {line}, while management is off")


def _doctor(book: Book) -> None:
    with staged(book, "Doctor", POOLKEEPER_KUBERNETES="in-cluster") as stage:
        with_afternoon(stage)
        stage.says(ADA, "doctor")
        stage.slack.ailing = True
        stage.slack.fails = {"groups": Impossible("missing_scope"), TEAM: Later("ratelimited"),
                             "C_LANGUAGE": Impossible("channel_not_found")}  # fmt: skip
        raised = Alert(
            cause="foreign:h100", kind=Kind.FOREIGN, since=NOW, text="h100 is full of `others`."
        )
        stage.change(lambda session: alerts.raise_(session, raised))
        stage.later(hours=2)
        stage.says(ADA, "doctor", "/pool doctor, with much that is wrong")
        stage.says(ADA, "doctor page 2")
        stage.slack.fails = {"scopes": Impossible("invalid_auth")}
        stage.says(ADA, "doctor", "/pool doctor, while Slack refuses it")
        offline = replace(stage.desk, slack=None)
        book.reply((stage.group, "/pool doctor, without Slack"), diagnosis(examine(offline)))
        for title, found in _findings().items():
            book.reply((stage.group, title), diagnosis(found))


_OWNED: Final = tuple(
    OwnedQueue(
        id=task_id(7000 + n), role=Role.EXECUTION, profile="4xGPU", owner=link, pool=pool,
        name=f"pool {pool} · {link}",
    )
    for n, (link, pool) in enumerate(
        (("4 GPU Low End", "bare-metal"), ("4 GPU H100 link", "h100"))
    )
)  # fmt: skip


def _findings() -> dict[str, Findings]:
    """What the doctor says of each part, by title."""
    rules = Rules(
        admins=frozenset({ADA}), admin_group="S_ADMINS", admin_channel="", approvals=1,
        lone_admin=False, round_s=5,
    )  # fmt: skip
    groups = {"S_ADMINS": "the admins", "S_GONE": "policy `dev`"}
    faults = ("channel_not_found", "is_archived", "not_in_channel", "restricted_action")
    channels = [Channel(id=f"C_{n}", whose="policy `dev`", fault=f) for n, f in enumerate(faults)]
    every = frozenset({"chat:write"})
    survey = Survey(
        at=NOW, server_version="1.17.0", missing=frozenset({task_id(7000)}),
        unserved=frozenset({task_id(7001)}), error="<html> 502 Bad Gateway",
    )  # fmt: skip
    with_queues = ClearMLState(configuration=worked(), owned=_OWNED, survey=survey)
    found = {
        "Nothing is wrong": [],
        "Slack does not answer": [*slack_ailments(SlackState(error="invalid_auth"), groups)],
        "Groups and channels in Slack": [
            *slack_ailments(SlackState(scopes=every, channels=channels), groups),
        ],
        "User groups cannot be read": [
            *slack_ailments(
                SlackState(scopes=every, groups=None, groups_error="missing_scope"), groups
            ),
        ],
        "Too few admins": [*rule_ailments(rules)],
        "No admin": [*rule_ailments(replace(rules, admins=frozenset()))],
        "Admins cannot be read": [*rule_ailments(replace(rules, admins=None))],
        "ClearML was not looked at": [*clearml_ailments(ClearMLState(configuration=worked()))],
        "ClearML's queues and agents": [*clearml_ailments(with_queues)],
        "No round": [*round_ailments(None, rules)],
        "An old round": [*round_ailments(timedelta(minutes=7), rules)],
        "Kubernetes is away": [*cluster_ailments("403 <Forbidden>", None, 60)],
        "Kubernetes was not looked at": [*cluster_ailments("", None, 60)],
        "An old look at Kubernetes": [*cluster_ailments("", timedelta(hours=2), 60)],
    }
    facts = ("Slack (12 scopes, 2 user groups, 3 channels)", "ClearML 1.17.0")
    return {
        title: Findings(ailments=tuple(ailments), facts=facts) for title, ailments in found.items()
    }
