"""Common style of all figures of a replay: colours of the host's activities, times, caption."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bokeh.models import CustomJSTickFormatter, Title
from bokeh.plotting import figure

from workbench.plotting import palette
from workbench.plotting.replay.spacetime_js import TIME_TICK
from workbench.provenance import Provenance
from workbench.units import format_quantity

COMPUTE = palette.SKY_BLUE
SEND_OVERHEAD = palette.ORANGE
RECEIVE_OVERHEAD = palette.GREEN
WAITING = palette.WAITING
MESSAGE = palette.CAPTION
CRITICAL = palette.VERMILLION

_CAPTION = "caption"


def time_axis(axis: Any) -> None:
    """Label an axis in ns with a unit at every tick, from ns to s."""
    axis.formatter = CustomJSTickFormatter(code=TIME_TICK)
    axis.axis_label = "time"


def time_text(ns: float) -> str:
    """Return a time for people: ``1.20 µs``."""
    return format_quantity(ns / 1e9, "time")


def size_text(size_bytes: float) -> str:
    """Return a whole number of bytes for people: ``64 B``, ``1.5 KiB``, ``12 MiB``."""
    for power, unit in ((40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size_bytes >= 1 << power:
            return f"{size_bytes / (1 << power):.4g} {unit}"
    return f"{size_bytes:.0f} B"


def caption(fig: figure, provenance: Provenance | Sequence[Provenance]) -> None:
    """Write the provenance of a result, or of several, below a figure, in place of the last."""
    title = next((item for item in fig.below if _CAPTION in item.tags), None)
    if title is None:
        title = Title(
            tags=[_CAPTION],
            text_font_size="11px",
            text_font_style="normal",
            text_color=palette.CAPTION,
        )
        fig.add_layout(title, "below")
    several = [provenance] if isinstance(provenance, Provenance) else provenance
    title.text = "\n".join(dict.fromkeys(one.caption() for one in several))
