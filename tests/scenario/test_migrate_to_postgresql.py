"""`poolkeeper migrate --to`: everything arrives as it was, or nothing does."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlmodel import SQLModel

from domain.ledger import AuditRecord
from storage import audit, views
from storage.copying import Copied, copy_to
from storage.database import Database, StorageError, open_database
from storage.sqlite import SQLiteDatabase
from tests.children import children
from tests.commands import ROOT
from tests.cut_wire import CutWire
from tests.full_database import NOW, counts, fill
from tests.postgres_support import Postgres
from tests.sandbox_support import wait_until

COPY_AND_WAIT = """
import sys
from storage.copying import copy_to
from storage.sqlite import SQLiteDatabase
def wait(copied):
    if copied.table == "requests":
        print("half-way", flush=True)
        sys.stdin.read()
copy_to(SQLiteDatabase.open(sys.argv[1]), sys.argv[2], wait)
"""


@pytest.fixture
def source(tmp_path: Path) -> Iterator[SQLiteDatabase]:
    with closing(SQLiteDatabase.open(str(tmp_path / "poolkeeper.db"))) as database:
        fill(database)
        yield database


@pytest.fixture
def target(postgres: Postgres) -> str:
    return postgres.database(empty=True)


def migrate(source: SQLiteDatabase, to: str) -> tuple[int, str]:
    """The exit code of the command, and all that it said."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")}
    done = subprocess.run(
        [sys.executable, "-m", "bot", "migrate", "--to", to],
        cwd=ROOT,
        env={**kept, "POOLKEEPER_DATABASE": f"sqlite:///{source.path}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout


def everything(database: Database) -> dict[str, list[str]]:
    """Every row of every table, as the domain reads it, with NULs as PostgreSQL holds them."""
    with database.reading() as session:
        return {
            name: sorted(
                repr(tuple(row)).replace(r"\x00", "␀") for row in session.execute(select(table))
            )
            for name, table in SQLModel.metadata.tables.items()
        }


def tables(postgres: Postgres, url: str) -> list[str]:
    """What is in the target."""
    rows = postgres.execute(
        "SELECT tablename FROM pg_tables WHERE schemaname = 'public'", url.rpartition("/")[2]
    )
    return [name for (name,) in rows]


def test_everything_arrives_and_the_tables_are_told(
    postgres: Postgres, source: SQLiteDatabase, target: str
) -> None:
    before = everything(source)
    held = counts(source)
    assert all(held.values()), held

    code, said = migrate(source, target)

    assert code == 0, said
    for name, count in held.items():
        assert f"\n{name}: {count} row" in f"\n{said}"
    assert said.count("the same on both sides") == len(held)
    assert f"Everything is in {open_name(target)}. Set POOLKEEPER_DATABASE to it" in said
    assert postgres.password not in said
    with closing(open_database(target)) as arrived:
        assert everything(arrived) == before
    assert everything(source) == before


def open_name(url: str) -> str:
    with closing(open_database(url)) as database:
        return database.name


def test_numbers_go_on_where_they_were(source: SQLiteDatabase, target: str) -> None:
    copy_to(source, target, lambda _: None)

    with closing(open_database(target)) as arrived:
        with arrived.transaction() as session:
            audit.record(session, AuditRecord(at=NOW, actor="U2", action="a", subject="s"))
            (last, *others) = audit.records(session, 100)
            document = views.published(session, "snapshot")

        assert last.actor == "U2"
        assert len(others) == counts(source)["audit"]
        assert document == ('{"names":"half \ud83d"}', NOW)


def test_an_empty_database_of_poolkeepers_will_do(
    source: SQLiteDatabase, postgres: Postgres
) -> None:
    opened_before = postgres.database()
    told: list[Copied] = []

    copy_to(source, opened_before, told.append)

    assert {one.table: one.rows for one in told} == counts(source)
    assert all(len(one.hash) == 64 for one in told)


def test_a_target_with_a_state_is_refused_and_left_alone(
    source: SQLiteDatabase, target: str
) -> None:
    with closing(open_database(target)) as database, database.transaction() as session:
        audit.record(session, AuditRecord(at=NOW, actor="U9", action="a", subject="s"))

    code, said = migrate(source, target)

    assert code == 2
    assert "holds a state of Poolkeeper already, in its table audit: name an empty one." in said
    with closing(open_database(target)) as database:
        assert sum(counts(database).values()) == 1


def test_a_target_with_another_programs_tables_is_refused_and_left_alone(
    postgres: Postgres, source: SQLiteDatabase, target: str
) -> None:
    postgres.execute("CREATE TABLE recipes (name text)", target.rpartition("/")[2])

    code, said = migrate(source, target)

    assert code == 2
    assert "another program's table recipes" in said
    assert tables(postgres, target) == ["recipes"]


def test_a_source_that_is_led_is_refused(
    postgres: Postgres, source: SQLiteDatabase, target: str
) -> None:
    leadership = source.lead()
    assert leadership is not None

    code, said = migrate(source, target)

    assert code == 2
    assert f"Another poolkeeper (process {os.getpid()}) runs on {source.path}; stop it" in said
    assert tables(postgres, target) == []
    leadership.release()


def test_a_source_that_is_not_there_is_not_made(
    source: SQLiteDatabase, target: str, tmp_path: Path
) -> None:
    source.path = tmp_path / "elsewhere.db"

    code, said = migrate(source, target)

    assert code == 2
    assert f"There is no database at {source.path}" in said
    assert not source.path.exists()


@pytest.mark.parametrize("to", ["sqlite:///other.db", "other.db", "mysql://me@host/db"])
def test_what_is_no_postgresql_is_refused(source: SQLiteDatabase, to: str) -> None:
    code, said = migrate(source, to)

    assert code == 2
    assert "--to names no PostgreSQL database" in said


def test_what_postgresql_cannot_hold_is_said_and_nothing_is_kept(
    postgres: Postgres, source: SQLiteDatabase, target: str
) -> None:
    with source.transaction() as session:
        session.connection().exec_driver_sql("UPDATE outbox SET attempts = 3000000000")

    with pytest.raises(StorageError, match="out of range"):
        copy_to(source, target, lambda _: None)

    assert tables(postgres, target) == []


# A server that changes rows on their way into a table, as a trigger of somebody's would.
SPOILED = """
CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql
    AS 'BEGIN NEW.actor = ''somebody else''; RETURN NEW; END';
CREATE FUNCTION watch() RETURNS event_trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF EXISTS (SELECT FROM pg_tables WHERE tablename = 'audit')
            AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgname = 'spoil')
        THEN
            CREATE TRIGGER spoil BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION spoil();
        END IF;
    END $$;
CREATE EVENT TRIGGER watch ON ddl_command_end WHEN TAG IN ('CREATE TABLE')
    EXECUTE FUNCTION watch()
"""


def test_a_table_that_differs_afterwards_is_not_kept(
    postgres: Postgres, source: SQLiteDatabase, target: str
) -> None:
    postgres.execute(SPOILED, target.rpartition("/")[2])

    with pytest.raises(StorageError, match="The table audit is not the same after it was copied"):
        copy_to(source, target, lambda _: None)

    assert tables(postgres, target) == []


def test_a_copy_that_is_killed_leaves_nothing_and_can_be_made_again(
    postgres: Postgres, source: SQLiteDatabase, target: str
) -> None:
    with children(COPY_AND_WAIT, (source.path, target)) as (process,):
        assert process.says() == "half-way"
        process.kill_9()

    wait_until(lambda: not sessions(postgres, target), "the copy has ended", 60)
    assert tables(postgres, target) == []
    copy_to(source, target, lambda _: None)
    with closing(open_database(target)) as arrived:
        assert counts(arrived) == counts(source)


def test_a_copy_whose_connection_ends_leaves_nothing(
    postgres: Postgres, source: SQLiteDatabase, target: str
) -> None:
    with CutWire(postgres.port) as wire:

        def cut(copied: Copied) -> None:
            if copied.table == "requests":
                wire.cut()

        with pytest.raises(StorageError):
            copy_to(source, postgres.url(target.rpartition("/")[2], wire.port), cut)

    wait_until(lambda: not sessions(postgres, target), "the copy has ended", 60)
    assert tables(postgres, target) == []


def sessions(postgres: Postgres, url: str) -> list[tuple[object, ...]]:
    name = url.rpartition("/")[2]
    return postgres.execute(f"SELECT pid FROM pg_stat_activity WHERE datname = '{name}'")
