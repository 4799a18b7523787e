"""The picture of a digest: what teams used over time, against what they may use.

A chart is a small JSON document, kept in the outbox and drawn when it is sent: matplotlib is
imported then, never before, and draws under a lock in one thread. Fonts are those it brings
along, so the picture is the same everywhere. Colours are Okabe and Ito's, which colour-blind
readers can tell apart, and each area says its name itself.
"""

import io
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from bot.blocks import cut, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS: Final = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#B8A400")
_INK, _SOFT, _GRID, _PAPER = "#24292f", "#667079", "#e4e7eb", "#ffffff"
_WAITING: Final = "#8a939c"
_MOST_SERIES: Final = 7
_NAME: Final = 16
_LOCK = threading.Lock()


@dataclass(frozen=True, kw_only=True)
class Series:
    """One team's use in each step; `note` is said beside its name."""

    name: str
    note: str
    values: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Line:
    """A level across the whole time, as a limit; a `soft` one is dashed."""

    label: str
    value: float
    soft: bool = False


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Areas stacked in their order, from below; `waiting` counts tasks, None for not known.

    The title is the name and what is `shown` of it, with `instead` of a name whose letters the
    font lacks. Times are shown as the clock of `zone` does.
    """

    name: str
    instead: str
    shown: str
    subtitle: str
    zone: str
    start: datetime
    step: timedelta
    series: tuple[Series, ...]
    lines: tuple[Line, ...] = ()
    waiting: tuple[int | None, ...] = ()


def document(chart: Chart) -> dict[str, Any]:
    """The chart as a JSON object."""
    start, step = chart.start.isoformat(), chart.step.total_seconds()
    return {**asdict(chart), "start": start, "step": step}


def read(document: Mapping[str, Any]) -> Chart:
    """The chart that `document` wrote."""
    series = tuple(Series(**{**one, "values": tuple(one["values"])}) for one in document["series"])
    return Chart(
        **{name: document[name] for name in ("name", "instead", "shown", "subtitle", "zone")},
        start=datetime.fromisoformat(document["start"]),
        step=timedelta(seconds=document["step"]),
        series=series,
        lines=tuple(Line(**one) for one in document["lines"]),
        waiting=tuple(document["waiting"]),
    )


def draw(document: Mapping[str, Any]) -> bytes:
    """The PNG of a chart's document, 1600 pixels wide."""
    with _LOCK:
        return _png(_figure(read(document)))


def folded(series: Sequence[Series]) -> tuple[Series, ...]:
    """At most so many series as have colours of their own; the smallest are added up."""
    if len(series) <= _MOST_SERIES:
        return tuple(series)
    by_size = sorted(series, key=lambda one: -sum(one.values))
    kept = set(by_size[: _MOST_SERIES - 1])
    rest = [one for one in series if one not in kept]
    added = tuple(map(sum, zip(*(one.values for one in rest), strict=True)))
    other = Series(name=f"{len(rest)} others", note="", values=added)
    return (*(one for one in series if one in kept), other)


def _figure(chart: Chart) -> "Figure":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.4 if chart.waiting else 3.8), dpi=200, facecolor=_PAPER)
    has_waiting = any(chart.waiting)
    heights = [4.2, 1] if has_waiting else [1]
    bottom = 0.115 if has_waiting else 0.125
    grid = figure.add_gridspec(
        len(heights), 1, height_ratios=heights, hspace=0.12, left=0.065, right=0.8,
        top=0.83, bottom=bottom,
    )  # fmt: skip
    upper = figure.add_subplot(grid[0])
    heading: Any = {"va": "center", "parse_math": False}
    title = f"{drawable(chart.name, chart.instead, 40)}: {chart.shown}"
    figure.text(0.012, 0.952, title, color=_INK, fontsize=13, weight="bold", **heading)
    figure.text(0.012, 0.892, chart.subtitle, color=_SOFT, fontsize=9, **heading)
    _areas(upper, chart)
    lowest = upper
    if has_waiting:
        lowest = figure.add_subplot(grid[1], sharex=upper)
        _waiting(lowest, chart)
        upper.tick_params(labelbottom=False)
    _time_axis(lowest, chart)
    return figure


def _areas(axes: "Axes", chart: Chart) -> None:
    from matplotlib.ticker import MaxNLocator

    times = _edges(chart)
    stacked = [0.0] * len(times)
    middles: list[tuple[float, str, str]] = []
    for number, series in enumerate(chart.series):
        values = [*series.values, series.values[-1]]
        top = [below + value for below, value in zip(stacked, values, strict=True)]
        colour = _COLOURS[number % len(_COLOURS)]
        axes.fill_between(times, stacked, top, step="post", color=colour, alpha=0.85, lw=0)
        middles.append(((stacked[-1] + top[-1]) / 2, series.name, series.note))
        axes.step(times, top, where="post", color=_PAPER, lw=0.6)
        stacked = top
    highest = max([*stacked, *(line.value for line in chart.lines), 1.0])
    axes.set_ylim(0, highest * 1.06)
    axes.set_xlim(times[0], times[-1])
    axes.yaxis.set_major_locator(MaxNLocator(nbins=7, integer=True, steps=[1, 2, 4, 5, 10]))
    for line in chart.lines:
        style: Any = (0, (5, 3)) if line.soft else "-"
        axes.axhline(line.value, color=_INK, lw=1.1, ls=style, zorder=3)
    _labels(axes, chart, middles, highest)
    _plain(axes)
    axes.set_ylabel("GPUs in use", color=_SOFT, fontsize=8.5, labelpad=4)


def _labels(
    axes: "Axes", chart: Chart, middles: Sequence[tuple[float, str, str]], highest: float
) -> None:
    """Names at the right of what they name, moved apart where they would touch."""
    wanted = [
        (at, drawable(name, f"team {number + 1}"), note, _COLOURS[number % len(_COLOURS)])
        for number, (at, name, note) in enumerate(middles)
    ] + [(line.value, line.label, "", _INK) for line in chart.lines]
    wanted.sort(key=lambda one: one[0])
    gaps = [0.118 if note else 0.065 for _, _, note, _ in wanted]
    places = spread([at / (highest * 1.06) for at, *_ in wanted], gaps)
    for place, (at, name, note, colour) in zip(places, wanted, strict=True):
        ends = [(1.0, 1.016), (at / (highest * 1.06), place)]
        axes.plot(*ends, transform=axes.transAxes, color=_WAITING, lw=0.6, clip_on=False)
        if note:
            swatch: Any = {"marker": "s", "ms": 6, "color": colour, "transform": axes.transAxes}
            axes.plot([1.028], [place + 0.022], clip_on=False, **swatch)
            _write(axes, (1.043, place + 0.022), name, fontsize=9, weight="bold", color=_INK)
            _write(axes, (1.043, place - 0.026), note, fontsize=7.5, color=_SOFT)
        else:
            _write(axes, (1.021, place), name, fontsize=9, weight="bold", color=_INK)


def _write(axes: "Axes", at: tuple[float, float], text: str, **how: Any) -> None:
    """Text as it stands: a dollar sign in a name begins no formula."""
    axes.text(*at, text, transform=axes.transAxes, va="center", parse_math=False, **how)


def drawable(name: str, instead: str, most: int = _NAME) -> str:
    """The name, not longer than that; `instead` where the font lacks its letters."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    letters = get_font(findfont(FontProperties(family="DejaVu Sans"))).get_charmap()
    shown = cut(plain(name), most)
    return shown if all(ord(letter) in letters for letter in shown) else instead


def spread(places: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """The rising places, moved up where one is nearer to the one below than both need."""
    moved = list(places)
    for lower, upper in pairwise(range(len(moved))):
        least = (gaps[lower] + gaps[upper]) / 2
        moved[upper] = max(moved[upper], moved[lower] + least)
    overflow = max(0.0, (moved[-1] - 1.0) if moved else 0.0)
    for place in reversed(range(len(moved))):
        above = moved[place + 1] if place + 1 < len(moved) else 1.0 + gaps[place]
        gap = (gaps[place] + gaps[place + 1]) / 2 if place + 1 < len(moved) else gaps[place]
        if overflow:
            moved[place] = min(moved[place], above - gap)
    return moved


def _waiting(axes: "Axes", chart: Chart) -> None:
    counts = [float("nan") if count is None else count for count in chart.waiting]
    times = _edges(chart)
    axes.fill_between(times, [*counts, counts[-1]], step="post", color=_WAITING, alpha=0.55, lw=0)
    most = max(count for count in chart.waiting if count is not None)
    axes.set_ylim(0, max(most * 1.15, 1))
    axes.set_yticks([0, most])
    _write(axes, (1.021, 0.5), "tasks waiting", fontsize=8.5, color=_SOFT)
    _plain(axes)


def _plain(axes: "Axes") -> None:
    """Little ink: a soft grid, no frame."""
    axes.grid(axis="y", color=_GRID, lw=0.7)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(_SOFT)
    axes.tick_params(colors=_SOFT, labelsize=8, length=0)


def _time_axis(axes: "Axes", chart: Chart) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    zone: Any = ZoneInfo(chart.zone)
    locator = AutoDateLocator(tz=zone, minticks=4, maxticks=9)
    axes.xaxis.set_major_locator(locator)
    formatter = ConciseDateFormatter(locator, tz=zone, show_offset=False)
    formatter.formats = ["%Y", "%b", "%a %d", "%H:%M", "%H:%M", "%S"]
    formatter.zero_formats = ["", "%Y", "%b", "%a %d %b", "%H:%M", "%H:%M"]
    axes.xaxis.set_major_formatter(formatter)
    axes.tick_params(axis="x", length=3, pad=4, color=_SOFT)


def _edges(chart: Chart) -> list[Any]:
    """The times between the steps, as matplotlib counts them."""
    from matplotlib.dates import date2num

    count = len(chart.series[0].values)
    return [float(date2num(chart.start + place * chart.step)) for place in range(count + 1)]


def _png(figure: "Figure") -> bytes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    target = io.BytesIO()
    FigureCanvasAgg(figure).print_png(target)
    return target.getvalue()
