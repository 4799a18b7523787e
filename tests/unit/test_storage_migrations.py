"""The migrations make what the tables say, wholly or not at all."""

from collections.abc import Iterator

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, inspect
from sqlmodel import SQLModel

import storage.tables  # noqa: F401  declares the tables
from storage import schema
from storage.database import open_database
from tests.postgres_support import engine_that_writes


@pytest.fixture
def engine(empty_url: str) -> Iterator[Engine]:
    """An engine that writes, on a database that nobody has opened yet."""
    engine = engine_that_writes(empty_url)
    yield engine
    engine.dispose()


def differences(connection: Connection) -> list[object]:
    context = MigrationContext.configure(connection, opts={"compare_type": True})
    return list(compare_metadata(context, SQLModel.metadata))


ON_SQLITE = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"
ON_POSTGRESQL = """
    SELECT concat_ws(' ', table_name, column_name, data_type, collation_name, is_nullable)
    FROM information_schema.columns WHERE table_schema = 'public'
    UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
"""


def definitions(connection: Connection) -> set[str]:
    on_sqlite = connection.dialect.name == "sqlite"
    return set(connection.exec_driver_sql(ON_SQLITE if on_sqlite else ON_POSTGRESQL).scalars())


def test_migrating_from_zero_gives_the_tables_as_declared(engine: Engine) -> None:
    with engine.begin() as connection:
        schema.upgrade(connection, "head")

        assert differences(connection) == []
        assert len(inspect(connection).get_table_names()) > 10


def test_the_comparison_would_see_a_missing_column(engine: Engine) -> None:
    with engine.begin() as connection:
        schema.upgrade(connection, "head")
        connection.exec_driver_sql("ALTER TABLE versions DROP COLUMN note")

        assert differences(connection) != []


def test_going_down_to_zero_and_up_again_gives_the_same(engine: Engine) -> None:
    with engine.begin() as connection:
        schema.upgrade(connection, "head")
        before = definitions(connection)
        config = Config()
        config.set_main_option("script_location", str(schema.MIGRATIONS))
        config.attributes["connection"] = connection

        command.downgrade(config, "base")
        assert inspect(connection).get_table_names() == ["alembic_version"]

        schema.upgrade(connection, "head")
        assert definitions(connection) == before


def test_a_migration_that_fails_leaves_nothing(engine: Engine) -> None:
    def migrate_and_fail() -> None:
        with engine.begin() as connection:
            schema.upgrade(connection, "head")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        migrate_and_fail()

    with engine.begin() as connection:
        assert definitions(connection) == set()


def test_opening_again_changes_nothing(empty_url: str, engine: Engine) -> None:
    definitions_after = []
    for _ in range(2):
        open_database(empty_url).close()
        with engine.begin() as connection:
            definitions_after.append(definitions(connection))

    assert definitions_after[0] == definitions_after[1] != set()


def test_the_files_are_numbered_as_alembic_orders_them() -> None:
    config = Config()
    config.set_main_option("script_location", str(schema.MIGRATIONS))

    scripts = ScriptDirectory.from_config(config).walk_revisions()

    assert [script.revision for script in scripts] == list(reversed(schema.revisions()))
