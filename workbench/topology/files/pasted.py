"""Texts as people paste them: quoted, in a block of code, below the command, with HTML's signs."""

from __future__ import annotations

import html
import re

MOST_PASTED = 2**24
"""Bytes of a text that is looked at: chosen, fifty times ibnetdiscover's of 600 switches and hosts;
longer ones are files, and nobody quotes them."""

_FENCE = "```"
_ABOVE = re.compile(r"\s*(\S*[$#%>] \S|\[[^\]]*\][$#] \S|[^{}<>;,|=]*:\s*$)")
"""A command behind a prompt, or a sentence that ends in a colon."""

_DECLARATION = re.compile(r"\A(\s+)<\?xml[^>]*\?>")
_ENTITY = re.compile(r"&(quot|lt|gt|amp|#39);")


def unwrapped(content: bytes) -> bytes | None:
    """Return a file without the quotes, fence or command that it was pasted with, or None.

    None means that it has none of them. Lines keep their numbers.
    """
    if len(content) > MOST_PASTED:
        return None
    text = content.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    lines = text.split("\n")
    filled = [line for line in lines if line.strip()]
    if filled and all(line.startswith(">") for line in filled):
        lines = [line.removeprefix(">").removeprefix(" ") for line in lines]
    fences = [at for at, line in enumerate(lines) if line.lstrip().startswith(_FENCE)]
    if fences:
        begin, end = fences[0], [*fences[1:], len(lines)][0]
        lines = [line if begin < at < end else "" for at, line in enumerate(lines)]
    for at, line in enumerate(lines):
        if line.strip() and not _ABOVE.match(line):
            break
        lines[at] = ""
    found = "\n".join(lines)
    if _ENTITY.search(found):
        found = html.unescape(found)
    # XML's declaration must stand first, and nothing may stand before it.
    found = _DECLARATION.sub(r"\1", found)
    return None if found == text else found.encode()
