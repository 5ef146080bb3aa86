"""From OSU text to every answer: one machine, in one kernel, as an architect would go."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tests.browser.layout import cut
from tests.browser.panel import Keep, Show, Until, button
from tests.browser.showing import settle
from workbench import datasets

FIT, TOLERANCE = "01-fit-a-machine.ipynb", "05-latency-tolerance.ipynb"
PLACEMENT, COMPARE = "06-where-to-place-ranks.ipynb", "07-compare-topologies.ipynb"
KNOWN = """
from workbench import machines
machines.keep(machines.load("mine").with_parts(topology="fat-tree:4", ranks_per_node=2))
"""
TAKEN = """
from workbench import machines
assert panel.model == machines.load("mine").loggps
"""
ALLREDUCE = """
from workbench import machines, predict
machine = predict.machine_of(machines.load("mine").with_parts(topology="fat-tree:16"))
found = predict.predict_collective(machine, "allreduce", 128, (8, 65536))
low, high = found.interval
assert (low < found.times).all() and (found.times < high).all() and found.topology
"""


def osu_text() -> str:
    curve = datasets.load("llnl-dane-omnipath")
    text = "srun: job 17 queued\n"
    columns = (("Latency Test", "Latency (us)", curve.latency_us),)
    columns += (("Bandwidth Test", "Bandwidth (MB/s)", curve.bandwidth_MBps),)
    for title, column, values in columns:
        rows = zip(curve.sizes, values, strict=True)
        text += f"# OSU MPI {title} v7.4\n# Size  {column}\n"
        text += "".join(f"{size:<12}{value:.2f}\n" for size, value in rows)
    return text


def test_osu_text_becomes_a_machine_that_every_panel_takes(
    show: Show, page: Any, until: Until, keep: Keep, tmp_path: Path
) -> None:
    text = tmp_path / "mine.txt"
    text.write_text(osu_text(), encoding="utf-8")
    show(FIT, re.compile("Points: "))
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Upload OSU output").click()
    chooser.value.set_files(text)
    page.get_by_text(re.compile("read 23 sizes of latency and 23 of bandwidth")).wait_for()
    page.get_by_label("Trials", exact=True).fill("100")
    button(page, "▶ Start").click()
    page.get_by_text(re.compile("done: 100 of 100 trials")).wait_for()
    button(page, "Use this machine").click()
    page.get_by_text(re.compile("saved machines/mine.json: every panel offers mine")).wait_for()
    keep("fitted")
    assert cut(page) == []

    show(TOLERANCE, re.compile(r"operations, analysed in"), quiet=lambda: settle(page))
    page.get_by_label("Machine", exact=True).select_option("mine (my machine)")
    settle(page)
    keep("tolerance")
    assert execute(page, TAKEN)

    assert execute(page, KNOWN)
    show(PLACEMENT, re.compile(r"\d+ ranks on "), quiet=lambda: settle(page))
    page.get_by_label("Machine", exact=True).select_option("mine (my machine)")
    page.get_by_text(re.compile(r"ranks on fat tree, k=4")).first.wait_for()
    settle(page)
    keep("placement")
    assert cut(page) == []

    # Of the four that it opens with, tests/unit draw the thousand hosts of each.
    small = '["fat-tree:4", "torus:4x4"], simulate=False'
    show(COMPARE, re.compile("carr(y|ies)"), arguments=small, quiet=lambda: settle(page))
    page.get_by_label("Machine", exact=True).select_option("mine (my machine)")
    page.get_by_text("mean latency (µs)").first.wait_for()
    keep("comparison")
    assert execute(page, ALLREDUCE)


def execute(page: Any, code: str) -> bool:
    """Return whether code ran in the notebook's kernel."""
    from tests.browser.showing import _EXECUTE

    said = page.evaluate(_EXECUTE, code)
    assert said == ""
    return True
