"""Alembic's entry point: runs inside the connection that storage/schema.py hands over.

Migrations after 0004 only add: tables, and columns that are nullable or have a server default.
While a rolling update goes on, processes of the version before work on the new tables: nothing that
they read may go or change its type, and what they insert must fit
(tests/unit/test_storage_upgrades.py).
What is not needed any more is dropped by the version after the one that stopped using it.
"""

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
