"""GOAL files: text or LogGOPSim's binary, recognised by their first bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, overload

import numpy as np

from workbench.arrays import ByteArray
from workbench.atomic_write import atomic_write
from workbench.errors import ParseError
from workbench.programs.goal_binary import binary_chunks, is_binary, parse_binary
from workbench.programs.goal_text import parse_text, text_chunks
from workbench.programs.graph import ExecutionGraph

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_goal(source: str | Path | bytes) -> ExecutionGraph:
    """Read GOAL, as text or as LogGOPSim's binary.

    A file is mapped, not loaded: what is kept of it are the arrays of the graph.

    Args:
        source: path of a file, or the text or bytes themselves; a ``str`` with a line break is
            text, one without is a path.

    Raises:
        ParseError: it is not GOAL; names the line.
    """
    if isinstance(source, bytes):
        return _parse(np.frombuffer(source, np.uint8), "bytes")
    if isinstance(source, str) and ("\n" in source or "\r" in source):
        return _parse(np.frombuffer(source.encode("utf-8", "replace"), np.uint8), "text")
    path = Path(source)
    try:
        content = _mapped(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise ParseError(
            f"cannot read it: {reason or error}", source=path.name or str(path)
        ) from error
    return _parse(content, path.name)


@overload
def write_goal(
    graph: ExecutionGraph, path: None = None, *, binary: Literal[False] = False
) -> str: ...
@overload
def write_goal(graph: ExecutionGraph, path: None = None, *, binary: Literal[True]) -> bytes: ...
@overload
def write_goal(graph: ExecutionGraph, path: str | Path, *, binary: bool = False) -> Path: ...
@overload
def write_goal(
    graph: ExecutionGraph, path: str | Path | None = None, *, binary: bool = False
) -> str | bytes | Path: ...
def write_goal(
    graph: ExecutionGraph, path: str | Path | None = None, *, binary: bool = False
) -> str | bytes | Path:
    """Return a graph as GOAL, or write it to a file and return the file's path.

    The text is canonical: equal graphs give equal bytes, which read back give an equal graph. The
    binary is, byte for byte, what LogGOPSim's ``txt2bin`` makes of the text. A file is replaced at
    once when all has been written.

    Args:
        graph: what to write.
        path: file to write; None returns the text or the bytes.
        binary: LogGOPSim's binary format instead of text.

    Raises:
        ParameterError: the graph holds what GOAL cannot say.
        OSError: the file cannot be written.
    """
    chunks = binary_chunks(graph) if binary else text_chunks(graph)
    if path is not None:
        target = Path(path)
        with atomic_write(target) as temporary, temporary.open("wb") as stream:
            for chunk in chunks:
                stream.write(chunk.data)
        return target
    content = b"".join(chunk.tobytes() for chunk in chunks)
    return content if binary else content.decode("ascii")


def _parse(content: ByteArray, source: str) -> ExecutionGraph:
    if is_binary(content):
        return parse_binary(content, source)
    if content[:3].tobytes() == _BYTE_ORDER_MARK:
        content = content[3:]
    return parse_text(content, source)


def _mapped(path: Path) -> ByteArray:
    """Return the bytes of a file, memory-mapped where the file allows it."""
    if path.is_file() and path.stat().st_size:
        content = np.asarray(np.memmap(path, np.uint8, "r"))
    else:
        content = np.frombuffer(path.read_bytes(), np.uint8)
    return content
