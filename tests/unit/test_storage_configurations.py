"""Versions are numbered and applied one at a time; the draft is saved by compare-and-swap."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest

from domain.configuration import CGPU, Configuration, IntakeQueue, Link, Policy, Pool, Profile, Team
from domain.ledger import Draft, VersionState
from domain.renames import Kind, Renames
from storage import configurations
from storage.configurations import Approval, DraftContent, Pending, SavedMeanwhile
from storage.database import Session, StorageError
from storage.documents import DocumentError, configuration_hash
from tests.conftest import Opener

NOW = datetime(2026, 12, 1, 10, tzinfo=UTC)
RENAMES = Renames({Kind.POOL: {"metal": "bare-metal"}})
CONFIGURATION = Configuration(
    pools=(
        Pool(
            name="bare-metal",
            resources=Fraction(8),
            profiles=("seventh",),
            nodes=(("pool", "metal"),),
        ),
    ),
    profiles=(
        Profile(
            name="seventh",
            allotment=Fraction(1, 7),
            parameter="runtime.gpus_request",
            pools=(Link(pool="bare-metal", name="low"),),
            policies=("dev",),
        ),
    ),
    policies=(
        Policy(
            name="dev",
            reservation=Fraction(1, 2),
            queues=(IntakeQueue(profile="seventh", queue="dev-seventh"),),
            team=Team(channel="C1", users=("U1",), clearml_users=(("U1", "abc"),)),
        ),
    ),
    cgpu=CGPU(policy=3),
)
CONTENT = DraftContent(
    configuration=CONFIGURATION, renames=RENAMES, base=0, by="U1", at=NOW - timedelta(hours=1)
)


@pytest.fixture
def session(open_: Opener) -> Iterator[Session]:
    with open_().transaction() as session:
        yield session


def add(session: Session, configuration: Configuration = CONFIGURATION) -> None:
    added = configurations.add_version(
        session, configuration, RENAMES, Approval(by="U2", at=NOW, note="more")
    )
    assert not isinstance(added, Pending)
    configurations.mark_provisioned(session, added.number)


def saved(session: Session, content: DraftContent, expected: int | None) -> Draft:
    draft = configurations.save_draft(session, content, expected)
    assert isinstance(draft, Draft)
    return draft


def test_at_first_there_is_nothing(session: Session) -> None:
    assert configurations.provisioned(session) is None
    assert configurations.approved(session) is None
    assert configurations.version(session, 1) is None
    assert configurations.versions(session) == ()
    assert configurations.draft(session) is None


def test_a_version_is_approved_first_and_in_force_when_it_is_provisioned(session: Session) -> None:
    added = configurations.add_version(
        session, CONFIGURATION, RENAMES, Approval(by="U2", at=NOW, note="more")
    )

    assert not isinstance(added, Pending)
    assert (added.number, added.state) == (1, VersionState.APPROVED)
    assert (added.by, added.at, added.note) == ("U2", NOW, "more")
    assert added.configuration == CONFIGURATION
    assert added.renames == RENAMES
    assert added.hash == configuration_hash(CONFIGURATION)
    assert configurations.approved(session) == added
    assert configurations.provisioned(session) is None

    configurations.mark_provisioned(session, 1)

    assert configurations.approved(session) is None
    assert configurations.provisioned(session) == replace(added, state=VersionState.PROVISIONED)


def test_the_last_provisioned_version_is_in_force_and_older_ones_stay(session: Session) -> None:
    add(session)
    add(session, Configuration())

    in_force = configurations.provisioned(session)

    assert in_force is not None
    assert (in_force.number, in_force.configuration) == (2, Configuration())
    first = configurations.version(session, 1)
    assert first is not None
    assert first.configuration == CONFIGURATION
    assert configurations.versions(session) == (first, in_force)


def test_a_version_is_refused_while_another_waits_to_be_applied(session: Session) -> None:
    approval = Approval(by="U2", at=NOW)
    waiting = configurations.add_version(session, CONFIGURATION, RENAMES, approval)

    refused = configurations.add_version(session, Configuration(), RENAMES, approval)

    assert refused == Pending(version=waiting)  # type: ignore[arg-type]
    assert configurations.versions(session) == (waiting,)


def test_a_version_that_is_not_there_cannot_be_provisioned(session: Session) -> None:
    with pytest.raises(StorageError, match="no configuration version 7"):
        configurations.mark_provisioned(session, 7)


def test_a_draft_is_saved_as_it_is(session: Session) -> None:
    draft = saved(session, CONTENT, None)

    assert draft == Draft(
        configuration=CONFIGURATION,
        renames=RENAMES,
        hash=configuration_hash(CONFIGURATION),
        base=0,
        revision=1,
        by="U1",
        at=CONTENT.at,
    )
    assert configurations.draft(session) == draft


def test_each_save_is_a_revision_on_the_one_before(session: Session) -> None:
    first = saved(session, CONTENT, None)
    second = saved(session, replace(CONTENT, by="U3"), first.revision)

    assert second.revision == first.revision + 1
    assert configurations.draft(session) == second


@pytest.mark.parametrize("expected", [None, 1, 3], ids=["no draft", "older", "newer"])
def test_a_save_over_another_revision_is_refused_and_shows_what_was_saved(
    session: Session, expected: int | None
) -> None:
    saved(session, CONTENT, None)
    now = saved(session, CONTENT, 1)

    refused = configurations.save_draft(session, replace(CONTENT, by="late"), expected)

    assert refused == SavedMeanwhile(draft=now)
    assert configurations.draft(session) == now


def test_a_save_over_a_deleted_draft_is_refused(session: Session) -> None:
    saved(session, CONTENT, None)
    assert configurations.delete_draft(session)
    assert not configurations.delete_draft(session)

    assert configurations.draft(session) is None
    assert configurations.save_draft(session, CONTENT, 1) == SavedMeanwhile(draft=None)


def test_a_revision_is_not_given_out_again_after_a_deletion(session: Session) -> None:
    old = saved(session, CONTENT, None)
    configurations.delete_draft(session)

    new = saved(session, CONTENT, None)

    assert new.revision > old.revision
    stale = configurations.save_draft(session, CONTENT, old.revision)
    assert stale == SavedMeanwhile(draft=new)


def test_what_could_not_be_read_again_is_not_saved(session: Session) -> None:
    twice = replace(CONFIGURATION, pools=CONFIGURATION.pools * 2)

    with pytest.raises(DocumentError):
        configurations.save_draft(session, replace(CONTENT, configuration=twice), None)
    with pytest.raises(DocumentError):
        configurations.add_version(session, twice, RENAMES, Approval(by="U2", at=NOW))

    assert configurations.draft(session) is None
    assert configurations.versions(session) == ()
