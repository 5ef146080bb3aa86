"""The text that a screen reader speaks for a slider: its name, and its value with the unit.

The sliders of ipywidgets are noUiSlider's, whose handles carry no name and, as their value, the
slider's position; ipywidgets passes on neither ``handleAttributes`` nor ``ariaFormat``. A panel
shows both beside the slider, as its label and its typed value, so a script in the page copies them
into ``aria-label`` and ``aria-valuetext``. It comes with the panel's figures, from this machine.
"""

from __future__ import annotations

LABEL_SLIDERS = """
if (window.workbenchSpoken == null) {
  const SLIDER = '.widget-slider, .jupyter-widget-slider'
  const written = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')
  const put = (element, name, value) => {
    if (value && element.getAttribute(name) !== value) {
      element.setAttribute(name, value)
    }
  }
  const words = element => (element?.textContent ?? '').replace(/\\s+/g, ' ').trim()
  const typedBeside = slider => {
    for (let next = slider.nextElementSibling; next != null; next = next.nextElementSibling) {
      if (next.matches(SLIDER)) {
        return null
      }
      const input = next.querySelector('input')
      if (input != null) {
        return input
      }
    }
    return null
  }
  const speak = handle => {
    const slider = handle.closest('.workbench-panel') && handle.closest(SLIDER)
    if (slider == null) {
      return
    }
    const name = words(slider.querySelector('.widget-label, label'))
    const typed = typedBeside(slider)
    put(handle, 'aria-label', name)
    if (typed == null) {
      put(handle, 'aria-valuetext', words(slider.querySelector('.widget-readout')))
      return
    }
    const unit = words(typed.closest('.widget-inline-hbox')?.querySelector('.widget-label'))
    const say = () => put(handle, 'aria-valuetext', `${typed.value} ${unit}`.trim())
    if (!window.workbenchSpoken.has(typed)) {
      window.workbenchSpoken.add(typed)
      put(typed, 'aria-label', `${name}, typed`)
      // The kernel writes the value after the slider has moved, and no event reports it.
      Object.defineProperty(typed, 'value', {
        configurable: true,
        get() { return written.get.call(this) },
        set(value) { written.set.call(this, value); say() },
      })
    }
    say()
  }
  const among = node => node.querySelectorAll?.('.noUi-handle').forEach(speak)
  window.workbenchSpoken = new WeakSet()
  new MutationObserver(records => {
    for (const record of records) {
      if (record.type === 'childList') {
        record.addedNodes.forEach(among)
      } else if (record.target.matches('.noUi-handle')) {
        speak(record.target)
      }
    }
  }).observe(document.body, {
    subtree: true, childList: true, attributes: true, attributeFilter: ['aria-valuetext'],
  })
  among(document)
}
"""
"""Runs once in each page; see the module's docstring."""
