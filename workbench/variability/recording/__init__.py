"""A small real experiment: a program and competing users on one link, in network namespaces.

recording = record_link("recording", runs=40)
tables = link_tables(recording, "my-recording", created_by="a notebook")
tables.save("recording")

``network`` makes two sides of hosts with one link of limited rate between them. ``step_program.c``
is an MPI program with ranks on both sides; between its steps the recorder reads ``counters``.
``schedule`` draws users and when their jobs run, ``traffic.py`` sends for them in a process of its
own. Nothing runs at another priority than the command's, and nothing but Open MPI's own start and
end waits without sleeping.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.variability.recording.network import LinkRecordingError as LinkRecordingError
    from workbench.variability.recording.record import (
        LinkRecording as LinkRecording,
        LinkRun as LinkRun,
        LinkSettings as LinkSettings,
        record_link as record_link,
    )
    from workbench.variability.recording.schedule import (
        EmulatedUser as EmulatedUser,
        LinkSchedule as LinkSchedule,
        emulated_users as emulated_users,
    )
    from workbench.variability.recording.tables import link_tables as link_tables
else:
    __getattr__, __dir__ = lazy_exports(__name__)
