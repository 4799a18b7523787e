"""What each working copy started from, so that two people's changes can be brought together."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the two columns; copies from before start from nothing known."""
    op.add_column("working_copies", sa.Column("origin", sa.Text(), nullable=True))
    op.add_column(
        "working_copies",
        sa.Column("origin_renames", sa.Text(), nullable=False, server_default="{}"),
    )


def downgrade() -> None:
    """Drop them again."""
    op.drop_column("working_copies", "origin_renames")
    op.drop_column("working_copies", "origin")
