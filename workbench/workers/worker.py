"""A process that does the pieces it receives, for ``workbench.workers.processes``.

    python -m workbench.workers.worker workbench.study.fit_cell

It reads one JSON object a line and answers likewise. When its input ends, whoever started it is
gone: it gives up what is in flight and ends, so that a killed notebook leaves nothing running.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
from typing import Any, TextIO

from workbench.tasks import StopFlag, Task
from workbench.workers.work import PATIENCE_S, Answer, perform_by_name

_REPORT_S = 0.1  # chosen: ten reports a second move a bar smoothly; each is a line of a pipe
_GRACE_S = PATIENCE_S / 2  # the process ends by itself before its parent kills it
_POLITE = 5  # gets a third of the time of a process at 0: a step is a factor of 1.25, sched(7)


def main() -> None:
    """Do pieces until the input ends."""
    answers = _own_output()
    perform = perform_by_name(sys.argv[1])
    # Interactive sessions share these cores and should not wait for them.
    os.nice(_POLITE)
    orders: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
    stop = StopFlag()
    threading.Thread(target=_listen, args=(orders, stop), daemon=True).start()
    _answer(answers, {"ready": True})
    while (order := orders.get()) is not None:
        last = 0.0

        def note(answer: Answer) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= _REPORT_S:
                last = now
                _answer(answers, answer)

        task = Task(note, stop)
        _answer(answers, {**perform(order["order"], order["database"], task), "ended": True})


def _own_output() -> TextIO:
    """Return a stream for the answers; what a library prints goes to stderr from here on."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def _listen(orders: queue.SimpleQueue[dict[str, Any] | None], stop: StopFlag) -> None:
    for line in sys.stdin:
        order = json.loads(line)
        if "stop" in order:
            stop.set()
        else:
            orders.put(order)
    stop.set()
    orders.put(None)
    time.sleep(_GRACE_S)
    os._exit(1)


def _answer(answers: TextIO, values: Answer) -> None:
    try:
        answers.write(json.dumps(values) + "\n")
        answers.flush()
    except BrokenPipeError:
        os._exit(1)


if __name__ == "__main__":
    main()
