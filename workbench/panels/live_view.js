// A view of a Bokeh document that Python keeps: draws it, applies its changes, and reports what
// Python listens to. Only what BokehJS documents is used.

const MOST_WAITING = 20  // patches; a page that lacks one asks for the whole document
const REST_MS = 2000  // without a change before a picture is taken, so that none waits for it

const later = ms => new Promise(done => setTimeout(done, ms))

// The setup cell, or the page of `make workshop`, loads BokehJS.
const bokeh = async () => {
  for (let turn = 0; window.Bokeh?.embed == null; turn++) {
    if (turn === 500) {
      throw new Error('BokehJS is not in this page: Run → Run All Cells runs the one that loads it')
    }
    await later(20)
  }
  return window.Bokeh
}

// Resolves when an element has a place: not in a closed tab.
const placed = el => new Promise(done => {
  const observer = new ResizeObserver(() => {
    if (el.clientWidth > 0) {
      observer.disconnect()
      done()
    }
  })
  el.style.minWidth = el.style.minHeight = '1px'
  observer.observe(el)
})

// Calls back with whether figures are in sight, or nearly, each time that changes.
const watchSight = (figures, changed) => {
  const ids = new Map(figures.map(({el, model}) => [el, model.id]))
  const margin = '200px'
  const observer = new IntersectionObserver(
    entries => changed(entries.map(({target, isIntersecting}) => [ids.get(target), isIntersecting])),
    {rootMargin: margin, scrollMargin: margin})
  for (const el of ids.keys()) {
    observer.observe(el)
  }
  return observer
}

export default {
  render({model, el}) {
    const view = crypto.randomUUID?.() ?? String(Math.random())
    const waiting = []
    let [views, bokehDocument, sight, drawn] = [null, null, null, null]
    let applied = -1
    let [gone, rest] = [false, null]

    const tell = (content, buffers) => {
      try {
        model.send({view, ...content}, undefined, buffers)
      } catch {
        // The kernel has ended.
      }
    }
    const report = event => {
      const id = event.model?.id
      if (event.sync && model.get('heard').some(([one, attr]) => one === id && attr === event.attr)) {
        tell({kind: 'changed', id, attr: event.attr, value: event.value})
      }
    }
    const tellLacks = number => {
      if (number > applied) {
        tell({kind: 'lacks', number: applied})  // the kernel sends the whole document
      }
    }
    const takePicture = () => {
      clearTimeout(rest)
      if (gone || bokehDocument == null || !model.get('pictured')) {
        return
      }
      rest = setTimeout(async () => {
        if (gone || bokehDocument == null || el.clientWidth === 0) {
          return
        }
        const drawn = await views.roots[0].export('png', false)
        tell({kind: 'picture'}, [await (await drawn.to_blob()).arrayBuffer()])
      }, REST_MS)
    }
    const apply = one => {
      if (bokehDocument != null && one.number === applied + 1) {
        bokehDocument.apply_json_patch(JSON.parse(one.patch), new Map(one.buffers))
        applied = one.number
        takePicture()
        return
      }
      // Perhaps the document that it follows is about to be drawn.
      if (one.number > applied && waiting.length < MOST_WAITING) {
        waiting.push(one)
      }
      if (bokehDocument != null) {
        tellLacks(one.number)
      }
    }
    const draw = async () => {
      const Bokeh = await bokeh()
      await placed(el)
      if (gone || drawn === model.get('document')) {
        return
      }
      drawn = model.get('document')
      const {number, ...item} = JSON.parse(drawn)
      bokehDocument = null
      views?.clear()
      el.replaceChildren()
      views = await Bokeh.embed.embed_item(item, el)
      bokehDocument = views.roots[0].model.document
      bokehDocument.on_change(report)
      applied = number
      waiting.splice(0).forEach(apply)
      tell({kind: 'shown', number: applied})
      takePicture()
      const figures = model.get('figures').map(id => bokehDocument.get_model_by_id(id))
      sight?.disconnect()
      sight = watchSight(figures.flatMap(one => views.find_one(one) ?? []),
        seen => tell({kind: 'seen', seen}))
    }
    let drawing = draw()
    model.on('change:document', () => { drawing = drawing.then(draw, draw) })
    model.on('change:pictured', takePicture)
    model.on('msg:custom', ({number, patch, arrays}, views_) => {
      if (patch != null) {
        const buffers = arrays.map((id, at) => {
          const {buffer, byteOffset, byteLength} = views_[at]
          return [id, buffer.slice(byteOffset, byteOffset + byteLength)]
        })
        apply({number, patch, buffers})
      } else if (bokehDocument != null) {
        tellLacks(number)
      }
    })
    return () => {
      gone = true
      sight?.disconnect()
      views?.clear()
      tell({kind: 'gone'})
    }
  },
}
