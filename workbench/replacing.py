"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def replacing(path: str | Path, suffix: str = "") -> Iterator[Path]:
    """Yield the path of a file to write, which takes the place of another as the block ends.

    A process that is killed meanwhile, or an error in the block, leaves the old file. A link stays
    one, and the file it points at is replaced. A pipe or a device is written to as it is.

    Args:
        path: the file, made or replaced.
        suffix: how the name of the file to write must end, such as ``.lp``.

    Raises:
        OSError: it cannot be replaced.
    """
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        yield target
        return
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(target.parent))
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}{suffix}")
    try:
        yield beside
        if target.exists():
            beside.chmod(target.stat().st_mode)
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def replace_file(path: str | Path, data: bytes) -> None:
    """Write a file in one step, see `replacing`.

    Args:
        path: the file, made or replaced.
        data: what it shall hold.

    Raises:
        OSError: it cannot be written.
    """
    with replacing(path) as beside:
        beside.write_bytes(data)
