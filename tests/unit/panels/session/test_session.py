from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path

import pytest

from tests.cases import for_each
from workbench.errors import ParameterError, ParseError, WorkbenchError
from workbench.panels import Session, open_session, read_session
from workbench.panels.session import session as module
from workbench.panels.session.session import session_of_query

SETTINGS = {"machine": "azure-hb96v3-hdr", "trials": 7, "L_us": 0.1, "held": "", "as_table": True}
FILES = {"machine": {"own": {"latency.txt": "# µs\n".encode(), "raw.bin": b"\xff\x00"}}}


@pytest.fixture
def session() -> Session:
    return Session("FitPanel", SETTINGS, FILES, ("the fit is not held",), "0.1.0")


def query_of(data: bytes) -> str:
    return base64.urlsafe_b64encode(zlib.compress(data)).decode().rstrip("=")


def test_a_file_and_a_link_hold_the_whole_session(session: Session, tmp_path: Path) -> None:
    assert read_session(session.save(tmp_path / "state.json")) == session
    query = session.to_query()
    assert query.startswith("session=") and len(query) < 600
    assert session_of_query(query.removeprefix("session=")) == session


def test_a_file_that_was_changed_is_refused(session: Session) -> None:
    text = session.to_json().replace("# µs", "# ms")
    with pytest.raises(ParseError, match=r"file 'latency\.txt' that was changed since"):
        read_session(text.encode())


@for_each(
    "change, message",
    [
        ({"format": "other"}, '"format": "workbench-session"; this file does not'),
        ({"version": 2, "workbench": "9.1"}, r"it is of 2, made by workbench 9\.1: update"),
        ({"version": 2, "workbench": ""}, "it is of 2: update"),
        ({"version": "1"}, "a version, a whole number; got '1'"),
        ({"version": True}, "a version, a whole number; got True"),
        ({"panel": 3}, "'panel', a text; got 3"),
        ({"settings": []}, r"'settings', an object; got \[\]"),
        ({"settings": {"a": [float("nan")]}}, "finite numbers"),
        ({"notes": "x"}, "notes that are texts"),
        ({"files": {"machine": []}}, r"by what they are for; got \[\]"),
        ({"files": {"machine": {"own": 3}}}, "list the files of 'own'; got 3"),
        ({"files": {"machine": {"own": [{"name": "a"}]}}}, "a text or base64 for each"),
        ({"files": {"m": {"o": [{"name": "a", "base64": "é"}]}}}, "a damaged file 'a'"),
    ],
)
def test_what_is_wrong_is_said(session: Session, change: dict[str, object], message: str) -> None:
    values = json.loads(session.to_json()) | change
    with pytest.raises(ParseError, match=message):
        read_session(json.dumps(values).encode())


def test_any_cut_is_an_error_in_words(session: Session) -> None:
    data = session.to_json().encode()
    for end in range(0, len(data) - 1, 7):
        with pytest.raises(ParseError):
            read_session(data[:end])
    query = session.to_query().removeprefix("session=")
    for end in range(len(query)):
        with pytest.raises(ParseError, match="the link: "):
            session_of_query(query[:end])


def test_a_link_is_unpacked_within_bounds(session: Session) -> None:
    with pytest.raises(ParseError, match="holds too much; ask for the file"):
        session_of_query(query_of(b" " * (1 << 22)))
    with pytest.raises(ParseError, match="damaged"):
        session_of_query("é")
    with pytest.raises(ParseError, match="must be JSON"):
        session_of_query(query_of(b"import os"))


def test_a_state_too_long_for_a_link_is_refused() -> None:
    noise = "".join(f"{number * 2654435761 % 2**32:x}" for number in range(500))
    session = Session("FitPanel", {}, {"machine": {"own": {"a.txt": noise.encode()}}})
    with pytest.raises(ParameterError, match=r"2,000 characters; .* your own files: use Save"):
        session.to_query()


def test_large_files_are_refused_on_both_ways(
    session: Session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = session.save(tmp_path / "state.json")
    monkeypatch.setattr(module, "MOST_FILES_B", 4)
    with pytest.raises(ParameterError, match="at most 0 MiB of your own files"):
        session.to_json()
    with pytest.raises(ParseError, match="at most 0 MiB of files"):
        read_session(path)
    monkeypatch.setattr(module, "_LARGEST_B", 40)
    with pytest.raises(ParseError, match="has at most"):
        read_session(path)
    with pytest.raises(ParameterError, match="readable file"):
        read_session(tmp_path)


def test_the_class_comes_from_a_list_of_ours() -> None:
    with pytest.raises(ParameterError, match=r"must be of one of ExplorePanel, .*; got 'setup'"):
        open_session(Session("setup", {}))
    with pytest.raises(WorkbenchError, match=r"got 'os\.system'"):
        open_session(Session("os.system", {}))
