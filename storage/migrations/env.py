"""Alembic's entry point: runs inside the connection that storage/schema.py hands over."""

from alembic import context
from sqlmodel import SQLModel

import storage.tables  # noqa: F401  declares the tables

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=SQLModel.metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
