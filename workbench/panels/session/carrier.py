"""What carries a session to the page: a file to save, or a link to copy.

It is a live document of its own, made when it is first needed. What is to be carried waits until
the page says that the document is there, since what is sent before that is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

from bokeh.models import ColumnDataSource, CustomJS, Div

from workbench.panels.live_view import AT_ONCE, Downloads, LiveView
from workbench.panels.session.session import LONGEST_LINK

# Voilà's page has its own address. That of JupyterLab or of Jupyter Notebook tells where its server
# is, which has Voilà's pages too, and the server's folder, below which the notebook is.
_COPY = f"""
const {{token, query, page, home}} = cb_obj.data
const seen = (window.workbenchDownloads ??= new Set())
if (token.length > 0 && !seen.has(token[0])) {{
  seen.add(token[0])
  const served = document.body.dataset.voila != null
  const settings = document.getElementById('jupyter-config-data')
  const {{baseUrl: pages, serverRoot = ''}} = served ? {{baseUrl: ''}} :
    JSON.parse(settings?.textContent ?? '{{}}')
  const top = `${{serverRoot.replace(/^~/, home[0])}}/`
  const own = `${{pages}}notebooks/`  // of Jupyter Notebook, which names no folder of the server
  const opened = location.pathname.startsWith(own) ?
    decodeURIComponent(location.pathname.slice(own.length)) :
    page[0].startsWith(top) ? page[0].slice(top.length) : page[0]
  const encoded = opened.split('/').map(encodeURIComponent).join('/')
  const way = served ? location.pathname : `${{pages}}voila/render/${{encoded}}`
  const link = pages == null ? '' : new URL(`${{way}}?${{query[0]}}`, location.origin).href
  const say = words => {{ div.text = `<span role="status">${{words}}</span>` }}
  const held = `<input readonly aria-label="link" size="60" value="${{link}}">`
  const typed = () => {{
    const field = document.createElement('textarea')
    field.value = link
    document.body.append(field)
    field.select()
    const copied = document.execCommand('copy')
    field.remove()
    return copied ? Promise.resolve() : Promise.reject()
  }}
  if (pages == null) {{
    say('A link needs the address of a Jupyter server, which this page does not name: ' +
      'use Save session, and pass the file on.')
  }} else if (link.length > {LONGEST_LINK}) {{
    say(`A link must have at most {LONGEST_LINK:,} characters; this one would have ` +
      `${{link.length}}: use Save session, and pass the file on.`)
  }} else {{
    const written = navigator.clipboard?.writeText(link) ?? Promise.reject()
    written.catch(typed).then(
      () => say(`The link was copied, ${{link.length}} characters: ${{held}}`),
      () => say(`Copy this link: ${{held}}`))
  }}
}}
"""


class Carrier:
    """A document that saves files and copies links in the page that shows it."""

    def __init__(self) -> None:
        div = Div(text="", sizing_mode="stretch_width")
        self._waiting: Callable[[], None] | None = None
        self._there = False
        self._downloads = Downloads(div)
        self._link = ColumnDataSource(
            {"token": [], "query": [], "page": [], "home": []}, name="link", tags=[AT_ONCE]
        )
        self._link.js_on_change("data", CustomJS(args={"div": div}, code=_COPY))
        # Only models that the document refers to reach the browser.
        div.tags = [*div.tags, self._link]
        self.view = LiveView(div)
        self.view.on_shown(self._arrived)

    def save(self, name: str, text: str) -> None:
        """Let the browser save a JSON text under a file name."""
        self._carry(lambda: self._downloads.offer(name, text, "application/json"))

    def copy(self, query: str, page: str) -> None:
        """Let the browser copy the link with this query to a notebook, see ``page_of``."""
        home = Path.home().as_posix()
        data = {"token": [uuid4().hex], "query": [query], "page": [page], "home": [home]}
        self._carry(lambda: self._link.update(data=data))

    def _carry(self, action: Callable[[], None]) -> None:
        if self._there:
            action()
        else:
            self._waiting = action

    def _arrived(self) -> None:
        """Carry what waits: the page shows the document."""
        self._there = True
        action, self._waiting = self._waiting, None
        if action is not None:
            action()
