"""A figure as one HTML file that needs no network: BokehJS is inside."""

from __future__ import annotations

from collections.abc import Sequence

from bokeh.embed import file_html
from bokeh.models import LayoutDOM
from bokeh.resources import INLINE


def standalone_html(figures: LayoutDOM | Sequence[LayoutDOM], title: str) -> str:
    """Return an HTML page of about 1.3 MB that draws the figures without any request.

    Args:
        figures: a figure or layout, or several that stand below one another. They must belong to
            no live document.
        title: title of the page.
    """
    return str(file_html(figures, resources=INLINE, title=title))
