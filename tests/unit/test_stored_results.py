"""A result is stored by the types of its fields and read back as it was, or refused by name."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.cases import for_each
from tests.unit.stored import trust_arrays
from workbench.errors import ParseError
from workbench.jsonfile import read_json
from workbench.provenance import Provenance
from workbench.result import StoredResult


@dataclass(frozen=True, eq=False)
class Inner:
    ends: NDArray[np.int64]
    kind: Literal["a", "b"]


@dataclass(frozen=True)
class StoredRule:
    factor: int

    def restore(self) -> Rule:
        return Rule(lambda x: self.factor * x, self.factor)


@dataclass(frozen=True)
class Rule:
    """Holds what no file can, and says what a file holds instead."""

    stored_as: ClassVar[type[StoredRule]] = StoredRule
    function: object
    factor: int

    def stored(self) -> StoredRule:
        return StoredRule(self.factor)


@dataclass(frozen=True, eq=False)
class Example(StoredResult):
    VERSION: ClassVar[int] = 3

    number: float
    count: int
    flag: bool
    name: str
    grid: NDArray[np.float32] = field(metadata={"axes": 2})
    parts: tuple[Inner, ...]
    by_percent: Mapping[float, float]
    words: Mapping[str, int | str]
    rule: Rule
    provenance: Provenance
    perhaps: NDArray[np.uint8] | None = None
    remark: str | None = None

    def _check(self) -> None:
        self._check_lengths({"perhaps": self.count})


WHOLE = Example(
    number=math.inf,
    count=2,
    flag=True,
    name="é",
    grid=np.arange(6, dtype=np.float32).reshape(2, 3),
    parts=(Inner(np.array([1, 2]), "a"), Inner(np.array([], np.int64), "b")),
    by_percent={1.0: 2e-6, 5.0: math.inf},
    words={"k": 4, "wiring": "absolute"},
    rule=Rule(None, 7),
    provenance=Provenance("simulated", "nothing"),
)


@for_each(
    "result", [WHOLE, replace(WHOLE, number=math.nan, perhaps=np.ones(2, np.uint8), remark="r")]
)
def test_every_kind_of_field_comes_back(result: Example, tmp_path: Path) -> None:
    again = Example.load(result.save(tmp_path / "one.json"))
    assert (again.number, again.count, again.flag) == pytest.approx(
        (result.number, 2, True), nan_ok=True
    )
    assert (again.name, again.remark) == (result.name, result.remark)
    assert again.grid.dtype == np.float32 and again.grid.tolist() == result.grid.tolist()
    assert [(part.ends.tolist(), part.kind) for part in again.parts] == [([1, 2], "a"), ([], "b")]
    assert again.by_percent == result.by_percent
    assert again.words == result.words
    assert (again.rule.factor, again.provenance) == (7, result.provenance)
    assert again.rule.function(2) == 14  # type: ignore[operator]
    assert (again.perhaps is None) == (result.perhaps is None)


@for_each(
    "key, value",
    [
        ("number", None),
        ("number", True),
        ("count", 2.0),
        ("count", "2"),
        ("flag", 1),
        ("name", 7),
        ("parts", {}),
        ("parts", [{"kind": "c"}]),
        ("by_percent", {"x": 1.0}),
        ("words", {"k": None}),
        ("rule", {"factor": "7"}),
        ("provenance", {"origin": "dreamt", "title": ""}),
        ("remark", 3),
    ],
)
def test_a_value_of_another_kind_is_refused(key: str, value: object, tmp_path: Path) -> None:
    path = WHOLE.save(tmp_path / "one.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    with pytest.raises(ParseError, match=r"one\.json: a saved Example must be complete"):
        Example.load(path)


def test_missing_values_and_other_arrays_are_named(tmp_path: Path) -> None:
    path = WHOLE.save(tmp_path / "one.json")
    values = json.loads(path.read_text())
    path.write_text(json.dumps({key: values[key] for key in values if key != "count"}))
    with pytest.raises(ParseError, match="count"):
        Example.load(path)
    path = replace(WHOLE, perhaps=np.ones(3, np.uint8)).save(path)
    with pytest.raises(ParseError, match=r"perhaps must be uint8\[2\]"):
        Example.load(path)
    path = replace(WHOLE, grid=WHOLE.grid.ravel()).save(path)
    with pytest.raises(ParseError, match="grid must be float32 of 2 axes"):
        Example.load(path)
    arrays = path.with_suffix(".npz")
    np.savez(arrays, perhaps=np.ones(2, np.uint8))
    with pytest.raises(ParseError, match=r"one\.npz must have the checksum that the JSON records"):
        Example.load(path)
    trust_arrays(path)
    with pytest.raises(ParseError, match="grid is missing"):
        Example.load(path)
    path.write_text(json.dumps(values | {"version": 2}))
    with pytest.raises(ParseError, match="version 2; this release reads 3"):
        Example.load(path)


class KilledError(BaseException):
    """Ends a save as a kill does: nothing is cleaned up."""


@for_each("at", range(1, 5))
def test_a_save_that_is_killed_leaves_one_result_whole(
    at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of four steps: arrays and JSON are written, and each of them gets its name."""
    old, new = WHOLE, replace(WHOLE, name="new", grid=WHOLE.grid + 1)
    path = old.save(tmp_path / "one.json")
    steps = iter(range(1, 5))

    def step(call: Callable[..., object]) -> Callable[..., object]:
        def counted(*given: object) -> object:
            if next(steps) == at:
                raise KilledError
            return call(*given)

        return counted

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", step(Path.write_bytes))
        patch.setattr(Path, "replace", step(Path.replace))
        patch.setattr(Path, "unlink", lambda *given, **options: None)  # a kill removes nothing
        with pytest.raises(KilledError):
            new.save(path)
    kept = Example.load(path)
    expected = new if at == 4 else old
    assert (kept.name, kept.grid.tolist()) == (expected.name, expected.grid.tolist())
    # The next save keeps what belongs to the present JSON until its own is there.
    with monkeypatch.context() as patch:
        patch.setattr("workbench.result._write_json", lambda *given: killed())
        with pytest.raises(KilledError):
            old.save(path)
    again = Example.load(path)
    assert (again.name, again.grid.tolist()) == (expected.name, expected.grid.tolist())
    assert Example.load(old.save(path)).grid.tolist() == old.grid.tolist()


def killed() -> None:
    raise KilledError


def test_a_result_that_is_saved_while_it_is_read_is_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new, path = replace(WHOLE, name="new", grid=WHOLE.grid + 1), WHOLE.save(tmp_path / "one.json")
    read, pending = read_json, [new]

    def between(*given: Any, **options: Any) -> dict[str, Any]:
        values = read(*given, **options)
        if pending:
            pending.pop().save(path)
        return values

    monkeypatch.setattr("workbench.result.read_json", between)
    found = Example.load(path)
    assert (found.name, found.grid.tolist()) == ("new", new.grid.tolist())
