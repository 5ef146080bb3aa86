from __future__ import annotations

import contextlib

import numpy as np
from hypothesis import example, given, strategies as st

from workbench.errors import ParseError
from workbench.measure import parse_benchmarks, read_osu

# Pieces of real output, so that drawn texts reach the parts of the reader that random bytes do not.
PIECES = st.sampled_from(
    [
        "# OSU MPI Latency Test v7.5",
        "# OSU MPI Bandwidth Test",
        "# OSU MPI Bi-Directional Bandwidth Test v5.8",
        "# OSU MPI Multiple Bandwidth / Message Rate Test v5.8",
        "# OSU MPI Allreduce Latency Test v5.8",
        "# Size  Latency (us)",
        "# Size  Avg Latency(us)  Min Latency(us)  Max Latency(us)  Iterations  Validation",
        "# Size  Bandwidth (MB/s)",
        "# Size  MB/s  Messages/s",
        "# Size  Bandwidth (GB/s)",
        "# Send Buffer on DEVICE (D) and Receive Buffer on HOST (H)",
        "0  1.50",
        "1  1.57",
        "1,024  1,234.56",
        "4  1.59  Pass",
        "8  1.60  1.00  2.00  100  Fail",
        "16  12.5 1000.00",
        "32  1e400",
        "64",
        "[1,0]<stdout>:128  2.00",
        "srun: error: node1",
    ]
)
ENDS = st.sampled_from(["\n", "\r\n", "\r", " ", ""])
TEXTS = st.lists(st.tuples(PIECES | st.text(max_size=30), ENDS)).map(
    lambda pairs: "".join(piece + end for piece, end in pairs)
)
# Lines that no reader could take for a row, a title or a heading.
NOISE = st.text(
    st.characters(codec="utf-8", exclude_characters="\r\n#", exclude_categories=["Cs", "Nd"]),
    max_size=40,
).filter(lambda line: "size" not in line.lower() and "osu" not in line.lower())


@given(st.binary(max_size=300))
@example(b"\xff\xfe\x00")
@example(b"# OSU MPI Latency Test\n1 \xff")
def test_any_bytes_are_read_or_refused_with_a_message(data: bytes) -> None:
    with contextlib.suppress(ParseError):
        parse_benchmarks(data)
    with contextlib.suppress(ParseError):
        read_osu(("bytes", data))


@given(TEXTS)
def test_any_pieces_of_output_are_read_or_refused_with_a_message(text: str) -> None:
    try:
        tables = parse_benchmarks(text)
    except ParseError:
        return
    for table in tables:
        assert np.all(np.diff(table.sizes) > 0)
        assert np.all(np.isfinite(table.result))
        assert len(table.sizes) == len(table.lines) == len(table.values)
        assert table.values.shape[1] == len(table.columns)
    with contextlib.suppress(ParseError):
        curve = read_osu(("text", text))
        assert np.all(curve.sizes >= 1)
        assert not np.any(curve.latency_s <= 0)
        assert not np.any(curve.bandwidth_Bps <= 0)


@given(
    # Hundredths, as they are printed.
    st.dictionaries(st.integers(1, 2**40), st.integers(1, 10**9), min_size=1, max_size=23),
    st.sampled_from(["latency", "bw"]),
    st.lists(NOISE, min_size=3, max_size=3),
    st.sampled_from(["", "[1,0]<stdout>:", "0: ", "2026-01-31 12:00:00 "]),
    st.booleans(),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_a_table_comes_back_from_the_noise_around_it(
    hundredths: dict[int, int], what: str, noise: list[str], label: str, grouped: bool, end: str
) -> None:
    titles = {
        "latency": ("OSU MPI Latency Test v7.5", "Size   Avg Latency(us)"),
        "bw": ("OSU MPI Bandwidth Test v5.8", "Size   Bandwidth (MB/s)"),
    }
    form = "{:<10,}{:18,.2f}" if grouped else "{:<10}{:18.2f}"
    rows = [form.format(size, hundredths[size] / 100) for size in sorted(hundredths)]
    labelled = [label + line for line in (*(f"# {line}" for line in titles[what]), *rows)]
    lines = [noise[0], *labelled[:3], noise[1], *labelled[3:], noise[2]]
    (table,) = parse_benchmarks(end.join(lines) + end)
    assert table.benchmark == what
    assert table.sizes.tolist() == sorted(hundredths)
    assert table.result.tolist() == [hundredths[size] / 100 for size in sorted(hundredths)]


@given(st.integers(0, 200))
def test_a_text_cut_anywhere_gives_only_true_values(cut: int) -> None:
    whole = (
        "# OSU MPI Bandwidth Test v5.8\n# Size      Bandwidth (MB/s)\n"
        "1                       4.02\n64                    258.71\n4194304             24671.93\n"
    )
    truth = {1: 4.02, 64: 258.71, 4194304: 24671.93}
    with contextlib.suppress(ParseError):
        (table,) = parse_benchmarks(whole[:cut])
        read = dict(zip(table.sizes.tolist(), table.result.tolist(), strict=True))
        assert read.items() <= truth.items()


@given(st.text("#+$>=-_ .:|0t", max_size=900), PIECES)
@example("#" * 900, "# OSU MPI Latency Test v7.5")
def test_rules_and_prompts_of_any_length_are_read_in_no_time(line: str, piece: str) -> None:
    """A pattern that tries all ways to divide them would never end."""
    with contextlib.suppress(ParseError):
        read_osu(("text", f"{line}\n{piece}\n# Size  Latency (us)\n1  1.57\n"))
