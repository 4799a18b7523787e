"""Everything an admin can do to a configuration, as functions from one to the next.

Each takes an `Edited` (a configuration with the renames since it was taken up) and gives the next
one, or a `Refused` with a sentence. References and priority lists always stay consistent: what an
edit returns can be written to a document and read back, though it may not be valid yet.
"""

from domain.editing_connections import connect, disconnect, link, unlink
from domain.editing_objects import create, delete, edit, rename, set_cgpu
from domain.editing_order import Order, Place, move, reorder
from domain.edits import Edit, Edited, Refused

__all__ = [
    "Edit",
    "Edited",
    "Order",
    "Place",
    "Refused",
    "connect",
    "create",
    "delete",
    "disconnect",
    "edit",
    "link",
    "move",
    "rename",
    "reorder",
    "set_cgpu",
    "unlink",
]
