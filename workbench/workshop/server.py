"""Voilà as the workbench serves it: a start page, seats, and kernels that end with their page."""

from __future__ import annotations

import json
import re
import socket
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tornado.ioloop import IOLoop
from tornado.web import StaticFileHandler
from traitlets.config import Config
from voila.app import Voila
from voila.tornado.handler import TornadoVoilaHandler
from voila.tornado.treehandler import TornadoVoilaTreeHandler

from workbench.errors import ParameterError
from workbench.workshop.cards import add_cards
from workbench.workshop.kernels import WorkshopKernels, tell_pages
from workbench.workshop.need import KEPT
from workbench.workshop.pages import SCRIPTS, NotebookPage, StartPage, bokeh_scripts
from workbench.workshop.templates import compile_once

_SHIPPED = Path(__file__).parent / "jupyter"
TEMPLATE = _SHIPPED / "voila" / "templates" / "workbench"
# A page asks for the end of its kernel; this is for those that vanish without a word.
_CULL_IDLE_S, _CULL_EVERY_S = 120, 10
_PAGES = {TornadoVoilaTreeHandler: StartPage, TornadoVoilaHandler: NotebookPage}


class WorkshopServer(Voila):
    """Voilà with the pages and the template of the workbench."""

    name = "voila"
    listening: Callable[[], object]
    """Called once pages can be opened."""

    def listen(self) -> None:
        """Answer until a signal ends it."""
        IOLoop.current().add_callback(self.listening)
        super().listen()

    def setup_template_dirs(self) -> None:
        """Look for templates in this package first, which may not be installed otherwise."""
        super().setup_template_dirs()
        self.template_paths.insert(0, str(TEMPLATE))

    def init_settings(self) -> dict[str, Any]:
        """Make what Voilà needs; the warm kernels of its configuration start with that."""
        settings: dict[str, Any] = super().init_settings()
        # Those that are taken in the first rush are not replaced, which would slow the rush.
        kernels = self.kernel_manager
        kernels.kernel_pools_config = {
            name: {"pool_size": min(pool["pool_size"], KEPT)}
            for name, pool in kernels.kernel_pools_config.items()
        }
        tell_pages(kernels)
        return settings

    def init_handlers(self) -> list[Any]:
        """Return Voilà's addresses with our pages, and the address of BokehJS."""
        folder = {"path": str(bokeh_scripts()[0])}
        return [
            (rf"{re.escape(self.server_url)}{SCRIPTS}(.*)", StaticFileHandler, folder),
            *(
                (address, _PAGES.get(handler, handler), *options)
                for address, handler, *options in super().init_handlers()
            ),
        ]


def serve(
    notebooks: str | Path,
    *,
    seats: int,
    token: str,
    address: str = "127.0.0.1",
    port: int = 8866,
    warm: Mapping[str, int] | None = None,
    listening: Callable[[], object] = lambda: None,
) -> None:
    """Serve a folder of notebooks as pages until a signal ends it; all its kernels end with it.

    Args:
        notebooks: folder of the notebooks.
        seats: how many pages may be open at once.
        token: what a visitor's address must hold.
        address: of the network interface to listen on.
        port: to listen on; if it is taken, the server does not start.
        warm: how many kernels have begun which notebook before the first page is opened; later
            as many as that, but at most `KEPT`, wait for the next pages.
        listening: called once pages can be opened.

    Raises:
        ParameterError: nothing can listen on the address and the port.
    """
    check_address(address, port)
    with tempfile.TemporaryDirectory(prefix="workshop-", ignore_cleanup_errors=True) as folder:
        compile_once()
        server = WorkshopServer(config=_settings(seats, warm or {}, folder))
        server.initialize([str(notebooks)])
        # A line for each page that begins; what is served is run, trusted or not.
        server.log.addFilter(lambda record: "is not trusted" not in record.getMessage())
        server.open_browser = False
        server.ip, server.port, server.port_retries = address, port, 0
        server.token, server.listening = token, listening
        server.start()


def check_address(address: str, port: int) -> None:
    """Raise a ParameterError where nothing can listen: Voilà would end this process."""
    try:
        socket.create_server((address, port)).close()
    except (OSError, OverflowError) as error:
        raise ParameterError(
            f"address and port must be of this machine and free; {address}, port {port}: {error}",
            key="port",
        ) from error


def _settings(seats: int, warm: Mapping[str, int], folder: str) -> Config:
    pools = {name: {"pool_size": size} for name, size in warm.items()}
    shipped = Config(json.loads((_SHIPPED / "etc" / "voila.json").read_text("utf-8")))
    own = Config(
        {
            "Voila": {"log_level": "WARN"},
            "VoilaConfiguration": {
                "page_config_hook": add_cards,
                "multi_kernel_manager_class": WorkshopKernels,
                "preheat_kernel": bool(warm),
                "default_pool_size": 0,
                "resources": {"scripts": bokeh_scripts()[1]},
            },
            "WorkshopKernels": {"seats": seats, "folder": folder},
            "VoilaKernelManager": {"kernel_pools_config": {"default": {"pool_size": 0}} | pools},
            "MappingKernelManager": {
                "cull_idle_timeout": _CULL_IDLE_S,
                "cull_interval": _CULL_EVERY_S,
            },
            # Sockets in a folder of this user: no other user of the machine can listen or connect.
            "KernelManager": {"autorestart": False, "transport": "ipc"},
        }
    )
    shipped.merge(own)
    return shipped
