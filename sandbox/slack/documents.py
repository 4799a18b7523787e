"""People, channels, groups, messages and files as Slack's answers and payloads show them."""

import struct
from typing import Any

from sandbox.slack.world import APP, TEAM, Channel, File, Message, Person, UserGroup, World

Doc = dict[str, Any]
_PNG = b"\x89PNG\r\n\x1a\n"


def person_doc(world: World, person: Person) -> Doc:
    """The address is there only for apps that may read it."""
    named = {"real_name": person.real_name or person.name, "display_name": person.name}
    profile = dict(named)
    if "users:read.email" in world.bot.scopes and person.email:
        profile["email"] = person.email
    return {
        "id": person.id, "team_id": TEAM, "name": person.name, "real_name": named["real_name"],
        "deleted": person.deleted, "tz": person.tz, "profile": profile, "is_bot": person.is_bot,
        "is_admin": person.is_admin, "is_owner": False, "is_restricted": False,
        "is_app_user": False,
    }  # fmt: skip


def channel_doc(world: World, channel: Channel) -> Doc:
    member = world.bot.id in channel.members
    if channel.person:
        return {"id": channel.id, "is_im": True, "user": channel.person, "is_archived": False}
    return {
        "id": channel.id, "name": channel.name, "name_normalized": channel.name,
        "is_channel": not channel.is_private, "is_group": channel.is_private, "is_im": False,
        "is_private": channel.is_private, "is_archived": channel.is_archived,
        "is_member": member, "num_members": len(channel.members), "context_team_id": TEAM,
    }  # fmt: skip


def group_doc(group: UserGroup, with_users: bool) -> Doc:
    doc: Doc = {
        "id": group.id, "team_id": TEAM, "is_usergroup": True, "handle": group.handle,
        "name": group.name or group.handle, "date_delete": 0, "user_count": len(group.users),
    }  # fmt: skip
    return doc | ({"users": list(group.users)} if with_users else {})


def message_doc(world: World, message: Message) -> Doc:
    doc: Doc = {"type": "message", "user": message.author, "ts": message.ts, "text": message.text}
    if message.author == world.bot.id:
        doc |= {"bot_id": world.bot.bot_id, "app_id": APP}
    doc |= {"team": TEAM, "blocks": message.blocks}
    if message.attachments:
        doc["attachments"] = message.attachments
    if message.edited:
        doc["edited"] = {"user": message.author, "ts": message.edited}
    if message.files:
        doc["files"] = [file_doc(world, world.files[file_id]) for file_id in message.files]
    if message.metadata:
        doc["metadata"] = message.metadata
    return doc | _thread_fields(world, message) | _reaction_fields(message)


def _thread_fields(world: World, message: Message) -> Doc:
    if message.thread_ts:
        return {"thread_ts": message.thread_ts}
    replies = [
        reply
        for reply in world.thread(message.channel).values()
        if reply.thread_ts == message.ts and not reply.only_for
    ]
    if not replies:
        return {}
    last = replies[-1].ts
    return {"thread_ts": message.ts, "reply_count": len(replies), "latest_reply": last}


def _reaction_fields(message: Message) -> Doc:
    found = [
        {"name": name, "users": people, "count": len(people)}
        for name, people in message.reactions.items()
        if people
    ]
    return {"reactions": found} if found else {}


def file_doc(world: World, file: File) -> Doc:
    link = f"{world.url}/files/{file.id}/{file.name}"
    kind = file.name.rpartition(".")[2]
    places: dict[str, dict[str, list[Doc]]] = {}
    for channel_id, ts in file.shares:
        side = "private" if world.channels[channel_id].is_private else "public"
        places.setdefault(side, {}).setdefault(channel_id, []).append({"ts": ts})
    size = picture_size(file.content)
    picture = {"original_w": size[0], "original_h": size[1]} if size else {}
    return picture | {
        "id": file.id, "name": file.name, "title": file.title or file.name, "size": file.size,
        "filetype": kind, "user": file.owner, "alt_txt": file.alt_text, "mode": "hosted",
        "url_private": link, "url_private_download": link, "shares": places,
        "permalink": link, "file_access": "visible",
    }  # fmt: skip


def picture_size(content: bytes) -> tuple[int, int] | None:
    """Width and height in pixels of a PNG, or None for anything else."""
    if not content.startswith(_PNG) or len(content) < len(_PNG) + 16:
        return None
    width, height = struct.unpack(">II", content[len(_PNG) + 8 : len(_PNG) + 16])
    return int(width), int(height)
