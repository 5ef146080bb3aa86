"""Many damaged files of each format; ``python -m tests.fuzz`` reads more."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from tests.cases import for_each
from tests.fuzz.formats import FORMATS
from tests.fuzz.mutate import DAMAGES, MOST_BYTES, mutate
from tests.fuzz.run import Tally, case, run

COUNT = 25
MOST = 200  # where the first ones were all read, or all refused
MOST_MB = 64


@for_each("name", sorted(FORMATS))
def test_damaged_files_end_in_results_or_in_a_message(name: str) -> None:
    for files in FORMATS[name].corpus:
        FORMATS[name].read(files)
    tally = Tally()
    tracemalloc.start()
    try:
        for number in range(MOST):
            run(name, 0, number, tally)
            if number >= COUNT and tally.results and tally.errors:
                break
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert tally.failures == []
    assert tally.results + tally.errors.total() == number + 1
    # Damage that is always refused, or never, would reach little of a reader.
    assert tally.results
    assert tally.errors
    assert peak < MOST_MB * 2**20


def test_a_case_is_made_of_its_seed_and_number_alone() -> None:
    for name in FORMATS:
        assert case(name, 7, 3) == case(name, 7, 3)
        assert case(name, 7, 3) != case(name, 8, 3)


def test_every_damage_changes_something_and_stands_an_empty_file() -> None:
    rng = np.random.default_rng(0)
    content = b"num_ranks 1\nrank 0 {\nl1: calc 12345\n}\n"
    for damage in DAMAGES:
        damage(b"", b"", rng)
        assert any(damage(content, content[::-1], rng) != content for _ in range(20))
    assert len(mutate(bytes(10 * MOST_BYTES), [b""], rng)) <= MOST_BYTES


def test_an_exception_of_another_kind_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(files: object) -> None:
        raise IndexError("out of range")

    monkeypatch.setitem(FORMATS, "text", type(FORMATS["text"])(FORMATS["text"].corpus, careless))
    tally = Tally()
    run("text", 0, 0, tally)
    assert "IndexError" in tally.failures[0][1]
