"""Tables of benchmarks in a text, such as a job's log, each with what the text says of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from workbench.errors import ParseError
from workbench.measure.benchmark_table import BenchmarkTable, Note, counted_once
from workbench.measure.launch import Context
from workbench.measure.log_lines import LONGEST_LINE, decoded, excerpt, lines_of, without_prefixes
from workbench.measure.osu_text import OSUSection, heading_of, open_titled, tables_of, with_heading
from workbench.measure.other_benchmarks import FORMATS, TextSection, np_out_table

_IMB_VERSION = re.compile(r"Intel ?\(R\) MPI Benchmarks? ([0-9][\w. ]*)", re.IGNORECASE)


class NoTableError(ParseError):
    """A text holds no table of a benchmark."""


def parse_benchmarks(text: str | bytes, source: str = "text") -> list[BenchmarkTable]:
    """Return the tables of a text, in its order; a benchmark run twice gives two tables.

    Read are the OSU micro-benchmarks from version 2 to 7, IMB, perftest, nccl-tests, ucx_perftest
    and NetPIPE. Lines around and between the tables, labels and times before them, colours, quotes
    of mail, pages of HTML, comments after the numbers, thousands separators and any line ends are
    understood. Whatever is left out is in the tables' notes, by line. A table whose sizes occur
    several times is several runs; tables that are equal in all rows are one, printed twice.

    What the text says of a table is in its ``labels``: the command before it, with the options that
    tell experiments apart, and the line above its title where it is no command.

    Args:
        text: the output, as text or as the bytes of a file in UTF-8, UTF-16 (with its mark) or
            Latin-1.
        source: name of the file, for errors and notes.

    Raises:
        ParseError: there is no table in the text, or a table of OSU is in a unit other than
            microseconds or MB/s.
    """
    text = decoded(text, source)
    lines = list(lines_of(text))
    # Where the last line has no end, the text may have been cut in the middle of it.
    open_line = lines[-1][0] if lines and lines[-1][1].strip() else 0
    if (found := np_out_table(lines, source, open_line)) is not None:
        return [found]
    sections: list[OSUSection | TextSection] = []
    stray: list[Note] = []
    context = Context()
    version = ""

    def begin(section: OSUSection | TextSection) -> None:
        labels, used = context.close(section.line, section.test)
        section.labels |= labels
        mine = sections[-1].notes if sections else stray
        mine[:] = [note for note in mine if not (note.unread and note.line in used)]
        sections.append(section)

    for at, line in lines:
        bare = without_prefixes(line)
        if not bare:
            continue
        current = sections[-1] if sections else None
        unread = Note(at, f"not understood: {excerpt(line)}", unread=True)
        if len(bare) > LONGEST_LINE:
            (current.notes if current else stray).append(unread)
            continue
        if match := _IMB_VERSION.search(bare):
            version = match[1].strip()
        titled = open_titled(bare, at)
        if titled is not None:
            begin(titled)
        elif other := _opened(bare, at, current, context.program()):
            if other is not current:
                other.version = version if other.format.tool == "imb" else ""
                begin(other)
        elif headings := heading_of(bare):
            osu = current if isinstance(current, OSUSection) else None
            program = context.program()
            section = with_heading(osu, headings, at, source, program)
            if section is not current:
                begin(section)
        elif current is None or not current.take(bare, at):
            context.add(at, bare, line)
            if any(c.isalnum() for c in bare) and not bare.startswith("#"):
                (current.notes if current else stray).append(unread)
        elif bare.startswith("#") and current.rows:
            context.add(at, bare, line)
    tables: list[BenchmarkTable] = []
    for one in sections:
        mine = list(_tables(one, source, open_line))
        tables += mine
        if not mine:
            stray += one.notes
    if not any(len(table.sizes) for table in tables) and not any(
        isinstance(section, OSUSection) for section in sections
    ):
        raise NoTableError(_nothing_found(len(lines), stray), source=source)
    if tables:
        tables[0] = replace(tables[0], notes=(*stray, *tables[0].notes))
    return counted_once(tables)


def _opened(
    bare: str, at: int, current: OSUSection | TextSection | None, program: str
) -> TextSection | None:
    """Return the section of another tool that a line opens or heads, None where it does neither."""
    for kind in FORMATS:
        if title := kind.title.fullmatch(bare):
            mine = current if isinstance(current, TextSection) else None
            unnamed = not (title.groupdict().get("test") or program)
            if mine is not None and mine.format is kind and not mine.rows and unnamed:
                # The second line of a title, such as the settings below the test's name.
                mine.take(bare, at)
                return mine
            section = TextSection(kind, at, test=title.groupdict().get("test") or "")
            section.take(bare, at)
            return section
        if kind.heading.fullmatch(bare):
            mine = current if isinstance(current, TextSection) else None
            if mine is None or mine.format is not kind or mine.tables_begun(bare):
                again = mine if mine is not None and mine.format is kind else None
                mine = TextSection(kind, at, test=again.test if again else "")
                mine.labels |= again.labels if again else {}
            mine.head(bare, at)
            return mine
    return None


def _tables(
    section: OSUSection | TextSection, source: str, open_line: int
) -> Iterator[BenchmarkTable]:
    if isinstance(section, OSUSection):
        yield from tables_of(section, source, open_line)
        return
    for table in section.tables(source, open_line):
        yield replace(table, source=source)


def _nothing_found(count: int, stray: list[Note]) -> str:
    first = f"; line {stray[0].line} is {stray[0].message}" if stray else ""
    return (
        f"no table of a benchmark found in {count} line{'s' if count != 1 else ''}; expected a "
        "title such as '# OSU MPI Latency Test v7.5' or headings such as '# Size  Latency (us)'"
        f"{first}"
    )
