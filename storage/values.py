"""Domain values in and out of tables whose columns are named as the values' fields.

Core statements only: a round reads and writes thousands of rows, and needs no identity map.
"""

from collections.abc import Iterable
from dataclasses import fields
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from sqlalchemy import Select, Table, bindparam, delete, insert, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session
from sqlmodel import SQLModel


class _Dataclass(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Any]]


V = TypeVar("V", bound=_Dataclass)


def table_of(row: type[SQLModel]) -> Table:
    """The table behind a row type."""
    return SQLModel.metadata.tables[str(row.__tablename__)]


class Values(Generic[V]):
    """The values of one frozen dataclass, kept in one table."""

    def __init__(self, row: type[SQLModel], value: type[V]) -> None:
        self.table = table_of(row)
        self._value = value
        self._names = tuple(field.name for field in fields(value))

    def select(self) -> Select[Any]:
        """A statement that `read` can read; narrow and order it."""
        return select(*(self.table.c[name] for name in self._names))

    def read(self, session: Session, statement: Select[Any]) -> tuple[V, ...]:
        """The values that a statement made from `select()` finds, in its order."""
        value, names = self._value, self._names
        return tuple(
            value(**dict(zip(names, row, strict=True))) for row in session.execute(statement).all()
        )

    def add(self, session: Session, values: Iterable[V], **columns: Any) -> None:
        """Insert the values, with further columns that are the same in all of them."""
        rows = self._rows(values, columns)
        if rows:
            session.execute(insert(self.table), rows)

    def put(self, session: Session, values: Iterable[V]) -> None:
        """Insert the values, each replacing the one with its primary key; the last one wins."""
        rows = self._rows(values, {})
        if rows:
            put_rows(session, self.table, rows)

    def remove(self, session: Session, keys: Iterable[str]) -> None:
        """Delete the rows with these primary keys; those that are not there are passed over."""
        (key,) = self.table.primary_key
        rows = [{"gone": value} for value in keys]
        if rows:
            # Session.execute takes a list with an UPDATE or DELETE by key only for its entities.
            statement = delete(self.table).where(key == bindparam("gone"))
            session.connection().execute(statement, rows)

    def _rows(self, values: Iterable[V], columns: dict[str, Any]) -> list[dict[str, Any]]:
        names = self._names
        return [{name: getattr(value, name) for name in names} | columns for value in values]


def insert_into(session: Session, table: Table) -> postgresql.Insert | sqlite.Insert:
    """An INSERT that knows ON CONFLICT: the standard's MERGE is in neither, and this is in both."""
    postgres = session.get_bind().dialect.name == "postgresql"
    return (postgresql.insert if postgres else sqlite.insert)(table)


def put_rows(session: Session, table: Table, rows: list[dict[str, Any]]) -> None:
    """Insert the rows, each replacing what has its primary key; all have the same columns."""
    statement = insert_into(session, table)
    keys = [column.name for column in table.primary_key]
    rest = {name: statement.excluded[name] for name in rows[0] if name not in keys}
    session.execute(statement.on_conflict_do_update(index_elements=keys, set_=rest), rows)
