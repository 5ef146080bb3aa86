"""Recorded traces as liballprof would have written them, with what it cannot tell taken away.

The recorder tells everything; what a reader makes of the disguised trace must be the same program.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

SINGLE = re.compile(r"MPI_(I(?!nit|probe|mprobe)\w+|\w+_init|Start|Wait|Test|Cancel|Request_free)$")
FIRST = re.compile(r"MPI_(Start|Wait|Test|Cancel|Request_free)$")
ARRAYS = re.compile(r"MPI_(Startall|Waitall|Waitany|Waitsome|Testall|Testany|Testsome)$")
MAKES = re.compile(r"MPI_(Comm_dup|Comm_split|Comm_create|Cart_create|Cart_sub)$")
THREE = re.compile(r"-?\d+,\d+,\d+")


def disguise(files: Mapping[str, str], *, stride: int) -> dict[str, str]:
    """Return a recorded trace in liballprof's manner.

    Requests become addresses of variables, those that are waited for together beside each other,
    and arrays of equal length in the same place; communicators become handles of each rank's own,
    shown with rank and size, and the calls that make them tell an address alone.

    Args:
        files: text of each rank's file by its name; each wait names all requests of its array.
        stride: bytes from one request of an array to the next.
    """
    return {name: _disguised(text, stride) for name, text in files.items()}


def _disguised(text: str, stride: int) -> str:
    lines = [line.split(":") for line in text.splitlines() if line and not line.startswith("#")]
    variables: dict[str, int] = {}
    for fields in lines:
        if ARRAYS.match(fields[0]):
            numbers = fields[3].split(",")
            for i, number in enumerate(numbers):
                if number != "0":
                    variables.setdefault(number, 10**9 * len(numbers) + stride * i)
    made: dict[str, int] = {}
    return "# disguised\n" + "".join(
        ":".join(_line(fields, variables, made)) + "\n" for fields in lines
    )


def _line(fields: list[str], variables: dict[str, int], made: dict[str, int]) -> list[str]:
    name = fields[0]
    if MAKES.match(name):
        new = fields[-2].split(",")[0]
        made[new] = 10**6 + 64 * len(made)
        fields[-2] = str(made[new])
    elif name == "MPI_Comm_free":
        fields[2] = str(made[fields[2].split(",")[0]])
        return fields
    if ARRAYS.match(name):
        numbers = fields[3].split(",")
        fields[3] = str(10**9 * len(numbers))
    elif SINGLE.match(name):
        place = 2 if FIRST.match(name) else len(fields) - 2
        number = fields[place]
        fields[place] = str(variables.setdefault(number, 10**7 + 64 * len(variables)))
    shown = [i for i in range(2, len(fields) - 1) if THREE.fullmatch(fields[i])]
    if shown and not ARRAYS.match(name):
        # the communicator comes last; what stands before it are datatypes
        number, place, size = fields[shown[-1]].split(",")
        fields[shown[-1]] = f"{8_000_000 + 640 * int(number)},{place},{size}"
    return fields


def fitted(
    sends: list[tuple[int, int, int, int, int]], receives: list[tuple[int, int, int, int, int]]
) -> list[int]:
    """Return the bytes of each receive once it is fitted to its message.

    Args:
        sends: communicator, source, target, tag and bytes, in the order in which they were sent.
        receives: the same of each receive; a source or tag below 0 is any, and leaves all receives
            of its target and communicator as they are.
    """
    doubtful = {(comm, target) for comm, source, target, tag, _ in receives if min(source, tag) < 0}
    sizes = []
    left = list(sends)
    for receive in receives:
        taken = next((send for send in left if send[:4] == receive[:4]), None)
        certain = taken is not None and (receive[0], receive[2]) not in doubtful
        if taken is not None and certain:
            left.remove(taken)
        sizes.append(taken[4] if taken is not None and certain else receive[4])
    return sizes
