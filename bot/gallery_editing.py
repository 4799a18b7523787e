"""The gallery's editor: its lists and pages, every form, and what is refused below a field."""

from dataclasses import replace
from typing import Any, Final

from bot.gallery_book import Book
from bot.gallery_changes import keep, larger, noted, save
from bot.gallery_company import company
from bot.gallery_examples import own_queues, with_afternoon
from bot.gallery_nasty import LONGEST, with_mess
from bot.gallery_stage import ADA, BEN, DANA, GUS, Stage, staged
from bot.importing import yaml_of
from domain.configuration import Configuration, Team
from storage import configurations

_GROUP: Final = "The editor"


def scenes(book: Book) -> None:
    for scene in (
        _empty,
        _pages,
        _pool_forms,
        _profile_forms,
        _policy_forms,
        _connections,
        _large,
        _nasty,
    ):
        scene(book)


def opens(stage: Stage, line: str = "edit", title: str = "") -> None:
    stage.says(ADA, line, title)


def _empty(book: Book) -> None:
    with staged(book, _GROUP) as stage:
        opens(stage, title="Nothing is there yet")
        stage.presses(ADA, "Profiles (0)", "No profiles yet")
        stage.presses(ADA, "Policies (0)", "No policies yet")
        stage.presses(ADA, "Add a policy", "Add a policy")
        stage.submits(ADA, "The first policy", name="dev", reservation="0")
        stage.presses(ADA, "Back")
        stage.presses(ADA, "Profiles (0)")
        stage.presses(ADA, "Add a profile")
        stage.submits(ADA, "The first profile", name="4xGPU", allotment="4")
        stage.presses(ADA, "Back")
        stage.presses(ADA, "Pools (0)")
        stage.presses(ADA, "Add a pool", "Add a pool")
        stage.submits(ADA, "The first pool", name="h100", resources="1", nodes="gpu=h100")
        stage.presses(ADA, "Back")
        stage.presses(ADA, "Validate", "Validate, before it is saved")


def _pages(book: Book) -> None:
    with staged(book, _GROUP) as stage:
        configuration = with_afternoon(stage)
        opens(stage, title="The list of pools")
        stage.presses(ADA, "Profiles (1)", "The list of profiles")
        stage.presses(ADA, "Policies (2)", "The list of policies")
        for line in ("edit h100", "edit 4xGPU", "edit dev", "edit e", "edit zzz"):
            opens(stage, line)
        for label in ("Changes", "Validate", "Provision", "Export"):
            stage.opens(ADA, "edit")
            stage.presses(ADA, label, f"The button {label}")
        save(stage, larger(configuration), 1)
        stage.later(minutes=7)
        keep(stage, BEN, noted(larger(configuration)), draft=1, origin=larger(configuration))
        opens(stage, title="With a draft, and somebody else who edits")
        for person in ("U_1", "U_2", "U_3", DANA):
            keep(stage, person, noted(configuration), draft=1)
        opens(stage, title="Many edit at a time")
        stage.presses(ADA, "Export", "The editor's Export of a draft")
        opens(stage, "edit superpod", "A pool of the draft")
        stage.presses(ADA, "Move up", "Moved up")
        stage.presses(ADA, "Move down", "Moved down again")
        stage.presses(ADA, "Move to place…", "Move to a place")
        stage.submits(ADA, "Moved to a place", place="1")
        stage.submits(ADA, "Saved in the editor")
        stage.submits(ADA, "Saved again, with nothing to save")


def _pool_forms(book: Book) -> None:
    with staged(book, _GROUP) as stage:
        with_afternoon(stage)
        opens(stage, "edit h100", "A pool's page")
        stage.presses(ADA, "Edit", "Edit a pool")
        for title, fields in {
            "A name that is taken": {"name": "bare-metal"},
            "No amount of resources": {"resources": "many", "name": ""},
            "No label": {"nodes": "gpu"},
            "A label twice": {"nodes": "a=1\na=2"},
            "A description that cannot be": {"description": "x\u0000"},
            "A name that cannot be": {"name": "x\u2028y"},
        }.items():
            stage.submits(ADA, title, **fields)
        stage.submits(ADA, "A pool has changed", name="superpod", description="In May", nodes="a=1")
        stage.presses(ADA, "Delete", "Delete a pool?")
        stage.submits(ADA, "A pool is deleted")
        opens(stage, "edit bare-metal", "The last pool's page")
        stage.presses(ADA, "Disconnect", "Disconnect a profile?", near="4xGPU")
        stage.submits(ADA, "A profile is disconnected")
        stage.presses(ADA, "Connect a profile", "Connect a profile with a pool")
        stage.submits(ADA, "Connected by a link", other="0", label="4 on metal")
        stage.presses(ADA, "Rename the link", "Rename a link", near="4 on metal")
        stage.submits(ADA, "A link is renamed", label="four on metal")


def _profile_forms(book: Book) -> None:
    with staged(book, _GROUP) as stage:
        with_afternoon(stage)
        opens(stage, "edit 4xGPU", "A profile's page")
        stage.presses(ADA, "Edit", "Edit a profile")
        for title, fields in {
            "No allotment": {"allotment": "1/0"},
            "A very long amount": {"allotment": "1" * 90},
            "No parameter": {"parameter": "gpus"},
            "A parameter that cannot be": {"parameter": "runtime.x\u2028y"},
        }.items():
            stage.submits(ADA, title, **fields)
        stage.submits(
            ADA, "A dynamic profile", parameter="hyperparams.Args.gpus", queueing="strict"
        )
        stage.presses(ADA, "Edit", "Edit a dynamic profile")
        stage.submits(ADA, parameter="")
        stage.presses(ADA, "Move down", "Another pool first", near="bare-metal")
        stage.presses(ADA, "Move to place…", "A policy's place in the priority", near="research")
        stage.submits(ADA, "Another policy first", place="1")
        stage.presses(ADA, "Delete", "Delete a profile?")
        stage.submits(ADA, "A profile is deleted")


def _policy_forms(book: Book) -> None:
    with staged(book, _GROUP) as stage:
        with_afternoon(stage)
        opens(stage, "edit dev", "A policy's page")
        stage.presses(ADA, "Edit", "Edit a policy")
        wrong: dict[str, dict[str, Any]] = {
            "A limit below the reservation": {"limit": "4"},
            "No user group": {"usergroup": "@vision"},
            "No ClearML user": {"clearml_users": "U_DANA="},
            "Several fields are wrong": {"reservation": "x", "limit": "y", "usergroup": "z"},
        }
        for title, fields in wrong.items():
            stage.submits(ADA, title, **fields)
        stage.submits(
            ADA, "A policy has changed", limit="", lend="no", usergroup="S_VISION",
            membership="return", users=[DANA, GUS], clearml_users="U_GUS=gus\nrobot",
        )  # fmt: skip
        stage.presses(ADA, "Connect a profile", "Connect a profile with a policy")
        stage.submits(ADA, "A queue's name is too short", other="0", label="q")
        stage.stack.pop()
        stage.presses(ADA, "Rename the queue", "Rename a queue", near="dev-4gpu")
        stage.submits(ADA, "Renamed to what is too short", label="q")
        stage.submits(ADA, "Renamed to what is taken", label="research-4gpu")
        stage.submits(ADA, "A queue is renamed", label="dev-4xgpu")
        stage.presses(ADA, "Disconnect", "Take a queue away?", near="dev-4xgpu")
        stage.submits(ADA, "A queue is taken away")
        stage.presses(ADA, "Connect a profile")
        stage.submits(ADA, "A queue is connected", other="0", label="dev-again")
        stage.closes(ADA, "The editor is left with changes")
        opens(stage, "edit research", "Another policy's page")
        stage.presses(ADA, "Delete", "Delete a policy?")
        stage.submits(ADA, "A policy is deleted")


def _connections(book: Book) -> None:
    with staged(book, _GROUP) as stage:
        configuration = with_afternoon(stage)
        save(stage, larger(configuration), 1)
        opens(stage, "edit 8xGPU", "A profile with one pool")
        stage.presses(ADA, "Connect a pool", "Connect a pool with a profile")
        stage.submits(ADA, "A link's name is taken", other="0", label="8 on superpod")
        stage.submits(ADA, "A pool is connected", other="0", label="8 on metal")
        stage.closes(ADA, "The editor is left with one change")
        stage.opens(BEN, "edit")
        stage.closes(BEN)


def _large(book: Book) -> None:
    with staged(book, _GROUP) as stage:
        configuration = company()
        people = tuple(f"U{n:09}" for n in range(120))
        first = replace(
            configuration.policies[0],
            team=Team(users=people, clearml_users=tuple((one, "c" * 32) for one in people)),
        )
        configuration = replace(configuration, policies=(first, *configuration.policies[1:]))
        stage.provision(configuration)
        own_queues(stage, configuration)
        save(stage, company(pools=9, teams=9), 1)
        stage.opens(ADA, "edit")
        stage.presses(ADA, "Reset", "Reset? Of very much")
        stage.change(configurations.delete_draft)
        opens(stage, title="More pools than one page shows")
        stage.presses(ADA, "Next", "The next page of pools")
        stage.presses(ADA, "Next", "The last page of pools")
        stage.presses(ADA, "Previous")
        opens(stage, "edit 8xGPU", "More links than one page shows")
        stage.presses(ADA, "Next", "The next page of links")
        stage.presses(ADA, "Previous", "The first page of links")
        stage.presses(ADA, "Delete", "Delete what much hangs on?")
        opens(stage, "edit team-otter", "A policy with many people")
        stage.presses(ADA, "Edit", "A form with what is too much for it")


def _nasty(book: Book) -> None:
    with staged(book, "Names at their nastiest") as stage:
        configuration = with_mess(stage)
        names = [configuration.pools[place].name for place in (0, 7)]
        opens(stage, title="The list of pools")
        for label in ("Profiles (8)", "Policies (8)"):
            stage.presses(ADA, label, f"The list of {label[:-4].lower()}")
        stage.presses(ADA, "Open", "The page of a policy")
        stage.presses(ADA, "Edit", "The form of a policy")
        stage.submits(ADA, "A form with a wrong name", name=LONGEST, reservation="<!here>")
        stage.stack.pop()
        stage.presses(ADA, "Delete", "Delete a policy?")
        stage.stack.pop()
        stage.presses(ADA, "Rename the queue", "Rename a queue")
        stage.stack.pop()
        stage.opens(ADA, "edit")
        for name in names:
            stage.presses(ADA, "Open", f"The page of pool {names.index(name)}")
            stage.presses(ADA, "Edit", f"The form of pool {names.index(name)}")
            stage.stack.pop()
            stage.presses(ADA, "Connect a profile", f"Connect pool {names.index(name)}")
            stage.stack.pop()
            stage.presses(ADA, "Back")
        stage.presses(ADA, "Profiles (8)")
        stage.presses(ADA, "Open", "The page of a profile")
        stage.presses(ADA, "Edit", "The form of a profile")
        empty = Configuration(pools=(replace(configuration.pools[0], profiles=()),))
        stage.says(ADA, "draft import", "Import a document")
        stage.submits(ADA, "An import that takes much away", yaml=yaml_of(empty).decode())
