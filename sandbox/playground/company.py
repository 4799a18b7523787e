"""The company of the playground: its people, channels, machines. All of it is example data.

bot/playground.yaml, the configuration that the demo provisions, speaks of the same people.
"""

from dataclasses import dataclass
from typing import Any

Doc = dict[str, Any]

ADMIN, GUEST = "admin", "guest"
GENERAL, ADMINS_CHANNEL = "C_GENERAL", "C_ADMINS"
ADMIN_GROUP = "S_ADMINS"
POOLKEEPER = "poolkeeper"
"""Poolkeeper's own user in ClearML."""


@dataclass(frozen=True, slots=True)
class Person:
    """`id` is Slack's; `clearml` the user id in ClearML, "" for who has none."""

    id: str
    name: str
    team: str
    clearml: str
    colour: str

    @property
    def role(self) -> str:
        return self.team if self.team in (ADMIN, GUEST) else f"member of {self.team}"

    @property
    def initials(self) -> str:
        return "".join(part[0] for part in self.name.split())

    @property
    def handle(self) -> str:
        return self.name.split()[0].lower()


PEOPLE = (
    Person("U_ADA", "Ada Lindqvist", ADMIN, "ada", "#7c3aed"),
    Person("U_BEN", "Ben Okafor", ADMIN, "ben", "#0f766e"),
    Person("U_CHIARA", "Chiara Moretti", ADMIN, "chiara", "#b45309"),
    Person("U_DANA", "Dana Novak", "vision", "dana", "#be123c"),
    Person("U_EMIL", "Emil Sørensen", "vision", "emil", "#1d4ed8"),
    Person("U_FATIMA", "Fatima Rahal", "vision", "fatima", "#15803d"),
    Person("U_GRACE", "Grace Tan", "language", "grace", "#a21caf"),
    Person("U_HIRO", "Hiro Watanabe", "language", "hiro", "#0369a1"),
    Person("U_INES", "Ines Duarte", "language", "ines", "#c2410c"),
    Person("U_GUS", "Gus Keller", GUEST, "", "#475569"),
)
TEAMS = ("vision", "language")
TEAM_CHANNELS = {"vision": "C_VISION", "language": "C_LANGUAGE"}


def members(*teams: str) -> list[str]:
    """The Slack ids of the people of these teams."""
    return [person.id for person in PEOPLE if person.team in teams]


def workspace() -> Doc:
    """The scene of the sandbox's Slack."""
    everybody = [person.id for person in PEOPLE]
    channels: list[Doc] = [
        {"id": GENERAL, "name": "general", "members": everybody},
        {"id": ADMINS_CHANNEL, "name": "gpu-admins", "members": members(ADMIN), "is_private": True},
    ]
    groups: list[Doc] = [{"id": ADMIN_GROUP, "handle": "gpu-admins", "users": members(ADMIN)}]
    for team, channel in TEAM_CHANNELS.items():
        there = members(ADMIN, team)
        channels.append({"id": channel, "name": f"team-{team}", "members": there})
        group = {"id": f"S_{team.upper()}", "handle": f"{team}-team", "users": members(team)}
        groups.append(group)
    people = [{"id": one.id, "name": one.handle, "real_name": one.name} for one in PEOPLE]
    return {"people": people, "channels": channels, "groups": groups}


def cluster() -> Doc:
    """The scene of the sandbox's Kubernetes: the machines behind both pools."""
    return {
        "nodes": [
            {"name": "h100-1", "schedule": "", "gpus": 8, "gib": 80, "card": "NVIDIA-H100",
             "labels": {"pool": "h100"}},
            {"name": "a10-1", "cards": 4, "gib": 24, "card": "NVIDIA-A10",
             "labels": {"pool": "shared"}},
            {"name": "a10-2", "cards": 4, "gib": 24, "card": "NVIDIA-A10",
             "labels": {"pool": "shared"}},
            {"name": "cpu-1", "schedule": ""},
        ],
        "pods": [
            {"name": "notebook-emil", "namespace": "vision", "node": "a10-1", "gpu_mem": 12,
             "gpu": 1, "owner": "ReplicaSet/notebook-emil"},
            {"name": "demo-chatbot", "namespace": "language", "node": "a10-2", "gpu_mem": 6,
             "gpu": 0, "owner": "ReplicaSet/demo-chatbot"},
        ],
        "namespaces": ["vision", "language"],
        "daemonsets": [{"name": "cgpu-installer", "policy": "3"}],
        "helm": {"policy": 3},
        "pace": 0.2,
    }  # fmt: skip


def shown() -> Doc:
    """Who one can be, and where: for the page."""
    people = [
        {"id": one.id, "name": one.name, "role": one.role, "colour": one.colour,
         "initials": one.initials, "handle": one.handle, "clearml": one.clearml}
        for one in PEOPLE
    ]  # fmt: skip
    scene = workspace()
    channels = [{"is_private": False, **channel} for channel in scene["channels"]]
    return {"people": people, "channels": channels, "groups": scene["groups"], "tour": tour()}


def tour() -> Doc:
    """What a tour of the page has to know."""
    return {
        "command": "/pool",
        "policies": list(TEAMS),
        "admins": members(ADMIN),
        "general": GENERAL,
        "admin_channel": ADMINS_CHANNEL,
        "team_channels": dict(TEAM_CHANNELS),
        "members": {team: members(team) for team in TEAMS},
    }
