"""Where the runs of an experiment are kept: a database or memory."""
