"""A figure saved as a picture for a paper, of one size on every screen."""

from __future__ import annotations

from typing import Final

from bokeh.models import CustomAction, CustomJS, LayoutDOM

from workbench.plotting import palette

WIDTH_PX: Final = 700
"""Width at which a picture is laid out: 7 inches, both columns of a page, where the text of 11 px
is printed at 8 points."""

PNG_SCALE: Final = 3
"""Pixels of a PNG for each of these: 2100 across, 300 dots per inch at 7 inches."""

# A copy of the layout is drawn beside the page, so that the one on the screen stays as it is; the
# page's theme is a filter on what is shown, so that what is drawn is light. The PNG is made from
# the SVG: both are the same picture.
SAVE_PICTURE: Final = f"""
const savePicture = async (layout, name, caption) => {{
  const document_ = layout.document.constructor.from_json(layout.document.to_json())
  const copy = document_.get_model_by_id(layout.id)
  const {{config}} = document_
  document_.clear()
  document_.config = config
  document_.add_root(copy)
  const place = document.createElement('div')
  place.style.cssText = 'position:absolute;left:-20000px;top:0;width:{WIDTH_PX}px'
  document.body.append(place)
  let views = null
  try {{
    views = await window.Bokeh.embed.add_document_standalone(document_, place)
    const view = views.find_one(copy)
    const later = ms => new Promise(done => setTimeout(done, ms))
    for (let turn = 0; turn < 200 && !view.has_finished(); turn++) {{
      await later(25)
    }}
    await later(250)  // titles and numbers fit themselves to the width, and are drawn again
    const drawn = await (await view.export('svg')).to_blob()
    const whole = captioned(await drawn.text(), view.bbox.width, view.bbox.height, caption)
    const svg = new Blob([whole.text], {{type: 'image/svg+xml'}})
    offer(name.endsWith('.svg') ? svg : await rastered(svg, whole), name)
  }} finally {{
    views?.clear()
    place.remove()
  }}
}}
const captioned = (drawing, width, height, caption) => {{
  const context = document.createElement('canvas').getContext('2d')
  context.font = '11px helvetica'
  const lines = []
  for (const word of caption.split(' ').filter(word => word !== '')) {{
    const longer = lines.length > 0 ? `${{lines[lines.length - 1]}} ${{word}}` : word
    if (lines.length > 0 && context.measureText(longer).width < width - 12) {{
      lines[lines.length - 1] = longer
    }} else {{
      lines.push(word)
    }}
  }}
  const tall = height + (lines.length > 0 ? 15 * lines.length + 6 : 0)
  const safe = line => line.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  const written = lines.map((line, at) =>
    `<text x="6" y="${{height + 12 + 15 * at}}" font-family="Helvetica, Arial, sans-serif" ` +
    `font-size="11px" fill="{palette.CAPTION}">${{safe(line)}}</text>`)
  const text = `<svg xmlns="http://www.w3.org/2000/svg" width="${{width}}" height="${{tall}}" ` +
    `viewBox="0 0 ${{width}} ${{tall}}"><rect width="${{width}}" height="${{tall}}" ` +
    `fill="{palette.WHITE}"/>${{drawing.replace(/^<\\?xml[^>]*>/, '')}}${{written.join('')}}</svg>`
  return {{text, width, tall}}
}}
const rastered = async (svg, {{width, tall}}) => {{
  const image = new Image()
  image.src = URL.createObjectURL(svg)
  await image.decode()
  const canvas = document.createElement('canvas')
  canvas.width = {PNG_SCALE} * width
  canvas.height = {PNG_SCALE} * tall
  canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height)
  URL.revokeObjectURL(image.src)
  return new Promise(done => canvas.toBlob(done, 'image/png'))
}}
const offer = (blob, name) => {{
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60000)
}}
"""
"""JavaScript: ``savePicture(layout, name, caption)`` lets the browser save a layout as PNG or SVG,
as the name's suffix says, light, `WIDTH_PX` wide, with the caption below."""


def save_tool(layout: LayoutDOM, stem: str) -> CustomAction:
    """Return the toolbar's tool that saves a figure as the PNG file `stem`.png."""
    return CustomAction(
        description="Save as PNG",
        icon="save",
        callback=CustomJS(
            args={"layout": layout, "name": f"{stem}.png"},
            code=f"{SAVE_PICTURE}\nsavePicture(layout, name, '')",
        ),
    )
