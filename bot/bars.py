"""Bars made of text: what is drawn is also said in numbers beside it. Pure."""

from collections.abc import Sequence
from typing import Final

from domain.amounts import ZERO, Amount

CELLS: Final = 20
RESERVED, BORROWED, FOREIGN, FREE = "█", "▓", "▒", "░"
LEGEND: Final = f"{RESERVED} reserved  {BORROWED} borrowed  {FOREIGN} foreign  {FREE} free"


def bar(parts: Sequence[tuple[str, Amount]], whole: Amount, cells: int = CELLS) -> str:
    """Cells filled with each part's mark as far as it goes of `whole`, then free ones.

    What is in use shows, however little it is; a bar that is over its whole is full.
    """
    used = sum((amount for _, amount in parts), ZERO)
    scale = max(whole, used)
    if not scale:
        return FREE * cells
    drawn, reached = "", ZERO
    for mark, amount in parts:
        reached += amount
        end = round(cells * reached / scale)
        if amount > 0 and end == len(drawn) < cells:
            end += 1
        drawn += mark * (end - len(drawn))
    return drawn + FREE * (cells - len(drawn))
