from __future__ import annotations

import re

from workbench.measure import OSUCurve
from workbench.plotting import plot_curve, standalone_html


def test_a_page_asks_nothing_of_anybody(measured: OSUCurve, simulated: OSUCurve) -> None:
    page = standalone_html(plot_curve(measured, simulated), "a & b")
    head = page[:2000]
    assert "<title>a &amp; b</title>" in head
    assert not re.findall(r"<(?:script|link|img)[^>]+(?:src|href)\s*=\s*[\"']?https?:", page)
    assert len(page) > 1_000_000, "BokehJS itself is inside"
