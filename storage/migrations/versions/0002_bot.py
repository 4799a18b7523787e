"""What the Slack bot stands on: requests, working copies, schedules, people, messages, alerts."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables; those of before stay as they are."""
    op.create_table(
        "alerts",
        sa.Column("cause", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("told_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("over_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("cause"),
    )
    op.create_table(
        "cards",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("channel", sa.String(), nullable=False),
        sa.Column("ts", sa.String(), nullable=False),
        sa.Column("hash", sa.String(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_table(
        "deliveries",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_index("ix_deliveries_at", "deliveries", ["at"], unique=False)
    op.create_table(
        "preferences",
        sa.Column("user", sa.String(), nullable=False),
        sa.Column("notify", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("user"),
    )
    op.create_table(
        "requests",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("hash", sa.String(), nullable=False),
        sa.Column("base", sa.Integer(), nullable=False),
        sa.Column("configuration", sa.Text(), nullable=True),
        sa.Column("renames", sa.Text(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("votes", sa.Text(), nullable=False),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=True),
        sa.Column("reminded", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("slot", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("slot"),
    )
    op.create_index("ix_requests_state", "requests", ["state"], unique=False)
    op.create_table(
        "schedules",
        sa.Column("channel", sa.String(), nullable=False),
        sa.Column("policies", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("days", sa.Text(), nullable=False),
        sa.Column("zone", sa.String(), nullable=False),
        sa.Column("on", sa.Boolean(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_date", sa.Date(), nullable=True),
        sa.PrimaryKeyConstraint("channel"),
    )
    op.create_table(
        "tasks",
        sa.Column("task", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("user", sa.String(), nullable=False),
        sa.Column("searchable", sa.String(), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("task"),
    )
    op.create_index("ix_tasks_seen_at", "tasks", ["seen_at"], unique=False)
    op.create_table(
        "viewers",
        sa.Column("user", sa.String(), nullable=False),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("user"),
    )
    op.create_index("ix_viewers_opened_at", "viewers", ["opened_at"], unique=False)
    op.create_table(
        "working_copies",
        sa.Column("user", sa.String(), nullable=False),
        sa.Column("configuration", sa.Text(), nullable=True),
        sa.Column("renames", sa.Text(), nullable=False),
        sa.Column("base", sa.Integer(), nullable=False),
        sa.Column("draft", sa.Integer(), nullable=True),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("user"),
    )


def downgrade() -> None:
    """Drop the tables again."""
    op.drop_table("working_copies")
    op.drop_table("viewers")
    op.drop_table("tasks")
    op.drop_table("schedules")
    op.drop_table("requests")
    op.drop_table("preferences")
    op.drop_table("deliveries")
    op.drop_table("cards")
    op.drop_table("alerts")
