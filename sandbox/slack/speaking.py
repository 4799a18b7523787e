"""What a person says: commands, messages, opening the Home tab; and what happens around them."""

from typing import Any

from sandbox.slack import payloads, posting
from sandbox.slack.delivery import Outcome, Payload
from sandbox.slack.errors import DoorError, SlackError
from sandbox.slack.files import share
from sandbox.slack.mentions import typed
from sandbox.slack.posting import Draft
from sandbox.slack.state import Slack
from sandbox.slack.tickets import Response, show_answer
from sandbox.slack.views import shown
from sandbox.slack.world import SLACKBOT, Channel, File, Message, Person, new_id

Doc = dict[str, Any]


async def command(slack: Slack, person: Person, channel: Channel, line: str) -> Outcome:
    """A slash command; what the acknowledgement says is shown, and so is its failure."""
    name = line.partition(" ")[0]
    sent = typed(line, slack.world.handles()) if slack.world.bot.should_escape else line
    body = payloads.command(slack, person, channel, sent)
    outcome = await slack.deliveries.send(Payload("slash_commands", body))
    error = outcome.error
    if not error and outcome.payload:
        try:
            response = Response(person.id, channel.id, slack.clock.now())
            show_answer(slack.world, response, outcome.payload)
        except SlackError as refusal:
            error = f"invalid_command_response: {refusal.code} {refusal.details}"
    if error:
        _complain(slack, person, channel, f'{name} failed with the error "{error}"')
        slack.tell(person.id, error, name)
    return Outcome(error, outcome.payload, outcome.status, outcome.seconds)


def command_in_thread(slack: Slack, person: Person, message: Message, line: str) -> Outcome:
    """Slack has no commands of apps in threads (facts/slack.md 2.1)."""
    name = line.partition(" ")[0]
    text = f"{name} is not supported in threads. Sorry!"
    draft = Draft(SLACKBOT, text, thread_ts=message.thread_ts or message.ts, only_for=person.id)
    posting.post(slack.world, slack.world.channels[message.channel], draft)
    return Outcome("not_supported_in_threads")


def _complain(slack: Slack, person: Person, channel: Channel, text: str) -> None:
    posting.post(slack.world, channel, Draft(SLACKBOT, text, only_for=person.id))


async def say(slack: Slack, channel: Channel, draft: Draft, uploads: list[Doc]) -> Doc:
    """A message of a person, {ts, error}; the app hears of it where it is subscribed."""
    text = typed(draft.text, slack.world.handles())
    spoken = Draft(draft.author, text, thread_ts=draft.thread_ts)
    if uploads:
        files = [upload(slack, draft.author, item) for item in uploads]
        ts = share(slack.world, channel, files, spoken, draft.thread_ts)
    else:
        ts = posting.post(slack.world, channel, spoken).ts
    outcome = await _tell_of(slack, channel, slack.world.message(channel.id, ts))
    return {"ts": ts, "error": outcome.error, "status": outcome.status}


def upload(slack: Slack, person: str, item: Doc) -> File:
    """A person's file from {name, content}."""
    content = str(item["content"]).encode()
    name = str(item["name"])
    file = File(new_id("F"), name, len(content), title=name, owner=person, content=content)
    file.complete = True
    slack.world.files[file.id] = file
    return file


async def _tell_of(slack: Slack, channel: Channel, message: Message) -> Outcome:
    bot = slack.world.bot
    if bot.id not in channel.members:
        return Outcome()
    kind = payloads.kind_of(channel)
    wanted = {"im": "message.im", "group": "message.groups", "channel": "message.channels"}[kind]
    outcome = Outcome()
    if f"@{bot.id}" in message.mentions and kind != "im":
        about = payloads.message_event(slack, message, "app_mention")
        outcome = await happen(slack, "app_mention", about)
    if wanted in bot.events:
        about = payloads.message_event(slack, message, "message", kind)
        outcome = await happen(slack, wanted, about)
    return outcome


async def open_home(slack: Slack, person: Person, tab: str) -> Outcome:
    about: Doc = {"user": person.id, "channel": slack.world.direct(person.id).id, "tab": tab}
    home = slack.views.homes.get(person.id)
    if home is not None and tab == "home":
        about["view"] = shown(home)
    return await happen(slack, "app_home_opened", {"type": "app_home_opened", **about})


async def happen(slack: Slack, subscription: str, about: Doc) -> Outcome:
    """Sends an event if the app is subscribed to it."""
    if subscription not in slack.world.bot.events:
        return Outcome()
    return await slack.deliveries.send_event(Payload("events_api", payloads.event(slack, about)))


async def set_members(slack: Slack, channel: Channel, members: list[str]) -> None:
    """Changes who is in a channel; the app hears of it while it is in the channel itself."""
    bot, before = slack.world.bot.id, list(channel.members)
    channel.members[:] = members
    slack.world.feed.note("members", channel=channel.id)
    for person in [one for one in members if one not in before and bot in members]:
        about = payloads.membership_event("member_joined_channel", channel, person)
        await happen(slack, "member_joined_channel", about)
    for person in [one for one in before if one not in members and bot in before]:
        about = payloads.membership_event("member_left_channel", channel, person)
        await happen(slack, "member_left_channel", about)


async def set_group(slack: Slack, group_id: str, users: list[str]) -> None:
    group = slack.world.groups.get(group_id)
    if group is None:
        raise DoorError(f"no user group {group_id}")
    before, group.users = group.users, list(users)
    slack.world.feed.note("group", group=group_id)
    about = {
        "subteam_id": group_id,
        "added_users": [one for one in users if one not in before],
        "removed_users": [one for one in before if one not in users],
    }
    kind = "subteam_members_changed"
    await happen(slack, kind, {"type": kind, **about})
