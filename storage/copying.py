"""Moves a SQLite database to PostgreSQL: all of it in one transaction, or nothing.

Both sides stand still meanwhile: the source is neither led nor written, and what is made in the
target is nobody's before the commit. Every table is counted and hashed on both sides.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from psycopg import sql
from sqlalchemy import Column, Connection, MetaData, Select, Table, func, inspect, select
from sqlalchemy.types import TypeDecorator, TypeEngine
from sqlmodel import SQLModel

import storage.tables  # noqa: F401  declares the tables
from storage import schema
from storage.columns import UtcDateTime
from storage.errors import StorageError
from storage.postgresql import check, writing_engine
from storage.postgresql_errors import translated
from storage.postgresql_wire import NUL, Target, target_of
from storage.sqlite import SQLiteDatabase

_AT_ONCE: Final = 1_000
_PATIENCE_S: Final = 600.0


@dataclass(frozen=True, kw_only=True)
class Copied:
    """A table that is the same on both sides; `hash` is that of its rows, in hexadecimal."""

    table: str
    rows: int
    hash: str


def copy_to(source: SQLiteDatabase, url: str, said: Callable[[Copied], None]) -> str:
    """Copy everything to an empty PostgreSQL database; the name of it.

    `said` hears of each table, before all of it is committed. Raises StorageError where the target
    holds anything, or another process leads or writes on the source; nothing is changed then.
    """
    target = target_of(url)
    leadership = source.lead("a copy to PostgreSQL")
    if leadership is None:
        raise StorageError(
            f"Another poolkeeper ({source.leader() or 'just gone'}) runs on {source.name}; stop it"
            " first."
        )
    try:
        with source.transaction() as session:
            _copy(session.connection(), target, said)
    finally:
        leadership.release()
    return target.name


def _copy(source: Connection, target: Target, said: Callable[[Copied], None]) -> None:
    engine = writing_engine(target, patience_s=_PATIENCE_S)
    try:
        with translated(target.name):
            check(target, engine)
            with engine.begin() as connection:
                _refuse_filled(target, connection)
                schema.upgrade(connection, schema.revisions()[-1])
                for table in _plain_tables():
                    said(_copied(table, source, connection))
    finally:
        engine.dispose()


def _refuse_filled(target: Target, connection: Connection) -> None:
    """Raise StorageError unless the target is empty, or Poolkeeper's with nothing in it."""
    there = set(inspect(connection).get_table_names())
    if strange := sorted(there - SQLModel.metadata.tables.keys() - {"alembic_version"}):
        raise StorageError(
            f"The database {target.name} holds another program's table {strange[0]}: name an empty"
            " one."
        )
    schema.revision_of(target.name, connection)
    for table in _plain_tables():
        any_row = select(1).select_from(table).limit(1)
        if table.name in there and connection.execute(any_row).first() is not None:
            raise StorageError(
                f"The database {target.name} holds a state of Poolkeeper already, in its table"
                f" {table.name}: name an empty one."
            )


def _plain_tables() -> Iterator[Table]:
    """The tables with what their columns hold, and not with the domain values made of it.

    So no row is refused, or changed, because it would be read or written otherwise today.
    """
    plain = MetaData()
    for table in SQLModel.metadata.sorted_tables:
        columns = (
            Column(column.name, _plain(column.type), primary_key=column.primary_key)
            for column in table.columns
        )
        yield Table(table.name, plain, *columns)


def _plain(type_: TypeEngine[Any]) -> TypeEngine[Any]:
    if isinstance(type_, TypeDecorator) and not isinstance(type_, UtcDateTime):
        return type_.impl_instance
    return type_


def _copied(table: Table, source: Connection, target: Connection) -> Copied:
    count = _insert(table, _rows(source, table), target)
    _continue_numbers(table, target)
    here, there = (_digest(_rows(side, table)) for side in (source, target))
    if here != there or here[0] != count:
        raise StorageError(
            f"The table {table.name} is not the same after it was copied: {here[0]} rows became"
            f" {there[0]}, or differ; nothing was kept."
        )
    return Copied(table=table.name, rows=here[0], hash=f"{here[1]:064x}")


def _rows(connection: Connection, table: Table) -> Iterable[tuple[Any, ...]]:
    statement: Select[Any] = select(table)
    found = connection.execute(statement, execution_options={"yield_per": _AT_ONCE})
    return map(tuple, found)


def _insert(table: Table, rows: Iterable[tuple[Any, ...]], target: Connection) -> int:
    into = sql.SQL("COPY {} ({}) FROM STDIN").format(
        sql.Identifier(table.name), sql.SQL(", ").join(map(sql.Identifier, table.columns.keys()))
    )
    driver: Any = target.connection.driver_connection
    count = 0
    with driver.cursor() as cursor, cursor.copy(into) as copy:
        for row in rows:
            copy.write_row(row)
            count += 1
    return count


def _continue_numbers(table: Table, target: Connection) -> None:
    """Numbers that the database gives go on after the highest, as they do in SQLite."""
    for column in table.primary_key:
        asked = select(func.pg_get_serial_sequence(table.name, column.name))
        sequence, highest = target.scalar(asked), target.scalar(select(func.max(column)))
        if sequence is not None and highest is not None:
            target.exec_driver_sql("SELECT setval(%s::regclass, %s)", (sequence, highest))


def _digest(rows: Iterable[tuple[Any, ...]]) -> tuple[int, int]:
    """How many rows, and the sum of their hashes: the order does not count."""
    count = total = 0
    for row in rows:
        canonical = repr(tuple(map(_canonical, row))).encode()
        total += int.from_bytes(hashlib.sha256(canonical).digest())
        count += 1
    return count, total % 2**256


def _canonical(value: object) -> object:
    """What both sides give for the same; text as PostgreSQL can hold it."""
    if isinstance(value, str):
        return value.replace("\0", NUL)
    return bytes(value) if isinstance(value, bytes | memoryview) else value
