// The text that a screen reader speaks for a slider: its name, and its value with the unit.
//
// The sliders of ipywidgets are noUiSlider's, whose handles carry no name and, as their value, the
// slider's position. A panel shows both beside the slider, as its label and its typed value: they
// are copied into `aria-label` and `aria-valuetext`.
if (window.workbenchSpoken == null) {
  const SLIDER = '.widget-slider, .jupyter-widget-slider'
  const FOLLOW_MS = 100, TIMES = 20  // how long the kernel may take to write the value
  const left = new WeakMap()
  const put = (element, name, value) => {
    if (value && element.getAttribute(name) !== value) {
      element.setAttribute(name, value)
    }
  }
  const words = element => (element?.textContent ?? '').replace(/\s+/g, ' ').trim()
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
    // The kernel writes the value after the slider has moved, and no event reports it.
    const follow = () => {
      say()
      left.set(typed, left.get(typed) - 1)
      if (left.get(typed) > 0) {
        setTimeout(follow, FOLLOW_MS)
      }
    }
    const followed = left.get(typed) > 0
    left.set(typed, TIMES)
    put(typed, 'aria-label', `${name}, typed`)
    if (followed) {
      say()
    } else {
      follow()
    }
  }
  const among = node => node.querySelectorAll?.('.noUi-handle').forEach(speak)
  window.workbenchSpoken = true
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
