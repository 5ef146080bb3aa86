"""A fit is stopped in the midst of a trial, and goes on as if it had not been."""

import threading
import time

from workbench import datasets
from workbench.fit import FitStudy
from workbench.models import SNAPPR
from workbench.tasks import Task

# Rates that share no period, and buffers for thousands of packets: a fifth of a second a trial.
SLOW = SNAPPR(
    mtu=128,
    nic_credits=14_000_000,
    switch_credits=1_900_000,
    injection_bandwidth=30e9,
    link_bandwidth=11.9e9,
)


def test_a_stop_flag_ends_the_trial_in_flight_and_the_trial_is_tried_again():
    curve = datasets.load("azure-hb96v3-hdr")
    whole = FitStudy(curve, SNAPPR(), seed=5).run(14)
    study = FitStudy(curve, SNAPPR(), seed=5)
    task = Task()
    task.stop_event.cell[0] = 1  # as if it were set as soon as the first long trial has begun
    first = study.run(14, task=task)
    assert first.trials < 14
    task.stop_event.clear()
    resumed = study.run(14, task=task)
    assert resumed.losses.tolist() == whole.losses.tolist()
    assert resumed.model == whole.model


def test_a_stop_from_another_thread_ends_a_fit_of_slow_trials():
    """All of them would take minutes; `make bench` prints how soon the fit ends."""
    study = FitStudy(datasets.load("azure-hb96v3-hdr"), SLOW)
    task = Task()
    ended = []
    thread = threading.Thread(target=lambda: ended.append(study.run(2000, task=task)))
    thread.start()
    time.sleep(0.3)
    task.stop()
    thread.join(600)
    assert [result.trials < 2000 for result in ended] == [True]
