"""Figures of replayed programs: space-time diagram, breakdown, communication, messages, jobs."""
