"""Quantities are read to SST/macro's last bit, written back exactly, and worded for people."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.units import (
    Kind,
    ShownKind,
    format_quantity,
    misread_unit,
    parse_integer,
    parse_quantity,
    parse_typed_quantity,
    write_quantity,
)

SCALED: tuple[Kind, ...] = ("time", "bandwidth", "frequency")

# What SST/macro v11.1's own reader returned for these texts, as C's %a prints it.
READ_BY_SSTMACRO = [
    ("500ns", "time", "0x1.0c6f7a0b5ed8ep-21"),
    ("400ns", "time", "0x1.ad7f29abcaf49p-22"),
    ("0.1 US", "time", "0x1.ad7f29abcaf48p-24"),
    ("3.7", "time", "0x1.d99999999999ap+1"),
    ("12.5GB/s", "bandwidth", "0x1.74876e8p+33"),
    ("12.1GB/s", "bandwidth", "0x1.689bac8p+33"),
    ("0.7GB/s", "bandwidth", "0x1.4dc938p+29"),
    ("100 gbits per second", "bandwidth", None),
    ("100 gigabits per second", "bandwidth", "0x1.74876e8p+33"),
    ("100Gb/s", "bandwidth", "0x1.74876e8p+33"),
    ("2GiB/s", "bandwidth", "0x1p+31"),
    ("1TB/s", "bandwidth", "0x1.c6bf52634p+49"),
    ("1GIB/S", "bandwidth", None),
    ("2.6GHz", "frequency", "0x1.35f1b4p+31"),
    ("2.1ghz", "frequency", "0x1.f4add4p+30"),
]


@for_each("text, kind, expected", READ_BY_SSTMACRO)
def test_reads_to_the_last_bit(text: str, kind: Kind, expected: str | None) -> None:
    if expected is None:
        with pytest.raises(ParameterError):
            parse_quantity(text, kind)
    else:
        assert parse_quantity(text, kind) == float.fromhex(expected)


@for_each(
    "text, size",
    [
        ("4096", 4096),
        ("512B", 512),
        ("64KB", 64_000),
        ("1.5KB", 1500),
        ("4MB", 4_000_000),
        ("1 GBytes", 10**9),
        ("1e3", 1000),
        ("0.9B", 0),
    ],
)
def test_sizes_are_whole_bytes_in_powers_of_1000(text: str, size: int) -> None:
    read = parse_quantity(text, "bytes")
    assert read == size
    assert isinstance(read, int)


@for_each("text", ["64KiB", "64kb", "4 K", "", "KB", "nan", "inf", "1_000", "0x10KB"])
def test_sizes_sstmacro_does_not_know_are_refused(text: str) -> None:
    with pytest.raises(ParameterError, match=r"must be a size such as 4096"):
        parse_quantity(text, "bytes", key="node.nic.mtu")


def test_a_quantity_of_another_kind_is_named() -> None:
    with pytest.raises(ParameterError, match=r"node\.nic\.mtu must be a size.*got '5ns', a time"):
        parse_quantity("5ns", "bytes", key="node.nic.mtu")
    with pytest.raises(ParameterError, match=r"must be a time.*got '4KB', a size") as caught:
        parse_quantity("4KB", "time", key="switch.link.latency")
    assert caught.value.key == "switch.link.latency"


@for_each(
    "text, number",
    [("256", 256), ("0x100", 256), ("010", 8), ("0", 0), ("-3", -3), ("512B", 512), ("+7", 7)],
)
def test_plain_integers_follow_strtol(text: str, number: int) -> None:
    assert parse_integer(text) == number
    assert parse_quantity(text, "count") == number


@for_each("text", ["4KB", "08", "1.5", "", "x", "9" * 5000])
def test_plain_integers_with_a_tail_are_refused(text: str) -> None:
    with pytest.raises(ParameterError, match="plain whole number"):
        parse_integer(text)


@for_each("text, value", [("true", True), ("1", True), ("false", False), ("0", False)])
def test_flags(text: str, value: bool) -> None:
    assert parse_quantity(text, "flag") is value
    assert parse_quantity(write_quantity(value, "flag"), "flag") is value


@for_each("text", ["True", "yes", "on", "2", ""])
def test_other_words_are_no_flags(text: str) -> None:
    with pytest.raises(ParameterError, match="true, false, 1 or 0"):
        parse_quantity(text, "flag")


def test_units_that_are_misread_are_reported() -> None:
    assert "10^15" in misread_unit("1TB/s", "bandwidth")
    assert "2^50" in misread_unit("3 Gib/s", "bandwidth")
    assert misread_unit("12.5GB/s", "bandwidth") == ""
    assert misread_unit("1TB", "bytes") == ""
    assert misread_unit("nothing", "bandwidth") == ""


@for_each(
    "text, kind",
    [
        ("500ns", "time"),
        ("0s", "time"),
        ("2us", "time"),
        ("1.25us", "time"),
        ("12.5GB/s", "bandwidth"),
        ("700MB/s", "bandwidth"),
        ("2.1GHz", "frequency"),
        ("64KB", "bytes"),
        ("4096B", "bytes"),
        ("4MB", "bytes"),
        ("1.5", "number"),
        ("3", "count"),
        ("cut_through", "choice"),
    ],
)
def test_usual_texts_come_back_as_they_were(text: str, kind: Kind) -> None:
    assert write_quantity(parse_quantity(text, kind), kind) == text


@given(
    st.floats(min_value=0, max_value=1e17, allow_subnormal=False),
    st.sampled_from((*SCALED, "number")),
)
def test_writing_is_exact(value: float, kind: Kind) -> None:
    assert parse_quantity(write_quantity(value, kind), kind) == value


@given(st.integers(min_value=0, max_value=2**53))
def test_writing_sizes_is_exact(size: int) -> None:
    assert parse_quantity(write_quantity(size, "bytes"), "bytes") == size


@given(st.text(max_size=20), st.sampled_from((*SCALED, "bytes", "count", "number", "flag")))
def test_any_text_is_read_or_refused(text: str, kind: Kind) -> None:
    try:
        value = parse_quantity(text, kind)
    except ParameterError:
        return
    assert value == value  # a number, never NaN


@for_each(
    "value, kind, shown",
    [
        (1.2e-6, "time", "1.20 µs"),
        (5e-7, "time", "500 ns"),
        (9.999e-7, "time", "1 µs"),
        (0.0, "time", "0 s"),
        (4e-13, "time", "0.4 ps"),
        (12.5e9, "bandwidth", "12.5 GB/s"),
        (1e12, "bandwidth", "1 TB/s"),
        (2.1e9, "frequency", "2.10 GHz"),
        (4096, "bytes", "4 KiB"),
        (4194304, "bytes", "4 MiB"),
        (64_000, "bytes", "64 KB"),
        (2_000_000_000, "bytes", "2 GB"),
        (1_234_567, "bytes", "1.235 MB"),
        (0, "bytes", "0 B"),
        (513, "bytes", "513 B"),
        (3, "count", "3"),
        (1.5, "number", "1.5"),
        (True, "flag", "on"),
        ("simple", "choice", "simple"),
        (0.16216, "share", "16.22 %"),
        (4.64229e-11, "gap", "0.04642 ns/B (21.5 GB/s)"),
    ],
)
def test_values_for_people(value: float, kind: ShownKind, shown: str) -> None:
    assert format_quantity(value, kind) == shown


@for_each(
    "value, kind, shown",
    [
        (7.888063463e-3, "time", "7,888,063.463 ns"),
        (100e-9, "time", "100 ns"),
        (0.0, "time", "0 ns"),
        (5.883333333e-8, "gap", "58.8333 ns/B (0.017 GB/s)"),
        (0.0, "gap", "0 ns/B"),
        (0.5, "share", "50.00 %"),
    ],
)
def test_exact_values_for_people(value: float, kind: ShownKind, shown: str) -> None:
    assert format_quantity(value, kind, exact=True) == shown


@for_each(
    "text, kind, value",
    [
        ("1.25 µs", "time", parse_quantity("1.25us", "time")),
        ("300ns", "time", parse_quantity("300ns", "time")),
        ("0", "time", 0.0),
        ("64kB", "bytes", 64_000),
        ("64 KB", "bytes", 64_000),
        ("64KiB", "bytes", 65_536),
        ("1.5 mib", "bytes", 1_572_864),
        ("64.1KB", "bytes", 64_100),
        ("8kbit", "bytes", 1000),
        ("4096", "bytes", 4096),
        ("100Gbit/s", "bandwidth", 12.5e9),
        ("100 Gbit", "bandwidth", 12.5e9),
        ("100Gbps", "bandwidth", 12.5e9),
        ("12.5GB/s", "bandwidth", 12.5e9),
        ("25 kB/s", "bandwidth", 25e3),
        ("2 GiB/s", "bandwidth", float(2**31)),
        ("1TB/s", "bandwidth", 1e12),
        ("1Gib/s", "bandwidth", 2.0**27),
        ("2.1 GHz", "frequency", 2.1e9),
        ("010", "count", 10),
        ("on", "flag", True),
    ],
)
def test_people_type_si_and_binary_units(text: str, kind: Kind, value: float) -> None:
    read = parse_typed_quantity(text, kind)
    assert read == value
    assert type(read) is type(value)


@for_each(
    "text, kind, said",
    [
        ("1", "time", r"units are s, ms, us \(or µs\), ns and ps; got '1', which has no unit"),
        ("3e9", "bandwidth", r"Gbit/s and Tbit/s .*got '3e9', which has no unit"),
        ("64kb", "bytes", r"KiB, MiB, GiB and TiB \(powers of 1024\), and kbit.*got '64kb'"),
        ("0.5B", "bytes", "got '0.5B', which is no whole number of bytes"),
        ("1e999", "bytes", "must be finite"),
        ("1e999s", "time", "must be finite"),
        ("4kB", "time", "got '4kB', a size"),
        ("5us", "bandwidth", "got '5us', a time"),
        ("1.5", "count", "a whole number"),
        ("maybe", "flag", "true or false"),
        ("nan", "time", "must be a time"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_the_units(text: str, kind: Kind, said: str) -> None:
    with pytest.raises(ParameterError, match=f"^L must be .*{said}|^L {said}"):
        parse_typed_quantity(text, kind, name="L")


@given(st.floats(min_value=1e-15, max_value=1e15, allow_subnormal=False), st.sampled_from(SCALED))
def test_both_doors_read_what_is_written_as_the_same_double(value: float, kind: Kind) -> None:
    text = write_quantity(value, kind)
    assert parse_typed_quantity(text, kind) == parse_quantity(text, kind) == value
