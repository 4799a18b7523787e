"""What every press and submission in the editor goes through: is it still an admin's?"""

from collections.abc import Callable, Mapping

from bot.access import Actor
from bot.blocks import Reply, section
from bot.desk import Desk
from bot.editing_bench import Bench, bench_of
from bot.editing_pages import Window
from bot.editing_spots import Spot
from bot.surfaces import Act, Done, Errors, Press, Show, Submission, Submit

_MOVED_ON = (
    "*Nothing was done.* Your working copy has changed since this window showed it, in another "
    "window of yours or by a save. This is what is now."
)


def act(handler: Callable[[Desk, Actor, Press], Reply | Show]) -> Act:
    """The handler for admins; a refusal for everybody else, whenever the window was opened."""

    def guarded(desk: Desk, actor: Actor, press: Press) -> Reply | Show | None:
        return handler(desk, actor, press) if actor.is_admin else _refusal(actor)

    return guarded


def submit(handler: Callable[[Desk, Actor, Submission], Errors | Show | Done]) -> Submit:
    """The same for what is submitted; the windows close."""

    def guarded(desk: Desk, actor: Actor, said: Submission) -> Errors | Show | Done:
        if actor.is_admin:
            return handler(desk, actor, said)
        return Done(reply=_refusal(actor), all_=True)

    return guarded


def _refusal(actor: Actor) -> Reply:
    text = "The editor is for admins, and you are none any more. Nothing was done."
    if actor.unread:
        text = "Slack does not say right now who the admins are, so nothing was done."
    return Reply(text=text, blocks=(section(text),))


def window_of(desk: Desk, actor: Actor, private: Mapping[str, str]) -> Window:
    """The window with what the person has in it now."""
    bench = bench_of(desk, actor.user)
    at = Spot.read(private.get("at", ""))
    return Window(bench=bench, spot=at, channel=private.get("channel", ""))


def outdated(bench: Bench, private: Mapping[str, str]) -> Window:
    """What is now, for a window that showed something else."""
    kind = Spot.read(private.get("at", "")).kind
    channel = private.get("channel", "")
    return Window(bench=bench, spot=Spot(kind), channel=channel, notice=(section(_MOVED_ON),))
