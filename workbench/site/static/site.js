/* Draws recorded figures when they come into sight, and plays the frames of a panel. */
(() => {
  'use strict'
  const root = document.documentElement.dataset.content_root ?? './'
  const scripts = new Map()
  const records = new Map()
  window.workbenchSite = {record: (name, record) => records.set(name, record)}

  const load = path => {
    if (!scripts.has(path)) {
      scripts.set(path, new Promise((done, failed) => {
        const script = document.createElement('script')
        script.src = `${root}_static/${path}`
        script.onload = done
        script.onerror = () => failed(new Error(`${script.src} was not loaded`))
        document.head.append(script)
      }))
    }
    return scripts.get(path)
  }

  const loadBokeh = async tables => {
    await load('bokeh/bokeh.min.js')
    await load('bokeh/bokeh-widgets.min.js')
    if (tables) {
      await load('bokeh/bokeh-tables.min.js')
    }
  }

  let places = 0
  const embed = async (place, item) => {
    place.id ||= `workbench-place-${places++}`
    const views = await window.Bokeh.embed.embed_item(item, place.id)
    return views.roots[0].model.document
  }

  // A part is a figure, with its document, or a text.
  const drawParts = async (place, parts) => {
    const drawn = []
    for (const part of parts) {
      const element = document.createElement('div')
      element.className = part.figure == null ? 'workbench-text' : 'workbench-figure'
      place.append(element)
      if (part.figure == null) {
        element.innerHTML = part.html
        drawn.push({element})
      } else {
        drawn.push({element, document: await embed(element, part.figure)})
      }
    }
    return drawn
  }

  const change = (drawn, changes, from, to) => {
    const events = new Map()
    for (const {part, model, property, values, at} of changes) {
      if (at[from] === at[to]) {
        continue
      }
      if (model == null) {
        drawn[part].element.innerHTML = values[at[to]]
      } else {
        events.has(part) || events.set(part, [])
        events.get(part).push(
          {kind: 'ModelChanged', model: {id: model}, attr: property, new: values[at[to]]})
      }
    }
    for (const [part, patch] of events) {
      drawn[part].document.apply_json_patch({events: patch})
    }
  }

  const player = (still, move, show) => {
    const id = `${still.id}-slider`
    const last = move.labels.length - 1
    const row = document.createElement('div')
    row.className = 'workbench-player'
    row.innerHTML = `<label for="${id}"></label><input type="range" id="${id}" min="0" max="${last}"
      step="1" value="${move.start}"><output for="${id}"></output><span class="workbench-note">
      Pre-computed at ${last + 1} values; run the notebook for all.</span>`
    const [label, input, output] = row.children
    label.textContent = move.name
    const say = () => {
      output.textContent = move.labels[input.valueAsNumber]
      input.setAttribute('aria-valuetext', output.textContent)
    }
    input.addEventListener('input', () => {
      say()
      show(input.valueAsNumber)
    })
    say()
    return row
  }

  const draw = async still => {
    const name = still.dataset.record
    await loadBokeh('tables' in still.dataset)
    await load(`records/${name}.js`)
    const {parts, move, changes, frames} = records.get(name)
    const place = document.createElement('div')
    still.querySelector('.workbench-waiting')?.remove()
    still.prepend(place)
    let drawn = await drawParts(place, parts)
    if (move != null) {
      let at = move.start
      let turn = Promise.resolve()
      const whole = async to => {
        place.style.minHeight = `${place.offsetHeight}px`
        drawn.forEach(part => part.document?.clear())
        place.replaceChildren()
        drawn = await drawParts(place, frames[to])
        place.style.minHeight = ''
      }
      const show = to => {
        turn = turn.then(async () => {
          if (to !== at) {
            await (frames == null ? change(drawn, changes, at, to) : whole(to))
            at = to
          }
        })
      }
      place.before(player(still, move, show))
    }
    still.dataset.drawn = ''
  }

  // Search reads the pages that it found for a line of each, which a browser refuses from files.
  if (window.location.protocol === 'file:' && typeof DOCUMENTATION_OPTIONS !== 'undefined') {
    DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false
  }

  const theme = () => {
    const chosen = document.body.dataset.theme
    const dark = chosen === 'dark'
      || (chosen !== 'light' && window.matchMedia('(prefers-color-scheme: dark)').matches)
    document.body.dataset.jpThemeLight = String(!dark)
  }

  document.addEventListener('DOMContentLoaded', () => {
    theme()
    new MutationObserver(theme).observe(document.body, {attributeFilter: ['data-theme']})
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', theme)
    const watcher = new IntersectionObserver(entries => {
      for (const {isIntersecting, target} of entries) {
        if (isIntersecting) {
          watcher.unobserve(target)
          draw(target)
        }
      }
    }, {rootMargin: '600px'})
    document.querySelectorAll('.workbench-still').forEach((still, number) => {
      still.id ||= `workbench-still-${number}`
      watcher.observe(still)
    })
  })
})()
