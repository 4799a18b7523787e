"""The door's actions that are a person's: each waits for the app's acknowledgement.

They answer {after, error, answer, status}: `after` is the feed's number before the deed, so that
whatever came of it is newer; `error` is what Slack told the person.
"""

from typing import Any

from sandbox.slack import acting, fields, speaking
from sandbox.slack.acting import Choice, Place
from sandbox.slack.delivery import Outcome
from sandbox.slack.errors import DoorError
from sandbox.slack.posting import Draft, sees
from sandbox.slack.state import Slack
from sandbox.slack.views import View
from sandbox.slack.world import Person

Doc = dict[str, Any]


def _person(slack: Slack, body: Doc) -> Person:
    if body.get("person") not in slack.world.people:
        raise DoorError(f"no person {body.get('person')!r}")
    return slack.world.people[body["person"]]


def _told(after: int, outcome: Outcome, **more: Any) -> Doc:
    known = {"error": outcome.error, "answer": outcome.payload, "status": outcome.status}
    return {"after": after, **known, **more}


async def command(slack: Slack, body: Doc) -> Doc:
    """{person, channel, text, thread}: a line such as "/pool status"."""
    after, person = slack.feed.last, _person(slack, body)
    channel = slack.world.place(body["channel"], person.id)
    if body.get("thread"):
        parent = slack.world.message(channel.id, body["thread"])
        return _told(after, speaking.command_in_thread(slack, person, parent, body["text"]))
    return _told(after, await speaking.command(slack, person, channel, body["text"]))


async def say(slack: Slack, body: Doc) -> Doc:
    """{person, channel, text, thread, files: [{name, content}]}; answers with the ts, too."""
    after, person = slack.feed.last, _person(slack, body)
    channel = slack.world.place(body["channel"], person.id)
    draft = Draft(person.id, body["text"], thread_ts=body.get("thread") or "")
    return {"after": after, **await speaking.say(slack, channel, draft, body.get("files") or [])}


async def open_home(slack: Slack, body: Doc) -> Doc:
    after, person = slack.feed.last, _person(slack, body)
    return _told(after, await speaking.open_home(slack, person, body.get("tab", "home")))


async def press(slack: Slack, body: Doc) -> Doc:
    """{person, where, what, near, confirm}; with confirm false the dialog is answered with no.

    `blocks` are the message's as the person still sees them, though it may have changed since.
    """
    after = slack.feed.last
    place, choice = _choice(slack, body)
    dialog = acting.confirmation(slack, choice)
    if dialog and not body.get("confirm", True):
        return _told(after, Outcome(), confirm=dialog)
    return _told(after, await acting.press(place, choice), confirm=dialog)


async def choose(slack: Slack, body: Doc) -> Doc:
    """{person, where, what, near, value, typed}: options by text, people and channels by id.

    A page, which holds the options that it was shown, says {chosen: option, list or null}.
    """
    after = slack.feed.last
    place, choice = _choice(slack, body)
    if "chosen" in body:
        value = body["chosen"]
    else:
        value = await _chosen(place, choice.spot.element, choice, body)
    return _told(after, await acting.choose(place, choice.spot, value))


async def _chosen(place: Place, element: Doc, choice: Choice, body: Doc) -> Any:
    wanted = body["value"]
    if element["type"] in fields.TYPED or "option" not in fields.value_key(element):
        return wanted
    texts = wanted if isinstance(wanted, list) else [wanted]
    found = []
    for text in texts:
        offered = fields.options(element)
        if "external" in element["type"]:
            typed = body.get("typed") or text
            offered = fields.options(await acting.suggestions(place, choice.spot, typed))
        matching = [one for one in offered if one["text"]["text"] == text]
        if not matching:
            names = [one["text"]["text"] for one in offered]
            raise DoorError(f"no option {text!r}; there are: {names}")
        found.append(matching[0])
    several = fields.value_key(element) == "selected_options"
    return found if several else found[0]


async def fill(slack: Slack, body: Doc) -> Doc:
    """{person, where, what, near, value}: text, a number, a date, or files [{name, content}].

    With {typing: true} the app is not told, whatever the field's block says.
    """
    after = slack.feed.last
    place, choice = _choice(slack, body)
    element, value = choice.spot.element, body["value"]
    if element["type"] == "file_input":
        uploads = [speaking.upload(slack, place.person.id, item) for item in value]
        value = [{"id": file.id, "name": file.name} for file in uploads]
    elif "option" in fields.value_key(element):
        raise DoorError(f"a {element['type']} is to be chosen from")
    silently = bool(body.get("typing"))
    return _told(after, await acting.choose(place, choice.spot, value or None, silently=silently))


async def options(slack: Slack, body: Doc) -> Doc:
    """{person, where, what, near, typed}: what a select offers, as texts and as it was offered."""
    place, choice = _choice(slack, body)
    offered = choice.spot.element
    if "external" in choice.spot.element["type"]:
        offered = await acting.suggestions(place, choice.spot, body.get("typed", ""))
    kept = {name: offered[name] for name in ("options", "option_groups") if offered.get(name)}
    return {"options": [one["text"]["text"] for one in fields.options(offered)], "offered": kept}


async def submit(slack: Slack, body: Doc) -> Doc:
    after = slack.feed.last
    return {"after": after, **await acting.submit(slack, _view(slack, body))}


async def close_view(slack: Slack, body: Doc) -> Doc:
    """{person, whole_stack}: Cancel, or the cross."""
    after, view = slack.feed.last, _view(slack, body)
    return _told(after, await acting.close(slack, view, bool(body.get("whole_stack"))))


def _view(slack: Slack, body: Doc) -> View:
    """The view on top of the person's stack, or the one named; it must be the one on top."""
    stack = slack.views.stack(_person(slack, body).id)
    if not stack:
        raise DoorError(f"{body['person']} has no view open")
    wanted = body.get("view") or stack[-1].id
    if stack[-1].id != wanted:
        raise DoorError(f"the view {wanted} is not the one on top")
    return stack[-1]


def _choice(slack: Slack, body: Doc) -> tuple[Place, Choice]:
    """What is meant: by {what, near} as people say it, or exactly by {spot: {block, action}}."""
    place = _place(slack, body)
    if "spot" in body:
        return place, place.at(body["spot"])
    return place, place.find(body["what"], body.get("near") or "")


def _place(slack: Slack, body: Doc) -> Place:
    """`where` is {view: id or "top"}, {home: true} or {channel, ts}."""
    person, where = _person(slack, body), body["where"]
    if where.get("home"):
        home = slack.views.homes.get(person.id)
        if home is None:
            raise DoorError(f"nothing was published to the Home of {person.id}")
        return Place(slack, person, home.doc["blocks"], view=home)
    if "view" in where:
        named = {"person": person.id, "view": "" if where["view"] == "top" else where["view"]}
        view = _view(slack, named)
        return Place(slack, person, view.doc["blocks"], view=view)
    message = slack.world.message(where["channel"], where["ts"])
    if not sees(slack.world.channels[message.channel], message, person.id):
        raise DoorError(f"{person.id} does not see that message")
    return Place(slack, person, body.get("blocks") or message.blocks, message=message)


ACTIONS = (
    command, say, open_home, press, choose, fill, options, submit, close_view,
)  # fmt: skip
