"""Whoever comes from an earlier version finds everything again, and may still run it meanwhile."""

from pathlib import Path

import pytest
from sqlalchemy import Engine, Inspector, inspect
from sqlmodel import SQLModel

import storage.tables  # noqa: F401  declares the tables
from storage import schema
from storage.database import DatabaseTooNew, open_database
from storage.sqlite import engine_for
from tests.upgrade_support import FOLDER, Known, fill, fixture, known, run_script

REVISIONS = schema.revisions()
ADDITIVE = "0004"
"""From here on a running process of the version before has to be able to go on."""


def engine_on(url: str) -> Engine:
    if url.startswith("postgresql"):
        from storage.postgresql import writing_engine
        from storage.postgresql_wire import target_of

        return writing_engine(target_of(url))
    return engine_for(Path(url.removeprefix("sqlite:///")), read_only=False)


def at(url: str, revision: str) -> Inspector:
    """Bring an empty database to that revision; what it looks like."""
    engine = engine_on(url)
    with engine.begin() as connection:
        schema.upgrade(connection, revision)
    found = inspect(engine)
    for table in found.get_table_names():
        found.get_columns(table)
    engine.dispose()
    return found


def what_is_known(url: str) -> Known:
    database = open_database(url)
    try:
        with database.reading() as session:
            return known(session)
    finally:
        database.close()


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Known:
    """What the fixtures hold, as this version writes it by itself."""
    database = open_database(str(tmp_path_factory.mktemp("now") / "now.sqlite3"))
    with database.transaction() as session:
        fill(session)
    with database.reading() as session:
        found = known(session)
    database.close()
    assert not [table for table, value in found.items() if not value]
    return found


def test_every_revision_has_its_fixture() -> None:
    assert [path.stem for path in sorted(FOLDER.glob("*.sql"))] == list(REVISIONS), (
        "say `python -m tests.upgrade_support`, and commit what it writes"
    )


@pytest.mark.parametrize("revision", REVISIONS)
def test_what_an_earlier_version_wrote_is_all_read_after_the_migration(
    empty_url: str, everything: Known, revision: str
) -> None:
    tables = set(at(empty_url, revision).get_table_names())
    run_script(empty_url, fixture(revision))

    found = what_is_known(empty_url)

    expected = {table: value for table, value in everything.items() if table in tables}
    assert {table: found[table] for table in expected} == expected
    if "usage" not in tables:
        assert found["usage"] == ()


@pytest.mark.parametrize("revision", REVISIONS[REVISIONS.index(ADDITIVE) : -1])
def test_what_the_version_before_writes_fits_the_newest_tables(
    empty_url: str, everything: Known, revision: str
) -> None:
    """As its processes do while a rolling update goes on."""
    at(empty_url, REVISIONS[-1])

    run_script(empty_url, fixture(revision))

    found = what_is_known(empty_url)
    written = {table for table in everything if f"INSERT INTO {table} " in fixture(revision)}
    assert len(written) > 20
    assert {table: found[table] for table in written} == {
        table: everything[table] for table in written
    }


@pytest.mark.parametrize("revision", REVISIONS[REVISIONS.index(ADDITIVE) + 1 :])
def test_migrations_only_add(tmp_path: Path, revision: str) -> None:
    """What a process of the version before reads and writes stays (storage/migrations/env.py)."""
    before = REVISIONS[REVISIONS.index(revision) - 1]
    old = at(f"sqlite:///{tmp_path}/old.sqlite3", before)
    new = at(f"sqlite:///{tmp_path}/new.sqlite3", revision)

    for table in old.get_table_names():
        columns = {column["name"]: column for column in new.get_columns(table)}
        for column in old.get_columns(table):
            kept = columns.pop(column["name"])
            assert str(kept["type"]) == str(column["type"]), (table, column["name"])
            assert kept["nullable"] or not column["nullable"], (table, column["name"])
        for name, column in columns.items():
            assert column["nullable"] or column["default"], f"{table}.{name} has no default"
        assert unique(new, table) == unique(old, table)


def unique(found: Inspector, table: str) -> set[tuple[str | None, ...]]:
    indexes = [tuple(one["column_names"]) for one in found.get_indexes(table) if one["unique"]]
    constraints = [tuple(one["column_names"]) for one in found.get_unique_constraints(table)]
    key = tuple(found.get_pk_constraint(table)["constrained_columns"])
    return {*indexes, *constraints, key}


@pytest.fixture
def newer(empty_url: str) -> str:
    """A database of a version that is still to come."""
    open_database(empty_url).close()
    run_script(empty_url, "UPDATE alembic_version SET version_num = '9999'")
    return empty_url


def test_a_newer_schema_than_the_programs_is_refused_in_a_sentence(newer: str) -> None:
    with pytest.raises(DatabaseTooNew, match="written by a newer Poolkeeper"):
        open_database(newer)


def test_fixtures_name_only_what_there_is() -> None:
    """A table that is in no fixture would be tested by nobody."""
    newest = fixture(REVISIONS[-1])

    assert {
        table for table in SQLModel.metadata.tables if f"INSERT INTO {table} " in newest
    } == set(SQLModel.metadata.tables)
