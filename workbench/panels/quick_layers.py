"""A page with few layers, and without what BokehJS makes or lays out again for nothing.

A browser gives each canvas of a page a layer of its own, and one more to what lies over it, and
arranges all of them again in nearly every frame. BokehJS draws each key of a legend on a canvas,
and keeps another over each figure for what is drawn while one points: most of the layers of a
panel. Here keys are images, and a canvas on which nothing is drawn is hidden. A key press in the
panel of notebook 05 takes the page a fifth less time then, in that of 07 a quarter less
(``tests/benchmarks/test_slider.py``).
``tests/browser/test_quick_redraw.py`` holds that figures look the same.
"""

from __future__ import annotations

from workbench.panels.quick_redraw import KNOWN_BOKEH

QUICK_LAYERS = f"""
const {{Bokeh}} = window
if (Bokeh.version.startsWith('{KNOWN_BOKEH}.') && window.workbenchQuickLayers == null) {{
  window.workbenchQuickLayers = true
  const view = name => Bokeh.Models.get(name).prototype.default_view.prototype
  const owner = (object, name) =>
    Object.hasOwn(object, name) ? object : owner(Object.getPrototypeOf(object), name)

  // A key is drawn where its pixels are read without a graphics card, and shown if it has changed.
  const legend = view('Legend')
  const {{_render_items: list, _paint_glyphs: paint}} = legend
  legend._render_items = function () {{
    list.call(this)
    for (const {{glyph}} of this.entries) {{
      const {{canvas: shown, ctx: {{rect_bbox}}}} = glyph
      const canvas = document.createElement('canvas')
      const ctx = canvas.getContext('2d', {{willReadFrequently: true}})
      glyph._el = glyph._canvas = canvas
      glyph._ctx = Object.assign(ctx, {{layer: glyph, rect_bbox}})
      glyph.picture = Object.assign(new Image(), {{className: shown.className, draggable: false}})
      shown.replaceWith(glyph.picture)
      // A picture of the figure that is saved has the key where the page has it.
      canvas.getBoundingClientRect = () => glyph.picture.getBoundingClientRect()
    }}
  }}
  legend._paint_glyphs = function () {{
    if (this.entries.some(({{glyph}}) => glyph.picture == null)) {{
      this._render_items()
    }}
    paint.call(this)
    for (const {{glyph: {{canvas, picture}}}} of this.entries) {{
      const drawn = canvas.toDataURL()
      if (picture.src !== drawn) {{
        picture.src = drawn
      }}
    }}
  }}

  const figure = view('Plot')
  const {{_paint_overlays: over}} = figure
  figure._paint_overlays = function (ctx) {{
    over.call(this, ctx)
    const drawn = this.computed_renderer_views.some(one =>
      one.model.level === 'overlay' && one.displayed)
    this.canvas_view.overlays.el.style.visibility = drawn ? 'visible' : 'hidden'
  }}

  // Hatches are canvases, made anew with all data: 7 of 48 ms of drawing in notebook 05.
  const glyphs = owner(view('VStrip'), 'set_visuals')
  const {{set_visuals: set}} = glyphs
  glyphs.set_visuals = function (...about) {{
    const {{hatch}} = this.visuals
    if (hatch != null) {{
      glyphs.set_visuals = set
      const vector = owner(hatch, 'update')
      const {{update}} = vector
      vector.update = function () {{
        if (!this._compute_static_doit()) {{
          this.drawn = null
          update.call(this)
          return
        }}
        const {{hatch_color, hatch_alpha, hatch_scale, hatch_pattern, hatch_weight}} = this
        const looks = [hatch_color, hatch_alpha, hatch_scale, hatch_pattern, hatch_weight]
          .map(one => one.is_Scalar() ? `${{one.length}} ${{one.value}}` : [...one])
        const key = JSON.stringify(looks)
        if (key !== this.drawn) {{
          this.drawn = key
          update.call(this)
        }}
      }}
    }}
    return set.call(this, ...about)
  }}

  // The axes of a hidden figure never have the room they ask for: each drawing of it would lay out
  // all figures beside it again, for 4 to 6 ms in notebook 05.
  const {{_invalidate_layout_if_needed: lay}} = figure
  figure._invalidate_layout_if_needed = function () {{
    if (this.model.visible) {{
      lay.call(this)
    }}
  }}
}}
"""
"""JavaScript for a document that is ready."""
