"""What is PostgreSQL's own: what a URL names, what is refused, and connections that end."""

import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from datetime import UTC, datetime

import psycopg
import pytest
from sqlalchemy.orm import Session

from domain.ledger import AuditRecord
from storage import audit, switch
from storage.database import (
    Database,
    DatabaseTooNew,
    DatabaseUnavailable,
    LeadershipLost,
    StorageError,
    open_database,
    why_unusable,
)
from storage.postgresql import refuse_older
from storage.postgresql_wire import Wire, target_of
from tests.cut_wire import CutWire
from tests.postgres_support import Postgres
from tests.sandbox_support import wait_until

NOW = datetime(2026, 12, 1, 10, tzinfo=UTC)
SECRET = "s3cret%2Fp4ss"

Doing = Callable[[Session], AbstractContextManager[None]]
"""What a writer is about when it is cut off."""


@pytest.fixture
def url(postgres: Postgres) -> Iterator[str]:
    url = postgres.database()
    yield url
    postgres.give_back(url)


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    with closing(open_database(url)) as database:
        yield database


@pytest.fixture
def other(url: str) -> Iterator[Database]:
    """The same as another process would open it."""
    with closing(open_database(url)) as database:
        yield database


def refusal(url: str) -> str:
    """What opening says: one sentence, which repeats no password, nor does its traceback."""
    with pytest.raises(StorageError) as caught:
        open_database(url)
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message
    told = "".join(traceback.format_exception(caught.value))
    assert not any(word in told for word in (SECRET, "s3cret", "p4ss"))
    return message


def write(database: Database, actor: str = "U1") -> None:
    with database.transaction() as session:
        audit.record(session, AuditRecord(at=NOW, actor=actor, action="save", subject="draft"))


def writers(database: Database) -> list[str]:
    with database.reading() as session:
        return [record.actor for record in audit.records(session, 100)]


def name_of(url: str) -> str:
    return url.rpartition("/")[2]


@pytest.fixture
def end_sessions(postgres: Postgres, url: str) -> Callable[[str], int]:
    """Ends the sessions on the database whose application's name is like that; how many."""

    def end(like: str) -> int:
        where = f"datname = '{name_of(url)}' AND application_name LIKE '{like}'"
        ended = postgres.execute(
            f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE {where}"
        )
        return len(ended)

    return end


# What a URL names -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "says"),
    [
        (f"postgresql://me:{SECRET}@host", "names no database"),
        (f"postgresql://me:{SECRET}@host/", "names no database"),
        ("postgresql://me:s3cret@p4ss@host/db", "write %40 for @"),
        (f"postgresql://me:{SECRET}@host:p/db", "cannot be read"),
        (f"postgresql://me@host/db?password={SECRET}", "may not have the option password"),
        (f"postgresql://me:{SECRET}@127.0.0.1/db?nonsense=1", "that libpq does not know"),
        (f"postgresql://me:{SECRET}@127.0.0.1/db?sslmode=maybe", "that libpq does not know"),
    ],
)
def test_what_names_no_database_is_refused_without_repeating_it(url: str, says: str) -> None:
    assert says in refusal(url)


def test_a_url_that_cannot_be_read_is_known_before_anything_is_opened() -> None:
    assert "names no database" in why_unusable(f"postgres://me:{SECRET}@host")
    assert why_unusable("postgresql://nobody.invalid/db") == ""


def test_the_name_has_neither_password_nor_options() -> None:
    target = target_of(f"postgres://me:{SECRET}@db.example.org:5433/keeper?sslmode=verify-full")

    assert target.name == "postgresql://me@db.example.org:5433/keeper"
    assert target.parameters["password"] == "s3cret/p4ss"
    assert target.parameters["sslmode"] == "verify-full"
    assert "s3cret" not in repr(target)


@pytest.mark.parametrize(
    ("url", "name", "host", "port"),
    [
        (
            "postgresql://me:pw@/keeper?host=a:1&host=b:2",
            "postgresql://me@a:1,b:2/keeper",
            "a,b",
            "1,2",
        ),
        (
            "postgresql://me:pw@/keeper?host=/run/pg",
            "postgresql://me@/run/pg/keeper",
            "/run/pg",
            None,
        ),
        ("postgresql://db/keeper", "postgresql://db/keeper", "db", None),
    ],
    ids=["several servers", "a socket", "no user"],
)
def test_several_servers_and_sockets_are_understood(
    url: str, name: str, host: str, port: str | None
) -> None:
    target = target_of(url)

    assert target.name == name
    assert (target.parameters["host"], target.parameters.get("port")) == (host, port)


def test_a_file_may_be_called_like_a_server() -> None:
    assert why_unusable("postgres-state.db") == ""


def test_a_wrong_password_is_said_and_not_printed(postgres: Postgres, url: str) -> None:
    wrong = url.replace(postgres.password, SECRET)

    message = refusal(wrong)

    assert "does not take this user and password" in message
    assert f"{postgres.user}@127.0.0.1:{postgres.port}" in message


def test_the_right_password_is_in_no_error_either(postgres: Postgres, url: str) -> None:
    with pytest.raises(DatabaseUnavailable) as caught:
        open_database(f"{url}_that_is_not_there")

    assert "has no such database" in str(caught.value)
    assert postgres.password not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("127.0.0.1:1/db", "nothing listens there"),
        ("nowhere.invalid/db", "no such host is known"),
        ("/db?host=/nowhere", "nothing listens there"),
    ],
)
def test_a_server_that_is_not_there_is_said(place: str, says: str) -> None:
    assert says in refusal(f"postgresql://me:{SECRET}@{place}")


def test_a_server_without_encryption_is_refused_where_it_is_asked_for(url: str) -> None:
    with pytest.raises(DatabaseUnavailable, match="sslmode"):
        open_database(f"{url}?sslmode=require")


def test_a_server_that_does_not_answer_is_given_up_after_five_seconds(postgres: Postgres) -> None:
    with CutWire(postgres.port) as wire:
        wire.stall()

        with pytest.raises(DatabaseUnavailable, match="did not answer within 5 s"):
            open_database(postgres.url("postgres", wire.port))


@pytest.mark.parametrize(("version", "is_refused"), [((12, 22), True), ((13,), False)])
def test_servers_before_13_are_refused(version: tuple[int | str, ...], is_refused: bool) -> None:
    target = target_of("postgresql://me@host/db")
    if not is_refused:
        refuse_older(target, version)
        return
    with pytest.raises(DatabaseUnavailable, match=r"PostgreSQL 12\.22, and 13 or newer"):
        refuse_older(target, version)


# What is in a database --------------------------------------------------------------------------


def test_a_database_of_another_program_is_left_alone(postgres: Postgres) -> None:
    url = postgres.database(empty=True)
    postgres.execute("CREATE TABLE recipes (name text)", name_of(url))

    with pytest.raises(StorageError, match="is not Poolkeeper's"):
        open_database(url)

    tables = postgres.execute(
        "SELECT tablename FROM pg_tables WHERE schemaname = 'public'", name_of(url)
    )
    assert tables == [("recipes",)]


def test_a_database_of_a_newer_version_is_refused_and_the_remedy_named(postgres: Postgres) -> None:
    url = postgres.database()
    postgres.execute("UPDATE alembic_version SET version_num = '9999'", name_of(url))

    with pytest.raises(DatabaseTooNew, match=r"newer Poolkeeper \(revision 9999\): install"):
        open_database(url)


def test_a_database_in_another_encoding_is_refused(postgres: Postgres) -> None:
    postgres.execute(
        f"CREATE DATABASE latin OWNER {postgres.user} TEMPLATE template0 ENCODING 'LATIN1'"
        " LC_COLLATE 'C' LC_CTYPE 'C'"
    )

    with pytest.raises(DatabaseUnavailable, match="LATIN1; create it with ENCODING 'UTF8'"):
        open_database(postgres.url("latin"))


def test_a_user_that_may_not_make_tables_is_told_the_remedy(postgres: Postgres) -> None:
    url = postgres.database(empty=True)
    postgres.execute("CREATE ROLE guest LOGIN PASSWORD 'guest'")
    postgres.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC", name_of(url))

    with pytest.raises(DatabaseUnavailable, match="make it the owner of the database"):
        open_database(url.replace(f"{postgres.user}:{postgres.password}", "guest:guest"))


def test_text_is_ordered_by_code_points_whatever_the_language(postgres: Postgres, url: str) -> None:
    columns = postgres.execute(
        "SELECT count(*) FILTER (WHERE collation_name = 'C'), count(*)"
        " FROM information_schema.columns WHERE table_schema = 'public'"
        " AND data_type IN ('text', 'character varying')",
        name_of(url),
    )

    ((by_code_points, all_texts),) = columns
    assert by_code_points == all_texts > 50


def test_a_nul_is_kept_as_its_picture(database: Database) -> None:
    write(database, "a\0b")

    assert writers(database) == ["a␀b"]


# One writer at a time ---------------------------------------------------------------------------


def test_another_writer_that_does_not_end_is_an_error_and_not_a_hang(
    database: Database, other: Database
) -> None:
    held, finish = threading.Event(), threading.Event()

    def hold() -> None:
        with other.transaction() as session:
            held.set()
            while not finish.wait(1):  # one that says nothing loses its transaction
                switch.is_enabled(session)

    with ThreadPoolExecutor(1) as threads:
        holding = threads.submit(hold)
        held.wait()
        try:
            with pytest.raises(DatabaseUnavailable, match="another writer does not finish"):
                write(database)
        finally:
            finish.set()
        holding.result()
    write(database)

    assert writers(database) == ["U1"]


@contextmanager
def in_the_middle_of_many_rows(session: Session) -> Iterator[None]:
    """The server has done what it was told, and waits for the rest before it is ready."""
    wire = session.connection().connection.driver_connection
    assert isinstance(wire, Wire)
    with wire.pipeline():
        assert wire.execute("SELECT 1").fetchone() == (1,)
        yield


@pytest.mark.parametrize("doing", [nullcontext, in_the_middle_of_many_rows])
def test_a_writer_that_is_cut_off_keeps_the_others_waiting_for_five_seconds_at_most(
    postgres: Postgres, url: str, database: Database, doing: Doing
) -> None:
    with CutWire(postgres.port) as wire:
        away = open_database(postgres.url(name_of(url), wire.port))

        def write_and_be_cut_off() -> None:
            with away.transaction() as session:
                switch.set_enabled(session, False, "U1", NOW)
                with doing(session):
                    wire.stall()
                    write(database)
                    wire.restore()

        with pytest.raises(DatabaseUnavailable):
            write_and_be_cut_off()
        away.close()

    assert writers(database) == ["U1"]
    assert database.is_enabled()


# Connections that end ---------------------------------------------------------------------------


def test_connections_that_died_while_nobody_used_them_are_replaced(
    database: Database, end_sessions: Callable[[str], int]
) -> None:
    def use_all() -> None:
        write(database)
        with database.moving():
            assert database.is_enabled()
        assert database.drain_moves(5)
        assert database.leader() is None

    use_all()
    assert end_sessions("poolkeeper%") >= 3

    use_all()

    assert len(writers(database)) == 2


@pytest.mark.parametrize("doing", [nullcontext, in_the_middle_of_many_rows])
def test_a_transaction_whose_connection_ends_leaves_nothing(
    database: Database, end_sessions: Callable[[str], int], doing: Doing
) -> None:
    """And keeps nobody from the next one."""

    def write_and_lose() -> None:
        with database.transaction() as session, doing(session):
            switch.set_enabled(session, False, "U1", NOW)
            end_sessions("poolkeeper%")

    with pytest.raises(DatabaseUnavailable, match="the connection") as caught:
        write_and_lose()

    assert isinstance(caught.value.__cause__, Exception)
    assert database.is_enabled()
    write(database)


def test_a_connection_that_cannot_be_rolled_back_keeps_nobody_from_writing(
    database: Database,
) -> None:
    """As one that is ended in the middle of many rows, before its end is seen."""

    def write_and_break_off() -> None:
        with database.transaction() as session:
            wire = session.connection().connection.driver_connection
            assert isinstance(wire, Wire)
            wire.pgconn.enter_pipeline_mode()
            wire.pgconn.send_query_params(b"SELECT 1", [])
            raise ZeroDivisionError

    with pytest.raises(DatabaseUnavailable) as caught:
        write_and_break_off()

    write(database)
    assert writers(database) == ["U1"]
    assert "pipeline" in str(caught.value)


def test_a_move_whose_share_is_lost_does_not_read_the_switch(
    database: Database, other: Database, end_sessions: Callable[[str], int]
) -> None:
    with database.moving():
        end_sessions("poolkeeper%")

        assert other.drain_moves(5)
        with pytest.raises(DatabaseUnavailable):
            database.is_enabled()

    with database.moving():
        assert database.is_enabled()


def test_after_a_restart_of_the_server_everything_works_again(
    postgres: Postgres, database: Database
) -> None:
    leadership = database.lead()
    assert leadership is not None
    write(database)

    postgres.stop()
    try:
        with pytest.raises(DatabaseUnavailable, match="nothing listens there"):
            write(database)
        with pytest.raises(DatabaseUnavailable), database.moving():
            pass
        wait_until(lambda: not leadership.is_held(), "the leadership is lost", 5)
    finally:
        postgres.start()

    write(database)
    assert writers(database) == ["U1", "U1"]
    assert not leadership.is_confirmed()
    again = database.lead()
    assert again is not None
    for one in (leadership, again):
        one.release()


# Leadership -------------------------------------------------------------------------------------


@contextmanager
def led(database: Database, name: str = "replica-0") -> Iterator[Database]:
    """What this process may do as the leader."""
    leadership = database.lead(name)
    assert leadership is not None
    try:
        yield database.as_leader(leadership)
    finally:
        leadership.release()


def test_a_leader_whose_connection_ends_is_refused_at_once_and_knows_it_soon(
    database: Database, other: Database, end_sessions: Callable[[str], int]
) -> None:
    leadership = database.lead("replica-0")
    assert leadership is not None
    as_leader = database.as_leader(leadership)
    write(as_leader)
    assert other.leader() == "replica-0"

    assert end_sessions("%replica-0") == 1

    assert not leadership.is_confirmed()
    with pytest.raises(LeadershipLost):
        write(as_leader)
    with pytest.raises(LeadershipLost), as_leader.moving():
        pass
    with led(other, "replica-1") as taken_over:
        write(taken_over, "U2")
        wait_until(lambda: not leadership.is_held(), "the leadership is lost", 3)
        assert database.leader() == "replica-1"
    assert writers(database) == ["U2", "U1"]
    leadership.release()


def test_many_who_ask_at_once_do_not_take_each_other_for_the_leader(
    database: Database, end_sessions: Callable[[str], int]
) -> None:
    leadership = database.lead("replica-0")
    assert leadership is not None
    assert end_sessions("%replica-0") == 1

    def ask(_: int) -> list[bool]:
        return [leadership.is_confirmed() for _ in range(50)]

    with ThreadPoolExecutor(4) as threads:
        answers = [one for many in threads.map(ask, range(4)) for one in many]

    assert not any(answers)
    leadership.release()


def test_a_move_outlasts_what_the_server_does_to_idle_sessions(
    postgres: Postgres, url: str, other: Database
) -> None:
    postgres.execute(f"ALTER DATABASE {name_of(url)} SET idle_session_timeout = '100ms'")
    try:
        with closing(open_database(url)) as database, database.moving():
            assert not other.drain_moves(0.4)
            assert database.is_enabled()
    finally:
        postgres.execute(f"ALTER DATABASE {name_of(url)} RESET idle_session_timeout")


def test_who_takes_over_waits_for_what_the_leader_before_was_writing(
    database: Database, other: Database, end_sessions: Callable[[str], int]
) -> None:
    with ThreadPoolExecutor(1) as threads, led(database) as before:
        with before.transaction() as session:
            audit.record(session, AuditRecord(at=NOW, actor="old", action="a", subject="s"))
            assert end_sessions("%replica-0") == 1
            taking = threads.submit(other.lead)
            with pytest.raises(TimeoutError):
                taking.result(timeout=0.3)
        leadership = taking.result(timeout=5)
        assert leadership is not None
        seen = writers(other)
        leadership.release()

    assert seen == ["old"]


def test_who_cannot_take_over_yet_leaves_the_leadership_to_others(
    database: Database, other: Database, end_sessions: Callable[[str], int]
) -> None:
    with led(database) as before, before.transaction() as session:
        end_sessions("%replica-0")
        with ThreadPoolExecutor(1) as threads:
            taking = threads.submit(other.lead)
            while not taking.done():
                switch.is_enabled(session)

        assert taking.result() is None
        assert other.leader() is None


def test_who_takes_over_waits_for_the_moves_of_the_leader_before(
    database: Database, other: Database, end_sessions: Callable[[str], int]
) -> None:
    with ThreadPoolExecutor(1) as threads, led(database) as before:
        with before.moving():
            assert end_sessions("%replica-0") == 1
            taking = threads.submit(other.lead)
            with pytest.raises(TimeoutError):
                taking.result(timeout=0.3)
        leadership = taking.result(timeout=5)
        assert leadership is not None
        leadership.release()


@pytest.mark.parametrize("doing", [nullcontext, in_the_middle_of_many_rows])
def test_a_leader_behind_a_silent_wire_stops_before_another_one_leads(
    postgres: Postgres, url: str, other: Database, doing: Doing
) -> None:
    with CutWire(postgres.port) as wire, ExitStack() as writing:
        away = open_database(postgres.url(name_of(url), wire.port))
        leadership = away.lead("far away")
        assert leadership is not None
        writing.enter_context(doing(writing.enter_context(away.transaction())))
        wire.stall()
        held_meanwhile: list[bool] = []

        def takes_over() -> bool:
            found = other.lead()
            if found is None:
                return False
            held_meanwhile.append(leadership.is_held())
            found.release()
            return True

        wait_until(takes_over, "the other one leads", 10)
        wire.restore()

        assert held_meanwhile == [False]
        wait_until(lambda: not leadership.is_held(), "the leadership is lost", 5)
        with pytest.raises(DatabaseUnavailable):
            writing.close()
        with pytest.raises(LeadershipLost):
            write(away.as_leader(leadership))
        leadership.release()
        away.close()


def test_a_wire_that_is_cut_ends_the_leadership_on_both_sides(
    postgres: Postgres, url: str, other: Database
) -> None:
    with CutWire(postgres.port) as wire:
        away = open_database(postgres.url(name_of(url), wire.port))
        leadership = away.lead()
        assert leadership is not None

        wire.cut()

        wait_until(lambda: not leadership.is_held(), "the leadership is lost", 3)
        wait_until(lambda: other.leader() is None, "nobody leads", 3)
        assert not leadership.is_confirmed()
        with pytest.raises(DatabaseUnavailable):
            write(away)
        wire.restore()
        write(away)
        leadership.release()
        away.close()

    assert writers(other) == ["U1"]


def test_sessions_of_others_do_not_count_as_the_leader(postgres: Postgres, url: str) -> None:
    with psycopg.connect(url, autocommit=True) as session:
        session.execute("SELECT pg_advisory_lock(2)")
        with closing(open_database(url)) as database, led(database):
            assert database.leader() == "replica-0"
