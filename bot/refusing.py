"""What a command does not do, said in sentences for standard error."""

from collections.abc import Sequence


class Refusal(Exception):
    """Nothing was changed, for these reasons; the command exits with `code`."""

    def __init__(self, problems: Sequence[str], code: int = 2) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)
        self.code = code
