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
    widths, reached, start = list[int](), ZERO, 0
    for _, amount in parts:
        reached += amount
        end = round(cells * reached / scale)
        widths.append(max(end - start, 1 if amount > 0 else 0))
        start = end
    while sum(widths) > cells:
        widths[widths.index(max(widths))] -= 1
    drawn = "".join(mark * width for (mark, _), width in zip(parts, widths, strict=True))
    return drawn.ljust(cells, FREE)
