"""A page that colours thousands of segments anew without drawing each of them again.

When the scale of loads moves, all links of a map change their colour, and nothing else changes.
Consecutive segments of one colour, width and opacity are a picture of one colour: the page keeps it
and colours it anew. What lies over what stays, as the order of these pictures is that of the
segments. A frame of four maps with 7,600 links takes the page 8 instead of 39 ms then
(``tests/benchmarks/test_slider.py``, 07); ``tests/browser/test_quick_segments.py`` holds that they
look the same.
"""

from __future__ import annotations

from workbench.panels.quick_redraw import KNOWN_BOKEH

QUICK_SEGMENTS = f"""
const {{Bokeh}} = window
if (Bokeh.version.startsWith('{KNOWN_BOKEH}.') && window.workbenchQuickSegments == null) {{
  window.workbenchQuickSegments = true
  const MOST = 16  // pictures of a glyph
  const FEWEST = 50  // segments of a picture: fewer are drawn as quickly
  const view = Bokeh.Models.get('Segment').prototype.default_view.prototype
  const draw = view._paint
  const kept = new WeakMap()

  // All that decides a drawing but its colours.
  const shapes = (glyph, ctx, indices) => {{
    const {{sx0, sy0, sx1, sy1, visuals: {{line}}}} = glyph
    const {{a, b, c, d, e, f}} = ctx.getTransform()
    const shape = new Float64Array(8 + 6 * indices.length)
    shape.set([ctx.canvas.width, ctx.canvas.height, a, b, c, d, e, f])
    let at = 8
    for (const i of indices) {{
      shape[at++] = sx0[i]
      shape[at++] = sy0[i]
      shape[at++] = sx1[i]
      shape[at++] = sy1[i]
      shape[at++] = line.line_width.get(i)
      shape[at++] = line.line_alpha.get(i)
    }}
    return shape
  }}

  const same = (one, other) =>
    one.length === other.length && one.every((value, at) => Object.is(value, other[at]))

  const alike = ({{line_color, line_width, line_alpha}}, i, j) =>
    line_color.get(i) === line_color.get(j) && line_width.get(i) === line_width.get(j)
      && line_alpha.get(i) === line_alpha.get(j)

  // Runs of segments that look alike; null where there are too many, or colours are transparent.
  const runs = (line, indices) => {{
    const found = []
    for (const i of indices) {{
      const last = found.at(-1)
      if (last != null && alike(line, last[0], i)) {{
        last.push(i)
      }} else if (FEWEST * found.length > indices.length || found.length === MOST
          || (line.line_color.get(i) & 0xff) !== 0xff) {{
        return null
      }} else {{
        found.push([i])
      }}
    }}
    return found
  }}

  const pictures = (glyph, ctx, indices) =>
    runs(glyph.visuals.line, indices)?.map(run => {{
      const picture = new OffscreenCanvas(ctx.canvas.width, ctx.canvas.height).getContext('2d')
      picture.setTransform(ctx.getTransform())
      draw.call(glyph, picture, run)
      picture.resetTransform()
      picture.globalCompositeOperation = 'source-in'
      return {{picture, run, color: glyph.visuals.line.line_color.get(run[0])}}
    }})

  // Whether each picture still has one colour, which it has afterwards.
  const colour = (drawn, line_color) => drawn.every(one => {{
    const color = line_color.get(one.run[0])
    if (color !== one.color) {{
      if ((color & 0xff) !== 0xff || one.run.some(i => line_color.get(i) !== color)) {{
        return false
      }}
      one.color = color
      one.picture.fillStyle = `#${{color.toString(16).padStart(8, '0')}}`
      one.picture.fillRect(0, 0, one.picture.canvas.width, one.picture.canvas.height)
    }} else if (one.run.some(i => line_color.get(i) !== color)) {{
      return false
    }}
    return true
  }})

  // What is drawn on the upper layer, where nothing else is drawn anew, stays inside of the frame.
  const renderer = Bokeh.Models.get('GlyphRenderer').prototype.default_view.prototype
  Object.defineProperty(renderer, 'needs_clip', {{get: () => true}})

  view._paint = function (ctx, indices, data) {{
    const {{line}} = this.visuals
    const plain = !(ctx instanceof CanvasRenderingContext2D) || data != null || !line.doit
      || indices.length < FEWEST || this.decorations.size > 0
      || ![line.line_dash, line.line_cap, line.line_dash_offset].every(one => one.is_Scalar())
    if (plain) {{
      draw.call(this, ctx, indices, data)
      return
    }}
    const shape = shapes(this, ctx, indices)
    const last = kept.get(this)
    const again = last != null && same(last.shape, shape)
    // Pictures are worth making where the same is drawn again, and not while one zooms.
    let drawn = again ? last.drawn ?? pictures(this, ctx, indices) : null
    if (drawn != null && !colour(drawn, line.line_color)) {{
      drawn = null
    }}
    kept.set(this, {{shape, drawn}})
    if (drawn == null) {{
      draw.call(this, ctx, indices, data)
      return
    }}
    ctx.save()
    ctx.resetTransform()
    for (const {{picture}} of drawn) {{
      ctx.drawImage(picture.canvas, 0, 0)
    }}
    ctx.restore()
  }}
}}
"""
"""JavaScript for a document that is ready."""
