"""Latency tolerance of a program."""
