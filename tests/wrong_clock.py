"""`poolkeeper run` on a machine whose clock is wrong by so many seconds: python -m ... SECONDS.

The clock is the composition root's parameter; nothing else is different.
"""

import os
import sys
from datetime import datetime, timedelta

from bot.compose import now
from bot.running import run
from bot.settings import load_settings

if __name__ == "__main__":
    ahead = timedelta(seconds=float(sys.argv[1]))

    def wrong() -> datetime:
        return now() + ahead

    run(load_settings(os.environ), wrong)
