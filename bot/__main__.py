"""The command line's first step: what needs only files starts without what needs everything."""

import os
import sys
from collections.abc import Sequence

_INTERRUPTED = 130


def main() -> None:
    """Runs the command of this process's arguments and exits with its code."""
    try:
        code = _run(sys.argv[1:])
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = _INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output has had enough; closing it again at exit must not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    sys.exit(code)


def _run(arguments: Sequence[str]) -> int:
    match arguments:
        case ["plan", *rest]:
            from bot import offline

            return offline.plan(rest)
        case ["validate", *rest]:
            from bot import offline

            return offline.validate(rest)
        case _:
            from bot.cli import run

            return run(arguments)


if __name__ == "__main__":
    main()
