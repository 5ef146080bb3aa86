"""Ctrl+Z and Ctrl+Shift+Z in a panel: a script in the page presses the buttons Undo and Redo.

It comes with the panel's figures, from this machine. A text field keeps its own undo.
"""

from __future__ import annotations

UNDO, REDO = "workbench-undo", "workbench-redo"
"""CSS classes of the two buttons."""

UNDO_KEYS = f"""
if (window.workbenchKeys == null) {{
  window.workbenchKeys = true
  const TYPED = 'textarea, select, [contenteditable=true], ' +
    'input:not([type=checkbox]):not([type=radio]):not([type=range]):not([type=button])'
  window.addEventListener('keydown', event => {{
    const letter = event.key?.toLowerCase()
    if (!(event.ctrlKey || event.metaKey) || event.altKey || letter !== 'z') {{
      return
    }}
    const at = event.composedPath()[0]
    const panel = event.target.closest?.('.workbench-panel')
    if (panel == null || at.matches?.(TYPED)) {{
      return
    }}
    event.preventDefault()
    event.stopImmediatePropagation()
    panel.querySelector(event.shiftKey ? '.{REDO}' : '.{UNDO}')?.click()
  }}, true)
}}
"""
"""Runs once in each page; see the module's docstring."""
