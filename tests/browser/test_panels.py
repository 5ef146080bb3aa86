"""The first two notebooks' panels as people use them: keys, a theme, files, mistakes, a fit."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.browser.layout import cut
from tests.browser.panel import (
    Keep,
    Show,
    Steady,
    Until,
    button,
    picture,
    saved,
    slider,
    to_the_top,
    wait_until_still,
)
from tests.browser.servers import Server, run_command
from workbench.panels.style import STALE
from workbench.plotting.picture import PNG_SCALE, WIDTH_PX

EXPLORE, FIT = "00-start-here.ipynb", "01-fit-a-machine.ipynb"
LATENCY = "injection latency"
CURVE = re.compile("8 KiB message: .* simulated")
_SELECT_LAST = """() => {
  const {content} = window.jupyterapp.shell.currentWidget
  content.activeCellIndex = content.widgets.length - 1
}"""
_CELLS = """() => window.jupyterapp.shell.currentWidget.content.widgets.map(
  cell => [cell.model.type, cell.model.sharedModel.getSource()])"""
_BELOW_ITS_BOX = """row => row.getBoundingClientRect().bottom -
  row.closest('.widget-html').getBoundingClientRect().bottom"""
_WRITE = """text => {
  window.jupyterapp.shell.currentWidget.content.activeCell.model.sharedModel.setSource(text)
}"""


def pixels(page: Any) -> str:
    """Return what the latency figure shows."""
    # Of its pair, and not the convergence, which Playwright finds before it.
    return picture(page.locator(".bk-Column .bk-Row .bk-Figure").first)


def sentence(page: Any) -> str:
    """Return what the panel says of a message, with its simulated latency."""
    return str(page.get_by_text("8 KiB message").first.inner_text())


def test_many_key_presses_in_a_row_end_at_the_last_one(
    show: Show, page: Any, until: Until, steady: Steady, keep: Keep
) -> None:
    show(EXPLORE, CURVE)
    keep("opened")
    assert cut(page) == []
    slider(page, LATENCY).focus()

    def press_right() -> tuple[str, bytes]:
        """Return the sentence and the figure after one key press."""
        said, drawn = sentence(page), pixels(page)
        page.keyboard.press("ArrowRight")
        until(lambda: sentence(page) != said)
        until(lambda: pixels(page) != drawn)
        return sentence(page), steady(lambda: pixels(page))

    said, before = press_right()
    press_right()
    for key in ["ArrowRight"] * 6 + ["ArrowLeft"] * 7:
        page.keyboard.press(key, delay=15)
    until(lambda: sentence(page) == said)
    until(lambda: pixels(page) == before)
    assert steady(lambda: pixels(page)) == before
    # What a screen reader says: the name, and the value with its unit as it is typed beside.
    handle = page.get_by_role("slider", name=LATENCY)
    typed = page.locator(".workbench-panel .widget-text input").first
    assert handle.get_attribute("aria-valuetext") == typed.input_value() != ""
    assert "ns" in typed.input_value()


def test_a_figure_follows_the_key_and_the_theme(
    show: Show, page: Any, until: Until, steady: Steady, keep: Keep
) -> None:
    show(FIT, CURVE)
    keep("opened")
    assert cut(page) == []
    before, said = pixels(page), sentence(page)
    slider(page, LATENCY).focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    until(lambda: sentence(page) != said)
    until(lambda: pixels(page) != before)
    screen = page.locator(".bk-Figure").first.screenshot  # with the filters of the page's style
    light = steady(screen)
    page.evaluate("() => { document.body.dataset.jpThemeLight = 'false' }")
    until(lambda: screen() != light)
    keep("dark")
    drawing = page.locator(".bk-Figure .bk-Canvas").first
    assert "invert(1)" in drawing.evaluate("e => getComputedStyle(e).filter")
    page.evaluate("() => { document.body.dataset.jpThemeLight = 'true' }")
    until(lambda: screen() == light)
    # For the notebook's file, where no kernel is; beside the panel it is hidden.
    kept = page.locator(".workbench-picture img")
    kept.wait_for(state="attached")
    assert not kept.is_visible()


def test_files_are_saved_by_the_browser(show: Show, page: Any) -> None:
    show(FIT, CURVE)
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


def test_an_error_stands_beside_its_control(
    show: Show, page: Any, steady: Steady, keep: Keep
) -> None:
    show(FIT, CURVE)
    to_the_top(page)
    before = steady(lambda: pixels(page))
    row = page.locator(".widget-hbox", has=page.get_by_text("NIC credits", exact=True)).last
    row.locator("input[type=text]").fill("1KB")
    page.keyboard.press("Enter")
    message = page.get_by_role("alert").filter(has_text="credits must hold one packet")
    message.wait_for()
    keep("refused")
    below = message.bounding_box()["y"] - row.bounding_box()["y"]
    assert 0 < below < 60, "right below the row of the control"
    page.locator(f".{STALE}").wait_for()
    assert steady(lambda: pixels(page)) == before, "the last good picture stays, dimmed"
    # Words that come above the figure move it by parts of a pixel; its sentence is compared then.
    said = sentence(page)
    trials = page.get_by_label("Trials")
    trials.fill("1e9")
    page.keyboard.press("Tab")
    refusal = (
        "Trials must be a whole number from 1 to 1,000,000; got 1,000,000,000; the value stays"
    )
    page.get_by_role("alert").filter(has_text=refusal).wait_for()
    assert trials.input_value() == "1e9", "not cut"
    button(page, "▶ Start").click()
    page.get_by_role("alert").filter(has_text="correct Trials first").wait_for()
    keep("out of range")
    assert sentence(page) == said
    row.locator("input[type=text]").fill("64KB")
    page.keyboard.press("Enter")
    message.wait_for(state="hidden")


def test_letters_stay_in_the_panel_a_table_scrolls_and_a_link_is_of_this_server(
    show: Show, page: Any, keep: Keep
) -> None:
    show(FIT, CURVE)
    before = page.evaluate(_CELLS)
    # Each is a shortcut of a notebook in command mode: cells above and below, raw, text, delete.
    for name in ("Model", "Machine"):
        page.get_by_label(name, exact=True).first.focus()
        for key in "abrmdd":
            page.keyboard.press(key)
    assert page.evaluate(_CELLS) == before
    page.get_by_label("show as table").check()
    rows = page.locator(".workbench-panel .widget-html tr")
    last = rows.filter(has_text="4 MiB").last
    last.scroll_into_view_if_needed()
    below = page.evaluate(_BELOW_ITS_BOX, last.element_handle())
    assert below <= 0, "the last row is in the box once it has been scrolled to"
    keep("table")
    page.get_by_label("show as table").uncheck()
    button(page, "Copy link").click()
    link = page.locator('input[aria-label="link"]').input_value()
    # The kernel is that of the notebook for which it was started, here another one.
    served = page.url.partition("/lab/")[0]
    assert re.match(rf"{served}/voila/render/\d\d-[\w-]+\.ipynb\?session=", link)


def test_a_fit_is_started_watched_and_stopped(
    show: Show, page: Any, until: Until, keep: Keep
) -> None:
    show(FIT, CURVE)
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
    before = sentence(page)
    slider(page, LATENCY).focus()

    def answered() -> bool:
        # A fit that has just improved draws its own sentence over the slider's answer, so the key
        # is pressed again until one is seen; sentence and change are asked of one text.
        page.keyboard.press("ArrowRight")
        text = sentence(page)
        return "simulated" in text and text != before

    until(answered)
    page.get_by_title("Stop the fit now and keep the best so far").click()
    until(lambda: page.get_by_text(re.compile(r"stopped: \d+ of 100000")).count() == 1)
    assert button(page, "▶ Start").is_enabled()
    page.get_by_role("tab", name="Result").click()
    page.get_by_text("node.nic.mtu").first.wait_for()
    keep("result")


@pytest.mark.deep
def test_another_machine_is_drawn_with_its_simulated_curve(
    show: Show, page: Any, until: Until, steady: Steady, keep: Keep
) -> None:
    """Shown again after another machine was, the same figures must come back to the pixel."""
    show(FIT, CURVE)
    machine = page.get_by_label("Machine", exact=True)

    def choose(name: str, runs: int) -> None:
        machine.select_option(name)
        page.get_by_text(f"median over {runs} runs").wait_for()

    choose("azure-hb96v3-hdr-noisy", 28)  # the panel may show a fit, which stays behind
    choose("azure-hb96v3-hdr", 84)
    button(page, "Reset parameters").click()
    before = steady(lambda: pixels(page), 1.0)
    choose("azure-hb96v3-hdr-noisy", 28)
    other = steady(lambda: pixels(page), 1.0)
    keep("noisy")
    assert other != before
    slider(page, LATENCY).focus()
    page.keyboard.press("ArrowRight")
    until(lambda: pixels(page) != other)
    page.keyboard.press("ArrowLeft")
    choose("azure-hb96v3-hdr", 84)
    button(page, "Reset parameters").click()
    until(lambda: pixels(page) == before)


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
  const models = [...window.Bokeh.documents[0].all_models]
  const words = models.find(one => one.glyph?.type === 'Text' && one.glyph.text.field === 'words')
  const figure = models.find(one => one.renderers?.includes?.(words))
  const {start, end} = figure.x_range
  const context = document.createElement('canvas').getContext('2d')
  context.font = `${words.glyph.text_font_size.value} ${words.glyph.text_font.value}`
  const lines = words.data_source.data.words.flatMap(one => one.split('\\n'))
  const widest = Math.max(...lines.map(line => context.measureText(line).width))
  return [(end - words.glyph.x.value) / (end - start) * figure.inner_width, widest]
}"""


@pytest.mark.deep
def test_what_is_known_of_a_parameter_is_not_cut(page: Any, tmp_path: Path, keep: Keep) -> None:
    from workbench import datasets
    from workbench.fit import fit, identify
    from workbench.plotting.embedding import standalone_html

    result = fit(datasets.load("azure-hb96v3-hdr"), "logp", engine="least-squares", trials=60)
    path = tmp_path / "identify.html"
    path.write_text(standalone_html(identify(result).plot(), "identify"), "utf-8")
    page.set_viewport_size({"width": 620, "height": 900})
    page.goto(path.as_uri())
    page.locator(".bk-Figure").first.wait_for()
    page.wait_for_timeout(500)
    keep("narrow")
    room, widest = page.evaluate(_ROOM_FOR_WORDS)
    assert 0 < widest <= room


_POINT = """([title, size]) => {
  const roots = window.Bokeh.documents.flatMap(one => one.roots())
  // Documents of panels that were shown before it have no views.
  const figure = roots.flatMap(root => root.select({type: 'Figure'}))
    .find(one => one.title.text.startsWith(title) && window.Bokeh.index.find_one(one))
  const {frame, canvas_view} = window.Bokeh.index.find_one(figure)
  const {data} = figure.renderers.find(one => one.data_source.name === 'measured').data_source
  const row = [...data.size].indexOf(size)
  const {x, y} = canvas_view.el.getBoundingClientRect()
  const up = data[title.toLowerCase()][row]
  return [x + frame.x_scale.compute(size), y + frame.y_scale.compute(up)]
}"""


def test_a_click_leaves_a_point_out_and_takes_it_back(
    show: Show, page: Any, until: Until, keep: Keep
) -> None:
    show(FIT, CURVE)
    to_the_top(page)
    left_out = page.get_by_label("Left out")
    for figure, words in (("Latency", "64 KiB"), ("Bandwidth", "")):
        page.mouse.click(*page.evaluate(_POINT, [figure, 65536]))
        until(lambda words=words: left_out.input_value() == words)
        keep(f"after a click in {figure}")
    page.get_by_label("Compare with").select_option("aws-hpc6a-efa")
    until(lambda: page.get_by_text("beside aws-hpc6a-efa: latency").count() == 1)


@pytest.mark.deep
def test_a_panel_shown_again_shows_the_present_picture(
    show: Show, lab: Server, page: Any, until: Until, steady: Steady, keep: Keep
) -> None:
    show(FIT, CURVE)
    words = page.get_by_text(CURVE)
    before = words.first.inner_text()
    slider(page, LATENCY).focus()
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    until(lambda: words.first.inner_text() != before)
    page.evaluate(_SELECT_LAST)
    run_command(page, "notebook:insert-cell-below")
    page.evaluate(_WRITE, "panel")
    run_command(page, "notebook:run-cell")
    until(lambda: page.locator(".workbench-panel").count() == 2)
    page.locator(".workbench-panel").last.evaluate("e => e.scrollIntoView()")
    second = page.locator(".workbench-panel").last.locator(".bk-Figure").first
    second.wait_for()
    wait_until_still(page, steady)
    keep("again")
    # A slow machine still simulates what the last keys asked for, in both views.
    until(lambda: len(set(words.all_inner_texts())) == 1)
    assert words.count() == 2
    assert words.first.inner_text() != before
