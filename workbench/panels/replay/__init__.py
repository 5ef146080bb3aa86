"""The replay of a program, and two replays compared."""
