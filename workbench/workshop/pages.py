"""The two pages of a workshop's server: the list of notebooks, and a notebook."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode

from tornado.web import HTTPError, RequestHandler, authenticated
from voila.tornado.handler import TornadoVoilaHandler
from voila.tornado.treehandler import TornadoVoilaTreeHandler

from workbench.workshop.kernels import FULL

RETRY_S = 60
SCRIPTS = "voila/bokeh/"
"""Where the server has BokehJS."""


class StartPage(TornadoVoilaTreeHandler):
    """The list of notebooks, a card for each."""

    @authenticated
    async def get(self, path: str = "") -> None:
        """Show the list; an address with a token is answered by the address without it."""
        if not _without_token(self):
            await super().get(path)


class NotebookPage(TornadoVoilaHandler):
    """A notebook with a kernel of its own, which ends with the page.

    The page asks for the end of its kernel when it is closed. That request carries the value of a
    cookie against forged requests, which Voilà checks but never sets, so it is set here.
    """

    kernel_id = ""
    _closed = False

    @authenticated
    async def get(self, path: str | None = None) -> None:
        """Show a notebook, or a page that says that the server is full, with status 503."""
        if _without_token(self):
            return
        self.xsrf_token  # noqa: B018 - reading it sets the cookie
        try:
            if self.kernel_manager.visitors >= self.kernel_manager.seats:
                raise HTTPError(FULL)
            await super().get(path)
        except HTTPError as error:  # others may have taken the last seat meanwhile
            if error.status_code != FULL:
                raise
            self.set_status(FULL)
            self.set_header("Retry-After", str(RETRY_S))
            self.finish(self.render_template("full.html", retry_s=RETRY_S))

    def on_connection_close(self) -> None:
        """End the kernel of a page that was closed before it was whole."""
        super().on_connection_close()
        self._closed = True
        self.kernel_manager.leave(self.kernel_id)

    def take(self, kernel_id: str) -> None:
        """Have the kernel of this page; if the page was closed meanwhile, end it."""
        self.kernel_id = kernel_id
        if self._closed:
            self.kernel_manager.leave(kernel_id)


def bokeh_scripts() -> tuple[Path, list[str]]:
    """Return the folder of BokehJS's files and the addresses of those that pages load.

    Browsers keep a file for each version. In each page they would be 8 MB, which the server kept
    several times for each page that is open.
    """
    from bokeh import __version__
    from bokeh.resources import INLINE
    from bokeh.settings import settings

    names = [f"{SCRIPTS}{name}.min.js?v={__version__}" for name in INLINE.components]
    return Path(settings.bokehjs_path()) / "js", names


def _without_token(page: RequestHandler) -> bool:
    """Redirect an address with a token to the same without, as a cookie knows the visitor now."""
    query = {
        name: page.get_query_arguments(name, strip=False) for name in page.request.query_arguments
    }
    if page.request.method != "GET" or not query.pop("token", None):
        return False
    page.redirect(page.request.path + ("?" + urlencode(query, doseq=True) if query else ""))
    return True
