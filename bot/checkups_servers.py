"""What the doctor finds in ClearML, in the database, and of clocks: pure comparisons again."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bot.blocks import name, quoted
from bot.checkups import Ailment, Standing
from controller.survey import Survey
from domain.configuration import Configuration
from domain.ledger import OwnedQueue
from domain.names import listing
from storage.inspecting import Condition


@dataclass(frozen=True, kw_only=True)
class ClearMLState:
    """Our queues, and what the last look at ClearML found of them."""

    configuration: Configuration
    owned: Sequence[OwnedQueue] = ()
    survey: Survey | None = None


def clearml_ailments(state: ClearMLState) -> Iterator[Ailment]:
    """Whether ClearML answers, has our queues, and has agents where they belong."""
    survey = state.survey
    if survey is None:
        yield Ailment(
            says="ClearML was not looked at yet.",
            remedy="Wait a minute after the start of `poolkeeper run`; only it looks.",
            standing=Standing.WARN,
        )
        return
    if survey.error:
        yield Ailment(
            says=f"ClearML does not answer as it should: {quoted(survey.error, 300)}",
            remedy="Check that its API server is up, CLEARML_API_HOST, and the access key.",
        )
    yield from queue_ailments(state.owned, survey)
    yield from agent_ailments(state.configuration, state.owned, survey)


def queue_ailments(owned: Iterable[OwnedQueue], survey: Survey) -> Iterator[Ailment]:
    """Whether our queues are there, are known as ours, and hold what only Poolkeeper takes out."""
    names = {queue.id: name(queue.name) for queue in owned}
    missing = [names[queue] for queue in sorted(survey.missing & names.keys())]
    if missing:
        yield Ailment(
            says=f"Missing in ClearML: {listing(missing)}.",
            remedy="The next round makes them again; agents have to be pointed at the new ids.",
        )
    unmarked = [names[queue] for queue in sorted(survey.unmarked & names.keys())]
    if unmarked:
        yield Ailment(
            says=f"Without our metadata, which says what they are for: {listing(unmarked)}.",
            remedy="Somebody took it away; `poolkeeper apply` with any change writes it again.",
            standing=Standing.WARN,
        )
    for queue, workers in sorted(survey.intruders.items()):
        if queue in names:
            shown = listing([name(worker) for worker in workers[:5]])
            yield Ailment(
                says=f"Agents serve the intake queue {names[queue]}: {shown}. What they pull from "
                "there is counted nowhere and held by no limit.",
                remedy="Point them at execution queues; `poolkeeper agents LINK` says how.",
            )


def agent_ailments(
    configuration: Configuration, owned: Iterable[OwnedQueue], survey: Survey
) -> Iterator[Ailment]:
    """Whether every execution queue has agents."""
    for link in _unserved(configuration, owned, survey):
        yield Ailment(
            says=f"No agent serves the queue of link {name(link)}: what is moved there waits.",
            remedy=f"Start agents for it; {name(f'/pool agents {link}')} says how.",
            standing=Standing.WARN,
        )


SKEW_WARN_S: Final = 5.0
SKEW_FAIL_S: Final = 60.0


def clock_ailments(ahead_s: Mapping[str, float]) -> Iterator[Ailment]:
    """By how much other clocks are ahead of this machine's, by whose they are."""
    for whose, seconds in ahead_s.items():
        off = abs(seconds)
        if off > SKEW_WARN_S:
            where = "ahead of" if seconds > 0 else "behind"
            yield Ailment(
                says=f"The clock of {whose} is {off:.0f} s {where} this machine's.",
                remedy="Let NTP set both (`timedatectl status` says whether it does); times in "
                "digests and alerts, and who waited longer, are wrong until then.",
                standing=Standing.FAIL if off > SKEW_FAIL_S else Standing.WARN,
            )


_LITTLE_DISK: Final = 1_000_000_000
_NO_DISK: Final = 100_000_000


def database_ailments(found: Condition) -> Iterator[Ailment]:
    """Whether there is a database of this program's, with room to grow, and a leader."""
    if not found.is_known:
        yield Ailment(
            says=f"The database {name(found.name)} was written by a newer Poolkeeper (revision "
            f"{found.revision}).",
            remedy="Install that version again, or restore a backup from before the upgrade.",
        )
    elif found.revision is None:
        yield Ailment(
            says=f"There is no database at {name(found.name)} yet.",
            remedy="`poolkeeper apply CONFIG` or `poolkeeper run` makes it.",
            standing=Standing.WARN,
        )
    elif found.revision != found.newest:
        yield Ailment(
            says=f"The database {name(found.name)} has the tables of an older Poolkeeper (revision "
            f"{found.revision}, this one's is {found.newest}).",
            remedy="Back it up (`poolkeeper backup FILE`); the next start migrates it.",
            standing=Standing.WARN,
        )
    if found.disk is not None and found.disk < _LITTLE_DISK:
        yield Ailment(
            says=f"The disk of {name(found.name)} has {megabytes(found.disk)} left.",
            remedy="Make room: without any, nothing can be dispatched.",
            standing=Standing.FAIL if found.disk < _NO_DISK else Standing.WARN,
        )
    if found.leader is None and found.revision is not None:
        yield Ailment(
            says="No process leads: nothing is dispatched.",
            remedy="Start `poolkeeper run`.",
            standing=Standing.WARN,
        )


def megabytes(count: int) -> str:
    """A number of bytes for people."""
    return f"{count / 1e6:.1f} MB" if count < 1e9 else f"{count / 1e9:.0f} GB"


def _unserved(
    configuration: Configuration, owned: Iterable[OwnedQueue], survey: Survey
) -> Iterator[str]:
    links = {link.name for profile in configuration.profiles for link in profile.pools}
    for queue in owned:
        if queue.id in survey.unserved and queue.owner in links:
            yield queue.owner
