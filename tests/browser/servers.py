"""JupyterLab and Voilà on a free port of this machine, on a copy of the notebooks, ended by pid."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parents[2]
START_S = 300
# On a busy machine a widget's first look for its model may fail and the next find it (ipywidgets'
# issue 4026). One that is never found is a panel that a test waits for in vain.
LATE_MODEL = "Error: widget model not found"
QUIET = '{"fetchNews": "false", "checkForUpdates": false}'

_RUN_COMMAND = "name => window.jupyterapp.commands.execute(name).then(() => true)"
_SELECT_BELOW_PANEL = """() => {
  const {content} = window.jupyterapp.shell.currentWidget
  const sources = content.widgets.map(cell => cell.model.sharedModel.source)
  content.activeCellIndex = 1 + sources.findIndex(source => source.startsWith('panel = '))
}"""
# Figures tell their kernel that they go; disposing asks nobody whether to save what has changed.
_CLOSE_NOTEBOOKS = """async () => {
  const app = window.jupyterapp
  if (app === undefined) return true
  const open = [...app.shell.widgets('main')]
  if (open.some(widget => widget.context?.model)) {
    await app.commands.execute('notebook:clear-all-cell-outputs')
  }
  await app.serviceManager.sessions.shutdownAll()
  for (const widget of open) widget.dispose()
  return true
}"""
_SHOWN_NOTEBOOK = "() => window.jupyterapp?.shell?.currentWidget?.context?.path"
_OPEN_NOTEBOOK = """path =>
  window.jupyterapp.commands.execute('docmanager:open', {path}).then(() => true)"""
_READY = """() => {
  const widget = window.jupyterapp?.shell?.currentWidget
  return widget?.content?.model && widget.sessionContext?.isReady
    && widget.sessionContext.kernelDisplayStatus === 'idle'
}"""


def run_command(page: Any, name: str) -> None:
    """Run a command of JupyterLab, such as ``notebook:run-cell``, to its end.

    ``page.evaluate`` would wait for ever if a message to the kernel were lost.

    Args:
        page: of Playwright.
        name: of the command.
    """
    page.wait_for_function(_RUN_COMMAND, arg=name, timeout=START_S * 1000)


def close_notebooks(page: Any) -> None:
    """End the kernels of JupyterLab, which may be computing, and close its notebooks.

    Args:
        page: of Playwright; one that does not show JupyterLab stays as it is.
    """
    page.wait_for_function(_CLOSE_NOTEBOOKS)


@dataclass
class Watch:
    """What a page did that it should not have done.

    Attributes:
        errors: messages of the console's error level, and exceptions nobody caught.
        outside: addresses on other machines that were asked for; each was refused, as
            tests/conftest.py tells Chromium to know none but this machine's.
    """

    errors: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Server:
    """A running server.

    Attributes:
        kind: ``lab`` or ``voila``.
        address: where it answers.
        folder: the copy of the notebooks that it serves.
        process: number of its process.
        reload: whether JupyterLab is loaded anew for another notebook, as for one who times it.
    """

    kind: str
    address: str
    folder: Path
    process: int
    reload: bool = True

    def open(self, page: Any, notebook: str, whole: bool = False) -> Watch:
        """Open a notebook and run it, and record what it asks of other machines.

        Args:
            page: of Playwright.
            notebook: file name.
            whole: whether the cells after the panel are run too.
        """
        address = (
            f"{self.address}/{'lab/tree' if self.kind == 'lab' else 'voila/render'}/{notebook}"
        )
        shown = self.kind == "lab" and page.evaluate(_SHOWN_NOTEBOOK) == notebook
        if self.kind == "voila":
            # What the page says while it goes away belongs to the test before, and what its kernel
            # still computes would slow the next one: a page asks a kernel for its widgets and waits
            # for four seconds, then shows none.
            page.goto("about:blank")
            self.end_kernels()
            if not whole:
                _end_at_panel(self.folder / notebook)
        watch = self.watch(page)
        if self.kind == "voila":
            page.goto(address, wait_until="commit")
        else:
            if shown:
                # What the pointer rests on would answer it as soon as it is drawn.
                page.mouse.move(0, 0)
                run_command(page, "notebook:clear-all-cell-outputs")
                page.locator(".workbench-panel").first.wait_for(state="detached")
            elif not self.reload and page.url.startswith(f"{self.address}/lab"):
                # It takes 1 s of processor time, loading JupyterLab 5 s.
                close_notebooks(page)
                page.mouse.move(0, 0)
                page.wait_for_function(_OPEN_NOTEBOOK, arg=notebook)
                page.wait_for_function(_READY, timeout=START_S * 1000)
            else:
                page.goto(f"{address}?reset", wait_until="commit")
                page.wait_for_function(_READY, timeout=START_S * 1000)
                run_command(page, "application:toggle-left-area")
            if whole:
                run_command(page, "notebook:run-all-cells")
            else:
                page.evaluate(_SELECT_BELOW_PANEL)
                run_command(page, "notebook:run-all-above")
        page.locator(".bk-Figure").first.wait_for(timeout=START_S * 1000)
        return watch

    def end_kernels(self) -> None:
        """End the kernels of this server.

        Voilà refuses (403) a page's request to end its own where the browser has not opened its
        list of notebooks, which sets a cookie.
        """
        for kernel in psutil.Process(self.process).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                kernel.kill()

    def watch(self, page: Any) -> Watch:
        """Record a page's errors and what it asks of other machines, which Chromium refuses.

        Args:
            page: of Playwright.
        """
        return watch(page, self.address)


def watch(page: Any, own: str) -> Watch:
    """Record a page's errors and what it asks of others.

    Args:
        page: of Playwright.
        own: how the addresses begin that the page may ask for.
    """
    seen = Watch()

    # A route would see them too, and would turn off the cache of a browser.
    def asked(request: Any) -> None:
        if not request.url.startswith((own, "data:", "blob:")):
            seen.outside.append(request.url)

    def said(message: Any) -> None:
        if message.type == "error" and LATE_MODEL not in message.text:
            seen.errors.append(message.text)

    page.on("request", asked)
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    page.on("console", said)
    return seen


@contextlib.contextmanager
def serve(
    kind: str, folder: Path, options: Sequence[str] = (), **environment: str
) -> Iterator[Server]:
    """Serve a copy of the notebooks and end the process afterwards.

    Args:
        kind: ``lab`` or ``voila``.
        folder: empty folder for the copy and the server's own files.
        options: further words for the server.
        environment: further variables of the server and its kernels.
    """
    notebooks, settings = folder / "notebooks", folder / "settings"
    shutil.copytree(ROOT / "notebooks", notebooks, ignore=shutil.ignore_patterns(".*", "*.db*"))
    quiet = settings / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
    quiet.parent.mkdir(parents=True)
    quiet.write_text(QUIET)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    log = (folder / "server.log").open("w")
    process = subprocess.Popen(
        [*_command(kind, port, notebooks), *options],
        cwd=notebooks,
        stdout=log,
        stderr=subprocess.STDOUT,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([*os.environ.get("PYTHONPATH", "").split(), str(ROOT)]),
            "JUPYTER_PATH": str(ROOT / "workbench" / "workshop" / "jupyter" / "share"),
            "JUPYTERLAB_SETTINGS_DIR": str(settings),
            "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
            **environment,
        },
    )
    try:
        _wait_for(port, process, folder / "server.log")
        yield Server(kind, f"http://127.0.0.1:{port}", notebooks, process.pid)
    finally:
        # Nothing of it is kept. Asked to end, it would wait for kernels that compute.
        started = psutil.Process(process.pid).children(recursive=True)
        for each in [process, *started]:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.kill()
        process.wait()
        log.close()


def _end_at_panel(path: Path) -> None:
    content = json.loads(path.read_text())
    sources = ["".join(cell["source"]) for cell in content["cells"]]
    panel = next(n for n, source in enumerate(sources) if source.startswith("panel = "))
    content["cells"] = content["cells"][: panel + 1]
    path.write_text(json.dumps(content))


def _command(kind: str, port: int, folder: Path) -> list[str]:
    if kind == "voila":
        options = ["--no-browser", "--Voila.ip=127.0.0.1", "--Voila.port_retries=0"]
        options += ["--KernelManager.autorestart=False", "--template=workbench"]
        return [sys.executable, "-m", "voila", f"--port={port}", *options, str(folder)]
    options = [
        "--no-browser",
        "--ip=127.0.0.1",
        "--ServerApp.port_retries=0",
        "--IdentityProvider.token=",
        f"--ServerApp.root_dir={folder}",
        "--LabApp.expose_app_in_browser=True",
        "--LabApp.extension_manager=readonly",
    ]
    if os.geteuid() == 0:
        options.append("--allow-root")
    return [sys.executable, "-m", "jupyterlab", f"--port={port}", *options]


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_S
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)
    raise RuntimeError(f"the server did not start:\n{log.read_text()[-3000:]}")
