// Keys in a panel. Ctrl+Z and Ctrl+Shift+Z press its buttons Undo and Redo; a text field keeps its own
// undo. Letters stay in the panel: JupyterLab would take those typed in a list for its shortcuts, unless
// the list itself, which its selectors name, has the attribute.
if (window.workbenchKeys == null) {
  window.workbenchKeys = true
  const TYPED = 'textarea, select, [contenteditable=true], ' +
    'input:not([type=checkbox]):not([type=radio]):not([type=range]):not([type=button])'
  window.addEventListener('keydown', event => {
    const panel = event.target.closest?.('.workbench-panel')
    if (panel != null) {
      event.target.toggleAttribute('data-lm-suppress-shortcuts', !(event.ctrlKey || event.metaKey))
    }
    const letter = event.key?.toLowerCase()
    if (!(event.ctrlKey || event.metaKey) || event.altKey || letter !== 'z') {
      return
    }
    const at = event.composedPath()[0]
    if (panel == null || at.matches?.(TYPED)) {
      return
    }
    event.preventDefault()
    event.stopImmediatePropagation()
    panel.querySelector(event.shiftKey ? '.workbench-redo' : '.workbench-undo')?.click()
  }, true)
}
