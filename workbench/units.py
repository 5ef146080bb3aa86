"""Quantities with their units: as people type them, and as SST/macro writes them, exactly.

There are two doors. ``parse_typed_quantity`` is for what a person types, in a panel, a Python
keyword, a shell option or YAML: SI and binary prefixes, bits and bytes, and no number without its
unit where the unit is not obvious. ``parse_quantity`` is for an .ini: it performs the
double-precision steps of SST/macro v11.1's own reader in the same order, slips included, so both
hold the same number to the last bit; ``write_quantity`` is its inverse. ``format_quantity`` words a
value for people.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Final, Literal

from workbench.errors import ParameterError

Kind = Literal["time", "bandwidth", "bytes", "frequency", "count", "number", "flag", "choice"]

ShownKind = Kind | Literal["share", "gap"]
"""What can be worded for people: also shares of a whole, and times per byte, s/B."""

UNITS: Final[Mapping[str, str]] = {
    "time": "s",
    "bandwidth": "B/s",
    "bytes": "B",
    "frequency": "Hz",
    "count": "",
    "number": "",
    "flag": "",
    "choice": "",
}

_EXAMPLES: Final = {
    "time": "a time such as 500ns or 2us",
    "bandwidth": "a bandwidth such as 12.5GB/s or 100Gb/s",
    "bytes": "a size such as 4096, 4096B or 64KB (1 KB = 1000 B)",
    "frequency": "a frequency such as 2.1GHz",
    "count": "a whole number",
    "number": "a number",
    "flag": "true, false, 1 or 0",
}

_TYPED: Final = {
    "time": "a time such as 500ns or 2us; units are s, ms, us (or µs), ns and ps",
    "bandwidth": (
        "a bandwidth such as 12.5GB/s or 100Gbit/s; units are B/s, kB/s, MB/s, GB/s and TB/s, "
        "KiB/s to TiB/s, and bit/s, kbit/s, Mbit/s, Gbit/s and Tbit/s (or b/s to Tb/s)"
    ),
    "bytes": (
        "a size such as 4096, 64kB or 64KiB; units are B, kB, MB, GB and TB (powers of 1000), "
        "KiB, MiB, GiB and TiB (powers of 1024), and kbit, Mbit and Gbit"
    ),
    "frequency": "a frequency such as 2.1GHz; units are Hz, kHz, MHz and GHz",
    "count": "a whole number",
    "number": "a number",
    "flag": "true or false",
}

_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_INTEGER: Final = re.compile(
    r"([+-]?)(0[xX][0-9a-fA-F]{1,32}|0[0-7]{0,40}|[1-9]\d{0,30})(?: *(?:B|bytes))?", re.ASCII
)

_TIME: Final = {
    name: scale
    for scale, names in (
        (1e-12, "ps psec pseconds picoseconds"),
        (1e-9, "ns nsec nseconds nanoseconds"),
        (1e-6, "us usec useconds microseconds"),
        (1e-3, "ms msec mseconds milliseconds"),
        (1.0, "s sec seconds"),
    )
    for name in names.split()
}
# In Hz; the units that messages name.
_FREQUENCY: Final = {"hz": 1.0, "khz": 1e3, "mhz": 1e6, "ghz": 1e9}
_SHOWN_TIMES: Final[tuple[tuple[str, float], ...]] = (
    ("s", 1.0),
    ("ms", 1e-3),
    ("µs", 1e-6),
    ("ns", 1e-9),
    ("ps", 1e-12),
)
_WRITTEN: Final[Mapping[str, tuple[tuple[str, float], ...]]] = {
    "time": (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9), ("ps", 1e-12)),
    "bandwidth": (("GB/s", 1e9), ("MB/s", 1e6), ("KB/s", 1e3), ("B/s", 1.0)),
    "frequency": (("GHz", 1e9), ("MHz", 1e6), ("KHz", 1e3), ("Hz", 1.0)),
}
_BYTES: Final = {
    prefix + name: scale
    for prefix, scale in (("", 1.0), ("K", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12))
    for name in ("B", "bytes", "Bytes")
}


def parse_quantity(text: str, kind: Kind, *, key: str = "") -> float | int | bool | str:
    """Return the SI value of ``text`` as SST/macro v11.1 reads a parameter of this kind.

    Args:
        text: a number, then optional spaces and a unit; without a unit the number is SI.
        kind: ``bytes`` and ``count`` give ``int`` (a size is truncated, as in SST/macro), ``flag``
            gives ``bool``, ``choice`` the text itself, the others ``float`` in s, B/s or Hz.
        key: name of the parameter, for the message.

    Raises:
        ParameterError: ``text`` is no such quantity, or one of another kind.
    """
    text = text.strip()
    if kind == "choice":
        return text
    if kind == "flag":
        return _flag(text, key)
    if kind == "count":
        return parse_integer(text, key=key)
    value = _scaled(text, kind)
    if value is None:
        raise ParameterError(_complaint(text, kind, key), key=key)
    if not math.isfinite(value):
        raise ParameterError(f"{_subject(key)} must be finite; got {text!r}", key=key)
    return int(value) if kind == "bytes" else value


def parse_typed_quantity(text: str, kind: Kind, *, name: str = "") -> float | int | bool | str:
    """Return the SI value of a text that a person typed.

    Where SST/macro accepts the text too, and reads its unit rightly, both return the same double.

    Args:
        text: a number, then optional spaces and a unit. Sizes, counts and zero may stand without
            one; other numbers may not, as 5 could be seconds or microseconds.
        kind: as for ``parse_quantity``; a size must be a whole number of bytes.
        name: of the value, for the message.

    Raises:
        ParameterError: it is no such quantity, or has no unit; the accepted units are listed.
    """
    text = text.strip().replace("µ", "u").replace("μ", "u")
    if kind == "choice":
        return text
    if kind == "flag":
        flag = _FLAGS.get(text.lower())
        if flag is None:
            raise ParameterError(_refusal(text, kind, name), key=name)
        return flag
    value = _typed(text, kind)
    if value is None:
        raise ParameterError(_refusal(text, kind, name), key=name)
    if isinstance(value, float) and not math.isfinite(value):
        raise ParameterError(f"{_subject(name)} must be finite; got {text!r}", key=name)
    return value


def parse_integer(text: str, *, key: str = "") -> int:
    """Return a plain integer as C's ``strtol`` with base 0 reads it (``0x`` hex, ``0`` octal).

    A trailing ``B`` or ``bytes`` is allowed because it changes nothing. Any other unit is refused:
    SST/macro silently reads ``4KB`` here as 4.

    Args:
        text: of the integer.
        key: name of the parameter, for the message.

    Raises:
        ParameterError: ``text`` is not such an integer.
    """
    text = text.strip()
    match = _INTEGER.fullmatch(text)
    if match is None:
        raise ParameterError(
            f"{_subject(key)} must be a plain whole number without a unit; got {text!r} "
            "(SST/macro would read its leading digits only)",
            key=key,
        )
    sign, digits = match.groups()
    base = 16 if digits[:2] in ("0x", "0X") else 8 if digits[0] == "0" else 10
    magnitude = int(digits, base)
    return -magnitude if sign == "-" else magnitude


def misread_unit(text: str, kind: Kind) -> str:
    """Return the warning for a unit that SST/macro reads as another one, else an empty text."""
    split = _split(text.strip())
    if kind != "bandwidth" or split is None:
        return ""
    unit = split[1]
    read = _MISREAD_EXACT.get(unit) or _MISREAD_FOLDED.get(unit.lower())
    return f"SST/macro v11.1 reads the unit {unit!r} as {read}" if read else ""


def write_quantity(value: float | int | bool | str, kind: Kind) -> str:
    """Return the shortest usual text that ``parse_quantity`` reads back as exactly ``value``."""
    if kind == "flag":
        return "true" if value else "false"
    if kind == "choice":
        return str(value)
    if kind == "count":
        return str(int(value))
    if kind == "bytes":
        size = int(value)
        for unit, scale in (("GB", 10**9), ("MB", 10**6), ("KB", 1000)):
            if size and size % scale == 0:
                return f"{size // scale}{unit}"
        return f"{size}B"
    number = float(value)
    if kind == "number":
        return _plain(number)
    return _write_scaled(number, kind)


def format_quantity(
    value: float | int | bool | str, kind: ShownKind, *, exact: bool = False
) -> str:
    """Return ``value`` (SI) for people, three significant digits: ``1.20 µs``, ``4 KiB``.

    Args:
        value: s, B/s, B, Hz, s/B or a share of 1.
        kind: a share is in percent with two decimals, a gap with its bandwidth.
        exact: times are in ns, to the ps, and gaps have six digits: ``1,204.25 ns``.
    """
    if kind == "share":
        return f"{100 * float(value):.2f} %"
    if kind == "gap":
        return _format_gap(float(value), *((6, 4) if exact else (4, 3)))
    if kind == "time" and exact:
        return f"{float(value) * 1e9:,.3f}".rstrip("0").rstrip(".") + " ns"
    if kind == "flag":
        return "on" if value else "off"
    if kind == "choice":
        return str(value)
    if kind == "bytes":
        return _format_bytes(int(value))
    number = float(value)
    if kind in ("count", "number"):
        return f"{number:g}"
    if number == 0:
        return f"0 {UNITS[kind]}"
    if not math.isfinite(number):
        return f"{number} {UNITS[kind]}"
    prefixes = _SHOWN_TIMES if kind == "time" else _shown_rates(UNITS[kind])
    rounded = float(f"{number:.3g}")
    for name, scale in prefixes:
        if abs(rounded) >= scale * (1 - 1e-9):
            return f"{_three_digits(rounded / scale)} {name}"
    name, scale = prefixes[-1]
    return f"{rounded / scale:.3g} {name}"


def _scaled(text: str, kind: Kind) -> float | None:
    split = _split(text)
    if split is None:
        return None
    number, unit = split
    if kind == "number":
        return number if not unit else None
    if not unit:
        return number
    if kind == "bandwidth":
        bits = _BITS_EXACT.get(unit) or _BITS_FOLDED.get(unit.lower())
        # bits first, then bytes: the order of the two roundings is SST/macro's
        return None if bits is None else number * float(bits) / 8
    if kind == "bytes":
        scale = _BYTES.get(unit)
    else:
        scale = (_TIME if kind == "time" else _FREQUENCY).get(unit.lower())
    return None if scale is None else number * scale


def _typed(text: str, kind: Kind) -> float | int | None:
    """Return the SI value of a text that a person typed, None if it is no such quantity."""
    split = _split(text)
    if split is None:
        return None
    number, unit = split
    if kind == "number":
        return number if not unit else None
    if not math.isfinite(number):
        return number
    if kind == "count":
        return int(number) if not unit and number.is_integer() else None
    if kind == "bytes":
        eighths = _size_unit(unit)
        # by the decimal digits: 64.1 * 1000 is no whole number in doubles
        size = Decimal(text[: len(text) - len(unit)].strip()) * eighths / 8
        return int(size) if eighths and size == int(size) else None
    if not unit:
        return None if number else 0.0
    if kind == "bandwidth":
        bits = _TYPED_RATES.get(unit) or _TYPED_RATES_FOLDED.get(unit.lower())
        return None if bits is None else number * float(bits) / 8
    scale = (_TIME if kind == "time" else _FREQUENCY).get(unit.lower())
    return None if scale is None else number * scale


def _size_unit(unit: str) -> int:
    """Return the bits of a unit of size, 0 where it is none."""
    return _TYPED_SIZES.get(unit) or _TYPED_SIZES_FOLDED.get(unit.lower(), 0)


def _refusal(text: str, kind: Kind, name: str) -> str:
    others: tuple[Kind, ...] = ("time", "bandwidth", "frequency", "bytes")
    split = _split(text)
    got = repr(text)
    if kind == "bytes" and split is not None and _size_unit(split[1]):
        got += ", which is no whole number of bytes"
    elif split is not None and split[1]:
        other = next((k for k in others if k != kind and _typed(text, k) is not None), None)
        got += f", a {'size' if other == 'bytes' else other}" if other else ""
    elif split is not None and kind in ("time", "bandwidth", "frequency"):
        got += ", which has no unit"
    return f"{_subject(name)} must be {_TYPED[kind]}; got {got}"


def _split(text: str) -> tuple[float, str] | None:
    match = _NUMBER.match(text)
    return None if match is None else (float(match.group()), text[match.end() :].lstrip(" "))


def _flag(text: str, key: str) -> bool:
    if text in ("true", "1"):
        return True
    if text in ("false", "0"):
        return False
    raise ParameterError(_complaint(text, "flag", key), key=key)


def _subject(key: str) -> str:
    return key or "the value"


def _complaint(text: str, kind: Kind, key: str) -> str:
    kinds: tuple[Kind, ...] = ("time", "bandwidth", "frequency", "bytes")
    other = next((k for k in kinds if k != kind and _scaled(text, k) is not None), None)
    got = f"{text!r}, a {'size' if other == 'bytes' else other}" if other else repr(text)
    return f"{_subject(key)} must be {_EXAMPLES[kind]}; got {got}"


def _write_scaled(value: float, kind: Kind) -> str:
    if value == 0:
        return "0" + UNITS[kind]
    units = _WRITTEN[kind]
    fitting = [pair for pair in units if abs(value) >= pair[1] * (1 - 1e-9)] or units[-1:]
    # a computed 5e-7 s is not the double that "500ns" stands for; both are written exactly
    shortest = repr(value) + UNITS[kind]
    for unit, scale in fitting[:2]:
        for digits in (3, 6, 9, 12, 15, 17):
            text = _plain(float(f"{value / scale:.{digits}g}")) + unit
            if len(text) <= len(shortest) and parse_quantity(text, kind) == value:
                shortest = text
                break
    return shortest


def _shown_rates(unit: str) -> tuple[tuple[str, float], ...]:
    steps = (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0))
    return tuple((prefix + unit, scale) for prefix, scale in steps)


def _plain(number: float) -> str:
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def _three_digits(number: float) -> str:
    if abs(number) >= 1e6:
        return f"{number:.3g}"
    if abs(number) >= 100 or float(f"{number:.3g}").is_integer():
        return f"{number:.0f}"
    return f"{number:.1f}" if abs(number) >= 10 else f"{number:.2f}"


def _format_gap(gap: float, digits: int, of_bandwidth: int) -> str:
    bandwidth = f" ({1e-9 / gap:.{of_bandwidth}g} GB/s)" if gap else ""
    return f"{gap * 1e9:.{digits}g} ns/B{bandwidth}"


def _format_bytes(size: int) -> str:
    for names, base in ((("KiB", "MiB", "GiB"), 1024), (("KB", "MB", "GB"), 1000)):
        for power, name in enumerate(names, start=1):
            count, rest = divmod(size, base**power)
            if rest == 0 and 0 < count < base:
                return f"{count} {name}"
    for name, scale in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if abs(size) >= scale:
            return f"{size / scale:.4g} {name}"
    return f"{size} B"


def _bandwidth_units() -> tuple[dict[str, int], dict[str, int]]:
    """Return bits per second by unit: case-sensitive abbreviations, and lower-case long names."""
    exact: dict[str, int] = {}
    folded: dict[str, int] = {}
    for bits, letter, word in ((1, "b", "bits"), (8, "B", "bytes")):
        for name in (f"{letter}ps", f"{letter}/s", f"{letter}/sec"):
            exact[name] = bits
        for name in _per_second(word):
            folded[name] = bits
    for power, letter in enumerate("kmgtp", start=1):
        for binary, base in (("", 1000), ("i", 1024)):
            long = _LONG_PREFIXES[letter + binary]
            for bits, unit, word in ((1, "b", "bits"), (8, "B", "bytes")):
                scale = base**power * bits
                for case in (letter, letter.upper()):
                    exact[f"{case}{binary}{unit}ps"] = exact[f"{case}{binary}{unit}/s"] = scale
                short = letter + binary
                for name in (*_per_second(short + word)[:3], *_per_second(long + word)):
                    folded[name] = scale
    return exact, folded


def _per_second(word: str) -> tuple[str, str, str, str]:
    return f"{word}/s", f"{word}/sec", f"{word}/second", f"{word} per second"


_LONG_PREFIXES: Final = {
    "k": "kilo",
    "ki": "kibi",
    "m": "mega",
    "mi": "mebi",
    "g": "giga",
    "gi": "gibi",
    "t": "tera",
    "ti": "tebi",
    "p": "peta",
    "pi": "pebi",
}


def _as_read_by_sstmacro() -> tuple[dict[str, int], dict[str, int], dict[str, str], dict[str, str]]:
    """Return the bandwidth units as v11.1 misreads them, exact and folded, and texts for these."""
    exact, folded = _bandwidth_units()
    said_exact: dict[str, str] = {}
    said_folded: dict[str, str] = {}
    for case in "tTpP":
        for name in ("ibps", "ib/s"):
            del exact[case + name]
    for prefix in "tp":
        for right, read in zip(
            _per_second(prefix + "ibits")[:3], _per_second(prefix + "ebits")[:3], strict=True
        ):
            folded[read] = folded.pop(right)
    for case in "pP":
        for name in ("Bps", "B/s"):
            del exact[case + name]
    for name in _per_second("pbytes")[:3]:
        del folded[name]
    for tail in ("ps", "/s"):
        for case in "gG":
            exact[f"{case}ib{tail}"] = 1024**5
            said_exact[f"{case}ib{tail}"] = "2^50 bits a second; write GiB/s or Gb/s"
        for case in "tT":
            exact[f"{case}B{tail}"] = 8 * 1000**5
            said_exact[f"{case}B{tail}"] = "10^15 bytes a second; write GB/s"
        for case in "tTpP":
            exact[f"{case}iB{tail}"] = 8 * 1024**3
            said_exact[f"{case}iB{tail}"] = "2^30 bytes a second; write GiB/s"
    for word, bits, said in (
        ("tbytes", 8 * 1000**5, "10^15 bytes a second; write GB/s"),
        *(
            (word, 8 * 1024**3, "2^30 bytes a second; write GiB/s")
            for word in ("tibytes", "tebibytes", "pibytes", "pebibytes")
        ),
    ):
        for name in _per_second(word):
            if name in folded:
                folded[name] = bits
                said_folded[name] = said
    return exact, folded, said_exact, said_folded


_BITS_EXACT, _BITS_FOLDED, _MISREAD_EXACT, _MISREAD_FOLDED = _as_read_by_sstmacro()


def _typed_rates() -> tuple[dict[str, int], dict[str, int]]:
    """Return bits per second by unit, as people mean them; ``kbit`` is a rate here, as in tc."""
    exact, folded = _bandwidth_units()
    for power, letter in enumerate(("", "k", "m", "g", "t", "p")):
        for binary, base in (("", 1000), ("i", 1024)) if letter else (("", 1),):
            for tail in ("bit", "bit/s", "bit/sec", "bitps"):
                folded[letter + binary + tail] = base**power
    return exact, folded


def _typed_sizes() -> tuple[dict[str, int], dict[str, int]]:
    """Return bits by unit of size; ``kb``, which may be bits or bytes, is none."""
    exact = {"": 8, "B": 8, "kB": 8000}
    folded = {"bit": 1, "bits": 1, "byte": 8, "bytes": 8}
    for power, letter in enumerate("kmgt", start=1):
        exact[letter.upper() + "B"] = 8 * 1000**power
        for tail, scale in (("bit", 1), ("bits", 1), ("byte", 8), ("bytes", 8)):
            folded[letter + tail] = scale * 1000**power
            folded[f"{letter}i{tail}"] = scale * 1024**power
        folded[letter + "ib"] = 8 * 1024**power
    return exact, folded


_TYPED_RATES, _TYPED_RATES_FOLDED = _typed_rates()
_TYPED_SIZES, _TYPED_SIZES_FOLDED = _typed_sizes()
_FLAGS: Final = {
    **dict.fromkeys(("true", "1", "on", "yes"), True),
    **dict.fromkeys(("false", "0", "off", "no"), False),
}
