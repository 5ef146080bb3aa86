"""Results on disk: a JSON file, and beside it an npz file with the arrays; never a pickle."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from workbench.errors import ParameterError, ParseError
from workbench.jsonfile import read_json
from workbench.replacing import replace_file, replacing

Arrays = Mapping[str, NDArray[Any]]

_T = TypeVar("_T")

# What a file of any bytes may make of the readers, and other things than ours of a result.
_NOT_OURS = (
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
    OverflowError,
    EOFError,
    MemoryError,
    NotImplementedError,
    RuntimeError,
    ParameterError,
    OSError,
    zipfile.BadZipFile,
    zlib.error,
)
_MOST_PACKED = 1100
"""How much larger than on disk an array can be: deflate packs to 1/1032 at best."""


def save_result(
    path: Path, *, form: str, version: int, values: Mapping[str, Any], arrays: Arrays
) -> Path:
    """Write a result: finite JSON values, its arrays beside it in ``.npz``; see ``load_result``."""
    beside = path.with_suffix(".npz")
    entries: dict[str, Any] = dict(arrays)
    with replacing(beside) as part, part.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **entries)
    whole = {"format": form, "version": version, **values}
    replace_file(path, (json.dumps(whole, indent=1, allow_nan=False) + "\n").encode())
    return path


def load_result(
    path: Path,
    what: str,
    make: Callable[[dict[str, Any], Arrays], _T],
    *,
    form: str,
    version: int,
) -> _T:
    """Return the result that ``save_result`` wrote, built by ``make``; errors name ``what``."""
    values = read_json(path, what, form=form, version=version)
    beside = path.with_suffix(".npz")
    try:
        return make(values, _read_arrays(beside))
    except _NOT_OURS as error:
        raise ParseError(
            f"{what} must be whole, its arrays beside it in {beside.name}, as they were saved: "
            f"{error}",
            source=path.name,
        ) from error


def array_of(arrays: Arrays, name: str, dtype: type, length: int | None = None) -> NDArray[Any]:
    """Return an array of a file, checked: one axis, this dtype and, if given, this length."""
    array = arrays[name]
    if array.dtype != dtype or array.ndim != 1 or length not in (None, len(array)):
        raise ParameterError(f"{name} must be {np.dtype(dtype).name}[{length or 'n'}]", key=name)
    return array


def _read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of an npz file; no header makes it take more memory than the file has."""
    arrays: dict[str, NDArray[Any]] = {}
    with zipfile.ZipFile(path) as packed:
        for entry in packed.infolist():
            name = entry.filename.removesuffix(".npy")
            if entry.file_size > _MOST_PACKED * (entry.compress_size + 1):
                raise ParameterError(f"{name} is packed too tightly to be an array", key=name)
            with packed.open(entry) as file:
                npy.read_magic(file)
                shape, by_column, dtype = npy.read_array_header_1_0(file)
                data = file.read()
            if dtype.kind not in "biuf" or len(data) != dtype.itemsize * _count(shape):
                raise ParameterError(f"{name} must be an array of numbers", key=name)
            array = np.frombuffer(data, dtype).copy()
            arrays[name] = array.reshape(shape, order="F" if by_column else "C")
    return arrays


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for length in shape:
        if length < 0:
            raise ParameterError(f"an array's shape must not be negative; got {shape}")
        count *= length
    return count
