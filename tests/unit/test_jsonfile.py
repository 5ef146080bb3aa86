"""Whatever is wrong with a JSON file of ours is told with its name and line."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from tests.cases import for_each
from workbench.errors import ParseError
from workbench.jsonfile import parse_json, read_json


@for_each(
    "data, message",
    [
        (b"\xff\xfe", "must be UTF-8 text"),
        (b'{\n"a": 1,\n', r"f\.json:3: a thing must be JSON: .*may be cut short"),
        (b"[" * 100_000, "must be JSON"),
        (b'{"a": ' + b"9" * 5000 + b"}", "must be JSON"),
        (b"[1]", "must be a JSON object, not list"),
        (b'{"version": 1}', "must have .format."),
        (b'{"format": "thing", "version": 99}', "has version 99; this release reads 1"),
    ],
)
def test_what_is_wrong_is_reported(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "f.json"
    path.write_bytes(data)
    with pytest.raises(ParseError, match=message) as caught:
        read_json(path, "a thing", format="thing", version=1)
    assert str(caught.value).startswith("f.json")


def test_what_is_right_is_read(tmp_path: Path) -> None:
    path = tmp_path / "f.json"
    path.write_text('{"format": "thing", "version": 1, "a": [2]}')
    assert read_json(path, "a thing", format="thing", version=1)["a"] == [2]


@given(st.binary(max_size=200))
def test_any_bytes_end_in_an_object_or_a_parse_error(data: bytes) -> None:
    with contextlib.suppress(ParseError):
        assert isinstance(parse_json(data, "a thing"), dict)
