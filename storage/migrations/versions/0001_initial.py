"""What is remembered from the beginning."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make all tables."""
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("reference", sa.String(), nullable=False),
        sa.Column("searchable", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_audit_at", "audit", ["at"], unique=False)
    op.create_table(
        "draft",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("configuration", sa.Text(), nullable=True),
        sa.Column("renames", sa.Text(), nullable=False),
        sa.Column("hash", sa.String(), nullable=False),
        sa.Column("base", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "ended",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("task", sa.String(), nullable=False),
        sa.Column("policy", sa.String(), nullable=False),
        sa.Column("profile", sa.String(), nullable=False),
        sa.Column("pool", sa.String(), nullable=False),
        sa.Column("amount", sa.String(), nullable=False),
        sa.Column("tier", sa.String(), nullable=False),
        sa.Column("first_seen", sa.DateTime(timezone=True), nullable=False),
        sa.Column("dispatched_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_ended_ended_at", "ended", ["ended_at"], unique=False)
    op.create_table(
        "ledger",
        sa.Column("task", sa.String(), nullable=False),
        sa.Column("policy", sa.String(), nullable=False),
        sa.Column("profile", sa.String(), nullable=False),
        sa.Column("pool", sa.String(), nullable=False),
        sa.Column("link", sa.String(), nullable=False),
        sa.Column("intake", sa.String(), nullable=False),
        sa.Column("execution", sa.String(), nullable=False),
        sa.Column("amount", sa.String(), nullable=False),
        sa.Column("tier", sa.String(), nullable=False),
        sa.Column("stage", sa.String(), nullable=False),
        sa.Column("first_seen", sa.DateTime(timezone=True), nullable=False),
        sa.Column("intended_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("dispatched_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("doubtful_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("stopped_since", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("task"),
    )
    op.create_table(
        "outbox",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("channel", sa.String(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("edition", sa.Integer(), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("result", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key"),
    )
    op.create_index("ix_outbox_sent_at", "outbox", ["sent_at"], unique=False)
    op.create_table(
        "queues",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("profile", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("pool", sa.String(), nullable=False),
        sa.Column("retired", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "samples",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("policy", sa.String(), nullable=False),
        sa.Column("pool", sa.String(), nullable=False),
        sa.Column("used", sa.String(), nullable=False),
        sa.Column("running", sa.Integer(), nullable=False),
        sa.Column("waiting", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_samples_at", "samples", ["at"], unique=False)
    op.create_table(
        "sightings",
        sa.Column("task", sa.String(), nullable=False),
        sa.Column("policy", sa.String(), nullable=False),
        sa.Column("profile", sa.String(), nullable=False),
        sa.Column("queue", sa.String(), nullable=False),
        sa.Column("first_seen", sa.DateTime(timezone=True), nullable=False),
        sa.Column("parameter", sa.Text(), nullable=True),
        sa.Column("stray_since", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("task"),
    )
    op.create_table(
        "switch",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "versions",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("configuration", sa.Text(), nullable=False),
        sa.Column("renames", sa.Text(), nullable=False),
        sa.Column("hash", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("note", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("number"),
    )
    op.create_table(
        "views",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )


def downgrade() -> None:
    """Drop all tables."""
    op.drop_table("views")
    op.drop_table("versions")
    op.drop_table("switch")
    op.drop_table("sightings")
    op.drop_table("samples")
    op.drop_table("queues")
    op.drop_table("outbox")
    op.drop_table("ledger")
    op.drop_table("ended")
    op.drop_table("draft")
    op.drop_table("audit")
