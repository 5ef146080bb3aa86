"""Damage to a file, drawn from a seed: what disks, editors, other programs and malice do to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

MOST_BYTES = 20_000  # insertions and splices must not let a file grow without end

NUMBER = re.compile(rb"\d+")
EXTREMES = [
    *(b"0", b"1", b"-1", b"-2", b"255", b"256", b"32767", b"65536", b"nan", b"1e308", b"0.5"),
    *(b"2147483647", b"2147483648", b"4294967295", b"4294967296", b"-2147483648"),
    *(b"9223372036854775806", b"9223372036854775807", b"9223372036854775808"),
    *(b"18446744073709551615", b"18446744073709551616", b"9" * 40),
]
PIECES = [
    *(b"\n", b"\r\n", b"\r", b"\0", b" ", b"\t", b"#", b":", b"{", b"}", b"/*", b"*/", b"//"),
    *(
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        "é٣".encode(),
        b"rank 0 {\n",
        b"num_ranks 99\n",
        b"l1 requires l1\n",
    ),
    *(b"send 1b to 0\n", b"recv 1b from -1 tag -1\n", b"calc 5\n", b"MPI_Init:-:0:0:1\n"),
]

Damage = Callable[[bytes, bytes, np.random.Generator], bytes]


def mutate(content: bytes, others: Sequence[bytes], rng: np.random.Generator) -> bytes:
    """Return a content with one damage, or a few.

    Args:
        content: what is damaged.
        others: contents of the same format, for splices.
        rng: where the choices come from.
    """
    for _ in range(rng.geometric(0.7)):
        damage = DAMAGES[rng.integers(len(DAMAGES))]
        content = damage(content, others[rng.integers(len(others))], rng)[:MOST_BYTES]
    return content


def span(content: bytes, rng: np.random.Generator) -> tuple[int, int]:
    """Return where a piece of a content begins and ends, short ones more often."""
    begin = int(rng.integers(len(content) + 1))
    longest = len(content) - begin
    return begin, begin + min(longest, int(2 ** rng.uniform(0, 10)))


def flip(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """Change bits of some bytes."""
    changed = bytearray(content)
    for _ in range(rng.integers(1, 6) if content else 0):
        changed[rng.integers(len(changed))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def overwrite(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """Put other bytes in the place of some."""
    begin, end = span(content, rng)
    return content[:begin] + rng.bytes(end - begin) + content[end:]


def truncate(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """Cut off the end."""
    return content[: rng.integers(len(content) + 1)]


def delete(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """Leave a piece out."""
    begin, end = span(content, rng)
    return content[:begin] + content[end:]


def insert(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """Put in a piece that means something somewhere."""
    at = int(rng.integers(len(content) + 1))
    return content[:at] + PIECES[rng.integers(len(PIECES))] + content[at:]


def repeat(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """Repeat a piece, up to many times."""
    begin, end = span(content, rng)
    return content[:end] + content[begin:end] * int(2 ** rng.uniform(0, 6)) + content[end:]


def splice(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """Go on with another file, at the same place or elsewhere."""
    at = int(rng.integers(len(content) + 1))
    begin = at if rng.random() < 0.5 else int(rng.integers(len(other) + 1))
    return content[:at] + other[begin:]


def swap_lines(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """Let two lines change places."""
    lines = content.split(b"\n")
    one, two = rng.integers(len(lines), size=2)
    lines[one], lines[two] = lines[two], lines[one]
    return b"\n".join(lines)


def blow_up(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """Put an extreme number in the place of one."""
    numbers = list(NUMBER.finditer(content))
    if not numbers:
        return content
    found = numbers[rng.integers(len(numbers))]
    return content[: found.start()] + EXTREMES[rng.integers(len(EXTREMES))] + content[found.end() :]


def blow_up_word(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """Put an extreme binary number in the place of 4 or 8 bytes."""
    width = int(rng.choice([4, 8]))
    value = int(rng.choice([0, 1, 2, 3, 7, 39, 255, 999, 2**16, 2**31 - 1, 2**31, 2**32 - 1]))
    if width == 8 and rng.random() < 0.5:
        value = 2 ** int(rng.integers(32, 64)) - int(rng.integers(2))
    at = int(rng.integers(len(content) + 1))
    return content[:at] + value.to_bytes(width, "little") + content[at + width :]


DAMAGES: list[Damage] = [
    *(flip, overwrite, truncate, delete, insert, repeat, splice, swap_lines, blow_up, blow_up_word)
]
