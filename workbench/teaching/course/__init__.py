"""The lessons: a module for each, with its exercises and its ``LESSON``."""
