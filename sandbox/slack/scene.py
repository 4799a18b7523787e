"""Setting the scene: a fresh workspace from a description, and changes to it while it runs."""

from typing import Any

from sandbox.slack import posting, speaking
from sandbox.slack.delivery import ACK_SECONDS, REDELIVERIES
from sandbox.slack.errors import DoorError
from sandbox.slack.signed_http import Endpoint
from sandbox.slack.state import SIGNING_SECRET, Slack
from sandbox.slack.world import Bot, Channel, Person, UserGroup

Doc = dict[str, Any]


async def reset(slack: Slack, body: Doc) -> Doc:
    """{people, channels, groups: lists of their fields; bot; and what `configure` takes}.

    Channels have the bot as a member unless they say "bot": false.
    """
    slack.empty()
    world = slack.world
    world.bot = Bot(**body.get("bot") or {})
    bot = Person(world.bot.id, world.bot.name, is_bot=True)
    people = [bot, *(Person(**fields) for fields in body.get("people") or ())]
    world.people = {person.id: person for person in people}
    for fields in body.get("channels") or ():
        _add_channel(slack, fields)
    groups = [UserGroup(**fields) for fields in body.get("groups") or ()]
    world.groups = {group.id: group for group in groups}
    settings = {"ack_seconds": ACK_SECONDS, "redeliveries": REDELIVERIES}
    await configure(slack, {**settings, **(body.get("settings") or {})})
    slack.feed.note("reset")
    return {"after": slack.feed.last}


def _add_channel(slack: Slack, fields: Doc) -> None:
    wanted = dict(fields)
    with_bot = wanted.pop("bot", True)
    channel = Channel(**wanted)
    if with_bot and slack.world.bot.id not in channel.members:
        channel.members.append(slack.world.bot.id)
    slack.world.channels[channel.id] = channel


async def configure(slack: Slack, body: Doc) -> Doc:
    """Any of: has_paid_plan, scopes, events, should_escape, rate_limits, burst, ack_seconds,
    redeliveries (seconds before each)."""
    known: dict[str, tuple[object, str]] = {
        "has_paid_plan": (slack.world, "has_paid_plan"),
        "scopes": (slack.world.bot, "scopes"),
        "events": (slack.world.bot, "events"),
        "should_escape": (slack.world.bot, "should_escape"),
        "rate_limits": (slack.rates, "counting"),
        "burst": (slack.rates, "burst"),
        "ack_seconds": (slack.deliveries, "ack_seconds"),
        "redeliveries": (slack.deliveries, "redeliveries"),
    }
    for name, value in body.items():
        if name not in known:
            raise DoorError(f"no setting {name!r}; there are: {', '.join(known)}")
        setattr(*known[name], value)
    return {}


async def deliver_to(slack: Slack, body: Doc) -> Doc:
    """Sends all payloads to this URL, signed; "" goes back to sockets."""
    url = body.get("url", "")
    slack.deliveries.endpoint = Endpoint(url, SIGNING_SECRET) if url else None
    return {}


async def verify_url(slack: Slack, _body: Doc) -> Doc:
    """Asks the endpoint whether it is one, as Slack does when the URL is entered."""
    endpoint = slack.deliveries.endpoint
    if endpoint is None:
        raise DoorError("payloads are not delivered by HTTP")
    challenge = {"type": "url_verification", "challenge": "3eZbrw1aB", "token": "none"}
    seconds = slack.deliveries.ack_seconds
    answer = await endpoint.deliver("events_api", challenge, seconds, {})
    said = answer.payload.get("challenge") or answer.payload.get("text")
    return {"status": answer.status, "verified": said == challenge["challenge"]}


async def set_members(slack: Slack, body: Doc) -> Doc:
    await speaking.set_members(slack, channel(slack, body["channel"]), list(body["members"]))
    return {}


async def set_group(slack: Slack, body: Doc) -> Doc:
    await speaking.set_group(slack, body["group"], list(body["users"]))
    return {}


async def archive(slack: Slack, body: Doc) -> Doc:
    channel(slack, body["channel"]).is_archived = body.get("archived", True)
    slack.feed.note("members", channel=body["channel"])
    return {}


async def delete_message(slack: Slack, body: Doc) -> Doc:
    """Behind the app's back: it is told nothing."""
    posting.delete(slack.world, slack.world.message(body["channel"], body["ts"]))
    return {}


def channel(slack: Slack, channel_id: str) -> Channel:
    if channel_id not in slack.world.channels:
        raise DoorError(f"no channel {channel_id!r}; there are: {', '.join(slack.world.channels)}")
    return slack.world.channels[channel_id]


ACTIONS = (
    reset, configure, deliver_to, verify_url, set_members, set_group, archive, delete_message,
)  # fmt: skip
