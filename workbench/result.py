"""The base of results: JSON, and files that are read back as the same result; never a pickle."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import math
import re
import types
import typing
import zipfile
import zlib
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self, overload

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from workbench.atomic_write import atomic_write, replace_file
from workbench.errors import ParameterError, ParseError
from workbench.facts import Fact, facts_html, facts_json, facts_line, facts_report
from workbench.html_table import html_table
from workbench.jsonfile import plain, plain_fields, read_json
from workbench.suggestions import Suggesting

if TYPE_CHECKING:
    import pandas as pd

_Arrays = dict[str, NDArray[Any]]

# Exceptions of the readers on damaged files and on files that are not results.
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
_CHECKSUM = "arrays_sha256"
"""Entry of a JSON file: of the npz file that belongs to it, None where there are no arrays."""
_MOST_PACKED = 1100
"""How much larger than on disk an array can be: deflate packs to 1/1032 at best."""


class _OtherArraysError(ParameterError):
    """The arrays beside a JSON file are not those that it was saved with."""


class _Reaching:
    """A method of a result that is a function of a package above it, with the result put in.

    Its arguments and its help are those of the function. The package is imported at the first use.
    """

    def __init__(
        self, package: str, function: str, given: Callable[[Any], Any] | None = None
    ) -> None:
        self.function, self._package, self._given = function, package, given

    @overload
    def __get__(self, result: None, owner: type) -> Self: ...
    @overload
    def __get__(self, result: object, owner: type) -> Callable[..., Any]: ...
    def __get__(self, result: object | None, owner: type) -> Self | Callable[..., Any]:
        if result is None:
            return self
        function = getattr(import_module(self._package), self.function)
        return types.MethodType(function, result if self._given is None else self._given(result))


class Drawing(_Reaching):
    """The ``plot`` of a result: a function that draws, with the result put in.

    Bokeh is imported at the first use, and results reach it nowhere else.
    """

    def __init__(
        self,
        function: str,
        given: Callable[[Any], Any] | None = None,
        package: str = "workbench.plotting",
    ) -> None:
        """Name the function and its package; ``given`` makes its first argument of the result."""
        super().__init__(package, function, given)


class Uncertainty(_Reaching):
    """The ``posterior`` of a result, and what a posterior is carried on to.

    A function of ``workbench.uq``, or of a package in it, with the result put in.
    """

    def __init__(self, function: str, package: str = "workbench.uq") -> None:
        """Name the function and its package."""
        super().__init__(package, function)


class _Framed(Protocol):
    def facts(self) -> tuple[Fact, ...]: ...
    def to_frame(self) -> pd.DataFrame: ...


class NanEqual:
    """Base of dataclasses that are equal where their fields are, and where nan equals nan.

    What is read back is then what was saved. Those with ``eq=False`` are compared by identity.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "__eq__" not in cls.__dict__:
            # In the class itself: `dataclass` then makes none, which would have nan differ.
            cls.__eq__ = NanEqual.__eq__  # type: ignore[method-assign]

    def __eq__(self, other: object) -> bool:
        if type(other) is type(self) and _compared_by_value(self):
            return _same(self, other)
        return object.__eq__(self, other)

    __hash__ = object.__hash__  # where compared by identity; `dataclass` makes others


class Result(NanEqual, Suggesting):
    """Base of every result: its values as a dictionary and as JSON.

    Attributes are in SI units, times in seconds: ``makespan_s``, or the field's letters, ``T`` and
    ``L``. The integers that a simulator counts in stay beside them, exact: ``makespan_ps``. Tables
    and JSON name the unit of each column: ns for times of programs, µs for those of messages.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.facts is not Result.facts and "__repr__" not in cls.__dict__:
            # In the class itself: `dataclass` then makes none, with every array in it.
            cls.__repr__ = Result.__repr__  # type: ignore[method-assign]

    def facts(self) -> tuple[Fact, ...]:
        """Return the values that sum the result up; the first says what the result is of.

        ``repr``, the table in a notebook, ``report`` and ``to_dict`` are made of them, unless the
        class has its own. A result without facts shows its fields.
        """
        return ()

    def report(self) -> str:
        """Return the result as text for a terminal, a line a fact, times in ns to the ps."""
        facts = self.facts()
        return facts_report(facts) if facts else repr(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the result's values as JSON can hold them, arrays as lists."""
        facts = self.facts()
        return facts_json(facts) if facts else plain_fields(self)

    def __repr__(self) -> str:
        facts = self.facts()
        if not facts:
            return super().__repr__()
        return f"{type(self).__name__}({facts_line(facts, getattr(self, 'notes', ()))})"

    def _repr_html_(self: _Framed) -> str:
        facts = self.facts()
        if facts:
            origin = self.provenance.caption() if hasattr(self, "provenance") else ""
            return facts_html(facts, getattr(self, "notes", ()), origin)
        frame = self.to_frame()
        rows = ([_cell(value) for value in row] for row in frame.itertuples(index=False))
        return html_table(rows, [str(name) for name in frame.columns], repr(self))

    def to_json(self, path: str | Path | None = None) -> str:
        """Return ``to_dict`` as JSON text, and write it where a path is given.

        Args:
            path: file to write, replaced in one step. nan and inf, which JSON lacks, become null.
        """
        text = json.dumps(plain(self.to_dict()), indent=1, allow_nan=False) + "\n"
        if path is not None:
            replace_file(path, text.encode())
        return text


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _compared_by_value(value: object) -> bool:
    """Return whether a value is of a dataclass that has not kept identity's equality and hash."""
    return dataclasses.is_dataclass(value) and type(value).__hash__ is not object.__hash__


def _same(one: Any, other: Any) -> bool:
    """Return whether two values of one field, or two dataclasses, are equal; nan equals nan."""
    if isinstance(one, float | np.ndarray) and isinstance(other, float | np.ndarray):
        return np.array_equal(one, other, equal_nan=True)
    if type(one) is not type(other):
        return bool(one == other)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if _compared_by_value(one):
        compared = (field.name for field in dataclasses.fields(one) if field.compare)
        return all(_same(getattr(one, name), getattr(other, name)) for name in compared)
    return bool(one == other)


class StoredResult(Result):
    """Base of the frozen dataclasses that are saved whole and read back.

    The type of a field decides how it is stored: arrays in an npz file, all else as JSON. A field
    may be a number, a text, a ``Literal``, an array, a tuple or a mapping of these, a dataclass of
    these, or a class with ``to_dict`` and ``from_dict``. A class that is not made of such fields
    names in ``stored_as`` a dataclass that is, returns one from ``stored()``, and is made again by
    that dataclass's ``restore()``. A result that has ``from_dict`` is stored as its ``to_dict``.
    """

    VERSION: ClassVar[int] = 1
    """Version of the layout of the file, whose ``format`` is the name of the class."""
    ONE_FILE: ClassVar[bool] = False
    """Whether the arrays, which are short then, are lists in the JSON instead."""

    def save(self, path: str | Path) -> Path:
        """Write the result as JSON, and arrays that it has in an npz file beside it.

        The JSON holds the checksum of the arrays. A kill at any moment leaves the earlier result
        or this one whole: its arrays may then have a temporary name yet, under which ``load``
        finds them.

        Args:
            path: the JSON file; the arrays get its name with ``.npz``.
        """
        path = Path(path)
        npz = path.with_suffix(".npz")
        arrays: _Arrays | None = None if self.ONE_FILE else {}
        whole = self._saved(arrays)
        if not self.ONE_FILE:
            _finish_save(path, npz)
        if arrays:
            data = _packed(arrays)
            with atomic_write(npz) as part:
                part.write_bytes(data)
                _write_json(path, whole | {_CHECKSUM: hashlib.sha256(data).hexdigest()})
        elif self.ONE_FILE:
            _write_json(path, whole)
        else:
            _write_json(path, whole | {_CHECKSUM: None})
            npz.unlink(missing_ok=True)  # of an earlier result
        return path

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return the result that ``save`` wrote.

        Args:
            path: the JSON file; its arrays are beside it.

        Raises:
            ParseError: the files are not a saved result of this kind, or not a whole one.
        """
        path = Path(path)
        what = f"a saved {cls.__name__}"
        values = read_json(path, what, **cls._head())
        npz = path.with_suffix(".npz")
        try:
            packed = b""
            if not cls.ONE_FILE:
                try:
                    packed = _arrays_of(npz, values)
                except _OtherArraysError:  # saved anew since its JSON was read
                    values = read_json(path, what, **cls._head())
                    packed = _arrays_of(npz, values)
            arrays = _read_arrays(packed) if packed else {}
            result: Self = _restored_whole(cls, values, arrays, "")
            result._check()
        except _NOT_OURS as error:
            reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            beside = "" if cls.ONE_FILE else f", with its arrays in {npz.name}"
            raise ParseError(
                f"{what} must be complete{beside}, as it was saved: {reason}",
                source=path.name,
            ) from error
        return result

    def _saved(self, arrays: _Arrays | None = None) -> dict[str, Any]:
        """Return the values that ``save`` writes as JSON, with arrays as lists by default."""
        return self._head() | _stored_whole(self, arrays)

    @classmethod
    def _head(cls) -> dict[str, Any]:
        """Return the entries by which a file is recognised."""
        return {"format": f"workbench {cls.__name__}", "version": cls.VERSION}

    def _check(self) -> None:
        """Raise ParameterError where the fields read from a file do not fit one another."""

    def _check_lengths(self, lengths: Mapping[str, int]) -> None:
        """Raise ParameterError where an array, by its dotted name, has not that length."""
        for name, length in lengths.items():
            array = attrgetter(name)(self)
            if array is not None and len(array) != length:
                raise ParameterError(f"{name} must be {array.dtype.name}[{length}]", key=name)


def _stored_whole(value: Any, arrays: _Arrays | None, prefix: str = "") -> dict[str, Any]:
    """Return a dataclass as JSON holds it, its arrays as lists where ``arrays`` is None."""
    if hasattr(value, "stored"):
        return _stored_fields(value.stored(), arrays, prefix)
    if hasattr(value, "from_dict"):
        values: dict[str, Any] = value.to_dict()
        return values
    return _stored_fields(value, arrays, prefix)


def _stored_fields(value: Any, arrays: _Arrays | None, prefix: str) -> dict[str, Any]:
    """Return a dataclass's fields as JSON holds them, and put its arrays into ``arrays``."""
    stored = {}
    for field in dataclasses.fields(value):
        inner = getattr(value, field.name)
        if isinstance(inner, np.ndarray) and arrays is not None:
            arrays[prefix + field.name] = inner
        elif field.init:
            stored[field.name] = _stored(inner, arrays, f"{prefix}{field.name}.")
    return stored


def _stored(value: Any, arrays: _Arrays | None, prefix: str) -> Any:
    """Return a value as JSON holds it: nan and inf as texts."""
    if hasattr(value, "from_dict") or dataclasses.is_dataclass(value):
        return _stored_whole(value, arrays, prefix)
    if isinstance(value, Mapping):
        return {str(key): _stored(inner, arrays, f"{prefix}{key}.") for key, inner in value.items()}
    if isinstance(value, np.ndarray):
        value = tuple(value.tolist())
    if isinstance(value, tuple):
        return [_stored(inner, arrays, f"{prefix}{i}.") for i, inner in enumerate(value)]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


@cache
def _types(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _from_fields(kind: Any, values: Any, arrays: _Arrays, prefix: str) -> Any:
    """Return the dataclass of that type whose fields were stored."""
    found: dict[str, Any] = {}
    if not isinstance(values, Mapping):
        name = prefix.rstrip(".")
        raise ParameterError(f"{name} must be of type {kind.__name__}; got {values!r}", key=name)
    for field in dataclasses.fields(kind):
        name, hint = prefix + field.name, _types(kind)[field.name]
        alternatives = _alternatives(hint)
        dtype = next(filter(None, map(_dtype, alternatives)), None)
        if dtype is not None and name in arrays:
            array, axes = arrays[name], field.metadata.get("axes", 1)
            if array.dtype != dtype or array.ndim != axes:
                raise ParameterError(f"{name} must be {dtype.name} of {axes} axes", key=name)
            found[field.name] = array
        elif dtype is not None and isinstance(values.get(field.name), list):
            found[field.name] = _array(values[field.name], dtype, name)
        elif dtype is not None and type(None) not in alternatives:
            raise ParameterError(f"{name} is missing", key=name)
        elif field.name in values and field.init:
            found[field.name] = _restored(hint, values[field.name], arrays, name)
        elif _required(field):
            raise ParameterError(f"{name} is missing", key=name)
    return kind(**found)


def _restored_whole(kind: Any, values: Any, arrays: _Arrays, prefix: str) -> Any:
    """Return the dataclass that ``_stored_whole`` stored."""
    if hasattr(kind, "stored_as"):
        return _from_fields(kind.stored_as, values, arrays, prefix).restore()
    if hasattr(kind, "from_dict"):
        return kind.from_dict(values)
    return _from_fields(kind, values, arrays, prefix)


def _array(values: list[Any], dtype: np.dtype[Any], name: str) -> NDArray[Any]:
    """Return the array of one axis that was stored as a list."""
    kind = float if dtype.kind == "f" else int
    return np.array([_restored(kind, value, {}, name) for value in values], dtype)


def _required(field: dataclasses.Field[Any]) -> bool:
    missing = dataclasses.MISSING
    return field.init and field.default is missing and field.default_factory is missing


def _alternatives(hint: Any) -> tuple[Any, ...]:
    """Return the types of a union, or the one type."""
    unions = (typing.Union, types.UnionType)
    return typing.get_args(hint) if typing.get_origin(hint) in unions else (hint,)


def _dtype(hint: Any) -> np.dtype[Any] | None:
    """Return the dtype of an ``NDArray`` type, None for other types."""
    if typing.get_origin(hint) is not np.ndarray:
        return None
    (scalar,) = typing.get_args(typing.get_args(hint)[1])
    dtype: np.dtype[Any] = np.dtype(scalar)
    return dtype


def _restored(hint: Any, value: Any, arrays: _Arrays, name: str) -> Any:
    """Return a value of the type ``hint`` from the one that JSON held."""
    alternatives = _alternatives(hint)
    if len(alternatives) > 1:
        if value is None and type(None) in alternatives:
            return None
        if type(value) in alternatives:
            return value
        for one in (kind for kind in alternatives if kind is not type(None)):
            try:
                return _restored(one, value, arrays, name)
            except ParameterError as error:
                refused = error
        raise refused
    if hasattr(hint, "from_dict") or dataclasses.is_dataclass(hint):
        return _restored_whole(hint, value, arrays, f"{name}.")
    dtype = _dtype(hint)
    if dtype is not None and isinstance(value, list):
        return _array(value, dtype, name)
    kind, inner = typing.get_origin(hint), typing.get_args(hint)
    if kind is Literal:
        if value not in inner:
            known = ", ".join(map(str, inner))
            raise ParameterError(f"{name} must be one of {known}; got {value!r}", key=name)
        return value
    if kind is tuple and isinstance(value, list):
        hints = inner[:1] * len(value) if inner[1:] == (...,) else inner
        pairs = zip(hints, value, strict=True)
        return tuple(_restored(h, one, arrays, f"{name}.{i}") for i, (h, one) in enumerate(pairs))
    if isinstance(kind, type) and issubclass(kind, Mapping) and isinstance(value, dict):
        return {
            inner[0](key): _restored(inner[1], one, arrays, f"{name}.{key}")
            for key, one in value.items()
        }
    if hint is float and isinstance(value, int | float | str) and not isinstance(value, bool):
        return float(value)
    if hint in (bool, int, str) and type(value) is hint:
        return value
    raise ParameterError(f"{name} must be {_name_of(hint)}; got {value!r}", key=name)


def _name_of(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint)


def _write_json(path: Path, values: Mapping[str, Any]) -> None:
    text = json.dumps(values, indent=1, ensure_ascii=False, allow_nan=False)
    replace_file(path, f"{text}\n".encode())


def _packed(arrays: _Arrays) -> bytes:
    """Return arrays as an npz file."""
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, **arrays)
    return file.getvalue()


def _arrays_of(npz: Path, values: Mapping[str, Any]) -> bytes:
    """Return the npz file that belongs to the values of a JSON file; empty if it has none."""
    if _CHECKSUM not in values:  # of a release that recorded none
        return npz.read_bytes() if npz.exists() else b""
    if values[_CHECKSUM] is None:
        return b""
    for path in (npz, *_unfinished(npz)):
        data = path.read_bytes() if path.exists() else b""
        if hashlib.sha256(data).hexdigest() == values[_CHECKSUM]:
            return data
    raise _OtherArraysError(
        f"{npz.name} must have the checksum that the JSON records; it is missing, damaged or of "
        "another save: restore both files from one save, or save the result anew",
        key="path",
    )


def _unfinished(npz: Path) -> list[Path]:
    """Return npz files of this name under the temporary names of `atomic_write`."""
    name = re.compile(rf"\.{re.escape(npz.name)}\.[0-9a-f]{{8}}")
    try:
        return [path for path in npz.parent.iterdir() if name.fullmatch(path.name)]
    except OSError:  # a folder that cannot be listed
        return []


def _finish_save(path: Path, npz: Path) -> None:
    """Give arrays their name where a save was killed between its JSON and that."""
    for left in _unfinished(npz):
        try:
            wanted = json.loads(path.read_bytes())[_CHECKSUM]
            if hashlib.sha256(left.read_bytes()).hexdigest() == wanted:
                left.replace(npz)
        except (OSError, ValueError, KeyError, TypeError):  # no result of ours, or another was here
            continue


def _read_arrays(data: bytes) -> _Arrays:
    """Return the arrays of an npz file; no header makes it take more memory than the file has."""
    arrays: _Arrays = {}
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
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
