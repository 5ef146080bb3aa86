"""JavaScript of the space-time diagram: times in words, and messages to Python about the window."""

from __future__ import annotations

TIME_TEXT = """
const text = (ns, digits = 6) => {
  const [unit, scale] = [['s', 1e9], ['ms', 1e6], ['µs', 1e3], ['ns', 1]]
    .find(([_, size]) => Math.abs(ns) >= size) ?? ['ns', 1]
  return `${Number((ns / scale).toPrecision(digits))} ${unit}`
}
"""
"""The function `text` of a time in ns: ``12.5 µs``, in its own unit."""

TIME_TICK = """
const most = Math.max(...ticks.map(Math.abs))
const [unit, scale] = [['s', 1e9], ['ms', 1e6], ['µs', 1e3], ['ns', 1]]
  .find(([_, size]) => most >= size) ?? ['ns', 1]
const step = ticks.length > 1 ? Math.abs(ticks[1] - ticks[0]) / scale : 1
const digits = Math.min(Math.max(-Math.floor(Math.log10(step) + 1e-9), 0), 9)
return tick === 0 ? '0' : `${(tick / scale).toFixed(digits)} ${unit}`
"""
"""Code of a tick formatter for an axis in ns: ``12.5 µs``, in the unit of the largest tick."""

RANK_TICK = """
return Number.isInteger(tick) && tick >= 0 && tick < count ? String(ranks[tick] ?? tick) : ''
"""
"""Code of a tick formatter: the rank at a place; `ranks` is empty where it is the place itself."""

BAR_TEXT = (
    TIME_TEXT
    + """
const d = source.data, i = special_vars.index
const tag = (value) => value === 4294967295 ? 'any' : String(value)
const where = `rank ${d.rank[i]}, ${place} ${d.line[i]}: `
const numbered = d.call[i] ? `${calls[d.call[i]]} ${d.number[i]}` : calls[0]
if (d.kind[i] === 0) {
  return `${where}calc ${text(d.size[i])}` + (d.number[i] ? `, before ${numbered}` : '')
}
const [verb, word] = d.kind[i] === 1 ? ['send', 'to'] : ['recv', 'from']
const peer = d.peer[i] < 0 ? `any (here ${d.mate[i]})` : String(d.peer[i])
return `${where}${verb} ${d.size[i]} B ${word} ${peer} tag ${tag(d.tag[i])}`
  + (d.number[i] ? `, in ${numbered}` : '')
"""
)
"""Code of a hover formatter: a bar's operation, as `ExecutionGraph.describe` has it, and call."""

WHEN_TEXT = (
    TIME_TEXT
    + """
const d = source.data, i = special_vars.index
const long = d.right[i] - d.left[i]
return `${kinds[d.kind[i]]} ${text(long, 4)}: ${text(d.left[i])} to ${text(d.right[i])}`
"""
)
"""Code of a hover formatter: how long the host worked on it, and when."""

WAIT_TEXT = (
    TIME_TEXT
    + """
const d = source.data, i = special_vars.index
if (d.posted[i] < d.left[i]) {
  return `posted at ${text(d.posted[i])}, ${text(d.left[i] - d.posted[i], 4)} before`
}
if (d.posted[i] > d.left[i]) {
  return `taken before it was posted, at ${text(d.posted[i])}`
}
if (d.released[i] > d.right[i]) {
  return `released by its receiver at ${text(d.released[i])}`
}
return ''
"""
)
"""Code of a hover formatter: what an operation waited for."""

WAITS_TEXT = (
    TIME_TEXT
    + """
const d = source.data, i = special_vars.index
const long = d.right[i] - d.left[i], late = d.late[i], other = d.other[i]
if (other < 0) {
  return `rank ${d.rank[i]} ${d.activity[i] === 3 ? 'has no work for' : 'waits'} ${text(long, 4)}`
}
const where = d.number[i] ? ` in ${calls[d.call[i]]} ${d.number[i]}` : ''
const parts = []
if (late > 0) {
  parts.push(`${text(late, 4)} until it ${d.sends[i] ? 'sends' : 'receives'}`)
}
if (long > late) {
  parts.push(`${text(long - late, 4)} for the message`)
}
return `rank ${d.rank[i]} waits ${text(long, 4)}${where} for rank ${other}: ${parts.join(', ')}`
"""
)
"""Code of a hover formatter: what a core waits for."""

CULPRIT_TEXT = """
const d = source.data, i = special_vars.index, who = d.culprit[i]
if (who < 0) {
  return d.activity[i] === 2 ? 'mostly caused by messages under way' : ''
}
const number = d.culprit_number[i]
const call = `${calls[d.culprit_call[i]]}${number ? ` ${number}` : ''}`
return 'mostly caused by '
  + (d.activity[i] === 0 ? `rank ${who} before ${call}` : `messages of rank ${who} in ${call}`)
"""
"""Code of a hover formatter: whose work before which call caused a wait."""

MESSAGE_TEXT = (
    TIME_TEXT
    + """
const d = source.data, i = special_vars.index
return `${d.size[i]} B from ${d.sender[i]} to ${d.receiver[i]}: left at ${text(d.x0[i])}, `
  + `taken at ${text(d.x1[i])}, ${text(d.x1[i] - d.x0[i], 4)} later`
"""
)
"""Code of a hover formatter: a message."""

IMAGE_TEXT = """
const code = value
const kind = Math.floor((code - 1) / levels), level = (code - 1) % levels
const [low, high] = [100 * level / levels, 100 * (level + 1) / levels]
return `many operations, mostly ${kinds[kind]}; busy ${low} to ${high} %; zoom in for each`
"""
"""Code of a hover formatter: a pixel of the image."""

IMAGE_FILTER = """
export default (_args, _tool, {value}) => value > 0
"""
"""Code of a hover filter: no text where the image is empty."""

CLEAR_FILTER = """
export default (_args, _tool, {value}) => value > 0.3
"""
"""Code of a hover filter: messages are listed as long as they do not overlap."""

ASK = """
const waiting = (window.workbenchAsking ??= new Set())
if (!waiting.has(asked.id)) {
  waiting.add(asked.id)
  setTimeout(() => {
    waiting.delete(asked.id)
    const {x_range, y_range, properties} = figure
    // A figure that has not been laid out yet throws where it is asked for its size.
    const size = (property) => property.is_unset ? NaN : property.get_value()
    const covers = ({start, end, reset_start, reset_end}) => {
      const slack = 1e-6 * Math.abs(reset_end - reset_start)
      return Math.min(start, end) <= Math.min(reset_start, reset_end) + slack
        && Math.max(start, end) >= Math.max(reset_start, reset_end) - slack
    }
    const row = {
      x0: [x_range.start], x1: [x_range.end], y0: [y_range.start], y1: [y_range.end],
      width: [size(properties.inner_width)], height: [size(properties.inner_height)],
      whole: [covers(x_range) && covers(y_range) ? 1 : 0],
      revision: [moved.data.revision[0]],
    }
    const known = Object.values(row).every(([v]) => Number.isFinite(v))
    const same = Object.keys(row).every(name => asked.data[name]?.[0] === row[name][0])
    if (known && !same) {
      asked.data = row
    }
  }, 80)
}
"""
"""Code that writes the window of `figure` into the source `asked`, at most every 80 ms.

Whether the window shows all is decided here, where it and the ends of all are of the same moment.
"""

MOVE = """
for (const range of [figure.x_range, figure.y_range]) {
  range.setv({start: range.reset_start, end: range.reset_end}, {sync: false})
}
"""
"""Code that shows all of `figure`, wherever the page has zoomed to."""

RESET = """
figure.reset.emit()
"""
"""Code that does what the reset tool does."""
