"""The nastiest names that people type, for the gallery."""

from fractions import Fraction
from typing import Final

from bot.gallery_examples import own_queues, runs, waiting
from bot.gallery_stage import ADA, DANA, Stage, snapshot, task_id
from domain.configuration import (
    Configuration,
    IntakeQueue,
    Link,
    Membership,
    Policy,
    Pool,
    Profile,
    Team,
)
from domain.snapshot import Snapshot

LONGEST: Final = "An extraordinarily long name " + "that goes on and on and on " * 10

NASTY: Final = (
    "<!channel>", "<@U_BEN> *bold* _it_", "`code` ```", "\u202egpj.exe", "😀" * 60,
    "שלום עולם", "&lt;!here&gt; “smart” 'quotes'", LONGEST[:200].strip(),
)  # fmt: skip
"""Names that would ping a channel, break a message or turn its text around, if they could."""


def nasty() -> Configuration:
    """Everything has one of the nasty names, and Dana's team uses all of it."""
    links = {profile: [f"{n} {profile}"[:200] for n in range(len(NASTY))] for profile in NASTY}
    return Configuration(
        pools=tuple(
            Pool(
                name=name, resources=Fraction(8), profiles=NASTY,
                description="<!here> *not bold* ```\n" + LONGEST,
            )
            for name in NASTY
        ),
        profiles=tuple(
            Profile(
                name=name,
                allotment=Fraction(1, 7),
                parameter="hyperparams.`Args`.<!channel>",
                pools=tuple(
                    Link(pool=pool, name=link)
                    for pool, link in zip(NASTY, links[name], strict=True)
                ),
                policies=NASTY,
            )
            for name in NASTY
        ),
        policies=tuple(
            Policy(
                name=name,
                reservation=Fraction(1, 7),
                limit=Fraction(8),
                queues=tuple(
                    IntakeQueue(profile=one, queue=f"{place} {name}"[:200])
                    for place, one in enumerate(NASTY)
                ),
                team=Team(
                    channel="<!channel>", usergroup="<!subteam^S_ADMINS>", users=(DANA, "*Dan*"),
                    clearml_users=((DANA, "<@U_BEN>"),),
                ),
                membership=Membership.RETURN,
            )
            for name in NASTY
        ),
    )  # fmt: skip


def mess(configuration: Configuration) -> Snapshot:
    """Tasks of nasty names that run and wait."""
    name = NASTY[0]
    queues_ = [waiting(one, NASTY[-1], (500 + n, 600 + n), 3, "9") for n, one in enumerate(NASTY)]
    return snapshot(
        configuration, queues_, [runs(700, name, name, name, "15/7")], {NASTY[1]: Fraction(3)}
    )


def with_mess(stage: Stage) -> Configuration:
    configuration = nasty()
    stage.provision(configuration, by=ADA, note=": <!channel> `note`")
    own_queues(stage, configuration)
    called = {task_id(500 + n): f"{one}\n{LONGEST}"[:300] for n, one in enumerate(NASTY)}
    stage.know({**called, task_id(600): "<!everyone>", task_id(700): "`run`"}, "<!channel>")
    stage.publish(mess(configuration))
    return configuration
