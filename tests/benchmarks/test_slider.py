"""From a key press on a slider to the last pixel of the figures, in a browser; printed.

The page's own clock is read at the key press and after the frame that follows the last drawing
call on any canvas, so the figures include the kernel, the simulation, both ways over the socket
and the painting.
"""

from __future__ import annotations

import os
import statistics
from pathlib import Path
from typing import Any

import pytest

from tests.browser.servers import Server, serve

pytestmark = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore:Session-scoped fixtures defined as instance methods"),
]

PRESSES = 20
PAUSE_MS = 600
LATENCY = "injection latency"

# A drawing call asks for a message after the next frame: by then its pixels are on the screen.
CLOCK = """
window.press = {at: 0, painted: 0, waiting: false}
window.addEventListener('keydown', () => {
  window.press.at = performance.now()
  window.press.painted = 0
}, true)
for (const name of ['stroke', 'fill', 'fillText', 'fillRect', 'clearRect', 'drawImage']) {
  const draw = CanvasRenderingContext2D.prototype[name]
  CanvasRenderingContext2D.prototype[name] = function (...args) {
    if (!window.press.waiting) {
      window.press.waiting = true
      requestAnimationFrame(() => {
        const channel = new MessageChannel()
        channel.port1.onmessage = () => {
          window.press.painted = performance.now()
          window.press.waiting = false
        }
        channel.port2.postMessage(0)
      })
    }
    return draw.apply(this, args)
  }
}
"""


# The sentence says "simulated" for the sliders' curve and "fitted" for the fit's.
ANSWERS = """() => {
  window.answered = 0
  const seen = new MutationObserver(() => {
    const text = document.querySelector('.workbench-panel [role=status]')?.innerText ?? ''
    if (text.includes('simulated') && text !== window.sentence && window.answered === 0) {
      window.answered = performance.now()
      window.sentence = text
    }
  })
  seen.observe(document.querySelector('.workbench-panel'), {childList: true, subtree: true})
  window.addEventListener('click', () => { window.clicked = performance.now() }, true)
}"""


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


def handle(page: Any, label: str = LATENCY) -> Any:
    row = page.locator(".widget-slider", has=page.get_by_text(label, exact=True))
    return row.locator(".noUi-handle").first


def press_and_time(page: Any, label: str = LATENCY) -> list[float]:
    """Return the milliseconds from each key press to its last pixel."""
    slider = handle(page, label)
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(PAUSE_MS)
    times = []
    for press in range(PRESSES):
        page.keyboard.press("ArrowRight" if press % 2 else "ArrowLeft")
        page.wait_for_timeout(PAUSE_MS)
        pressed = page.evaluate("() => window.press")
        assert pressed["painted"] > 0, "the figures were not drawn again"
        times.append(pressed["painted"] - pressed["at"])
    return times


def report(what: str, times: list[float]) -> None:
    load = os.getloadavg()[0]
    print(
        f"\n{what}: {len(times)} key presses to the last pixel: median "
        f"{statistics.median(times):.0f} ms, p95 {percentile(times, 0.95):.0f} ms, "
        f"longest {max(times):.0f} ms (load {load:.1f})"
    )


@pytest.fixture(params=["lab", "voila"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    with serve(request.param, tmp_path) as server:
        yield server


@pytest.mark.parametrize("notebook", ["00-start-here.ipynb", "01-fit-a-machine.ipynb"])
def test_slider_to_last_pixel(server: Server, page: Any, notebook: str) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.add_init_script(CLOCK)
    server.open(page, notebook)
    page.get_by_text("8 KiB message").first.wait_for()
    page.wait_for_timeout(3000)
    report(f"{server.kind} {notebook}", press_and_time(page))


@pytest.mark.parametrize(
    ("notebook", "label", "ready"),
    [
        ("11-who-slowed-my-job.ipynb", "Step", "40 runs and their causes"),
        ("12-forecast-the-next-steps.ipynb", "Steps passed", "all models, "),
    ],
)
def test_step_of_a_run_to_last_pixel(
    server: Server, page: Any, notebook: str, label: str, ready: str
) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.add_init_script(CLOCK)
    server.open(page, notebook)
    page.get_by_text(ready).first.wait_for(timeout=120_000)
    page.wait_for_timeout(3000)
    report(f"{server.kind} {notebook}", press_and_time(page, label))


def test_slider_and_stop_while_a_fit_runs(server: Server, page: Any) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.add_init_script(CLOCK)
    server.open(page, "01-fit-a-machine.ipynb")
    page.get_by_text("8 KiB message").first.wait_for()
    page.wait_for_timeout(3000)
    page.get_by_label("Trials").fill("100000")
    page.keyboard.press("Tab")
    page.locator(".jupyter-button", has_text="Start").click()
    page.get_by_text("of 100000 trials").first.wait_for()
    page.wait_for_timeout(3000)
    # The convergence is drawn all the while, so what is timed is the sentence below the figures.
    page.evaluate(ANSWERS)
    handle(page).focus()
    times = []
    for press in range(PRESSES):
        page.evaluate("() => { window.answered = 0 }")
        page.keyboard.press("ArrowRight" if press % 2 else "ArrowLeft")
        page.wait_for_function("() => window.answered > 0", timeout=10_000)
        times.append(page.evaluate("() => window.answered - window.press.at"))
        page.wait_for_timeout(200)
    report(f"{server.kind}, while a fit runs", times)
    page.locator(".jupyter-button[title^='Stop the fit']").click()
    began = page.evaluate("() => window.clicked")
    page.wait_for_function("() => document.body.innerText.includes('stopped:')", polling=10)
    print(f"{server.kind}: Stop took {page.evaluate('() => performance.now()') - began:.0f} ms")
