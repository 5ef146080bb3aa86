"""Tables that people bring: runs, jobs, steps and counters, routine times, placement."""
