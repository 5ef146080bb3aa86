// A button that sends files to the kernel in parts, the next once the last has arrived: a message to a
// Jupyter server may have 10 MiB, and one that is lost with the connection is sent again.

const PART = 4 * 2 ** 20
const PATIENCE_MS = 15000

const later = ms => new Promise(done => setTimeout(done, ms))
const megabytes = bytes => `${(bytes / 1e6).toPrecision(3)} MB`

export default {
  render({model, el}) {
    const [button, input, said] = ['button', 'input', 'div'].map(name => document.createElement(name))
    const answers = new Map()  // by upload and part
    let closed = false

    const say = words => {
      said.textContent = words
      said.style.display = words === '' ? 'none' : ''
    }
    const draw = () => {
      button.textContent = model.get('description')
      button.title = model.get('tooltip')
      button.disabled = model.get('disabled')
      input.accept = model.get('accept')
      input.multiple = model.get('multiple')
    }
    const hear = ({upload, part}) => answers.get(`${upload} ${part}`)?.(true)
    const answer = (upload, part) => new Promise(done => answers.set(`${upload} ${part}`, done))

    // Sends a message until the kernel has answered it.
    const deliver = async (message, bytes, soFar) => {
      const answered = answer(message.upload, message.part)
      while (!closed) {
        model.send(message, undefined, [bytes])
        if (await Promise.race([answered, later(PATIENCE_MS)])) {
          break
        }
        say(`The kernel has not answered for ${PATIENCE_MS / 1000} s, after ${soFar}: a cell is ` +
          'running, or the connection broke. The rest is sent when it answers; if the kernel was ' +
          'restarted, run the cell of this panel again.')
      }
      say('')
    }

    const send = async files => {
      const total = files.reduce((sum, file) => sum + file.size, 0)
      const most = model.get('most_bytes')
      if (total > most) {
        say(`${files.map(file => file.name).join(', ')}: ${megabytes(total)}, but at most ` +
          `${megabytes(most)} can be uploaded. ${model.get('instead')}`)
        return
      }
      const upload = String(Math.random())
      const taken = answer(upload, 'taken')
      let [part, sent] = [0, 0]
      for (const [at, file] of files.entries()) {
        for (let from = 0; from === 0 || from < file.size; from += PART) {
          const bytes = await file.slice(from, from + PART).arrayBuffer()
          const last = at === files.length - 1 && from + PART >= file.size
          const soFar = `${megabytes(sent)} of ${megabytes(total)}`
          button.textContent = soFar
          await deliver({upload, part, last, name: file.name}, bytes, soFar)
          part += 1
          sent += bytes.byteLength
        }
      }
      button.textContent = `reading ${megabytes(total)}`
      await taken
      answers.clear()
    }

    button.className = 'jupyter-widgets jupyter-button widget-button'
    button.style.width = '100%'
    button.style.margin = '0'
    button.onclick = () => input.click()
    input.type = 'file'
    input.hidden = true
    input.onchange = async () => {
      const files = [...input.files]
      input.value = ''  // the same file may be chosen again
      say('')
      button.disabled = true
      try {
        if (files.length > 0) {
          await send(files)
        }
      } catch (error) {
        say(`The upload failed in this page: ${error.message}`)
      }
      draw()
    }
    said.setAttribute('role', 'alert')
    said.className = 'workbench-upload-said'
    say('')
    el.append(button, input, said)
    draw()
    model.on('change', draw)
    model.on('msg:custom', hear)
    return () => {
      closed = true
      model.off('change', draw)
      model.off('msg:custom', hear)
    }
  }
}
