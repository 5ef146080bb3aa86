"""The notebooks as people see them: in JupyterLab and in Voilà, offline, driven by the keyboard."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.browser.layout import cut
from tests.browser.panel import (
    Keep,
    Steady,
    Until,
    button,
    saved,
    slider,
    stderr_outputs,
    to_the_top,
)
from tests.browser.servers import Server, run_command
from workbench.panels.style import STALE
from workbench.plotting.picture import PNG_SCALE, WIDTH_PX

NOTEBOOKS = ("00-start-here.ipynb", "01-fit-a-machine.ipynb")
LATENCY = "injection latency"
_SELECT_LAST = """() => {
  const {content} = window.jupyterapp.shell.currentWidget
  content.activeCellIndex = content.widgets.length - 1
}"""
_WRITE = """text => {
  window.jupyterapp.shell.currentWidget.content.activeCell.model.sharedModel.setSource(text)
}"""


def pixels(page: Any) -> bytes:
    """Return the latency figure as it is on the screen."""
    return page.locator(".bk-Figure").first.screenshot()


def settle(page: Any, steady: Steady) -> bytes:
    """Wait until the figure has its first curve and stands still, and return it."""
    page.get_by_text(re.compile("8 KiB message: .* simulated")).first.wait_for()
    to_the_top(page)
    return bytes(steady(lambda: pixels(page), 0.5))


def test_many_key_presses_in_a_row_end_at_the_last_one(
    server: Server, page: Any, until: Until, steady: Steady
) -> None:
    watch = server.open(page, NOTEBOOKS[0])
    before = settle(page, steady)
    slider(page, LATENCY).focus()
    page.keyboard.press("ArrowRight")
    until(lambda: pixels(page) != before)
    there = steady(lambda: pixels(page), 1.0)
    for key in ["ArrowRight"] * 20 + ["ArrowLeft"] * 20:
        page.keyboard.press(key)
        page.wait_for_timeout(15)
    until(lambda: pixels(page) == there)
    page.wait_for_timeout(1000)
    assert pixels(page) == there
    assert watch.errors == []
    # What a screen reader says: the name, and the value with its unit as it is typed beside.
    handle = page.get_by_role("slider", name=LATENCY)
    typed = page.locator(".workbench-panel .widget-text input").first
    assert handle.get_attribute("aria-valuetext") == typed.input_value() != ""
    assert "ns" in typed.input_value()


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_a_key_press_changes_the_figure(
    server: Server, page: Any, until: Until, steady: Steady, keep: Keep, notebook: str
) -> None:
    watch = server.open(page, notebook)
    settle(page, steady)
    keep("opened")
    assert cut(page) == []
    settle(page, steady)
    before, sentence = pixels(page), page.get_by_text("8 KiB message").first.inner_text()
    slider(page, LATENCY).focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    until(lambda: page.get_by_text("8 KiB message").first.inner_text() != sentence)
    until(lambda: pixels(page) != before)
    keep("moved")
    assert stderr_outputs(page) == 0
    assert watch.errors == []
    assert watch.outside == []


def test_a_figure_follows_the_theme_while_the_page_is_open(
    server: Server, page: Any, steady: Steady, until: Until, keep: Keep
) -> None:
    watch = server.open(page, NOTEBOOKS[1], anew=False)
    light = settle(page, steady)
    page.evaluate("() => { document.body.dataset.jpThemeLight = 'false' }")
    until(lambda: pixels(page) != light)
    keep("dark")
    drawing = page.locator(".bk-Figure .bk-Canvas").first
    assert "invert(1)" in drawing.evaluate("e => getComputedStyle(e).filter")
    page.evaluate("() => { document.body.dataset.jpThemeLight = 'true' }")
    until(lambda: pixels(page) == light)
    assert watch.errors == []


def test_files_are_saved_by_the_browser(server: Server, page: Any, steady: Steady) -> None:
    watch = server.open(page, NOTEBOOKS[1], anew=False)
    settle(page, steady)
    page.get_by_role("tab", name="Export").click()
    for name, begins in (
        ("INI", b"#"),
        ("CSV", b"size_bytes,"),
        ("JSON", b"{"),
        ("HTML", b"<!DOCTYPE html>"),
        ("PNG", b"\x89PNG"),
        ("SVG", b"<svg "),
    ):
        file, content = saved(page, button(page, name))
        assert file == f"azure-hb96v3-hdr-snappr.{name.lower()}"
        assert content.lstrip()[: len(begins)] == begins, content[:40]
        if name == "PNG":
            assert int.from_bytes(content[16:20]) == PNG_SCALE * WIDTH_PX
        if name == "SVG":
            assert f'width="{WIDTH_PX}"'.encode() in content
            assert b"Points: published: Azure" in content
    assert watch.errors == []
    assert watch.outside == []


def test_an_error_stands_beside_its_control(
    server: Server, page: Any, until: Until, steady: Steady, keep: Keep
) -> None:
    watch = server.open(page, NOTEBOOKS[1], anew=False)
    before = settle(page, steady)
    row = page.locator(".widget-hbox", has=page.get_by_text("NIC credits", exact=True)).last
    row.locator("input[type=text]").fill("1KB")
    page.keyboard.press("Enter")
    message = page.get_by_role("alert").filter(has_text="credits must hold one packet")
    message.wait_for()
    keep("refused")
    below = message.bounding_box()["y"] - row.bounding_box()["y"]
    assert 0 < below < 60, "right below the row of the control"
    page.locator(f".{STALE}").wait_for()
    undimmed = page.add_style_tag(content=f".workbench-panel .{STALE} {{ opacity: 1 !important }}")
    assert pixels(page) == before, "the last good picture stays, dimmed"
    undimmed.evaluate("tag => tag.remove()")
    # Words that come above the figure move it by parts of a pixel; its sentence is compared then.
    sentence = page.get_by_text("8 KiB message").first.inner_text()
    trials = page.get_by_label("Trials")
    trials.fill("1e9")
    page.keyboard.press("Tab")
    said = "Trials must be a whole number from 1 to 1,000,000; got 1,000,000,000; the value stays"
    page.get_by_role("alert").filter(has_text=said).wait_for()
    assert trials.input_value() == "1e9", "not cut"
    button(page, "▶ Start").click()
    page.get_by_role("alert").filter(has_text="correct Trials first").wait_for()
    keep("out of range")
    assert page.get_by_text("8 KiB message").first.inner_text() == sentence
    assert watch.errors == []


def test_another_machine_is_drawn_with_its_simulated_curve(
    server: Server, page: Any, until: Until, steady: Steady, keep: Keep
) -> None:
    """Shown again after another machine was, the same figures must come back to the pixel."""
    watch = server.open(page, NOTEBOOKS[1])
    before = settle(page, steady)
    machine = page.get_by_label("Machine", exact=True)
    machine.select_option("azure-hb96v3-hdr-noisy")
    page.get_by_text("median over 28 runs").wait_for()
    settle(page, steady)
    keep("noisy")
    other = pixels(page)
    assert other != before
    slider(page, LATENCY).focus()
    page.keyboard.press("ArrowRight")
    until(lambda: pixels(page) != other)
    page.keyboard.press("ArrowLeft")
    machine.select_option("azure-hb96v3-hdr")
    page.get_by_text("median over 84 runs").wait_for()
    button(page, "Reset parameters").click()
    until(lambda: pixels(page) == before)
    assert watch.errors == []


def test_a_fit_is_started_watched_and_stopped(
    server: Server, page: Any, until: Until, steady: Steady, keep: Keep
) -> None:
    watch = server.open(page, NOTEBOOKS[1], anew=False)
    settle(page, steady)
    page.get_by_label("Trials").fill("100000")
    page.keyboard.press("Tab")
    button(page, "▶ Start").click()
    progress = page.get_by_text(re.compile(r"\d+ of 100000 trials, .* left"))
    progress.wait_for()
    first = progress.inner_text()
    until(lambda: progress.inner_text() != first)
    # The convergence is drawn while it runs.
    until(lambda: page.locator(".bk-Figure").count() == 4)
    keep("running")
    before = page.get_by_text("8 KiB message").first.inner_text()
    slider(page, LATENCY).focus()

    def answered() -> bool:
        # A fit that has just improved draws its own sentence over the slider's answer, so the key
        # is pressed again until one is seen; sentence and change are asked of one text.
        page.keyboard.press("ArrowRight")
        text = page.get_by_text("8 KiB message").first.inner_text()
        return "simulated" in text and text != before

    until(answered)
    page.get_by_title("Stop the fit now and keep the best so far").click()
    until(lambda: page.get_by_text(re.compile(r"stopped: \d+ of 100000")).count() == 1)
    assert button(page, "▶ Start").is_enabled()
    page.get_by_role("tab", name="Result").click()
    page.get_by_text("node.nic.mtu").first.wait_for()
    keep("result")
    assert watch.errors == []
    assert watch.outside == []


def test_an_exported_page_draws_itself_from_a_file(page: Any, tmp_path: Path, keep: Keep) -> None:
    from workbench.panels import FitPanel

    path = FitPanel().save(tmp_path / "export.html")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    page.locator(".bk-Figure").first.wait_for()
    keep("exported")
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


_ROOM_FOR_WORDS = """() => {
  const models = [...window.Bokeh.documents[0]._all_models.values()]
  const words = models.find(one => one.glyph?.type === 'Text' && one.glyph.text.field === 'words')
  const figure = models.find(one => one.renderers?.includes?.(words))
  const {start, end} = figure.x_range
  const context = document.createElement('canvas').getContext('2d')
  context.font = `${words.glyph.text_font_size.value} ${words.glyph.text_font.value}`
  const lines = words.data_source.data.words.flatMap(one => one.split('\\n'))
  const widest = Math.max(...lines.map(line => context.measureText(line).width))
  return [(end - words.glyph.x.value) / (end - start) * figure.inner_width, widest]
}"""


def test_what_is_known_of_a_parameter_is_not_cut(page: Any, tmp_path: Path, keep: Keep) -> None:
    from workbench import datasets
    from workbench.fit import fit, identify
    from workbench.plotting.embedding import standalone_html

    result = fit(datasets.load("azure-hb96v3-hdr"), "logp", engine="least-squares", trials=60)
    path = tmp_path / "identify.html"
    path.write_text(standalone_html(identify(result).plot(), "identify"), "utf-8")
    before = page.viewport_size
    page.set_viewport_size({"width": 620, "height": 900})
    page.goto(path.as_uri())
    page.locator(".bk-Figure").first.wait_for()
    page.wait_for_timeout(500)
    keep("narrow")
    room, widest = page.evaluate(_ROOM_FOR_WORDS)
    page.set_viewport_size(before)
    assert 0 < widest <= room


def test_a_panel_shown_again_shows_the_present_picture(
    lab: Server, page: Any, until: Until, steady: Steady, keep: Keep
) -> None:
    """The last cells of the notebook move a slider and put it back, before the second view."""
    lab.open(page, NOTEBOOKS[1], whole=True)
    settle(page, steady)
    sentence = page.get_by_text("8 KiB message")
    before = sentence.first.inner_text()
    slider(page, LATENCY).focus()
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    until(lambda: sentence.first.inner_text() != before)
    page.evaluate(_SELECT_LAST)
    run_command(page, "notebook:insert-cell-below")
    page.evaluate(_WRITE, "panel")
    run_command(page, "notebook:run-cell")
    until(lambda: page.locator(".workbench-panel").count() == 2)
    page.locator(".workbench-panel").last.evaluate("e => e.scrollIntoView()")
    second = page.locator(".workbench-panel").last.locator(".bk-Figure").first
    second.wait_for()
    steady(page.screenshot)
    keep("again")
    # A slow machine still simulates what the last keys asked for, in both views.
    until(lambda: len(set(sentence.all_inner_texts())) == 1)
    assert sentence.count() == 2
    assert sentence.first.inner_text() != before
