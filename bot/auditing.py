"""`poolkeeper audit`: the audit for a terminal, or as CSV for a spreadsheet."""

import csv
import sys
from collections.abc import Iterable

from bot.blocks import plain
from bot.operating import opened, settings
from domain.ledger import AuditRecord
from storage import audit as records

_LATEST = 50
_EVERY = 10_000_000
_COLUMNS = ("at", "actor", "action", "subject", "detail", "reference")


def audit(contains: str, *, as_csv: bool) -> None:
    """Prints the latest records with these words, newest first; as CSV every one."""
    with opened(settings()) as database, database.reading() as session:
        found = records.records(session, _EVERY if as_csv else _LATEST, contains)
    if as_csv:
        _write(found)
        return
    for record in found:
        reference = f" [{record.reference}]" if record.reference else ""
        at = record.at.isoformat(sep=" ", timespec="seconds")
        what = plain(f"{record.actor}: {record.action} {record.subject}", 300)
        print(f"{at} {what}{reference}")
        if record.detail:
            print(f"  {plain(record.detail, 300)}")


def _write(found: Iterable[AuditRecord]) -> None:
    out = csv.writer(sys.stdout)
    out.writerow(_COLUMNS)
    for record in found:
        at = record.at.isoformat(timespec="seconds")
        rest = (getattr(record, column) for column in _COLUMNS[1:])
        out.writerow([at, *map(_harmless, rest)])


def _harmless(cell: str) -> str:
    """What a spreadsheet would take for a formula is text to it with a quote before it."""
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell
