"""Transactions, leadership and the barrier around moves, within one process, on both engines."""

import os
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction

import pytest

from domain.ledger import LedgerEntry, Stage
from domain.snapshot import Tier
from storage import ledger, switch
from storage.database import Database, DatabaseUnavailable, LeadershipLost, StorageError
from tests.conftest import Opener

NOW = datetime(2026, 12, 1, 10, tzinfo=UTC)
ENTRY = LedgerEntry(
    task="t1",
    policy="dev",
    profile="4xGPU",
    pool="bare-metal",
    link="low",
    intake="q1",
    execution="q2",
    amount=Fraction(4),
    tier=Tier.RESERVED,
    stage=Stage.INTENDED,
    first_seen=NOW,
    intended_at=NOW,
)


@pytest.fixture
def database(open_: Opener) -> Database:
    return open_()


def turn(database: Database, enabled: bool) -> None:
    with database.transaction() as session:
        switch.set_enabled(session, enabled, "U1", NOW)


def tasks(database: Database) -> list[str]:
    with database.reading() as session:
        return [entry.task for entry in ledger.entries(session)]


def test_an_exception_rolls_back_everything(database: Database) -> None:
    def write_and_fail() -> None:
        with database.transaction() as session:
            ledger.put(session, [ENTRY])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_and_fail()

    assert tasks(database) == []


def test_a_refused_statement_is_said_in_one_sentence_and_chained(database: Database) -> None:
    with pytest.raises(StorageError) as caught, database.transaction() as session:
        ledger.put(session, [replace(ENTRY, policy=None)])  # type: ignore[arg-type]

    assert re.search(r"ledger\.policy$|\"policy\" of relation \"ledger\"", str(caught.value))
    assert caught.value.__cause__ is not None
    assert tasks(database) == []


def test_a_reader_keeps_its_snapshot_while_others_write(database: Database) -> None:
    with database.reading() as session:
        with database.transaction() as writer:
            ledger.put(writer, [ENTRY])
        assert ledger.entries(session) == ()

    assert tasks(database) == ["t1"]


def test_a_reader_cannot_write(database: Database) -> None:
    with pytest.raises(DatabaseUnavailable, match=r"read-?only"), database.reading() as session:
        ledger.put(session, [ENTRY])

    assert tasks(database) == []


def test_eight_threads_write_and_none_is_turned_away(open_: Opener, database: Database) -> None:
    second = open_()  # as another process would: its threads share no lock
    start = threading.Barrier(8)

    def write(thread: int) -> None:
        start.wait()
        for number in range(25):
            with (second if thread % 2 else database).transaction() as session:
                before = len(ledger.entries(session))
                ledger.put(session, [replace(ENTRY, task=f"{thread}-{number}")])
                assert len(ledger.entries(session)) == before + 1

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(write, range(8)))

    assert len(tasks(database)) == 200


def test_one_leads_and_the_other_learns_who(database: Database, open_: Opener) -> None:
    assert database.leader() is None
    other = open_()

    leadership = database.lead()

    assert leadership is not None
    assert other.lead() is None
    assert re.search(rf"\b{os.getpid()}$", other.leader() or "")

    leadership.release()
    leadership.release()

    assert other.leader() is None
    second = other.lead()
    assert second is not None
    second.release()


def test_only_the_leader_does_what_only_a_leader_may(database: Database) -> None:
    leadership = database.lead("replica-0")
    assert leadership is not None
    as_leader = database.as_leader(leadership)

    with as_leader.transaction() as session:
        ledger.put(session, [ENTRY])
    with as_leader.moving():
        assert as_leader.is_enabled()
    assert (leadership.is_held(), leadership.is_confirmed()) == (True, True)
    assert database.leader() == as_leader.leader() == "replica-0"

    leadership.release()

    assert (leadership.is_held(), leadership.is_confirmed()) == (False, False)
    with pytest.raises(LeadershipLost), as_leader.transaction() as session:
        ledger.put(session, [replace(ENTRY, task="t2")])
    with pytest.raises(LeadershipLost), as_leader.moving():
        pass
    assert database.drain_moves(0)
    assert tasks(as_leader) == ["t1"]


def test_asking_who_leads_never_costs_anybody_the_leadership(
    database: Database, database_url: str
) -> None:
    times = 2_000 if database_url.startswith("sqlite") else 50
    asked, stop = threading.Barrier(3), threading.Event()

    def ask() -> None:
        database.leader()
        asked.wait()
        while not stop.is_set():
            database.leader()

    with ThreadPoolExecutor(2) as threads:
        asking = [threads.submit(ask) for _ in range(2)]
        asked.wait()
        try:
            for _ in range(times):
                leadership = database.lead()
                assert leadership is not None
                leadership.release()
        finally:
            stop.set()
        for one in asking:
            one.result()


def test_the_switch_is_read_as_last_committed(database: Database, open_: Opener) -> None:
    other = open_()
    assert database.is_enabled()

    for enabled in (False, True, False):
        turn(other, enabled)
        assert database.is_enabled() is enabled


def test_draining_waits_for_a_move_that_had_begun(database: Database) -> None:
    inside, finish = threading.Event(), threading.Event()

    def move() -> None:
        with database.moving():
            inside.set()
            finish.wait()

    mover = threading.Thread(target=move)
    mover.start()
    inside.wait()
    try:
        assert not database.drain_moves(0.05)
    finally:
        finish.set()
        mover.join()
    assert database.drain_moves(0)


def test_a_move_that_raises_is_over(database: Database) -> None:
    with pytest.raises(ZeroDivisionError), database.moving():
        raise ZeroDivisionError

    assert database.drain_moves(0)


def test_moves_do_not_wait_for_one_another(database: Database) -> None:
    together = threading.Barrier(8, timeout=20)

    def move(_: int) -> None:
        with database.moving():
            together.wait()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(move, range(8)))


def test_an_unbroken_chain_of_moves_does_not_keep_a_drain_waiting(database: Database) -> None:
    stop = threading.Event()

    def move_on() -> None:
        while not stop.is_set():
            with database.moving():
                sum(range(30_000))

    with ThreadPoolExecutor(6) as threads:
        moving = [threads.submit(move_on) for _ in range(6)]
        try:
            drained = [database.drain_moves(10) for _ in range(5)]
        finally:
            stop.set()
        for one in moving:
            one.result()

    assert drained == [True] * 5


def test_after_a_drained_disable_nobody_who_read_enabled_is_still_moving(
    database: Database,
) -> None:
    counting = threading.Lock()
    begun = ended = 0

    def move_until_disabled(moved: threading.Event) -> None:
        nonlocal begun, ended
        while True:
            with database.moving():
                if not database.is_enabled():
                    return
                with counting:
                    begun += 1
                sum(range(20_000))
                with counting:
                    ended += 1
            moved.set()

    for _ in range(20):
        turn(database, True)
        moved = [threading.Event() for _ in range(4)]
        movers = [threading.Thread(target=move_until_disabled, args=(one,)) for one in moved]
        for mover in movers:
            mover.start()
        for one in moved:
            one.wait()

        turn(database, False)
        drained = database.drain_moves(10)
        with counting:
            at_acknowledgement = (begun, ended)
        for mover in movers:
            mover.join()

        assert drained
        assert at_acknowledgement == (begun, ended)
        assert begun == ended
