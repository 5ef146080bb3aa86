"""Damaged files, each made of a seed and a number, read one after another."""

from __future__ import annotations

import time
import traceback
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from tests.fuzz.formats import FORMATS, Files
from tests.fuzz.mutate import mutate
from workbench.errors import WorkbenchError

SLOW_S = 2.0


@dataclass
class Tally:
    """What came of the files.

    Attributes:
        results: files that were read.
        errors: files that were refused, by the class of the error.
        failures: number of the case and what went wrong: any other exception, or more than
            ``SLOW_S`` of processor time.
        slowest_s: processor time of the slowest case.
    """

    results: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[int, str]] = field(default_factory=list)
    slowest_s: float = 0.0


def case(name: str, seed: int, number: int) -> Files:
    """Return the damaged files of one case.

    Args:
        name: the format.
        seed: the run's.
        number: the case's.
    """
    rng = np.random.default_rng([seed, *name.encode(), number])
    corpus = FORMATS[name].corpus
    files = dict(corpus[rng.integers(len(corpus))])
    others = [content for other in corpus for content in other.values()]
    names = list(files)
    for _ in range(rng.integers(1, 3) if len(names) > 1 else 1):
        at = names[rng.integers(len(names))]
        files[at] = mutate(files[at], others, rng)
    if len(names) > 1 and rng.random() < 0.05:
        del files[names[rng.integers(len(names))]]
    return files


def run(name: str, seed: int, number: int, tally: Tally) -> None:
    """Read the files of one case and add what came of it.

    Args:
        name: the format.
        seed: the run's.
        number: the case's.
        tally: what is added to.
    """
    files = case(name, seed, number)
    begin = time.thread_time()
    try:
        FORMATS[name].read(files)
        tally.results += 1
    except WorkbenchError as error:
        tally.errors[type(error).__name__] += 1
    except Exception:  # whatever it is, it is not what a reader may raise
        tally.failures.append((number, traceback.format_exc()))
    took = time.thread_time() - begin
    tally.slowest_s = max(tally.slowest_s, took)
    if took > SLOW_S:
        tally.failures.append((number, f"took {took:.1f} s"))
