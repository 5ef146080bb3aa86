"""Voilà for a class: its options, and a process that ends with all its kernels."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil

from workbench.errors import ParameterError, WorkshopError
from workbench.panels.setup import WORKSHOP
from workbench.plotting.embedding import bokeh_scripts
from workbench.workshop.need import PATIENCE_S, TRANSPORT, Need

_JUPYTER = Path(__file__).parent / "jupyter"
_LOOK_S = 0.1  # chosen: how late the address is printed; Voilà itself takes seconds to listen


def serve(
    notebooks: Path,
    first: str,
    need: Need,
    *,
    address: str,
    port: int,
    token: str,
    listening: Callable[[], object],
) -> None:
    """Serve a folder of notebooks as pages until SIGINT or SIGTERM; all its kernels end with it.

    Args:
        notebooks: folder of the notebooks.
        first: the notebook that ready kernels have run.
        need: how many pages may be open at once, and how many kernels wait for one.
        address: of the network interface to listen on, see `check_address`.
        port: to listen on.
        token: what a visitor's address must hold.
        listening: called once pages can be opened.

    Raises:
        WorkshopError: the server ended by itself.
    """
    with tempfile.TemporaryDirectory(prefix="workshop-", ignore_cleanup_errors=True) as folder:
        options = _options(first, need, folder)
        options["Voila"] |= {"ip": address, "port": port, "token": token}
        # In a file, as all users can read the words of a command, and the token among them.
        Path(folder, "voila.json").write_text(json.dumps(options), "utf-8")
        with _running(notebooks, folder, address) as (server, asked):
            silent = True
            while server.poll() is None and not asked.wait(_LOOK_S):
                with contextlib.suppress(OSError):
                    if silent:
                        socket.create_connection((address, port)).close()
                        silent = False
                        listening()
        if not asked.is_set():
            raise WorkshopError(f"Voilà must run until it is ended; status {server.returncode}")


def check_address(address: str, port: int) -> None:
    """Raise a ParameterError where nothing can listen: Voilà would end without a reason."""
    try:
        socket.create_server((address, port)).close()
    except (OSError, OverflowError) as error:
        raise ParameterError(
            f"address and port must be of this machine and free; {address}, port {port}: {error}",
            key="port",
        ) from error


def _options(first: str, need: Need, folder: str) -> dict[str, Any]:
    """Return Voilà's options, but for those in ``etc/voila.json``."""
    return {
        "Voila": {
            "open_browser": False,
            "port_retries": 0,
            "log_level": "ERROR",  # a warning for each page: its notebook is not trusted
            "connection_dir_root": folder,
            "identity_provider_class": "workbench.workshop.login.TokenIdentity",
        },
        "TokenIdentity": {"allow_password_change": False},
        "VoilaConfiguration": {
            "multi_kernel_manager_class": "workbench.workshop.seats.LimitedKernels",
            "preheat_kernel": need.ready > 0,
            "resources": {"scripts": [script.name for script in bokeh_scripts()]},
        },
        "LimitedKernels": {"most": need.seats + need.ready},
        "VoilaKernelManager": {
            "kernel_pools_config": {"default": {"pool_size": 0}, first: {"pool_size": need.ready}}
        },
        "VoilaExecutor": {"startup_timeout": PATIENCE_S},
        "KernelManager": {"autorestart": False, **TRANSPORT},
    }


@contextlib.contextmanager
def _running(
    notebooks: Path, folder: str, address: str
) -> Iterator[tuple[subprocess.Popen[bytes], threading.Event]]:
    """Run Voilà, yield it and the event of a signal to end, then kill it and its kernels."""
    # Browsers keep a file. In each page BokehJS would be 8 MB, which Voilà held several times.
    scripts = Path(folder, "share", "nbconvert", "templates", "workbench", "static")
    scripts.mkdir(parents=True)
    for script in bokeh_scripts():
        shutil.copy(script, scripts)
    shares = [str(_JUPYTER / "share"), str(Path(folder, "share")), os.environ.get("JUPYTER_PATH")]
    variables = {
        WORKSHOP: folder,
        "JUPYTER_PATH": os.pathsep.join(filter(None, shares)),
        "VOILA_APP_IP": address,  # where a ready kernel asks for its page, see `voila.utils`
    }
    places = [f"--Voila.config_file_paths={place}" for place in (folder, _JUPYTER / "etc")]
    command = [sys.executable, "-m", __name__, *places, str(notebooks)]
    asked = threading.Event()
    # Set, not inherited: a command in the background of a script finds SIGINT ignored.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: asked.set())
    # A session of its own, as Ctrl-C in a terminal is for this process alone.
    server = subprocess.Popen(
        command, stdin=subprocess.PIPE, env={**os.environ, **variables}, start_new_session=True
    )
    try:
        yield server, asked
    finally:
        # Nothing of a page is kept, and a kernel that computes would not hear a polite request.
        server.kill()
        server.wait()
        while left := _started(folder):
            for process in left:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
            time.sleep(_LOOK_S)


def _started(folder: str) -> list[psutil.Process]:
    """Return the processes that a server has started: all inherit the name of its folder."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get(WORKSHOP) == folder:
                found.append(process)
    return found


def _main() -> None:
    """Run Voilà until a signal, or until the process ends that has the other end of its input."""
    from voila.app import main

    def end() -> None:
        os.read(0, 1)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=end, daemon=True).start()
    main()


if __name__ == "__main__":
    _main()
