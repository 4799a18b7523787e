"""What is remembered of cGPU: changes of the policy, installers, nodes, and admins' wishes."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the six tables."""
    op.create_table(
        "cgpu_changes",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("policy", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("stopped", sa.Text(), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("outcome", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "cgpu_patches",
        sa.Column("installer", sa.String(), nullable=False),
        sa.Column("change", sa.Integer(), nullable=False),
        sa.Column("before", sa.Integer(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("installer"),
    )
    op.create_table(
        "cgpu_installers",
        sa.Column("uid", sa.String(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("policy", sa.Integer(), nullable=True),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("images", sa.Text(), nullable=False),
        sa.Column("selector", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("uid"),
    )
    op.create_table(
        "cgpu_nodes",
        sa.Column("node", sa.String(), nullable=False),
        sa.Column("uid", sa.String(), nullable=False),
        sa.Column("boot", sa.String(), nullable=False),
        sa.Column("setting", sa.Integer(), nullable=True),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("loaded", sa.Integer(), nullable=True),
        sa.Column("proof", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("node"),
    )
    op.create_table(
        "cgpu_restarts",
        sa.Column("node", sa.String(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("uid", sa.String(), nullable=False),
        sa.Column("boot", sa.String(), nullable=False),
        sa.Column("began_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("memory", sa.Integer(), nullable=True),
        sa.Column("cards", sa.Integer(), nullable=True),
        sa.Column("drained_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("back_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("failed", sa.Text(), nullable=False),
        sa.Column("withdrawn", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("node"),
    )
    op.create_table(
        "cgpu_control",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("paused", sa.Boolean(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )


def downgrade() -> None:
    """Drop them again."""
    for name in ("control", "restarts", "nodes", "installers", "patches", "changes"):
        op.drop_table(f"cgpu_{name}")
