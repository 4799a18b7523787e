"""Usage by the hour and the day, and for how long each sample stands."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables; samples from before were taken a minute apart."""
    op.add_column(
        "samples", sa.Column("seconds", sa.Integer(), nullable=False, server_default="60")
    )
    op.create_table(
        "series",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("policy", sa.String(), nullable=False),
        sa.Column("pool", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "usage",
        sa.Column("resolution", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("resolution", "at"),
    )


def downgrade() -> None:
    """Drop them again; what is packed is lost."""
    op.drop_table("usage")
    op.drop_table("series")
    op.drop_column("samples", "seconds")
