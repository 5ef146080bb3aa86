"""The grammar of .ini files: scopes, dots, variables, includes, and errors with their line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cases import for_each
from tests.unit.models.refusals import refusal
from workbench.errors import ParseError
from workbench.models import SNAPPR, inspect_ini, read_ini

BASE = SNAPPR().to_ini(v10=False)


class TestGrammar:
    def test_scopes_dots_and_order(self) -> None:
        text = BASE + "node.nic.mtu = 99\nnode {\nnic.mtu = 2048\n}\nswitch.link {\n}\n"
        with pytest.raises(ParseError, match="a scope has no dots"):
            read_ini(text)
        model = read_ini(text.replace("switch.link {\n}\n", ""))
        assert model.get("node.nic.mtu") == 2048

    def test_windows_line_ends_tabs_and_byte_order_mark(self) -> None:
        text = BASE.replace("  ", "\t").replace("\n", "\r\n")
        assert read_ini(b"\xef\xbb\xbf" + text.encode()) == read_ini(BASE)

    def test_comments(self) -> None:
        text = "# first\n" + BASE.replace("mtu = 4096B", "mtu = 4096B # bytes\n#mtu = 3")
        reading = inspect_ini(text)
        assert reading.model == read_ini(BASE)
        assert len(reading.notes) == 1
        assert re.match(r"text:\d+: SST/macro takes `#`", reading.notes[0])

    @for_each("form", ["set var size = 512", "set var size 512", "set size 512"])
    def test_variables(self, form: str) -> None:
        text = f"{form}\n" + BASE.replace("mtu = 4096B", "mtu = $size")
        assert read_ini(text).get("node.nic.mtu") == 512

    def test_variables_of_variables(self) -> None:
        text = "set var a = $b\nset var b = 512\n" + BASE.replace("4096B", "$a")
        assert read_ini(text).get("node.nic.mtu") == 512
        refusal("set var a = $b\nset var b = $a\nnode.nic.mtu = $a\n", 3, "names itself")
        refusal("node.nic.mtu = $a\n", 1, "'a' is not set", "set var NAME = VALUE")

    def test_unset(self) -> None:
        text = BASE + "switch {\nunset credits\n}\nswitch.credits = 4KB\n"
        assert read_ini(text).get("switch.credits") == 4000
        with pytest.raises(ParseError, match=r"needs switch\.credits"):
            read_ini(BASE + "unset switch.credits\n")

    @for_each(
        "text, line, word",
        [
            ("}\n", 1, "closes a scope"),
            ("a = 1\nnode {\n", 2, "never closed"),
            ("node {\nnic {\n}\n", 1, "'node' is never closed"),
            ("\nwhat is this\n", 2, "what is this"),
            ("= 3\n", 1, "is not a key"),
            ("a..b = 3\n", 1, "is not a key"),
            ("node { }\n", 1, "got 'node { }'"),
            ("} x\n", 1, "own line"),
            ("a = 1\n\n{\n", 3, "not a scope name"),
            ("set var\n=", 1, "set var NAME = VALUE"),
            ("\n\ninclude other.ini\n", 3, "a text cannot include"),
        ],
    )
    def test_errors_have_their_line(self, text: str, line: int, word: str) -> None:
        refusal(text, line, word)

    def test_not_text(self) -> None:
        with pytest.raises(ParseError, match="text:3: not a text file") as caught:
            read_ini(b"a = 1\n\n\xff\xfe\n")
        assert caught.value.line == 3


class TestIncludes:
    def test_are_read_from_the_including_files_folder(self, tmp_path: Path) -> None:
        inner = tmp_path / "parts"
        inner.mkdir()
        (inner / "nic.ini").write_text("mtu = 4KB\ninclude credits.ini\n")
        (inner / "credits.ini").write_text("credits = 7KB\n")
        main = tmp_path / "main.ini"
        main.write_text(BASE + "node {\nnic {\ninclude parts/nic.ini\n}\n}\nnode.nic.mtu = 5KB")
        model = read_ini(main)
        assert (model.get("node.nic.mtu"), model.get("node.nic.credits")) == (5000, 7000)

    def test_or_from_the_current_one(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "base.ini").write_text(BASE)
        (tmp_path / "sub").mkdir()
        (tmp_path / "sub" / "main.ini").write_text("include base.ini\n")
        monkeypatch.chdir(tmp_path)
        assert read_ini("sub/main.ini") == read_ini(BASE)

    def test_errors_name_the_included_file(self, tmp_path: Path) -> None:
        (tmp_path / "bad.ini").write_text("\nnode.nic.mtu = wide\n")
        main = tmp_path / "main.ini"
        main.write_text(BASE + "include bad.ini\n")
        with pytest.raises(ParseError, match=r"^bad\.ini:2: MTU \(node\.nic\.mtu\)"):
            read_ini(main)
        main.write_text("\ninclude gone.ini\n")
        with pytest.raises(ParseError, match=r"^main\.ini:2: there is no file"):
            read_ini(main)

    def test_circles_are_refused(self, tmp_path: Path) -> None:
        (tmp_path / "a.ini").write_text("include b.ini\n")
        (tmp_path / "b.ini").write_text("\ninclude a.ini\n")
        with pytest.raises(ParseError, match=r"^b\.ini:2: a\.ini includes itself"):
            read_ini(tmp_path / "a.ini")

    def test_and_what_multiplies(self, tmp_path: Path) -> None:
        for depth in range(18):
            (tmp_path / f"{depth}.ini").write_text(f"include {depth + 1}.ini\n" * 2)
        (tmp_path / "18.ini").write_text("")
        with pytest.raises(ParseError, match="nested more than 16 deep"):
            read_ini(tmp_path / "0.ini")
        (tmp_path / "15.ini").write_text("# nothing\n" * 1000)
        with pytest.raises(ParseError, match="more than 200000 lines"):
            read_ini(tmp_path / "0.ini")

    def test_only_files(self, tmp_path: Path) -> None:
        main = tmp_path / "main.ini"
        main.write_text("include .\n")
        with pytest.raises(ParseError, match="there is no file"):
            read_ini(main)
        with pytest.raises(ParseError, match="there is no file"):
            read_ini(tmp_path)
        with pytest.raises(ParseError, match="there is no file 'no_such_file'"):
            read_ini("no_such_file")
