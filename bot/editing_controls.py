"""What the editor's pages and forms share: the names of their buttons, and turning pages."""

from typing import Final

from bot.blocks import Block, action, buttons, context
from bot.editing_spots import Spot

GO: Final = "ed-go"
"""Shows another page."""
DO: Final = "ed-do"
"""Changes something, or asks how."""
LIFE: Final = "ed-life"
"""Does something with the whole."""
FIND: Final = "ed-find"
PAGE: Final = "ed-page"
LIST_PAGE: Final = 10
"""So many things are listed on one page."""


def finder(action_id: str, prompt: str) -> Block:
    """A select that searches while one types."""
    return {
        "type": "external_select",
        "action_id": action_id,
        "placeholder": {"type": "plain_text", "text": prompt},
        "min_query_length": 0,
    }


def turns(spot: Spot, at: tuple[int, int], whole: str) -> list[Block]:
    """Where one is in a list, and how to go on; nothing where there is one page."""
    number, pages = at
    if pages == 1:
        return []
    row = []
    if number > 1:
        row.append(action("Previous", GO, str(Spot(spot.kind, spot.index, number - 1))))
    if number < pages:
        row.append(action("Next", GO, str(Spot(spot.kind, spot.index, number + 1))))
    return [context(f"{whole}, page {number} of {pages}"), buttons(*row)]
