"""A fit is stopped in the midst of a trial, and goes on as if it had not been."""

import threading
import time

from workbench import datasets
from workbench.fit import FitStudy
from workbench.jobs import StopFlag
from workbench.models import SNAPPR


def test_a_stop_flag_ends_the_trial_in_flight_and_the_trial_is_tried_again():
    curve = datasets.load("azure-hb96v3-hdr")
    whole = FitStudy(curve, SNAPPR(), seed=5).run(14)
    study = FitStudy(curve, SNAPPR(), seed=5)
    flag = StopFlag()
    flag.cell[0] = 1  # as if it were set as soon as the first long trial has begun
    first = study.run(14, stop=flag)
    assert first.trials < 14
    flag.clear()
    resumed = study.run(14, stop=flag)
    assert resumed.losses.tolist() == whole.losses.tolist()
    assert resumed.model == whole.model


def test_a_stop_acts_within_half_a_second_even_in_a_slow_trial():
    curve = datasets.load("azure-hb96v3-hdr")
    # rates that share no period, and buffers for thousands of packets: seconds a trial
    slow = SNAPPR(
        mtu=128,
        nic_credits=14_000_000,
        switch_credits=1_900_000,
        injection_bandwidth=30e9,
        link_bandwidth=11.9e9,
    )
    study = FitStudy(curve, slow)
    flag = StopFlag()
    thread = threading.Thread(target=study.run, args=(2000,), kwargs={"stop": flag})
    thread.start()
    time.sleep(0.3)
    began = time.monotonic()
    flag.set()
    thread.join(10)
    assert not thread.is_alive()
    assert time.monotonic() - began < 0.5
