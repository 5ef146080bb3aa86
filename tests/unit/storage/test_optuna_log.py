"""Optuna is quiet while studies are opened, in whatever threads, and as before afterwards."""

from __future__ import annotations

import optuna
import pytest

from workbench.storage.optuna_log import quiet_optuna


@pytest.mark.parametrize("first", [0, 1])
def test_the_level_is_put_back_in_whatever_order_threads_leave(first: int) -> None:
    before = optuna.logging.get_verbosity()
    inside = [quiet_optuna(), quiet_optuna()]
    try:
        optuna.logging.set_verbosity(optuna.logging.DEBUG)
        for one in inside:
            one.__enter__()
        for one in (inside[first], inside[1 - first]):
            assert optuna.logging.get_verbosity() == optuna.logging.ERROR
            one.__exit__(None, None, None)
        assert optuna.logging.get_verbosity() == optuna.logging.DEBUG
    finally:
        optuna.logging.set_verbosity(before)
