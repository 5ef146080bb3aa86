"""BokehJS for the page, sent as the state of a widget: so it is in no notebook's file."""

from __future__ import annotations

import traitlets
from anywidget import AnyWidget

from workbench.plotting.embedding import bokeh_scripts

# A widget is made in the page without being shown, also again after a reload of the page.
_ESM = """
export default {
  initialize({model}) {
    if (window.Bokeh?.embed == null) {
      const script = document.createElement('script')
      script.textContent = new TextDecoder().decode(model.get('code'))
      document.head.append(script)
    }
  },
}
"""


class BokehScript(AnyWidget):
    """BokehJS, which a page runs that has none."""

    _esm = traitlets.Unicode(_ESM).tag(sync=True)
    code = traitlets.Bytes().tag(sync=True)


_sent: list[BokehScript] = []


def send_bokeh() -> None:
    """Send BokehJS to the pages of this kernel, and to those that connect to it later."""
    while _sent:
        _sent.pop().close()
    code = b";\n".join(path.read_bytes() for path in bokeh_scripts())
    _sent.append(BokehScript(code=code))
