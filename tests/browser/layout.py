"""Whether what a panel shows is cut or sticks out of it."""

from __future__ import annotations

from typing import Any

_CUT = """panel => {
  const seen = one => one.getClientRects().length > 0
  const name = one => `${one.tagName.toLowerCase()}.${one.className} ${one.textContent.trim()}`
  const found = []
  const context = document.createElement('canvas').getContext('2d')
  for (const list of panel.querySelectorAll('select')) {
    const style = getComputedStyle(list), chosen = list.selectedOptions[0]
    context.font = style.font
    const padding = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight)
    if (seen(list) && chosen && !list.multiple
        && context.measureText(chosen.textContent).width > list.clientWidth - padding + 1) {
      found.push(`the list cuts ${chosen.textContent}`)
    }
  }
  for (const field of panel.querySelectorAll('input[type=number]')) {
    const style = getComputedStyle(field)
    context.font = style.font
    const padding = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight)
    if (seen(field) && context.measureText(field.value).width > field.clientWidth - padding + 1) {
      found.push(`the field cuts ${field.value}`)
    }
  }
  for (const text of panel.querySelectorAll('.widget-label, .widget-label-basic, .widget-button')) {
    if (seen(text) && text.scrollWidth > text.clientWidth + 1) {
      found.push(`cut: ${name(text)}`)
    }
  }
  const right = panel.getBoundingClientRect().right
  for (const one of panel.querySelectorAll('*')) {
    const scrolls = one.closest('.widget-html-content')
    if (seen(one) && !scrolls && one.getBoundingClientRect().right > right + 1) {
      found.push(`${Math.round(one.getBoundingClientRect().right - right)} px out: ${name(one)}`)
    }
  }
  // What a figure draws stands in trees of its own.
  const inside = root => [...root.querySelectorAll('*')]
    .flatMap(one => one.shadowRoot === null ? [one] : [one, ...inside(one.shadowRoot)])
  for (const legend of inside(panel).filter(one => one.matches('.bk-Legend') && seen(one))) {
    const figure = legend.getRootNode().host
    const out = legend.getBoundingClientRect().right - figure.getBoundingClientRect().right
    if (out > 1) {
      found.push(`${Math.round(out)} px out: the legend ${legend.shadowRoot.textContent.trim()}`)
    }
  }
  return found.map(one => one.slice(0, 160))
}"""


def cut(page: Any) -> list[str]:
    """Return the texts that are cut or stick out of the panel.

    Args:
        page: of Playwright, with a panel.
    """
    return list(page.locator(".workbench-panel").first.evaluate(_CUT))
