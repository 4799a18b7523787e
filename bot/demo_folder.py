"""The folder of a demo: its database, its logs, and what its processes leave."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def demo_folder(*, keep: bool, what: str) -> Iterator[Path]:
    """Goes with all that is in it, however the block ends, unless it is kept.

    `what` then says what is in it, as in "The database stays".
    """
    directory = Path(tempfile.mkdtemp(prefix="poolkeeper-demo-"))
    try:
        yield directory
    finally:
        if keep:
            print(f"{what} in {directory}.")
        else:
            shutil.rmtree(directory, ignore_errors=True)  # whoever tidies /tmp may have come first
