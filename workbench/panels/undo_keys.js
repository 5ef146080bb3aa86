// Ctrl+Z and Ctrl+Shift+Z in a panel press its buttons Undo and Redo. A text field keeps its own undo.
if (window.workbenchKeys == null) {
  window.workbenchKeys = true
  const TYPED = 'textarea, select, [contenteditable=true], ' +
    'input:not([type=checkbox]):not([type=radio]):not([type=range]):not([type=button])'
  window.addEventListener('keydown', event => {
    const letter = event.key?.toLowerCase()
    if (!(event.ctrlKey || event.metaKey) || event.altKey || letter !== 'z') {
      return
    }
    const at = event.composedPath()[0]
    const panel = event.target.closest?.('.workbench-panel')
    if (panel == null || at.matches?.(TYPED)) {
      return
    }
    event.preventDefault()
    event.stopImmediatePropagation()
    panel.querySelector(event.shiftKey ? '.workbench-redo' : '.workbench-undo')?.click()
  }, true)
}
