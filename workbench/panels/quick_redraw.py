"""A page that draws figures again without doing again what has not changed.

Each time BokehJS draws a figure it writes a style sheet for every axis, grid and glyph, and asks
the browser for computed styles in between, so the browser computes styles dozens of times: half of
the time of a drawing. A script in the page changes these methods, and only in the version of
BokehJS whose methods are known: any other draws as it is, only slower.
``tests/browser/test_quick_redraw.py`` holds that figures look the same.
"""

from __future__ import annotations

KNOWN_BOKEH = "3.9"
"""The version of BokehJS whose methods are changed."""

QUICK_REDRAW = f"""
const {{Bokeh}} = window
const plots = Bokeh.version.startsWith('{KNOWN_BOKEH}.') && window.workbenchQuickRedraw == null
  ? [...cb_obj._all_models.values()].map(model => Bokeh.index.find_one(model)) : []
const plot = plots.find(view => view?.canvas_view != null)
if (plot != null) {{
  window.workbenchQuickRedraw = true
  const owner = (object, name) => {{
    const proto = Object.getPrototypeOf(object)
    return Object.hasOwn(proto, name) ? proto : owner(proto, name)
  }}

  // A style sheet with the same rules stays.
  const sheet = owner(plot._computed_style, '_update')
  const write = sheet._update
  sheet._update = function (css) {{
    if (css !== this.css) {{
      write.call(this, css)
    }}
  }}

  // Colours and widths come from the models: no style sheet of ours has Bokeh's variables for them.
  owner(plot.visuals.outline_line, '_get_css_value')._get_css_value = () => ''

  // The size of letters is asked for each label: once for a drawing is enough.
  const figure = owner(plot, 'base_font_size')
  const size = Object.getOwnPropertyDescriptor(figure, 'base_font_size').get
  const sizes = new Map()
  Object.defineProperty(figure, 'base_font_size', {{get() {{
    if (!sizes.has(this)) {{
      sizes.set(this, size.call(this))
      setTimeout(() => sizes.delete(this))
    }}
    return sizes.get(this)
  }}}})
}}
"""
"""JavaScript for a document that is ready."""
