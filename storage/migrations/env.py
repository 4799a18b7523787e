"""Alembic's entry point: runs inside the connection that storage/schema.py hands over."""

from alembic import context
from sqlalchemy import Connection
from sqlmodel import SQLModel

import storage.tables  # noqa: F401  declares the tables

_LOCAL_TEXTS = """
    SELECT quote_ident(table_name), quote_ident(column_name), data_type
    FROM information_schema.columns
    WHERE table_schema = current_schema()
    AND data_type IN ('character varying', 'text') AND collation_name IS DISTINCT FROM 'C'
"""


def order_by_code_points(connection: Connection) -> None:
    """Text sorts as in SQLite, and not by the language that the database was created with."""
    for table, column, type_ in connection.exec_driver_sql(_LOCAL_TEXTS).all():
        connection.exec_driver_sql(
            f'ALTER TABLE {table} ALTER COLUMN {column} TYPE {type_} COLLATE "C"'
        )


connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=SQLModel.metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
    if connection.dialect.name == "postgresql":
        order_by_code_points(connection)
