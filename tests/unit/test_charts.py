"""The pictures of digests: they can be drawn whatever teams are called, and read back."""

import json
import struct
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from bot.charts import Chart, Line, Series, document, draw, drawable, folded, read, spread
from tests.sandbox_support import ROOT

START = datetime(2026, 10, 24, 22, tzinfo=UTC)
PNG = b"\x89PNG\r\n\x1a\n"


def chart(*names: str, **more: Any) -> Chart:
    fields: dict[str, Any] = {
        "name": "dev",
        "instead": "Team",
        "shown": "GPUs in use",
        "subtitle": "Average of each 1 h",
        "zone": "Europe/Berlin",
        "start": START,
        "step": timedelta(hours=1),
        "series": tuple(Series(name=name, note="2 of 8", values=(1.0, 2.5, 0.0)) for name in names),
        "lines": (
            Line(label="limit 16", value=16.0),
            Line(label="reserved 8", value=8.0, soft=True),
        ),
        "waiting": (None, 3, 0),
        **more,
    }
    return Chart(**fields)


def test_a_chart_survives_the_outbox() -> None:
    before = chart("dev", "研究")

    assert read(json.loads(json.dumps(document(before)))) == before


@pytest.mark.parametrize(
    "names",
    [
        ("dev",),
        ("dev", "research", "vision", "speech", "nlp", "robots", "infra"),
        ("研究", "$x^2$", "a_b", "\\frac{1}{2}", "<!channel>", "\u202eevil", "x" * 300),
    ],
    ids=["one team", "seven teams", "odd names"],
)
def test_a_png_of_1600_pixels_is_drawn(names: tuple[str, ...]) -> None:
    png = draw(document(chart(*names, name=names[0])))

    assert png.startswith(PNG)
    assert struct.unpack(">II", png[16:24]) == (1600, 880)


@pytest.mark.parametrize(
    "odd",
    [
        {"waiting": ()},
        {"waiting": (None, None, None)},
        {"lines": ()},
        {"series": (Series(name="dev", note="", values=(0.0,)),), "waiting": (0,)},
        {"step": timedelta(minutes=15)},
    ],
    ids=["no samples", "nothing known", "no lines", "one step of nothing", "short"],
)
def test_little_can_be_drawn_as_well(odd: dict[str, Any]) -> None:
    assert draw(document(chart("dev", **odd))).startswith(PNG)


def test_a_name_that_the_font_cannot_write_is_replaced() -> None:
    assert drawable("dev", "team 1") == "dev"
    assert drawable("Größe", "team 1") == "Größe"
    assert drawable("研究", "team 1") == "team 1"
    assert drawable("speech recognition for everybody", "team 1") == "speech recognit…"


def test_more_teams_than_colours_are_added_up_from_the_smallest() -> None:
    every = [Series(name=f"t{n}", note="", values=(float(n), 1.0)) for n in range(10)]

    shown = folded(every)

    assert [one.name for one in shown] == ["t4", "t5", "t6", "t7", "t8", "t9", "4 others"]
    assert shown[-1].values == (0.0 + 1 + 2 + 3, 4.0)
    assert folded(every[:7]) == tuple(every[:7])


def test_labels_are_moved_apart_and_stay_inside() -> None:
    places = spread([0.1, 0.11, 0.5, 0.99, 1.0], [0.1] * 5)

    assert places == sorted(places)
    assert all(upper - lower > 0.0999 for lower, upper in pairwise(places))
    assert places[-1] <= 1.0
    assert spread([0.2, 0.6], [0.1, 0.1]) == [0.2, 0.6]


def test_matplotlib_is_not_loaded_before_something_is_drawn() -> None:
    code = "import sys, bot.charts, bot.connecting; print('matplotlib' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)

    assert done.stdout.strip() == "False", done.stderr
