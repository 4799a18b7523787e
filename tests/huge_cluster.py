"""The largest cluster that answers are measured with, everything in it under a long, odd name."""

from dataclasses import replace
from fractions import Fraction

from domain.configuration import Configuration, IntakeQueue, Link, Policy, Pool, Profile, Team
from domain.snapshot import WaitingQueue
from tests.bot_support import Bot, allocation, task_id, waiting_queue

POOLS, PROFILES, POLICIES, TASKS = 60, 60, 200, 10_000
LONG = "<!channel> *very* long & _odd_ `name` of all "


def long(kind: str, number: int) -> str:
    """A name of 200 characters, as long as one may be."""
    return f"{kind} {number} {LONG * 5}"[:200].strip()


def huge() -> Configuration:
    """Every profile is linked to every pool; Cleo is in all teams; one policy has every profile."""
    pools = [long("pool", n) for n in range(POOLS)]
    profiles = [long("profile", n) for n in range(PROFILES)]
    uses = {
        long("policy", n): profiles if n == 0 else [profiles[(n + k) % PROFILES] for k in range(5)]
        for n in range(POLICIES)
    }
    users = {profile: [one for one, its in uses.items() if profile in its] for profile in profiles}
    return Configuration(
        pools=tuple(
            Pool(name=one, resources=Fraction(20), description=LONG * 30, profiles=tuple(profiles))
            for one in pools
        ),
        profiles=tuple(
            Profile(
                name=one,
                allotment=Fraction(1, 7),
                parameter=f"hyperparams.{'Args' * 20}.{'gpus' * 10}",
                pools=tuple(
                    Link(pool=p, name=f"{i}.{j} {LONG * 4}"[:200]) for j, p in enumerate(pools)
                ),
                policies=tuple(users[one]),
            )
            for i, one in enumerate(profiles)
        ),
        policies=tuple(
            Policy(
                name=one,
                reservation=Fraction(1, 3),
                limit=Fraction(40, 3),
                team=Team(users=("U_CLEO",), channel="C_VISION", usergroup="S_VISION"),
                queues=tuple(
                    IntakeQueue(profile=p, queue=f"{n}.{k} {LONG * 4}"[:200])
                    for k, p in enumerate(its)
                ),
            )
            for n, (one, its) in enumerate(uses.items())
        ),
    )


def publish_huge(bot: Bot) -> Configuration:
    configuration = huge()
    policy = configuration.policies[0]
    running = [
        replace(
            allocation(task_id(n), policy.name, configuration.pools[n % POOLS].name, "1/7"),
            profile=policy.queues[n % PROFILES].profile,
            policy=configuration.policies[0 if n < 500 else n % POLICIES].name,
        )
        for n in range(2_000)
    ]
    tasks = [task_id(10_000 + n) for n in range(TASKS)]
    waiting = [
        waiting_queue(policy.name, tasks[: TASKS // 2], bot.clock(), policy.queues[0].profile),
        *(_share(bot, configuration, tasks, n) for n in range(1, POLICIES)),
    ]
    bot.publish(configuration, waiting, running)
    bot.name_tasks(
        {one: f"{LONG * 8} {n}" for n, one in enumerate([*tasks, *(r.task for r in running)])}
    )
    return configuration


def _share(bot: Bot, configuration: Configuration, tasks: list[str], n: int) -> WaitingQueue:
    policy, share = configuration.policies[n], TASKS // 2 // (POLICIES - 1)
    start = TASKS // 2 + (n - 1) * share
    return waiting_queue(
        policy.name, tasks[start : start + share], bot.clock(), policy.queues[0].profile
    )
