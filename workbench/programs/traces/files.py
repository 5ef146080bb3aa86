"""Find the files of a trace: a folder, one rank's file, a list, an archive, or uploaded bytes."""

from __future__ import annotations

import gzip
import io
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from workbench.errors import ParameterError, ParseError
from workbench.programs.find_program import HEAD_BYTES

MOST_BYTES = 2**30
"""Most bytes of text that a trace may have in all its files."""

FAILED = "failed"
"""Subfolder of a trace with the partial recording of a failed run."""

Contents = Mapping[str, bytes | str]
TraceSource = str | Path | Sequence[str | Path] | Iterator[str | Path] | Contents
_Stream = IO[bytes] | gzip.GzipFile

_CALL = re.compile(rb"[ \t]*[A-Za-z]+_\w+:(?:-|-?\d)")
_ACTION = re.compile(rb"[ \t]*p?\d{1,9}[ \t]+[A-Za-z]\w*(?:[ \t]|$)")
_LONGEST_LIST = 16 * HEAD_BYTES  # of names: chosen, 1 MiB, names of ten thousand ranks


@dataclass(frozen=True)
class TraceFile:
    """One file of a trace."""

    name: str  # without its folder
    data: bytes


def gather(source: TraceSource) -> tuple[str, list[TraceFile]]:
    """Return the trace's name and its files, ordered by rank where their names allow it."""
    if isinstance(source, Mapping):
        contents = {
            str(name): data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data
            for name, data in source.items()
        }
        if not all(isinstance(data, bytes) for data in contents.values()):
            raise ParameterError("contents by file name must be bytes or str", key="source")
        files = [TraceFile(PurePosixPath(n).name, d) for n, d in contents.items()]
        name = files[0].name if len(files) == 1 else "trace"
        return name, _in_order(_unpacked(files), listed=True)
    if isinstance(source, str | Path):
        path = Path(source)
        return path.name, _from_path(path)
    given: object = source
    if isinstance(given, bytes | bytearray) or not isinstance(given, Sequence | Iterator):
        raise ParameterError(
            "source must be a folder, a file, files, or contents by file name; got "
            f"{type(given).__name__}",
            key="source",
        )
    try:
        paths = [Path(path) for path in given]
    except TypeError:
        raise ParameterError("files must be given by their paths", key="source") from None
    budget = _Budget()
    name = paths[0].parent.name if paths else "trace"
    return name or "trace", _in_order(_unpacked([_read(p, budget) for p in paths]), listed=True)


def recognise(data: bytes) -> str | None:
    """Return the format of a file by its first lines, None where it is none of them.

    Args:
        data: the beginning of the file, or all of it.
    """
    head = data[:HEAD_BYTES]
    if head.startswith(b"# workbench trace"):
        return "workbench"
    for line in head.splitlines():
        if not line.strip() or line.lstrip().startswith(b"#"):
            continue
        if _CALL.match(line):
            return "liballprof"
        return "simgrid" if _ACTION.match(line) else None
    return None


class _Budget:
    """The number of bytes that may still be read."""

    def __init__(self) -> None:
        self.left = MOST_BYTES

    def take(self, num_bytes: int, name: str) -> None:
        self.left -= num_bytes
        if self.left < 0:
            raise ParseError(
                f"a trace must not be larger than {MOST_BYTES >> 20} MiB of text; record fewer "
                "iterations",
                source=name,
            )


def _read(path: Path, budget: _Budget) -> TraceFile:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise ParseError("must be a file", source=path.name)
        budget.take(status.st_size, path.name)
        return TraceFile(path.name, path.read_bytes())
    except ParseError:  # which is a ValueError too
        raise
    except OSError as error:
        raise ParseError(
            f"cannot be read: {error.strerror or error}", source=path.name or str(path)
        ) from None
    except ValueError:  # a null byte in the name
        raise ParseError("is no file name", source=repr(str(path))) from None


def _from_path(path: Path) -> list[TraceFile]:
    budget = _Budget()
    try:
        is_folder = path.is_dir()
    except (OSError, ValueError):
        is_folder = False
    if is_folder:
        found = sorted(p for p in path.iterdir() if p.is_file() and not p.name.startswith("."))
        if len(found) == 1:
            return _in_order(_unpacked([_read(found[0], budget)]), listed=False)
        packed = [_read(p, budget) for p in found if _may_be_trace(p)]
        if not packed and (path / FAILED).is_dir():
            raise ParseError(
                f"the recording failed; the partial recording is in {path / FAILED}; record the "
                "program again",
                source=path.name,
            )
        return _in_order([f for f in _unpacked(packed) if recognise(f.data)], listed=False)
    first = _unpacked([_read(path, budget)])
    if len(first) > 1:
        return _in_order(first, listed=False)
    kind = recognise(first[0].data)
    if kind is None:
        named = _named_in(first[0].data, path.parent)
        return _in_order([_read(p, budget) for p in named], listed=True) if named else first
    siblings = [p for p in _siblings(path) if p != path]
    return _in_order([*first, *_unpacked([_read(p, budget) for p in siblings])], listed=False)


def _may_be_trace(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError:
        return False
    return head[:2] == b"\x1f\x8b" or recognise(head) is not None


def _named_in(data: bytes, folder: Path) -> list[Path]:
    """Return the files named in a list of files; empty if it is no such list."""
    if len(data) > _LONGEST_LIST or b"\0" in data:
        return []
    names = data.decode("utf-8", "replace").split()
    named = []
    for name in names:
        try:
            # a list may be written from another folder than its own
            fitting = [p for p in (folder / name, folder / Path(name).name) if p.is_file()]
        except (OSError, ValueError):
            return []
        if not fitting:
            return []
        named.append(fitting[0])
    return named


def lists_traces(data: bytes, folder: Path) -> bool:
    """Return whether a file lists files of a trace that are there."""
    return all(map(_may_be_trace, named := _named_in(data, folder))) and bool(named)


def _siblings(path: Path) -> list[Path]:
    """Return the files beside one whose names differ from it only in the rank's number."""
    split = _around_number(path.name)
    if split is None:
        return [path]
    before, _, after = split
    return sorted(
        p
        for p in path.parent.iterdir()
        if (other := _around_number(p.name))
        and (other[0], other[2]) == (before, after)
        and p.is_file()
    )


def _bare(name: str) -> str:
    return name.removesuffix(".gz")


def _around_number(name: str) -> tuple[str, str, str] | None:
    """Return the parts of a name before, in and after its last number, None without one."""
    name = _bare(name)
    end = len(name)
    while end and not name[end - 1].isdecimal():
        end -= 1
    start = end
    while start and name[start - 1].isdecimal():
        start -= 1
    return (name[:start], name[start:end], name[end:]) if end else None


def _unpacked(files: list[TraceFile]) -> list[TraceFile]:
    """Return the files with archives replaced by what is in them."""
    budget, plain = _Budget(), []
    for file in files:
        if file.data[:4] == b"PK\x03\x04":
            plain += _from_zip(file, budget)
        elif file.data[:2] == b"\x1f\x8b":
            with gzip.GzipFile(fileobj=io.BytesIO(file.data)) as stream:
                plain.append(TraceFile(_bare(file.name), _inflate(stream, file.name, budget)))
        else:
            plain.append(file)
    return plain


def _from_zip(file: TraceFile, budget: _Budget) -> list[TraceFile]:
    found = []
    try:
        with zipfile.ZipFile(io.BytesIO(file.data)) as archive:
            for info in archive.infolist():
                if info.is_dir() or info.filename.startswith("__MACOSX"):
                    continue
                with archive.open(info) as stream:
                    data = _inflate(stream, info.filename, budget)
                inner = TraceFile(PurePosixPath(info.filename).name, data)
                if data[:2] == b"\x1f\x8b":
                    with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
                        text = _inflate(stream, inner.name, budget)
                    inner = TraceFile(_bare(inner.name), text)
                if recognise(inner.data):
                    found.append(inner)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, ValueError) as error:
        if isinstance(error, ParseError):
            raise
        raise ParseError(f"is a damaged zip archive: {error}", source=file.name) from None
    if not found:
        raise ParseError("the archive must hold trace files; found none", source=file.name)
    return found


def _inflate(stream: _Stream, name: str, budget: _Budget) -> bytes:
    """Read a compressed stream to its end or to the end of the budget."""
    parts = []
    try:
        while part := stream.read(2**20):
            budget.take(len(part), name)
            parts.append(part)
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        raise ParseError(f"is damaged: {error}", source=name) from None
    return b"".join(parts)


def _in_order(files: list[TraceFile], *, listed: bool) -> list[TraceFile]:
    """Return the files ordered by the rank in their names; a list without one keeps its order."""
    if not files:
        raise ParseError(
            "there must be trace files of liballprof, SimGrid or the workbench's recorder; found "
            "none",
            source="trace",
        )
    if len(files) == 1:
        return files
    matches = [_around_number(file.name) for file in files]
    if not all(matches):
        if listed:
            return files
        nameless = next(f.name for f, m in zip(files, matches, strict=True) if not m)
        raise ParseError(
            "the files' names must contain the ranks, as trace-0.txt does; give a list of files in "
            "the order of the ranks instead",
            source=nameless,
        )
    families = sorted({(m[0], m[2]) for m in matches if m})
    if len(families) > 1:
        if listed:
            return files
        names = ", ".join(f"{before}*{after}" for before, after in families[:4])
        raise ParseError(
            f"there must be one trace; found {len(families)}: {names}; give the file of rank 0 of "
            "one of them",
            source="trace",
        )
    ranks = {int(m[1]): f for m, f in zip(matches, files, strict=True) if m and len(m[1]) < 10}
    if len(ranks) < len(files):
        raise ParseError("two files are of the same rank by their names", source=files[0].name)
    missing = [rank for rank in range(len(files)) if rank not in ranks]
    if missing:
        raise ParseError(
            f"the files of ranks 0 to {max(ranks)} must all be there; rank {missing[0]}'s is "
            f"missing",
            source=families[0][0] + "*" + families[0][1],
        )
    return [ranks[rank] for rank in sorted(ranks)]
