"""files.*: an upload in three calls (facts/slack.md 2.5)."""

from typing import Any

from sandbox.slack import posting
from sandbox.slack.calls import Call, Method
from sandbox.slack.chat import writable
from sandbox.slack.documents import file_doc
from sandbox.slack.errors import SlackError
from sandbox.slack.posting import Draft, drafted
from sandbox.slack.world import Channel, File, World, new_id

Doc = dict[str, Any]


def get_upload_url(call: Call) -> Doc:
    bot = call.world.bot.id
    size = int(call.text("length"))
    if size <= 0:
        raise SlackError("invalid_arguments")
    file = File(new_id("F"), call.text("filename"), size, call.text("alt_txt", ""), owner=bot)
    call.world.files[file.id] = file
    return {"file_id": file.id, "upload_url": f"{call.world.url}/upload/{file.id}"}


def receive(world: World, file_id: str, content: bytes) -> None:
    """The bytes, posted to the upload URL; their number was announced."""
    file = world.files.get(file_id)
    if file is None or file.complete or len(content) != file.size:
        raise SlackError("upload_failed", status=400)
    file.content = content


def complete_upload(call: Call) -> Doc:
    """Makes the files real, and shares them in one message per channel."""
    files = [_completed(call, item) for item in call.body.get("files") or []]
    if not files:
        raise SlackError("invalid_arguments")
    named = [*call.text("channels", "").split(","), call.text("channel_id", "")]
    for channel_id in dict.fromkeys(filter(None, named)):
        channel = writable(Call(call.name, call.slack, {"channel": channel_id}))
        _share(call, channel, files)
    return {"files": [file_doc(call.world, file) for file in files]}


def _completed(call: Call, item: Doc) -> File:
    file = call.world.files.get(item.get("id", ""))
    if file is None or not file.content:
        raise SlackError("file_not_found")
    file.complete, file.title = True, item.get("title") or file.name
    return file


def _share(call: Call, channel: Channel, files: list[File]) -> None:
    said = call.text("initial_comment", "")
    if call.body.get("blocks"):
        draft = drafted({"text": said or " ", "blocks": call.body["blocks"]}, call.world.bot.id)
    else:
        draft = Draft(call.world.bot.id, said)
    share(call.world, channel, files, draft, call.text("thread_ts", ""))


def share(world: World, channel: Channel, files: list[File], draft: Draft, thread: str) -> str:
    """Posts a message with the files; its ts."""
    ids = [file.id for file in files]
    whole = Draft(draft.author, draft.text, draft.blocks, thread_ts=thread, files=ids)
    message = posting.post(world, channel, whole)
    for file in files:
        file.shares.append((channel.id, message.ts))
    return message.ts


def info(call: Call) -> Doc:
    file = call.world.files.get(call.text("file"))
    if file is None or not file.complete:
        raise SlackError("file_not_found")
    return {"file": file_doc(call.world, file), "comments": []}


METHODS = {
    "files.getUploadURLExternal": Method(get_upload_url, "files:write"),
    "files.completeUploadExternal": Method(complete_upload, "files:write"),
    "files.info": Method(info, "files:read"),
}
