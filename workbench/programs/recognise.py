"""Read a program from any file, recognised by its contents."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import ParseError

if TYPE_CHECKING:
    from workbench.programs.graph import ExecutionGraph
    from workbench.programs.program import Program

_HEAD_BYTES = 65536
_GOAL_BINARY = tuple(magic.to_bytes(8, "little") for magic in (4223, 2342))
# Comments may stand before the first item of GOAL text; atomic, or many comments take forever.
_GOAL_TEXT = re.compile(rb"(?>\s+|//[^\n]*\n|/\*.*?\*/)*+num_ranks\b", re.DOTALL)


def read(path: str | Path) -> Program | ExecutionGraph:
    """Read GOAL (text or binary) as an `ExecutionGraph`, a trace as a `Program`.

    The format is recognised from the content, not from the name.

    Args:
        path: a GOAL file; a liballprof, SimGrid or workbench trace, as its folder, its rank-0
            file or a zip of it.

    Raises:
        ParseError: it cannot be read, or is none of these; names the line.
    """
    from workbench.programs.goal import read_goal
    from workbench.programs.traces import read_trace

    path = Path(path)
    if path.is_dir():
        return read_trace(path)
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError as error:
        raise ParseError(
            f"a program's file must be readable; got {error.strerror}", source=str(path)
        ) from error
    if head.startswith(_GOAL_BINARY) or _GOAL_TEXT.match(head):
        return read_goal(path)
    return read_trace(path)
