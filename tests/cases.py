"""Many cases of one kind as one test, and few examples of a slow property."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import settings


def for_each(names: str, cases: Iterable[Any]) -> Callable[[Callable[..., None]], Any]:
    """Run a test with each case in turn, as pytest.mark.parametrize does, but as one test.

    The cases share the test's fixtures. All are run, and each that fails is named.
    """
    keys, all_cases = [name.strip() for name in names.split(",")], list(cases)
    if not all_cases:
        raise ValueError(f"there must be a case of {names}")

    def decorate(test: Callable[..., None]) -> Any:
        @functools.wraps(test)
        def test_each(*instance: Any, **fixtures: Any) -> None:
            failures: list[BaseException] = []
            for case in all_cases:
                values = case if len(keys) > 1 else (case,)
                try:
                    test(*instance, **fixtures, **dict(zip(keys, values, strict=True)))
                except (Exception, pytest.fail.Exception) as failure:
                    failure.add_note(f"with {names} = {case!r:.300}")
                    failures.append(failure)
                except pytest.skip.Exception as skipped:
                    raise AssertionError(
                        f"one of many cases cannot be skipped: {case!r}"
                    ) from skipped
            if len(failures) == 1:
                raise failures[0]
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(all_cases)} cases", failures)

        signature = inspect.signature(test)
        others = [one for one in signature.parameters.values() if one.name not in keys]
        test_each.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return test_each

    return decorate


# For time alone: make test tries half of what a test names, the same examples every time, and make
# deep ten times as many, others in each round. As plain Python each example of a kernel takes about
# a thousand times as long.
_TIMES = {"workbench": 0.5, "deep": 10.0, "plain": 0.125}
"""How many times as many examples a profile of hypothesis tries."""


def examples(count: int) -> settings:
    """Have a property tried with this many examples, more in make deep and few as plain Python."""
    times = _TIMES.get(settings.get_current_profile_name(), 1.0)
    return settings(max_examples=max(2, int(times * count)))
